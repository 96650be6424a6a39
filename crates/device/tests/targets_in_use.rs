//! Targets that are in use under another name or at another layer. Each target is refused, and not a single
//! byte of the data in use changes.

mod support;

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

use device::{Access, ErrorKind, OpenOptions, Refusal};
use support::users::{Cleanup, Holder, refused, refused_with, shared, text};
use support::{Loop, command, fingerprint, skip};

const SIZE: u64 = 64 << 20;
/// Slightly more than the minimum for mkfs.btrfs.
const BTRFS_SIZE: u64 = 160 << 20;

/// An image with a file system, mounted through its own loop device.
struct Mounted {
    image: PathBuf,
    _mount: Cleanup,
    /// Fields are dropped in order: first the mount, then the device, and the directory last.
    _device: Loop,
    dir: tempfile::TempDir,
}

impl Mounted {
    fn new() -> Option<Self> {
        // Avoid tmpfs, which may be mounted with `nodev`.
        let dir = tempfile::tempdir().expect("a folder");
        let image = dir.path().join("image");
        fs::File::create(&image).and_then(|file| file.set_len(SIZE)).expect("an image");
        command("mkfs.ext4", &["-q", text(&image)]).map_err(|why| skip(&why)).ok()?;
        let device = Loop::over(&image, &[])?;
        let mount = mount(&device.path, dir.path())?;
        Some(Self { image, _mount: mount, _device: device, dir })
    }
}

/// Mounts the device read-only, so that the kernel does not write to it.
fn mount(device: &str, dir: &Path) -> Option<Cleanup> {
    let at = dir.join("mnt");
    fs::create_dir_all(&at).expect("a folder");
    command("mount", &["-o", "ro", device, text(&at)]).map_err(|why| skip(&why)).ok()?;
    Some(Cleanup("umount", vec![text(&at).to_owned()]))
}

fn mknod(dir: &Path, device: &str) -> Option<PathBuf> {
    let kname = device.trim_start_matches("/dev/");
    let number = fs::read_to_string(format!("/sys/class/block/{kname}/dev")).ok()?;
    let (major, minor) = number.trim().split_once(':')?;
    let node = dir.join("node");
    command("mknod", &[text(&node), "b", major, minor]).map_err(|why| skip(&why)).ok()?;
    fs::File::open(&node).map_err(|why| skip(&format!("nodes of devices do not work here: {why}"))).ok()?;
    Some(node)
}

fn loops_over(refusals: &[Refusal]) -> bool {
    refusals.iter().any(|refusal| matches!(refusal, Refusal::LoopBacking { .. }))
}

#[test]
fn hard_links_and_bind_mounts_of_a_mounted_image() {
    let Some(mounted) = Mounted::new() else { return };
    let link = mounted.dir.path().join("link");
    fs::hard_link(&mounted.image, &link).expect("a hard link");
    assert!(loops_over(&refused(text(&link))));

    let other = mounted.dir.path().join("bound");
    fs::create_dir(&other).expect("a folder");
    if command("mount", &["--bind", text(mounted.dir.path()), text(&other)]).is_ok() {
        let _bound = Cleanup("umount", vec![text(&other).to_owned()]);
        assert!(loops_over(&refused(text(&other.join("image")))));
    }
    // The name that was used to attach the loop device has been removed.
    fs::remove_file(&mounted.image).expect("one name less");
    assert!(loops_over(&refused(text(&link))));
}

#[test]
fn nodes_of_a_device_under_other_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let Some(lower) = Loop::new(SIZE, &[]) else { return };
    let Some(node) = mknod(dir.path(), &lower.path) else { return };
    // Attach by the second name and use the first name as the target, then vice versa.
    for (attached, target) in [(text(&node), lower.path.as_str()), (lower.path.as_str(), text(&node))] {
        let Some(upper) = Loop::over(Path::new(attached), &["--offset", "16M"]) else { return };
        if command("mkfs.ext4", &["-q", &upper.path]).map_err(|why| skip(&why)).is_err() {
            return;
        }
        let Some(_mount) = mount(&upper.path, dir.path()) else { return };
        let found = refused(target);
        assert!(loops_over(&found), "{found:?}");
        assert!(found.iter().any(|refusal| matches!(refusal, Refusal::Mounted { .. })), "{found:?}");
    }
}

#[test]
fn a_second_loop_device_over_a_mounted_image_or_over_its_device() {
    let Some(mounted) = Mounted::new() else { return };
    let Some(second) = Loop::over(&mounted.image, &[]) else { return };
    let found = refused(&second.path);
    assert!(shared(&found), "{found:?}");
    assert!(found.iter().any(|refusal| matches!(refusal, Refusal::Mounted { .. })), "{found:?}");
    let Some(upper) = Loop::over(Path::new(&mounted._device.path), &["--offset", "20M"]) else { return };
    let found = refused(&upper.path);
    assert!(found.iter().any(|refusal| matches!(refusal, Refusal::Mounted { .. })), "{found:?}");
}

#[test]
fn parts_of_a_file_that_share_nothing_are_free() {
    let dir = support::directory();
    let image = dir.path().join("image");
    fs::File::create(&image).and_then(|file| file.set_len(2 * SIZE)).expect("an image");
    let half = SIZE.to_string();
    let first = Loop::over(&image, &["--sizelimit", &half]);
    let second = Loop::over(&image, &["--offset", &half]);
    let (Some(first), Some(second)) = (first, second) else { return };
    let _held = support::armed(&first.path, &OpenOptions::default());
    drop(support::armed(&second.path, &OpenOptions::default()));
}

#[test]
fn a_file_that_is_mounted_without_a_loop_device() {
    // Avoid tmpfs, whose files cannot be mounted directly.
    let dir = tempfile::tempdir().expect("a folder");
    let (tree, image) = (dir.path().join("tree"), dir.path().join("image"));
    fs::create_dir(&tree).expect("a folder");
    fs::write(tree.join("big"), vec![7; 24 << 20]).expect("a file");
    if command("mkfs.erofs", &[text(&image), text(&tree)]).map_err(|why| skip(&why)).is_err() {
        return;
    }
    let at = dir.path().join("mnt");
    fs::create_dir(&at).expect("a folder");
    // Avoid mount(8), which would set up a loop device.
    let mounting = "import ctypes, sys\nsys.exit(ctypes.CDLL(None).mount(sys.argv[1].encode(), sys.argv[2].encode(), b'erofs', 1, None))";
    if let Err(why) = command("python3", &["-c", mounting, text(&image), text(&at)]) {
        return skip(&format!("no file systems in files: {why}"));
    }
    let _mount = Cleanup("umount", vec![text(&at).to_owned()]);
    let found = refused(text(&image));
    assert!(found.iter().any(|refusal| matches!(refusal, Refusal::Mounted { .. })), "{found:?}");
}

/// Ways for another process to use a file or device.
const HOLDS: &[(&str, &str)] = &[
    ("open for writing", "f = os.open(sys.argv[1], os.O_RDWR)"),
    ("POSIX lock", "f = os.open(sys.argv[1], os.O_RDONLY)\nfcntl.lockf(f, fcntl.LOCK_SH, 1, 100)"),
    ("flock", "f = os.open(sys.argv[1], os.O_RDONLY)\nfcntl.flock(f, fcntl.LOCK_EX)"),
    (
        "OFD lock",
        "f = os.open(sys.argv[1], os.O_RDONLY)\nfcntl.fcntl(f, 37, struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 100, 1, 0))",
    ),
    // Avoid Python's mmap module, which keeps a descriptor.
    (
        "mapping without a descriptor",
        "f = os.open(sys.argv[1], os.O_RDWR)\nlibc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, f, ctypes.c_long(0))\nos.close(f)",
    ),
    (
        "mapping that mprotect can make writable",
        "f = os.open(sys.argv[1], os.O_RDWR)\nlibc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, f, ctypes.c_long(0))\nos.close(f)",
    ),
    (
        "file registered with io_uring",
        "f = os.open(sys.argv[1], os.O_RDWR)\nring = libc.syscall(425, 8, ctypes.create_string_buffer(120))\nif ring < 0: sys.exit(print('skip: io_uring is not available'))\nassert libc.syscall(427, ring, 2, ctypes.byref(ctypes.c_int(f)), 1) == 0\nos.close(f)",
    ),
    (
        "thread with descriptors of its own",
        "import threading\nready = threading.Event()\ndef hold():\n libc.unshare(0x400)\n os.open(sys.argv[1], os.O_RDWR)\n ready.set()\n threading.Event().wait()\nthreading.Thread(target=hold, daemon=True).start()\nready.wait()",
    ),
];

/// Checks that `target` is refused while another process uses `held` in each of these ways, and accepted
/// afterwards.
fn refused_while_held(held: &str, target: &str, holds: &[(&str, &str)]) {
    for (how, code) in holds {
        let Some(holder) = Holder::new(code, held) else { continue };
        let found = refused(target);
        assert!(!found.is_empty(), "{how} of {held}");
        drop(holder);
        drop(support::armed(target, &OpenOptions::default()));
    }
}

#[test]
fn a_file_in_use_by_another_process() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("file");
    fs::File::create(&file).and_then(|file| file.set_len(SIZE)).expect("a file");
    refused_while_held(text(&file), text(&file), HOLDS);
}

#[test]
fn a_device_in_use_by_another_process() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    refused_while_held(&device.path, &device.path, HOLDS);
}

/// This test tries only a few ways, because each refusal takes two seconds while Plateau waits for transient
/// users. The two tests above cover all ways.
#[test]
fn a_backing_file_or_another_node_in_use_by_another_process() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    refused_while_held(text(&device.image), &device.path, &HOLDS[3..6]);
    let dir = tempfile::tempdir().expect("a folder");
    let Some(node) = mknod(dir.path(), &device.path) else { return };
    let Some(_holder) = Holder::new(HOLDS[3].1, text(&node)) else { return };
    let found = refused(&device.path);
    let locked = |r: &Refusal| matches!(r, Refusal::OpenBy { access: Access::Locked, .. });
    assert!(found.iter().any(locked), "{found:?}");
}

/// The mount table lists only one device of a mounted btrfs. In this test, the other device also has a kernel
/// partition, so an exclusive claim on it alone would not show which bytes are in use.
#[test]
fn a_further_device_of_a_mounted_btrfs() {
    let [Some(first), Some(second)] = [BTRFS_SIZE; 2].map(|size| Loop::new(size, &["-P"])) else { return };
    let at = tempfile::tempdir().expect("a folder");
    let mounted = command("mkfs.btrfs", &["-q", "-f", &first.path, &second.path])
        .and_then(|_| command("mount", &["-t", "btrfs", &first.path, text(at.path())]));
    if let Err(why) = mounted {
        return skip(&why);
    }
    let _mount = Cleanup("umount", vec![text(at.path()).to_owned()]);
    if let Err(why) = command("addpart", &[&second.path, "1", "2048", "65536"]) {
        return skip(&why);
    }
    let name = second.path.trim_start_matches("/dev/");
    assert!(Path::new("/sys/block").join(name).join(format!("{name}p1")).exists(), "it has a partition");
    // This range contains neither a signature nor a partition.
    let Some(over) = Loop::over(Path::new(&second.path), &["--offset", "100MiB"]) else { return };
    for target in [text(&second.image), &second.path, &over.path] {
        assert!(!refused(target).is_empty(), "{target}");
    }
}

#[test]
fn a_file_that_another_process_reads() {
    let file = support::file();
    file.open().set_len(SIZE).expect("a length");
    let path = text(file.path()).to_owned();
    let Some(_holder) = Holder::new("f = os.open(sys.argv[1], os.O_RDONLY)", &path) else { return };
    assert_eq!(refused(&path), [Refusal::OpenElsewhere]);
}

#[test]
fn mounts_in_another_mount_namespace() {
    let Some(mounted) = Mounted::new() else { return };
    let at = mounted.dir.path().join("mnt");
    let device = mounted._device.path.clone();
    // The file system remains mounted in the other namespace after it is unmounted here.
    let code = "import subprocess\nlibc.unshare(0x20000)\nsubprocess.run(['mount', '--make-rprivate', '/'])";
    let Some(holder) = Holder::new(code, text(&at)) else { return };
    command("umount", &[text(&at)]).expect("no mount here");
    let found = refused(&device);
    let there = |refusal: &Refusal| matches!(refusal, Refusal::Mounted { namespace_of: Some(_), .. });
    assert!(found.iter().any(there), "{found:?}");
    drop(holder);
}

#[test]
fn swap_files_under_another_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let (file, link) = (dir.path().join("swap"), dir.path().join("link"));
    fs::write(&file, vec![0; 32 << 20]).expect("a file");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("permissions");
    let swapped = command("mkswap", &[text(&file)]).and_then(|_| command("swapon", &[text(&file)]));
    if let Err(why) = swapped {
        return skip(&why);
    }
    fs::hard_link(&file, &link).expect("a link");
    let _off = Cleanup("swapoff", vec![text(&file).to_owned()]);
    for target in [&file, &link] {
        let found = refused(text(target));
        assert!(found.iter().any(|refusal| matches!(refusal, Refusal::Swap { .. })), "{found:?}");
    }
}

#[test]
fn files_of_a_run_under_other_names() {
    let dir = support::directory();
    let run = dir.path().join("library/abc-iops");
    fs::create_dir_all(&run).expect("a run");
    let run_file = "{\n  \"version\": 1,\n  \"id\": \"abc-iops\"\n}".to_owned() + &" ".repeat(17 << 20);
    fs::write(run.join("run.json"), run_file).expect("a file");
    let journal = [b"plateau-journal 1\n".as_slice(), &vec![b' '; 17 << 20]].concat();
    fs::write(run.join("journal"), journal).expect("a journal");
    fs::write(run.join("report.html"), vec![b' '; 17 << 20]).expect("a report");
    let options = OpenOptions { libraries: vec![dir.path().join("library")], ..OpenOptions::default() };
    for name in ["run.json", "journal", "report.html"] {
        let link = dir.path().join(format!("{name}-link"));
        fs::hard_link(run.join(name), &link).expect("a link");
        assert_eq!(refused_with(text(&link), &options), [Refusal::OfRun], "{name}");
    }
    // A run's files are recognized by their first bytes, even if their library is unknown.
    for name in ["run.json", "journal"] {
        assert_eq!(refused(text(&dir.path().join(format!("{name}-link")))), [Refusal::OfRun], "{name}");
    }
}

#[test]
fn devices_over_the_record_of_a_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = dir.path().join("library/abc-iops");
    fs::create_dir_all(&run).expect("a run");
    fs::write(run.join("run.json"), "{}").expect("a file");
    let journal = [b"plateau-journal 1\n".as_slice(), &vec![b' '; 33 << 20]].concat();
    fs::write(run.join("journal"), journal).expect("a journal");
    let options = OpenOptions { libraries: vec![dir.path().join("library")], ..OpenOptions::default() };
    let Some(whole) = Loop::over(&run.join("journal"), &[]) else { return };
    assert!(refused(&whole.path).contains(&Refusal::OfRun), "by what it begins with");
    drop(whole);
    let Some(part) = Loop::over(&run.join("journal"), &["--offset", "1048576"]) else { return };
    assert_eq!(refused_with(&part.path, &options), [Refusal::OfRun], "by its library");
}

/// The path that the link shows now belongs to a different file.
#[test]
fn proc_links_may_lead_to_another_file() {
    let dir = support::directory();
    let at = |name: &str| dir.path().join(name);
    let create = |path: &Path| fs::File::create_new(path).and_then(|file| file.set_len(SIZE).map(|()| file));
    let held = create(&at("target")).expect("a file");
    fs::remove_file(at("target")).expect("our own");
    let victim = at("target (deleted)");
    fs::write(&victim, vec![7; SIZE as usize]).expect("a file that holds something");
    let before = fingerprint(&victim);
    for link in ["/proc/self/fd", "/dev/fd"] {
        let link = format!("{link}/{}", held.as_raw_fd());
        let error = device::open(&link, &OpenOptions::default()).expect_err("another file");
        assert_eq!(error.kind(), ErrorKind::Unusable, "{error}");
    }
    assert_eq!(fingerprint(&victim), before);

    fs::create_dir(at("folder")).expect("a folder");
    let folder = fs::File::open(at("folder")).expect("a folder");
    fs::remove_dir(at("folder")).expect("our own");
    fs::create_dir(at("folder (deleted)")).expect("another folder");
    let link = format!("/proc/self/fd/{}/new", folder.as_raw_fd());
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    device::open(&link, &options).expect_err("another folder");
}

#[test]
fn a_file_that_replaced_the_inspected_one() {
    let dir = support::directory();
    let (target, other) = (dir.path().join("target"), dir.path().join("other"));
    fs::File::create(&target).and_then(|file| file.set_len(SIZE)).expect("a file of holes");
    fs::write(&other, vec![7; SIZE as usize]).expect("a file that holds something");
    let before = fingerprint(&other);
    for confirmed in [None, Some("target")] {
        let drive = device::open(text(&target), &OpenOptions::default()).expect("a file");
        let swap = || {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            rustix::fs::renameat_with(rustix::fs::CWD, &target, rustix::fs::CWD, &other, flags)
        };
        swap().expect("exchanged");
        let error = drive.arm(confirmed).expect_err("another file");
        assert!(error.to_string().contains("no longer the file"), "{error}");
        swap().expect("exchanged back");
        assert_eq!(fingerprint(&other), before);
    }
}

#[test]
fn a_link_in_place_of_a_new_file() {
    let dir = support::directory();
    let (target, victim) = (dir.path().join("target"), dir.path().join("victim"));
    fs::write(&victim, vec![7; SIZE as usize]).expect("a file that holds something");
    let before = fingerprint(&victim);
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let drive = device::open(text(&target), &options).expect("a file to be");
    symlink(&victim, &target).expect("a link");
    let error = drive.arm(None).expect_err("something is there by now");
    assert_eq!(error.kind(), ErrorKind::Unusable, "{error}");
    assert_eq!(fingerprint(&victim), before);
    assert!(target.is_symlink(), "what was planted stays");
}

/// The race itself: two files are exchanged continuously, and the file with data must never be armed without
/// confirmation.
#[test]
fn files_that_are_exchanged_continuously() {
    let dir = support::directory();
    let (target, other) = (dir.path().join("target"), dir.path().join("other"));
    fs::File::create(&target).and_then(|file| file.set_len(SIZE)).expect("a file of holes");
    let precious =
        fs::OpenOptions::new().read(true).write(true).create_new(true).open(&other).expect("a file");
    precious.set_len(SIZE).expect("a length");
    precious.write_all_at(&[7; 4096], 0).expect("data");
    let inode = std::os::unix::fs::MetadataExt::ino(&precious.metadata().expect("a file"));
    drop(precious);
    let holds = |path: &Path| {
        let mut first = [0; 1];
        fs::File::open(path).and_then(|file| file.read_exact_at(&mut first, 0)).is_ok() && first == [7]
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Stop on failure as well, because the scope would otherwise wait forever.
        let _stop = Raised(&stop);
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let _ = rustix::fs::renameat_with(rustix::fs::CWD, &target, rustix::fs::CWD, &other, flags);
                std::thread::yield_now();
            }
        });
        for _ in 0..200 {
            if let Ok(drive) = device::open(text(&target), &OpenOptions::default())
                && let Ok(armed) = drive.arm(None)
            {
                // Whichever file was armed, the file with data must not be open for writing.
                assert!(!has_open(inode), "a file with data was armed");
                drop(armed);
            }
        }
    });
    assert!(holds(&target) != holds(&other), "the data is still there");
}

/// Sets a flag on drop.
struct Raised<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Returns whether this process has a file with this inode open for writing.
fn has_open(inode: u64) -> bool {
    let entries = fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
    entries.into_iter().any(|entry| {
        let is_it =
            fs::metadata(entry.path()).is_ok_and(|meta| std::os::unix::fs::MetadataExt::ino(&meta) == inode);
        let info =
            fs::read_to_string(Path::new("/proc/self/fdinfo").join(entry.file_name())).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).map(str::trim).unwrap_or("0");
        is_it && i32::from_str_radix(flags, 8).unwrap_or(0) & libc::O_ACCMODE != libc::O_RDONLY
    })
}

/// A file created by Plateau is used only through the descriptor that created it.
#[test]
fn a_created_file_is_never_reopened_by_name() {
    let dir = support::directory();
    let target = dir.path().join("target");
    let options = OpenOptions { size_bytes: Some(SIZE), ..OpenOptions::default() };
    let armed = device::open(text(&target), &options).expect("a file to be").arm(None).expect("a new file");
    let made = fs::metadata(&target).expect("a file");
    let inode = std::os::unix::fs::MetadataExt::ino(&made);
    assert!(has_open(inode));
    drop(armed);
    let probe = fs::File::open(&target).expect("a file");
    assert!(probe.as_raw_fd() >= 0 && !has_open(inode));
}

/// Shifts the offset of a loop device by 1 MiB (`LOOP_SET_STATUS64`).
const MOVE: &str = "
f = os.open(sys.argv[1], os.O_RDONLY)
info = bytearray(232)
fcntl.ioctl(f, 0x4c05, info)
struct.pack_into('Q', info, 24, 1 << 20)
try:
    fcntl.ioctl(f, 0x4c04, bytes(info))
except OSError as error:
    sys.exit(print(f'skip: the kernel does not move a claimed device: {error}'))";

/// Tries both the target itself and a device below it.
#[test]
fn a_loop_device_that_is_moved_to_other_bytes_during_a_run() {
    for is_below in [false, true] {
        let Some(lower) = Loop::new(2 * SIZE, &["--sizelimit", "64M"]) else { return };
        let upper = if is_below { Loop::over(Path::new(&lower.path), &[]) } else { None };
        let target = upper.as_ref().unwrap_or(&lower).path.clone();
        let mut armed = support::armed(&target, &OpenOptions::default());
        support::finish(&mut armed, &support::workload(SIZE));
        if Holder::new(MOVE, &lower.path).is_none() {
            return;
        }
        let before = fingerprint(&lower.image);
        let moved = armed.run(&support::workload(SIZE), &mut |_| engine::Flow::Continue);
        let error = moved.expect_err("other bytes");
        assert_eq!(error.kind(), ErrorKind::Device, "{error}");
        assert!(error.to_string().contains("LOOP_SET_STATUS64"), "{error}");
        assert_eq!(fingerprint(&lower.image), before);
    }
}

#[test]
fn a_file_that_comes_into_use_during_a_run() {
    let file = support::file_of(SIZE);
    let mut armed = support::armed(text(file.path()), &OpenOptions::default());
    support::finish(&mut armed, &support::workload(SIZE));
    // A process that only reads the file does not prevent a test.
    let reader = fs::File::open(file.path()).expect("a file");
    support::finish(&mut armed, &support::workload(SIZE));
    drop(reader);
    let Some(_device) = Loop::over(file.path(), &[]) else { return };
    let before = fingerprint(file.path());
    let used = armed.run(&support::workload(SIZE), &mut |_| engine::Flow::Continue);
    let error = used.expect_err("a loop device");
    assert_eq!(error.kind(), ErrorKind::Device, "{error}");
    assert!(error.to_string().contains("started to use"), "{error}");
    assert_eq!(fingerprint(file.path()), before);
}
