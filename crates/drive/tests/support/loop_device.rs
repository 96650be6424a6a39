//! Loop devices, each with a number that is its test's alone while the test has it. `losetup --find` gives a number to
//! the next who asks as soon as it is detached, so whoever detaches late or attaches anew meets somebody else's device.
//! Uses nothing but std, so that other crates' tests can include this file.

use std::any::Any;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Far above the lowest free number, which is what `losetup --find` and `mount -o loop` take.
const FIRST_NUMBER: u32 = 1000;
const NUMBERS: u32 = 1000;
/// How long a detached device may stay in use, for example by the ring of a killed process. Only a bug takes this long.
const LONGEST_USE: Duration = Duration::from_secs(60);

/// A loop device over an image; detached when dropped, if it still has that image.
pub struct Loop {
    /// `/dev/loop1000`.
    pub path: String,
    pub image: PathBuf,
    /// Kept until the device is detached, such as the folder of its image.
    pub kept: Option<Box<dyn Any>>,
    /// The image by the name that the kernel gives it.
    attached: Option<String>,
    has_own_node: bool,
    number: Number,
}

impl Loop {
    /// A device over a file or device that exists; none, with a printed reason, where that is impossible.
    pub fn over(image: &Path, options: &[&str]) -> Option<Self> {
        Self::attached(image, options).inspect_err(|reason| skips::skip!("{reason}")).ok()
    }

    /// The same, with the reason to skip as the error.
    pub fn attached(image: &Path, options: &[&str]) -> Result<Self, String> {
        for number in FIRST_NUMBER..FIRST_NUMBER + NUMBERS {
            let Some(number) = Number::claim(number) else { continue };
            if number.backing_file().is_some() {
                // Left by a test that was killed, or attached by somebody who chose this number.
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

    /// `loop1000` of `/dev/loop1000`.
    pub fn kname(&self) -> &str {
        self.path.trim_start_matches("/dev/")
    }

    /// Puts another image into the same device. The error is a reason to skip: another program, which does not know of
    /// the rights to numbers, has taken it in between.
    pub fn exchange(&mut self, image: &Path) -> Result<(), String> {
        run("losetup", &["--detach", &self.path]).expect("a device that is ours can be detached");
        let before = self.attached.take();
        let detached = Instant::now();
        // Whoever has it open, such as a process that looks at new devices, keeps the old image in it.
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
            // In a container nobody but the test makes nodes.
            run("mknod", &["-m", "600", &self.path, "b", "7", &self.number.value.to_string()])?;
            self.has_own_node = true;
            answer = run("losetup", &arguments);
        }
        answer?;
        self.attached = self.number.backing_file();
        if !options.contains(&"--read-only") && self.number.is_read_only() {
            // A device keeps that setting when it is detached, so a killed test may have left it.
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
            // It is missing only where somebody else has tidied up.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The right to the loop device of a number. Tests agree on it by the name of a socket, which the kernel gives to one
/// process at a time and takes back from a dead one.
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

    /// What is attached. The kernel marks the name of a file that was removed.
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
