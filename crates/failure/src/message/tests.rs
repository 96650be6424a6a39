//! Checks the wording of error messages that name options.

use std::io;
use std::path::PathBuf;

use device::{
    AdminError, ArrayError, DriveError, DriveFault, Fault, LbaFormatError, PassedOver, PurgeError, Refusal,
    Step, TargetError, TuningError, Unconfirmed, VolumeError, WrongKind,
};
use record::{OtherNamespace, WhyNot};

use super::of_drive;

fn target(problem: TargetError) -> DriveError {
    DriveError::Target { target: "T".into(), problem }
}

fn admin(error: impl Into<AdminError>) -> DriveError {
    DriveError::Admin(error.into())
}

#[track_caller]
fn reads(error: DriveError, expected: &str) {
    assert_eq!(of_drive(&error), expected);
}

#[test]
fn data_is_confirmed_with_the_option_that_names_it() {
    let of = |given: Option<&str>| {
        let given = given.map(str::to_owned);
        Unconfirmed::Target { target: "/dev/sda".into(), identity: "S1".into(), given }.into()
    };
    reads(of(None), "everything on /dev/sda would be lost; to continue, add --erase 'S1'");
    reads(
        of(Some("S2")),
        "everything on /dev/sda would be lost and 'S2' is not its identity; to continue, add --erase 'S1'",
    );
    let one = Unconfirmed::OneDrive { target: "/dev/sda".into(), second: "S2".into() };
    reads(one.into(), "/dev/sda is a single drive, which is confirmed by one identity; omit --erase 'S2'");
    let members = |strange: &[&str], missing: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Unconfirmed::Members {
            target: "array:a".into(),
            members: owned(&["/dev/a", "/dev/b"]),
            strange: owned(strange),
            missing: owned(missing),
        }
        .into()
    };
    reads(
        members(&[], &["S1", "S2"]),
        "everything on /dev/a, /dev/b would be lost for array:a; to continue, add --erase 'S1' --erase 'S2'",
    );
    reads(
        members(&["S3"], &[]),
        "everything on /dev/a, /dev/b would be lost for array:a; and 'S3' does not match any of its members; omit that",
    );
    let note = PathBuf::from("/n");
    let left = Unconfirmed::LeftOver { level: 5, note, members: vec!["S1".into(), "S2".into()] };
    reads(
        left.into(),
        "an earlier run left a RAID 5 and the record /n; to dismantle it, resume that run, or run a test on the array \
         with --erase 'S1' --erase 'S2'",
    );
}

#[test]
fn options_that_do_not_fit_a_target_are_named() {
    let least_bytes = 16 << 20;
    let of_size = |bytes| target(TargetError::SizeTooSmall { bytes, least_bytes });
    reads(
        of_size(2),
        "T: --size 2 is too small; the smallest target has 16 MiB; for MiB or GiB, add the unit: --size 2MiB",
    );
    reads(of_size(1 << 20), "T: --size 1048576 is too small; the smallest target has 16 MiB");
    for (problem, expected) in [
        (TargetError::SizeOfDrive, "--size applies only to files; a drive is always tested as a whole"),
        (
            TargetError::SizeOfSimulated,
            "--size applies only to files; use --scale for a smaller simulated drive",
        ),
        (TargetError::ScaleOfReal, "--scale applies only to simulated drives (sim:MODEL)"),
        (
            TargetError::FaultsOfReal,
            "faults can be injected only into simulated drives (sim:MODEL); omit --sim-fault and --no-sim-faults",
        ),
        (TargetError::NoFile, "no such file; to create it, specify its size with --size"),
        (TargetError::NoDevice, "no such device; `plateau list` lists the devices"),
        (TargetError::EmptyFile, "it has no capacity; specify its size with --size"),
        (
            TargetError::Shorter { length_bytes: 5, capacity_bytes: 6 },
            "it has 5 B, not 6; choose a smaller --size",
        ),
        (TargetError::ArrayOutsideRun, "arrays exist only during `plateau run`; specify a drive"),
        (TargetError::WrongKind(WrongKind::Pipe), "it is a pipe; name a block device or a file"),
        (
            TargetError::WrongKind(WrongKind::NvmeController { path: "/dev/nvme0".into() }),
            "it is an NVMe controller; name one of its namespaces, such as /dev/nvme0n1",
        ),
        (
            TargetError::WrongKind(WrongKind::NvmeGeneric { namespace: "0n1".into() }),
            "it is the generic device of an NVMe namespace; name its block device, /dev/nvme0n1, with --ioengine \
             io_uring_cmd",
        ),
    ] {
        reads(target(problem), &format!("T: {expected}"));
    }
}

#[test]
fn permission_errors_say_who_has_access() {
    let of = |errno| of_drive(&target(io::Error::from_raw_os_error(errno).into()));
    assert!(of(13).ends_with("; run as root, or as a member of the group that owns it"));
    assert!(of(1).ends_with("; the kernel or the container denies it, even to root"));
    assert!(!of(2).contains(';'));
}

#[test]
fn an_impossible_purge_suggests_alternatives() {
    let unknown =
        |meant: &[&'static str]| admin(AdminError::UnknownMethod { name: "x".into(), meant: meant.to_vec() });
    let end = "`plateau info TARGET` lists the methods of a target";
    reads(unknown(&[]), &format!("unknown purge method 'x'; {end}"));
    reads(unknown(&["a"]), &format!("unknown purge method 'x'; did you mean a? {end}"));
    reads(unknown(&["a", "b", "c"]), &format!("unknown purge method 'x'; did you mean a, b or c? {end}"));
    let passed_over = vec![PassedOver { method: "ATA Sanitize", why: WhyNot::TooManyPasswords }];
    reads(
        admin(AdminError::NoMethod { passed_over }),
        "no purge available: the drive supports no purge method that Plateau implements (not ATA Sanitize: the drive \
         has received too many wrong passwords; power-cycle it, then try again); purge it with its vendor's tool",
    );
    reads(
        admin(AdminError::Unavailable { method: "nvme-format-user", why: WhyNot::OtherInterface }),
        "no purge available: nvme-format-user: the drive has a different interface; see plateau info for the available \
         methods",
    );
    let others = vec![OtherNamespace { name: "nvme0n2".into(), identity: "S1:n2".into() }];
    reads(
        admin(AdminError::AlsoErased { method: "nvme-sanitize-block", others }),
        "nvme-sanitize-block: it would also erase nvme0n2 ('S1:n2'); if all of that may be lost, add --erase 'S1:n2'",
    );
    reads(
        PurgeError::SimulatedVerification.into(),
        "a simulated drive stores no data that could be searched for after a purge; omit --verify-purge. A \
         purge selected with --method reports what is left in the drive's map",
    );
    reads(
        PurgeError::OptionsForController.into(),
        "drives on a RAID controller are purged by the method in the array description, and cannot be read to verify that; \
         omit --purge-method and --verify-purge",
    );
}

#[test]
fn a_failed_command_says_how_to_continue() {
    reads(
        admin(AdminError::Command { step: Step::SecurityErase, fault: Fault::NoRegisters }),
        "SECURITY ERASE UNIT failed: the adapter does not pass on the drive's response, so it is unknown whether the \
         command completed; if the drive stays locked, unlock it with `hdparm --user-master u --security-disable \
         PLATEAU DEVICE`, or run plateau purge again with --method ata-security-erase",
    );
    reads(
        admin(AdminError::Command { step: Step::Sanitize, fault: Fault::Nvme(0x4001) }),
        "Sanitize failed: the controller does not support this command (status 001h); check the drive with plateau info, or \
         choose another method with --method",
    );
    reads(
        admin(DriveFault::WriteCacheKept { on: false }),
        "the drive accepted the command to turn its write cache off, but the cache is unchanged; run with \
         --write-cache keep to leave it unchanged",
    );
    reads(
        admin(DriveFault::AtaSanitizeFailed),
        "SANITIZE failed; another sanitize operation is needed to recover the drive: run plateau purge again; \
         if that fails too, replace the drive",
    );
    reads(
        admin(LbaFormatError::NotNvme),
        "only NVMe namespaces have a choice of LBA formats; omit --lba-format",
    );
}

#[test]
fn nested_errors_keep_their_next_steps() {
    let missing = || {
        let source = io::Error::from(io::ErrorKind::NotFound);
        DriveError::from(ArrayError::Program { program: "mdadm", source })
    };
    let program = of_drive(&missing());
    assert!(program.ends_with("; install the package mdadm, which manages software RAID"), "{program}");
    let lost = || DriveError::from(ArrayError::MembersLost(vec!["S1 (/dev/a)".into()]));
    let attach =
        "S1 (/dev/a) cannot be found and may still contain RAID metadata; attach it and start plateau again";
    reads(
        DriveError::NotDismantled { error: Box::new(missing()), dismantling: Box::new(lost()) },
        &format!("{program}; dismantling the array also failed: {attach}"),
    );
    reads(
        DriveError::LeftOver { error: Box::new(lost()), note: "/n".into() },
        &format!("an array left by an earlier run cannot be dismantled: {attach}; it is described in /n"),
    );
    let volume = VolumeError::NotDeleted("pl1".into());
    let member =
        DriveError::Member { path: "/c0/e1/s1".into(), error: Box::new(ArrayError::from(volume).into()) };
    reads(
        member,
        "/c0/e1/s1: the controller reported that the volume pl1 was deleted, but it still exists; delete it manually",
    );
}

#[test]
fn a_refused_setting_names_its_option() {
    let setting = "scheduler of sdb".to_owned();
    let shown = "bfq".to_owned();
    let ignored = TuningError::Ignored { setting, path: "/s".into(), value: "none".into(), shown };
    reads(
        ignored.into(),
        "setting the scheduler of sdb to none (/s) failed: the kernel accepted it but still shows bfq; run as root, or \
         without --tune",
    );
}

#[test]
fn refusals_are_joined_with_what_to_do_about_each() {
    let refusals = vec![
        Refusal::Locked { tried: None },
        Refusal::NoSpace { needed_bytes: 2 << 20, free_bytes: 1 << 20 },
    ];
    reads(
        DriveError::Refused { target: "T".into(), refusals },
        "refusing to write to T: it is locked with an ATA password, so its content is unknown; if a Plateau \
         purge was interrupted, specify the drive's identity with --erase, and Plateau tries the password of \
         that purge; and its file system has \
         1 MiB free and the file needs 2 MiB more; free some space or choose a smaller --size",
    );
}
