//! The interface to whatever creates arrays, and the environment it runs in: programs and kernel attributes.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use record::Purged;

use super::hardware::Hardware;
use super::note::NotedMember;
use crate::clock::Clock;
use crate::error::DriveError;
use crate::{Flow, PurgeOptions, Purging};

/// Creates arrays and dismantles them.
pub(crate) trait ArrayController: Send {
    /// Returns name and version; an error where it is unavailable.
    fn version(&mut self) -> Result<String, DriveError>;

    /// Creates the array and returns its node. Must not prompt on a terminal, and writes only metadata.
    fn create(&mut self, plan: &Plan) -> Result<PathBuf, DriveError>;

    /// Verifies that a block device is the array that was created.
    fn recognise(&mut self, plan: &Plan, found: &Found) -> Result<(), DriveError>;

    /// Starts the initial synchronisation of the members where it does not start by itself. Destroys everything on
    /// the array, which is open and verified at this point.
    fn begin(&mut self, plan: &Plan) -> Result<(), DriveError>;

    /// Returns the state of the array.
    fn state(&mut self, plan: &Plan) -> Result<State, DriveError>;

    /// Stops the array, under whatever name it is found; a missing array is not an error.
    fn stop(&mut self, plan: &Plan) -> Result<(), DriveError>;

    /// Removes the membership in this array from a drive and verifies that; other drives remain unchanged. `false`
    /// where the drive cannot be found.
    fn free(&mut self, plan: &Plan, member: &NotedMember) -> Result<bool, DriveError>;

    /// Purges members that only the controller sees. Block devices are purged individually instead.
    fn purge(
        &mut self,
        plan: &Plan,
        options: &PurgeOptions,
        clock: Clock,
        on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
    ) -> Result<Vec<Purged>, DriveError>;
}

/// A block device that may be the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) node: String,
    /// Kernel names of the underlying devices.
    pub(crate) lower: Vec<String>,
    /// World-wide name as reported by the kernel.
    pub(crate) wwid: Option<String>,
}

/// An array to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) level: u8,
    pub(crate) chunk_kib: Option<u32>,
    pub(crate) bitmap: bool,
    /// Kernel name: `md127`.
    pub(crate) name: String,
    /// Identifies the array.
    pub(crate) uuid: String,
    /// Nodes of the members, with links resolved; addresses on a RAID controller.
    pub(crate) members: Vec<PathBuf>,
    /// Space used on each member; none for level 0.
    pub(crate) component_kib: Option<u64>,
    /// Settings of a RAID controller.
    pub(crate) hardware: Option<Hardware>,
}

/// State of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// All members work, and no background operation is running.
    Whole,
    /// The members are being synchronised: operation, and share completed.
    Syncing(String, f64),
    /// It is no longer as created: reason.
    Broken(String),
}

/// Outcome of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) success: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Returns the last line that it printed.
    pub(crate) fn last_words(&self) -> &str {
        let text = if self.err.trim().is_empty() { &self.out } else { &self.err };
        text.trim().lines().last().unwrap_or("it printed nothing")
    }
}

/// The environment outside of this process.
pub(crate) trait Outside: Send {
    /// Runs a program to completion, without a terminal.
    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ran>;
    /// Returns a trimmed attribute of a block device; `None` where missing.
    fn attribute(&mut self, device: &str, name: &str) -> Option<String>;
    /// Writes an attribute of a block device.
    fn set_attribute(&mut self, device: &str, name: &str, value: &str) -> io::Result<()>;
    /// Kernel names of all block devices.
    fn devices(&mut self) -> io::Result<Vec<String>>;
    /// Waits.
    fn pause(&mut self, time: Duration);
}

/// This host.
#[derive(Debug)]
pub(crate) struct Host;

const BLOCK: &str = "/sys/class/block";

impl Outside for Host {
    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ran> {
        let output = crate::program::command(program)?
            .args(arguments)
            // Keeps Ctrl-C from the program: interrupted midway, it would leave an unknown state.
            .process_group(0)
            .stdin(Stdio::null())
            .output()?;
        log::info!("{program} {}: {}", arguments.join(" "), output.status);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ran { success: output.status.success(), out: text(output.stdout), err: text(output.stderr) })
    }

    fn attribute(&mut self, device: &str, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(Path::new(BLOCK).join(device).join(name)).ok()?;
        Some(text.trim().to_owned())
    }

    fn set_attribute(&mut self, device: &str, name: &str, value: &str) -> io::Result<()> {
        std::fs::write(Path::new(BLOCK).join(device).join(name), value)
    }

    fn devices(&mut self) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(BLOCK)?.collect::<io::Result<Vec<_>>>()?;
        let mut names: Vec<String> =
            entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
