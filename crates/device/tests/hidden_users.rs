//! Users of a file that do not appear in any process: mounts in namespaces without processes or outside any
//! namespace, and loop devices whose file system does not respond.
//!
//! While one of these users exists, nearly every device over a file is refused, including those of other
//! tests. Therefore, this binary runs alone (`ALONE` in `xtask/src/test.rs`), one test at a time, and each
//! test keeps its user for as short a time as possible.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use device::{OpenOptions, Refusal};
use support::storage_daemon::{Behaviour, StorageDaemon};
use support::users::{Cleanup, Holder, refused, text};
use support::{Loop, command, skip};

const SIZE: u64 = 64 << 20;

fn one_at_a_time() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An EROFS image `F`, padded to `SIZE`, with a mount point `m` in the same folder.
struct Image {
    path: PathBuf,
    dir: tempfile::TempDir,
}

impl Image {
    fn new() -> Option<Self> {
        // Avoid tmpfs, whose files cannot be mounted directly.
        let dir = tempfile::tempdir().expect("a folder");
        let [path, content, at] = ["F", "content", "m"].map(|name| dir.path().join(name));
        for folder in [&content, &at] {
            fs::create_dir(folder).expect("a folder");
        }
        fs::write(content.join("file"), "text").expect("a file");
        command("mkfs.erofs", &[text(&path), text(&content)]).map_err(|why| skip(&why)).ok()?;
        fs::File::options().write(true).open(&path).and_then(|file| file.set_len(SIZE)).expect("an image");
        Some(Self { path, dir })
    }
}

/// Mounts the image `F` in a new mount namespace.
const MOUNT: &str = "
import threading
def private():
    libc.unshare(0x20200)
    libc.mount(b'none', b'/', None, 0x44000, None)
    os.chdir(os.path.dirname(sys.argv[1]))
    libc.mount(sys.argv[1].encode(), b'm', b'erofs', 1, None) and sys.exit(print('skip: no EROFS in files'))
def elsewhere(then):
    done = threading.Event()
    def thread():
        private()
        then()
        done.set()
        if keeps: threading.Event().wait()
    thread = threading.Thread(target=thread, daemon=True)
    thread.start()
    done.wait(10)
    keeps or thread.join()
    return thread
keeps = False";

/// Ways to hide a mount, each with the expected result of the search.
const HIDDEN: &[(&str, &str, bool)] = &[
    (
        "detached, with an open file",
        "private()\nf = os.open('m/file', os.O_RDONLY)\nlibc.umount2(b'm', 2)",
        false,
    ),
    ("in the namespace of a thread", "keeps = True\nelsewhere(lambda: None)", true),
    (
        "in a namespace that a descriptor keeps",
        "elsewhere(lambda: globals().update(f = os.open('/proc/thread-self/ns/mnt', os.O_RDONLY)))",
        true,
    ),
];

#[test]
fn devices_over_an_image_that_is_mounted_out_of_sight() {
    let _alone = one_at_a_time();
    let Some(image) = Image::new() else { return };
    for (how, code, is_found) in HIDDEN {
        assert_eq!(built_on_file(&image.path), []);
        let Some(holder) = Holder::new(&format!("{MOUNT}\n{code}"), text(&image.path)) else { return };
        let in_its_place = built_on_file(&image.path);
        let Some(device) = Loop::over(&image.path, &["--offset", "32M"]) else { return };
        let found = refused(&device.path);
        drop(holder);
        assert_eq!(found.iter().any(is_mounted), *is_found, "{how}: {found:?}");
        let unknown = |refusal: &Refusal| refusal.to_string().contains("no mount table shows");
        assert_eq!(found.iter().any(unknown), !is_found, "{how}: {found:?}");
        // No output may replace the image.
        assert!(!in_its_place.is_empty(), "{how}");
        drop(support::armed(&device.path, &OpenOptions::default()));
    }
}

/// Returns what is built on a file.
fn built_on_file(path: &std::path::Path) -> Vec<Refusal> {
    device::built_on_files([path]).into_iter().map(|(_, user)| user).collect()
}

fn is_mounted(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Mounted { .. })
}

/// snapd keeps namespaces in this way: `mount --bind /proc/PID/ns/mnt FILE`.
#[test]
fn devices_over_an_image_that_is_mounted_in_a_namespace_without_processes() {
    let _alone = one_at_a_time();
    let Some(image) = Image::new() else { return };
    let kept = image.dir.path().join("namespace");
    fs::write(&kept, "").expect("a mount point");
    let code = "
keeps = True
thread = elsewhere(lambda: None)
link = f'/proc/self/task/{thread.native_id}/ns/mnt'
if libc.mount(link.encode(), b'namespace', None, 0x1000, None): sys.exit(print('skip: no mount of a namespace'))";
    // A namespace can be mounted only in an older namespace.
    let code = format!("{MOUNT}\nos.chdir(os.path.dirname(sys.argv[1]))\n{code}");
    let Some(device) = Loop::over(&image.path, &["--offset", "32M"]) else { return };
    let Some(holder) = Holder::new(&code, text(&image.path)) else { return };
    drop(holder);
    let mounted = Cleanup("umount", vec![text(&kept).to_owned()]);
    let found = refused(&device.path);
    drop(mounted);
    assert!(found.iter().any(is_mounted), "{found:?}");
    assert!(found.iter().any(|refusal| refusal.to_string().contains(text(&kept))), "{found:?}");
    drop(support::armed(&device.path, &OpenOptions::default()));
}

/// The driver of the loop device waits for the server forever.
#[test]
fn a_loop_device_whose_file_server_has_stopped() {
    let _alone = one_at_a_time();
    let dir = support::directory();
    let mut daemon = match StorageDaemon::start(dir.path(), 32 << 20, Behaviour::default()) {
        Ok(daemon) => daemon,
        Err(why) => return skip(&why),
    };
    // An open file without a lease, so that every unknown user counts. Inspecting a target would take longer.
    let file = support::file_of(SIZE);
    let _open = file.open();
    assert_eq!(built_on_file(file.path()), []);
    daemon.pause();
    // Until a process waits, the kernel still has the attributes of the backing file in its cache.
    let mut waiting = waiting_for(&fs::canonicalize(dir.path()).expect("a folder").join("export"));
    let (path, (answer, answers)) = (file.path().to_owned(), std::sync::mpsc::channel());
    std::thread::spawn(move || answer.send(built_on_file(&path)));
    let found = answers.recv_timeout(NO_HANG);
    daemon.continue_process();
    let ended = waiting.wait();
    let found = found.expect("no hang");
    let name = daemon.device.trim_start_matches("/dev/");
    let named = |refusal: &Refusal| {
        let text = refusal.to_string();
        text.contains(name) && text.contains("has not answered")
    };
    assert!(found.iter().any(named), "{found:?}");
    assert!(ended.is_ok_and(|status| status.success()));
    // Responses may arrive in any order.
    let begun = Instant::now();
    while !built_on_file(file.path()).is_empty() {
        assert!(begun.elapsed() < NO_HANG, "it has answered");
    }
}

/// Far longer than the deadline on any machine.
const NO_HANG: Duration = Duration::from_secs(60);

/// Returns a process that waits for a file's server.
fn waiting_for(file: &Path) -> Child {
    let begun = Instant::now();
    while begun.elapsed() < NO_HANG {
        let mut child = Command::new("stat").arg(file).stdout(Stdio::null()).spawn().expect("a process");
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(10));
            if child.try_wait().expect("a process").is_some() {
                break;
            }
        }
        if child.try_wait().expect("a process").is_none() {
            return child;
        }
    }
    panic!("the server has not stopped");
}
