//! Tests facts and refusals with mock `/sys` and `/proc` trees.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

const DISK: DeviceNumber = DeviceNumber { major: 8, minor: 16 };

/// A host with an unused SATA drive `sdb` without partitions.
struct Host {
    dir: tempfile::TempDir,
    roots: Roots,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let roots = Roots { sys: dir.path().join("sys"), proc: dir.path().join("proc") };
        let host = Self { dir, roots };
        host.write("sys/devices/pci0/ata2/block/sdb/dev", "8:16\n");
        host.write("sys/devices/pci0/ata2/block/sdb/queue/rotational", "0\n");
        fs::create_dir_all(host.disk().join("holders")).expect("a directory");
        host.link(DISK, "sdb");
        host.write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
        host.write("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
        host
    }

    fn disk(&self) -> std::path::PathBuf {
        self.roots.sys.join("devices/pci0/ata2/block/sdb")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn link(&self, number: DeviceNumber, below: &str) {
        let link = self.roots.sys.join(format!("dev/block/{number}"));
        fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        symlink(self.disk().parent().expect("a parent").join(below), link).expect("a link");
    }

    fn partition(&self) -> DeviceNumber {
        self.write("sys/devices/pci0/ata2/block/sdb/sdb1/partition", "1\n");
        self.write("sys/devices/pci0/ata2/block/sdb/sdb1/dev", "8:17\n");
        fs::create_dir_all(self.disk().join("sdb1/holders")).expect("a directory");
        let number = DeviceNumber { major: 8, minor: 17 };
        self.link(number, "sdb/sdb1");
        number
    }

    /// A loop device in `/sys` without a node in `/dev`.
    fn loop_without_node(&self, image: &Path) {
        let device = "sys/devices/virtual/block/loop99999";
        self.write(&format!("{device}/dev"), "7:99999\n");
        self.write(&format!("{device}/loop/backing_file"), format!("{}\n", image.display()));
        fs::create_dir_all(self.dir.path().join(device).join("holders")).expect("a directory");
        let link = self.roots.sys.join("dev/block/7:99999");
        symlink(self.dir.path().join(device), link).expect("a link");
    }

    fn users(&self) -> Vec<Refusal> {
        users(&self.roots, DISK, &[])
    }
}

#[test]
fn an_unused_drive_is_not_refused() {
    assert_eq!(Host::new().users(), []);
}

#[test]
fn device_mapper_and_raid_hold_a_drive() {
    let host = Host::new();
    host.write("sys/devices/pci0/ata2/block/sdb/holders/dm-0", "");
    assert_eq!(host.users(), [Refusal::Held { device: "sdb".into(), by: "dm-0".into() }]);
}

#[test]
fn a_held_or_mounted_partition_holds_its_drive() {
    let host = Host::new();
    let number = host.partition();
    host.write("sys/devices/pci0/ata2/block/sdb/sdb1/holders/md127", "");
    host.write("proc/self/mountinfo", "22 1 8:17 / /srv rw - ext4 /dev/elsewhere rw\n");
    let expected = [
        Refusal::Mounted { device: "sdb1".into(), at: "/srv".into(), namespace_of: None },
        Refusal::Held { device: "sdb1".into(), by: "md127".into() },
        Refusal::Partitions { names: "sdb1".into() },
    ];
    assert_eq!(host.users(), expected);
    assert!(users(&host.roots, number, &[]).contains(&Refusal::IsPartition { of: "sdb".into() }));
}

#[test]
fn scsi_commands_are_only_for_whole_disks() {
    let host = Host::new();
    let partition = host.partition();
    let volume = DeviceNumber { major: 253, minor: 0 };
    host.write("sys/devices/pci0/ata2/block/dm-0/dev", "253:0\n");
    host.link(volume, "dm-0");
    let accepts = |number| is_scsi_disk(&SysDevice::find(&host.roots, number).expect("a device"));
    assert_eq!([DISK, partition, volume].map(accepts), [true, false, false]);
}

#[test]
fn btrfs_is_found_by_its_source_and_swap_by_its_name() {
    let host = Host::new();
    host.write("proc/self/mountinfo", "22 1 0:31 / /data rw - btrfs /dev/sdb rw\n");
    host.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
    let expected = [
        Refusal::Mounted { device: "sdb".into(), at: "/data".into(), namespace_of: None },
        Refusal::Swap { device: "sdb".into() },
    ];
    assert_eq!(host.users(), expected);
}

#[test]
fn unreadable_files_are_refused() {
    let cases = ["sys/dev/block/8:16", "proc/self/mountinfo", "sys/devices/pci0/ata2/block/sdb/holders"];
    for missing in cases {
        let host = Host::new();
        let path = host.dir.path().join(missing);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        assert!(matches!(host.users()[..], [Refusal::Unknown { .. }]), "{missing}: {:?}", host.users());
    }
}

#[test]
fn loop_devices_whose_driver_cannot_be_asked_are_found_by_their_path() {
    let host = Host::new();
    let (image, other) = (host.dir.path().join("image"), host.dir.path().join("other"));
    fs::write(&image, "").expect("a file");
    fs::write(&other, "").expect("a file");
    host.loop_without_node(&image);
    let users_of = |path: &Path| {
        let file = usage::thing_at(path).expect("a file");
        usage::users(&usage::gather(&host.roots, &[(file, path)]).expect("facts"), file)
    };
    assert_eq!(users_of(&image), [Refusal::LoopBacking { by: "loop99999".into() }]);
    assert_eq!(users_of(&other), []);
}

/// By now, the path may belong to another file, and the loop device may be backed by any other device.
#[test]
fn loop_devices_whose_driver_cannot_be_asked_may_use_any_device() {
    let host = Host::new();
    let image = host.dir.path().join("image");
    host.loop_without_node(&image);
    assert!(matches!(host.users()[..], [Refusal::UnknownUser { .. }]), "{:?}", host.users());
    fs::write(&image, "").expect("a file");
    assert!(matches!(host.users()[..], [Refusal::UnknownUser { .. }]), "{:?}", host.users());
    fs::remove_file(host.roots.sys.join("devices/virtual/block/loop99999/loop/backing_file"))
        .expect("detached");
    assert_eq!(host.users(), []);
}

/// btrfs claims its devices; erofs in a file has no device to claim.
#[test]
fn file_systems_in_files_that_were_renamed_may_be_in_any_file_but_in_no_device() {
    let host = Host::new();
    host.write("proc/self/mountinfo", "22 1 0:31 / /data ro - erofs /no/such/image ro\n");
    assert_eq!(host.users(), []);
    let facts = usage::gather(&host.roots, &[]).expect("facts");
    assert!(facts.unseen_user_of_files().is_some_and(|what| what.contains("/data")));
    host.write("proc/self/mountinfo", "22 1 0:31 / /data rw - btrfs /dev/no-such-device rw\n");
    let facts = usage::gather(&host.roots, &[]).expect("facts");
    assert_eq!(facts.unseen_user_of_files(), None);
}

/// A process with a ring that has registered a file whose path no longer exists.
#[test]
fn files_of_a_ring_that_cannot_be_found_may_be_any_file_but_no_device() {
    let host = Host::new();
    let process = host.roots.proc.join("4242");
    host.write("proc/4242/comm", "server\n");
    fs::create_dir_all(process.join("fd")).expect("a folder");
    symlink("anon_inode:[io_uring]", process.join("fd/5")).expect("a link");
    symlink("/", process.join("root")).expect("a link");
    let unseen = |path: &str| {
        host.write("proc/4242/fdinfo/5", format!("UserFiles:\t1\n    0: {path}\nUserBufs:\t0\n"));
        let facts = usage::gather(&host.roots, &[]).expect("facts");
        assert_eq!(usage::users(&facts, Thing::Device(DISK)), []);
        facts.unseen_user_of_files().map(str::to_owned)
    };
    assert!(unseen("/no/such/file (deleted)").is_some_and(|what| what.contains("process 4242 (server)")));
    assert_eq!(unseen("socket:[1234]"), None);
    assert_eq!(unseen("<none>"), None);
    assert_eq!(unseen("/dev/null"), None);
}

/// A process has opened a file on an overlay. The overlay's layers were specified relative to the working
/// directory of the process that mounted it.
#[test]
fn a_file_on_an_overlay_with_invisible_layers_may_be_any_file() {
    let host = Host::new();
    let at = |name: &str| host.dir.path().join(name);
    for name in ["lower", "upper", "work", "merged"] {
        fs::create_dir(at(name)).expect("a folder");
    }
    fs::write(at("upper/file"), "content").expect("a file");
    let mut mount = std::process::Command::new("mount");
    mount.args([
        "-i",
        "-t",
        "overlay",
        "overlay",
        "merged",
        "-o",
        "lowerdir=lower,upperdir=upper,workdir=work",
    ]);
    let mounted = mount.current_dir(host.dir.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        skips::skip!("no overlay can be mounted");
        return;
    }
    fs::create_dir_all(host.roots.proc.join("4242/fd")).expect("a folder");
    symlink(at("merged/file"), host.roots.proc.join("4242/fd/3")).expect("a link");
    let unseen = |flags: &str| {
        host.write("proc/4242/fdinfo/3", format!("pos:\t0\nflags:\t{flags}\n"));
        let facts = usage::gather(&host.roots, &[]);
        facts.expect("facts").unseen_user_of_files().map(str::to_owned)
    };
    let found = [unseen("0100002"), unseen("0100000")];
    let unmounted = std::process::Command::new("umount").arg(at("merged")).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert!(found[0].as_deref().is_some_and(|what| what.contains("process 4242")), "{found:?}");
    assert_eq!(found[1], None, "who only reads changes nothing");
}

fn facts_of(host: &Host) -> TargetFacts {
    let mut facts = TargetFacts {
        kind: TargetKind::Block,
        path: "/dev/sdb".into(),
        identity: String::new(),
        attachment: None,
        vendor: None,
        model: None,
        serial: None,
        firmware: None,
        interface: None,
        nand: None,
        capacity_bytes: 512,
        logical_block_bytes: 512,
        physical_block_bytes: 512,
        rotational: None,
        simulated: None,
        array: None,
    };
    describe(&mut facts, &SysDevice::find(&host.roots, DISK).expect("the disk"), &host.roots);
    facts
}

#[test]
fn identity_is_serial_then_wwn_then_name_and_size() {
    let host = Host::new();
    let bare = facts_of(&host);
    assert_eq!((bare.identity.as_str(), bare.attachment), ("sdb:512", None));
    assert_eq!((bare.interface.as_deref(), bare.rotational), (Some("SATA"), Some(false)));

    host.write("sys/devices/pci0/ata2/block/sdb/device/wwid", "naa.5000000000000001\n");
    host.write("sys/devices/pci0/ata2/block/sdb/diskseq", "12\n");
    host.write("proc/sys/kernel/random/boot_id", "b007\n");
    let named = facts_of(&host);
    assert_eq!(
        (named.identity.as_str(), named.attachment.as_deref()),
        ("naa.5000000000000001", Some("b007:12"))
    );

    host.write("sys/devices/pci0/ata2/block/sdb/device/vendor", "ATA     \n");
    host.write("sys/devices/pci0/ata2/block/sdb/device/model", "SSD 9000        \n");
    host.write("sys/devices/pci0/ata2/block/sdb/device/rev", "1.0 \n");
    host.write("sys/devices/pci0/ata2/block/sdb/device/vpd_pg80", b"\0\x80\0\x0c    SN123456");
    let full = facts_of(&host);
    assert_eq!((full.vendor, full.model.as_deref()), (None, Some("SSD 9000")));
    assert_eq!((full.serial.as_deref(), full.firmware.as_deref()), (Some("SN123456"), Some("1.0")));
    assert_eq!(full.identity, "SN123456");
}

/// Namespaces that `ip netns add`, Docker or snapd has mounted; only mount namespaces contain mounts.
#[test]
fn mounts_without_a_device_use_no_unknown_file() {
    let host = Host::new();
    let kinds = "nodev\ttmpfs\nnodev\tfuse\n\tfuseblk\n\text4\n\terofs\n\tbtrfs\n";
    let unseen = |line: &str| {
        host.write("proc/self/mountinfo", format!("{line}\n"));
        usage::gather(&host.roots, &[]).expect("facts").unseen_user_of_files().map(str::to_owned)
    };
    host.write("proc/filesystems", kinds);
    for line in [
        "40 1 0:4 net:[4026532177] /run/netns/x rw - nsfs nsfs rw",
        "40 1 0:4 mnt:[4026532178] /run/snapd/ns/x.mnt rw - nsfs nsfs rw",
        "40 1 0:50 / /run/user/1000/doc rw - fuse.portal portal rw",
        "40 1 0:51 / /srv rw - fuse.sshfs someone@elsewhere:/srv rw",
        "1 1 0:2 / / rw - rootfs rootfs rw",
    ] {
        assert_eq!(unseen(line), None, "{line}");
    }
    assert!(unseen("22 1 0:31 / /data ro - erofs /no/such/image ro").is_some());
    // Nothing is known about the file system types.
    fs::remove_file(host.roots.proc.join("filesystems")).expect("a file");
    assert!(unseen("22 1 0:31 / /data ro - newfs /no/such/image ro").is_some());
}

/// A file registered with a ring has been replaced by another file at its path.
#[test]
fn files_of_a_ring_are_not_what_happens_to_be_at_their_path() {
    let host = Host::new();
    let process = host.roots.proc.join("4242");
    fs::create_dir_all(process.join("fd")).expect("a folder");
    symlink("anon_inode:[io_uring]", process.join("fd/5")).expect("a link");
    symlink("/", process.join("root")).expect("a link");
    let decoy = host.dir.path().join("decoy");
    fs::write(&decoy, "").expect("a file");
    host.write("proc/4242/fdinfo/5", format!("UserFiles:\t1\n    0: {}\nUserBufs:\t0\n", decoy.display()));
    let unseen = || usage::gather(&host.roots, &[]).expect("facts").unseen_user_of_files().map(str::to_owned);
    assert!(unseen().is_some_and(|what| what.contains("process 4242")));
    // If a descriptor has the same path, it is the registered file.
    symlink(&decoy, process.join("fd/6")).expect("a link");
    host.write("proc/4242/fdinfo/6", "pos:\t0\nflags:\t0100000\n");
    assert_eq!(unseen(), None);
}
