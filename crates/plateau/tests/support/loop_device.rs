//! Loop devices over images that a test makes.

use std::path::Path;
use std::process::Command;

use super::Bench;

pub const SIZE: u64 = 32 << 20;

/// A loop device, detached when dropped.
pub struct Loop(pub String);

impl Loop {
    pub fn new(image: &Path, options: &[&str]) -> Option<Self> {
        std::fs::File::create(image).and_then(|f| f.set_len(SIZE)).expect("an image");
        let output = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .args(options)
            .arg(image)
            .output()
            .ok()?;
        if !output.status.success() {
            eprintln!("skipped: losetup: {}", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Some(Self(String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        drop(Command::new("losetup").args(["--detach", &self.0]).status());
    }
}

/// What has to be typed to erase `device`.
pub fn identity(bench: &Bench, device: &str) -> String {
    bench.json(&["info", device])["target"]["identity"].as_str().expect("an identity").to_owned()
}
