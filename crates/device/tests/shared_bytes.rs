//! Targets whose bytes are in use through another path in the storage stack: through the other name of a file
//! on an overlay, or by an exclusive claim further down.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use device::{Access, OpenOptions, Refusal};
use support::users::{Cleanup, Holder, refused, shared, text};
use support::{Loop, command, skip};

const SIZE: u64 = 64 << 20;
/// A Python program that claims a device exclusively without opening it for writing, like a file system that
/// uses a device not listed in the mount table (an external XFS log, for example).
const CLAIM: &str = "f = os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)";
const WRITER: &str = "f = os.open(sys.argv[1], os.O_RDWR)";

fn accepted(target: &str) {
    drop(support::armed(target, &OpenOptions::default()));
}

/// An overlay with `image` in its upper layer and `copied` in its lower layer.
struct Overlay {
    upper: PathBuf,
    lower: PathBuf,
    merged: PathBuf,
    _mount: Cleanup,
    dir: tempfile::TempDir,
}

impl Overlay {
    fn new() -> Option<Self> {
        // Avoid /dev/shm: some kernels do not accept an upper layer on a tmpfs.
        let dir = tempfile::tempdir().expect("a folder");
        let [lower, upper, work, merged] =
            ["lower", "upper", "work", "merged"].map(|name| dir.path().join(name));
        for folder in [&lower, &upper, &work, &merged] {
            fs::create_dir(folder).expect("a folder");
        }
        for file in [upper.join("image"), lower.join("copied")] {
            fs::File::create(file).and_then(|file| file.set_len(SIZE)).expect("an image");
        }
        let layers = [("lowerdir", &lower), ("upperdir", &upper), ("workdir", &work)];
        let options = layers.map(|(name, folder)| format!("{name}={}", text(folder))).join(",");
        command("mount", &["-t", "overlay", "overlay", "-o", &options, text(&merged)])
            .map_err(|why| skip(&why))
            .ok()?;
        let mount = Cleanup("umount", vec![text(&merged).to_owned()]);
        Some(Self { upper, lower, merged, _mount: mount, dir })
    }
}

#[test]
fn files_of_an_overlay_whose_layer_is_in_use() {
    let Some(overlay) = Overlay::new() else { return };
    let target = overlay.merged.join("image");
    accepted(text(&target));
    let Some(device) = Loop::over(&overlay.upper.join("image"), &[]) else { return };
    assert!(shared(&refused(text(&target))));
    drop(device);
    let Some(_device) = Loop::over(&overlay.lower.join("copied"), &[]) else { return };
    // Writes go to a copy in the upper layer.
    accepted(text(&overlay.merged.join("copied")));
}

#[test]
fn devices_over_both_names_of_a_file_on_an_overlay() {
    let Some(overlay) = Overlay::new() else { return };
    let names = [overlay.merged.join("image"), overlay.upper.join("image")];
    for (used, target) in [(&names[0], &names[1]), (&names[1], &names[0])] {
        let Some(other) = Loop::over(used, &[]) else { return };
        let Some(device) = Loop::over(target, &["--offset", "1M"]) else { return };
        assert!(shared(&refused(&device.path)), "{} below the target", target.display());
        drop(other);
        accepted(&device.path);
        let holder = Holder::new(WRITER, text(used));
        let found = refused(&device.path);
        assert!(written(&found), "{}: {found:?}", target.display());
        drop(holder);
        accepted(&device.path);
    }
}

/// A directory that was later mounted over the upper layer is not the upper layer.
#[test]
fn files_of_an_overlay_whose_layer_cannot_be_seen() {
    let Some(overlay) = Overlay::new() else { return };
    let empty = overlay.dir.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let Some(_device) = Loop::over(&overlay.upper.join("image"), &[]) else { return };
    command("mount", &["--bind", text(&empty), text(&overlay.upper)]).expect("a bind mount");
    let _cover = Cleanup("umount", vec![text(&overlay.upper).to_owned()]);
    let target = overlay.merged.join("image");
    for _ in 0..2 {
        let found = refused(text(&target));
        assert!(matches!(found[..], [Refusal::UnknownUser { .. }]), "{found:?}");
        // A different file with the same name.
        fs::File::create(empty.join("image")).and_then(|file| file.set_len(SIZE)).expect("an image");
    }
}

fn written(found: &[Refusal]) -> bool {
    found.iter().any(|refusal| matches!(refusal, Refusal::OpenBy { access: Access::Writing, .. }))
}

/// Containers mount single files in this way.
#[test]
fn a_file_of_an_overlay_that_is_a_mount_point_elsewhere() {
    let Some(overlay) = Overlay::new() else { return };
    let bound = overlay.dir.path().join("bound");
    fs::write(&bound, "").expect("a mount point");
    command("mount", &["--bind", text(&overlay.merged.join("image")), text(&bound)]).expect("a bind mount");
    let _bound = Cleanup("umount", vec![text(&bound).to_owned()]);
    accepted(text(&bound));
    let Some(device) = Loop::over(&overlay.upper.join("image"), &["--offset", "1M"]) else { return };
    accepted(&device.path);
    let Some(holder) = Holder::new(WRITER, text(&bound)) else { return };
    assert!(written(&refused(&device.path)));
    drop(holder);
    accepted(&device.path);
}

/// The mount table shows the mount point beneath the overlay, but not the file to which its path refers.
#[test]
fn a_file_of_an_overlay_that_is_mounted_over_another_mount() {
    let dir = tempfile::tempdir().expect("a folder");
    let [upper, work, merged] = ["upper", "work", "merged"].map(|name| dir.path().join(name));
    let [inner, covered] = [upper.join("inner"), merged.join("inner")];
    for folder in [&inner, &work, &covered] {
        fs::create_dir_all(folder).expect("a folder");
    }
    fs::File::create(inner.join("image")).and_then(|file| file.set_len(SIZE)).expect("an image");
    command("mount", &["-t", "tmpfs", "covered", text(&covered)]).expect("a tmpfs");
    let _covered = Cleanup("umount", vec![text(&covered).to_owned()]);
    let lower = dir.path().join("lower");
    fs::create_dir(&lower).expect("a folder");
    let options = format!("lowerdir={},upperdir={},workdir={}", text(&lower), text(&upper), text(&work));
    if let Err(why) = command("mount", &["-t", "overlay", "overlay", "-o", &options, text(&merged)]) {
        return skip(&why);
    }
    let _mount = Cleanup("umount", vec![text(&merged).to_owned()]);
    let Some(device) = Loop::over(&inner.join("image"), &[]) else { return };
    let Some(_holder) = Holder::new(WRITER, text(&covered.join("image"))) else { return };
    assert!(written(&refused(&device.path)));
}

/// Reads through the overlay come from the lower layer.
#[test]
fn a_lower_layer_that_is_read_through_the_overlay() {
    let Some(overlay) = Overlay::new() else { return };
    let [lower, merged] = [&overlay.lower, &overlay.merged].map(|layer| layer.join("copied"));
    let Some(_reader) = Loop::over(&merged, &["--read-only"]) else { return };
    assert!(!refused(text(&lower)).is_empty());
    let Some(device) = Loop::over(&lower, &["--offset", "1M"]) else { return };
    assert!(shared(&refused(&device.path)));
}

fn with_partition(image: Option<&Path>) -> Option<Loop> {
    let device = match image {
        None => Loop::new(SIZE, &["--partscan"])?,
        Some(image) => Loop::over(image, &["--partscan"])?,
    };
    command("addpart", &[&device.path, "1", "2048", "65536"]).map_err(|why| skip(&why)).ok()?;
    Some(device)
}

/// The external log of a mounted XFS is an example of a device that is claimed but not in the mount table.
#[test]
fn a_claimed_device_with_partitions() {
    let Some(disk) = with_partition(None) else { return };
    let Some(over) = Loop::over(Path::new(&disk.path), &["--offset", "40MiB"]) else { return };
    accepted(&over.path);
    let Some(claim) = Holder::new(CLAIM, &disk.path) else { return };
    assert_eq!(refused(&over.path), [Refusal::Busy]);
    drop(claim);
    // A mounted partition elsewhere on the disk does not interfere.
    let partition = format!("{}p1", disk.path);
    let at = tempfile::tempdir().expect("a folder");
    let mounted = command("mkfs.ext4", &["-q", &partition])
        .and_then(|_| command("mount", &["-o", "ro", &partition, text(at.path())]));
    if let Err(why) = mounted {
        return skip(&why);
    }
    let _mount = Cleanup("umount", vec![text(at.path()).to_owned()]);
    accepted(&over.path);
    let Some(inside) = Loop::over(Path::new(&disk.path), &["--offset", "20MiB"]) else { return };
    assert!(shared(&refused(&inside.path)));
}

#[test]
fn a_claimed_device_below_the_disk_of_a_partition() {
    let Some(lowest) = Loop::new(SIZE, &[]) else { return };
    let Some(disk) = with_partition(Some(Path::new(&lowest.path))) else { return };
    let Some(over) = Loop::over(Path::new(&format!("{}p1", disk.path)), &[]) else { return };
    accepted(&over.path);
    for claimed in [lowest.path.clone(), disk.path.clone(), format!("{}p1", disk.path)] {
        let Some(claim) = Holder::new(CLAIM, &claimed) else { return };
        assert_eq!(refused(&over.path), [Refusal::Busy], "{claimed}");
        drop(claim);
    }
    accepted(&over.path);
}

#[test]
fn many_loop_devices_above_a_claimed_one() {
    const LAYERS: usize = 40;
    let Some(lowest) = Loop::new(SIZE, &[]) else { return };
    let mut stack: Vec<Loop> = Vec::new();
    for _ in 0..LAYERS {
        let below = stack.last().unwrap_or(&lowest).path.clone();
        let Some(upper) = Loop::over(Path::new(&below), &[]) else { return };
        stack.push(upper);
    }
    let top = stack.last().expect("layers").path.clone();
    accepted(&top);
    let Some(claim) = Holder::new(CLAIM, &lowest.path) else { return };
    assert_eq!(refused(&top), [Refusal::Busy]);
    drop(claim);
    // Detach the layers from the top down.
    while stack.pop().is_some() {}
}

/// The kernel allows stacks of two overlays, where the lower layer of the upper overlay is on the lower overlay.
#[test]
fn a_lower_layer_on_another_overlay() {
    let Some(lower) = Overlay::new() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let [upper, work, merged] = ["upper", "work", "merged"].map(|name| dir.path().join(name));
    for folder in [&upper, &work, &merged] {
        fs::create_dir(folder).expect("a folder");
    }
    let layers = [("lowerdir", &lower.merged), ("upperdir", &upper), ("workdir", &work)];
    let options = layers.map(|(name, folder)| format!("{name}={}", text(folder))).join(",");
    if let Err(why) = command("mount", &["-t", "overlay", "overlay", "-o", &options, text(&merged)]) {
        return skip(&why);
    }
    let _mount = Cleanup("umount", vec![text(&merged).to_owned()]);
    let Some(device) = Loop::over(&lower.upper.join("image"), &["--offset", "1M"]) else { return };
    accepted(&device.path);
    let Some(reader) = Loop::over(&merged.join("image"), &["--read-only"]) else { return };
    assert!(shared(&refused(&device.path)));
    drop(reader);
    accepted(&device.path);
}

/// `ip netns add` and Docker mount network namespaces in this way.
#[test]
fn a_mounted_network_namespace_uses_no_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path().join("namespace");
    fs::write(&at, "").expect("a mount point");
    let mount = ["--net", "mount", "--bind", "/proc/self/ns/net", text(&at)];
    if let Err(why) = command("unshare", &mount) {
        return skip(&why);
    }
    let _mount = Cleanup("umount", vec![text(&at).to_owned()]);
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    accepted(&device.path);
    accepted(text(support::file_of(SIZE).path()));
}

/// In a new PID namespace without its own `/proc`, this process has a different ID in `/proc`.
#[test]
fn a_process_in_another_pid_namespace_recognizes_itself() {
    const INSIDE: &str = "PLATEAU_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        if let Some(device) = Loop::new(SIZE, &[]) {
            accepted(&device.path);
        }
        println!("{INSIDE}");
        return;
    }
    let test = "a_process_in_another_pid_namespace_recognizes_itself";
    let own = std::env::current_exe().expect("a program");
    let inside = std::process::Command::new("unshare")
        .args(["--fork", "--pid", text(&own), "--exact", test, "--nocapture"])
        .env("LC_ALL", "C")
        .env(INSIDE, "1")
        .output();
    match inside {
        Err(why) => skip(&format!("unshare: {why}")),
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("unshare failed") => {
            skip("no PID namespaces");
        }
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && printed.contains(INSIDE), "{printed}");
        }
    }
}

/// A file that is passed from process to process, each of which ends immediately.
#[test]
fn a_file_passed_on_by_short_lived_processes() {
    let Some(device) = Loop::new(SIZE, &[]) else { return };
    const CHAIN: &str = "
import time
f = os.open(sys.argv[1], os.O_RDWR)
quiet = os.pipe()
if os.fork():
    os.close(f)
else:
    os.close(0), os.close(1), os.close(quiet[1])
    os.set_blocking(quiet[0], False)
    while True:
        time.sleep(0.002)
        if os.fork():
            os._exit(0)
        try:
            if os.read(quiet[0], 1) == b'': os._exit(0)
        except BlockingIOError:
            pass";
    let Some(_holder) = Holder::new(CHAIN, text(&device.image)) else { return };
    for _ in 0..3 {
        assert!(!refused(&device.path).is_empty());
    }
}
