//! Loop devices, each with a number that is reserved for its test while in use. `losetup --find` reuses a
//! number as soon as its device is detached, so a late detach or a second attach could affect another
//! process's device. This file depends only on std, so that tests of other crates can include it.

use std::any::Any;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// First number, far above those used by `losetup --find` and `mount -o loop`, which take the lowest free
/// number.
const FIRST_NUMBER: u32 = 1000;
const NUMBERS: u32 = 1000;
/// Time for which a detached device may remain in use, for example by the ring of a killed process. Anything
/// longer indicates a bug.
const LONGEST_USE: Duration = Duration::from_secs(60);

/// A loop device over an image; detached on drop if it still has that image.
pub struct Loop {
    /// For example, `/dev/loop1000`.
    pub path: String,
    pub image: PathBuf,
    /// A value that must outlive the device, such as the temporary directory of its image.
    pub kept: Option<Box<dyn Any>>,
    /// The name of the image as reported by the kernel.
    attached: Option<String>,
    has_own_node: bool,
    number: Number,
}

impl Loop {
    /// Attaches a device to an existing file or device. If this is impossible, prints the reason for skipping
    /// the test and returns `None`.
    pub fn over(image: &Path, options: &[&str]) -> Option<Self> {
        Self::attached(image, options).inspect_err(|reason| skips::skip!("{reason}")).ok()
    }

    /// Same as [`over`](Self::over), but returns the reason to skip as an error.
    pub fn attached(image: &Path, options: &[&str]) -> Result<Self, String> {
        for number in FIRST_NUMBER..FIRST_NUMBER + NUMBERS {
            let Some(number) = Number::claim(number) else { continue };
            if number.backing_file().is_some() {
                // A killed test left the device, or another program uses this number.
                continue;
            }
            let mut device = Self {
                path: format!("/dev/loop{}", number.value),
                image: image.to_owned(),
                kept: None,
                attached: None,
                has_own_node: false,
                number,
            };
            match device.attach(image, options) {
                Ok(()) => return Ok(device),
                Err(_) if device.number.backing_file().is_some() => {}
                Err(reason) => return Err(reason),
            }
        }
        Err(format!("all loop devices from loop{FIRST_NUMBER} on are in use"))
    }

    /// Returns `loop1000` for `/dev/loop1000`.
    pub fn kname(&self) -> &str {
        self.path.trim_start_matches("/dev/")
    }

    /// Replaces the device's image. An error is a reason to skip: a program that does not reserve numbers
    /// attached the device in the meantime.
    pub fn exchange(&mut self, image: &Path) -> Result<(), String> {
        run("losetup", &["--detach", &self.path]).expect("a device that is ours can be detached");
        let before = self.attached.take();
        let detached = Instant::now();
        // The old image remains attached as long as any process, such as one that probes new devices, has the
        // device open.
        while before.is_some() && self.number.backing_file() == before {
            assert!(detached.elapsed() < LONGEST_USE, "{} stays in use", self.path);
            std::thread::sleep(Duration::from_millis(5));
        }
        let attached = self.attach(image, &[]);
        assert!(attached.is_ok() || self.number.backing_file().is_some(), "{attached:?}");
        self.image = image.to_owned();
        attached
    }

    fn attach(&mut self, image: &Path, options: &[&str]) -> Result<(), String> {
        let image = image.to_str().ok_or("the path of the image is not UTF-8")?;
        let arguments = [&["--direct-io=on"], options, &[&self.path, image]].concat();
        let mut answer = run("losetup", &arguments);
        if answer.is_err() && self.number.exists() && !Path::new(&self.path).exists() {
            // In a container, no other program creates device nodes.
            run("mknod", &["-m", "600", &self.path, "b", "7", &self.number.value.to_string()])?;
            self.has_own_node = true;
            answer = run("losetup", &arguments);
        }
        answer?;
        self.attached = self.number.backing_file();
        if !options.contains(&"--read-only") && self.number.is_read_only() {
            // A device keeps this setting when it is detached, so it may be left over from a killed test.
            run("blockdev", &["--setrw", &self.path])?;
        }
        Ok(())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let is_ours = self.attached.is_some() && self.number.backing_file() == self.attached;
        if is_ours && let Err(problem) = run("losetup", &["--detach", &self.path]) {
            eprintln!("{problem}");
        }
        if self.has_own_node {
            // The node is missing only if another process has already removed it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A reservation of a loop device number. Tests coordinate through an abstract socket name, which the kernel
/// grants to one process at a time and releases when that process exits.
struct Number {
    value: u32,
    _name: UnixListener,
}

impl Number {
    fn claim(value: u32) -> Option<Self> {
        let name = SocketAddr::from_abstract_name(format!("plateau-test-loop{value}")).ok()?;
        UnixListener::bind_addr(&name).ok().map(|name| Self { value, _name: name })
    }

    fn attribute(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(format!("/sys/block/loop{}/{name}", self.value)).ok()?;
        Some(text.trim().to_owned())
    }

    fn exists(&self) -> bool {
        self.attribute("dev").is_some()
    }

    /// Returns the attached image. The kernel appends a marker to the name of a deleted file.
    fn backing_file(&self) -> Option<String> {
        self.attribute("loop/backing_file").map(|name| name.trim_end_matches(" (deleted)").to_owned())
    }

    fn is_read_only(&self) -> bool {
        self.attribute("ro").is_some_and(|flag| flag == "1")
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|e| format!("{program} cannot be run: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
