//! Loop devices, fingerprints of contents, and reasons to skip tests. Tests create every device that they
//! use.
#![allow(dead_code, clippy::allow_attributes, reason = "each test binary uses a part of it")]

mod files;
pub mod loop_device;
pub mod seccomp;
pub mod storage_daemon;
pub mod users;
pub mod zram;

use std::process::Command;

use device::OpenOptions;
use engine::{Flow, LoadOutcome};
pub use files::*;
pub use loop_device::Loop;
use record::{Segment, Workload};

/// Prints why a test was skipped.
pub fn skip(reason: &str) {
    skips::skip!("{reason}");
}

/// Runs a program. Returns the output of the program or its error message.
pub fn command(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|e| format!("{program} cannot be run: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

impl Loop {
    /// Creates a device of `bytes` zero bytes. If this is impossible, prints the reason for skipping the test
    /// and returns `None`.
    pub fn new(bytes: u64, options: &[&str]) -> Option<Self> {
        let dir = directory();
        let image = dir.path().join("image");
        std::fs::File::create(&image).and_then(|f| f.set_len(bytes)).expect("an image");
        let mut made = Self::over(&image, options)?;
        made.kept = Some(Box::new(dir));
        Some(made)
    }
}

/// Opens a target and arms it with its own identity.
pub fn armed(path: &str, options: &OpenOptions) -> device::Armed {
    let drive = device::open(path, options).expect("a target");
    let identity = drive.facts().identity.clone();
    drive.arm(Some(&identity)).expect("a target that may be written")
}

/// Runs a workload to completion.
pub fn finish(armed: &mut device::Armed, workload: &Workload) -> Segment {
    match armed.run(workload, &mut |_| Flow::Continue).expect("a run") {
        LoadOutcome::Finished(segment) => segment,
        LoadOutcome::Stopped => panic!("nobody stopped it"),
    }
}
