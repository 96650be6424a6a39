//! The environment of array controllers: programs and kernel attributes.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Result of running a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) success: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Returns the last line that the program printed.
    pub(crate) fn last_words(&self) -> &str {
        let text = if self.err.trim().is_empty() { &self.out } else { &self.err };
        text.trim().lines().last().unwrap_or("it printed nothing")
    }
}

/// Access to the programs and attributes of this host.
pub(crate) trait Outside: Send {
    /// Runs a program to completion, without a terminal.
    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ran>;
    /// Returns a block device's attribute, trimmed; `None` if it is missing.
    fn attribute(&mut self, device: &str, name: &str) -> Option<String>;
    /// Writes an attribute of a block device.
    fn set_attribute(&mut self, device: &str, name: &str, value: &str) -> io::Result<()>;
    /// Returns the kernel names of all block devices.
    fn devices(&mut self) -> io::Result<Vec<String>>;
    /// Waits.
    fn pause(&mut self, time: Duration);
}

/// This host.
#[derive(Debug)]
pub(crate) struct Host;

/// All block devices of this host.
pub(super) const BLOCK_DEVICES: &str = "/sys/class/block";

impl Outside for Host {
    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ran> {
        let output = crate::program::command(program)?
            .args(arguments)
            // Ctrl-C must not reach the program: an interruption would leave the array in an unknown state.
            .process_group(0)
            .stdin(Stdio::null())
            .output()?;
        log::info!("{program} {}: {}", arguments.join(" "), output.status);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ran { success: output.status.success(), out: text(output.stdout), err: text(output.stderr) })
    }

    fn attribute(&mut self, device: &str, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(Path::new(BLOCK_DEVICES).join(device).join(name)).ok()?;
        Some(text.trim().to_owned())
    }

    fn set_attribute(&mut self, device: &str, name: &str, value: &str) -> io::Result<()> {
        std::fs::write(Path::new(BLOCK_DEVICES).join(device).join(name), value)
    }

    fn devices(&mut self) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(BLOCK_DEVICES)?.collect::<io::Result<Vec<_>>>()?;
        let mut names: Vec<String> =
            entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
