//! Processes and mounts that use targets, and the resulting refusals.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use device::{DriveError, ErrorKind, OpenOptions, Refusal};

use super::{command, fingerprint, skip};

/// Runs a clean-up command on drop.
pub struct Cleanup(pub &'static str, pub Vec<String>);

impl Drop for Cleanup {
    fn drop(&mut self) {
        let arguments: Vec<&str> = self.1.iter().map(String::as_str).collect();
        drop(command(self.0, &arguments));
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a printable path")
}

/// Arms the target with its correct identity. Returns the refusals, after checking that the content is unchanged.
#[track_caller]
pub fn refused(target: &str) -> Vec<Refusal> {
    refused_with(target, &OpenOptions::default())
}

#[track_caller]
pub fn refused_with(target: &str, options: &OpenOptions) -> Vec<Refusal> {
    let before = fingerprint(target);
    let drive = device::open(target, options).expect("something to look at");
    let identity = drive.facts().identity.clone();
    let error = drive.arm(Some(&identity)).expect_err("a refusal");
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert_eq!(fingerprint(target), before, "{error}");
    let DriveError::Refused { refusals, .. } = error else { panic!("{error:?}") };
    refusals
}

pub fn shared(refusals: &[Refusal]) -> bool {
    refusals.iter().any(|refusal| matches!(refusal, Refusal::Shared { .. }))
}

/// A process that uses a file in some way and then waits for the end of its input.
pub struct Holder(Child);

impl Holder {
    /// Uses Python, which nearly every distribution includes; `code` reads the path from `sys.argv[1]`.
    pub fn new(code: &str, path: &str) -> Option<Self> {
        let whole = format!(
            "import ctypes, fcntl, mmap, os, struct, sys\nlibc = ctypes.CDLL(None)\n{code}\n\
             print('ready', flush=True)\nsys.stdin.read()"
        );
        let mut child = Command::new("python3");
        let child = child.args(["-c", &whole, path]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = child else {
            skip("no python3");
            return None;
        };
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("a line");
        let holder = Self(child);
        if let Some(reason) = line.strip_prefix("skip: ") {
            skip(reason.trim());
            return None;
        }
        assert_eq!(line, "ready\n");
        Some(holder)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
