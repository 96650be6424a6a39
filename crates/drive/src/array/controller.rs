//! What makes arrays, behind one interface, and the world that it works in: programs and attributes of the kernel.

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

/// Makes an array and takes it apart again.
pub(crate) trait ArrayController: Send {
    /// What it is, with its version; an error where it cannot be had.
    fn version(&mut self) -> Result<String, DriveError>;

    /// Creates the array; gives its node. Nothing may ask on a terminal, and nothing but metadata is written.
    fn create(&mut self, plan: &Plan) -> Result<PathBuf, DriveError>;

    /// Makes sure that a block device is the array that was created.
    fn recognise(&mut self, plan: &Plan, found: &Found) -> Result<(), DriveError>;

    /// Begins what brings the members to one content, where that does not begin by itself. Everything on the array is
    /// lost; it is open and was checked by now.
    fn begin(&mut self, plan: &Plan) -> Result<(), DriveError>;

    /// How the array is.
    fn state(&mut self, plan: &Plan) -> Result<State, DriveError>;

    /// Stops the array, wherever it is; one that is not there is fine.
    fn stop(&mut self, plan: &Plan) -> Result<(), DriveError>;

    /// Takes what makes a drive a member of this array off it, and makes sure; a drive that is none stays as it is.
    /// `false` where the drive cannot be found.
    fn free(&mut self, plan: &Plan, member: &NotedMember) -> Result<bool, DriveError>;

    /// Purges members that only the controller sees. Those that are block devices are purged as such.
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
    /// Kernel names of the devices that it is built on.
    pub(crate) lower: Vec<String>,
    /// Its world-wide name, as the kernel has it.
    pub(crate) wwid: Option<String>,
}

/// An array to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) level: u8,
    pub(crate) chunk_kib: Option<u32>,
    pub(crate) bitmap: bool,
    /// Name in the kernel: `md127`.
    pub(crate) name: String,
    /// What tells it from every other array.
    pub(crate) uuid: String,
    /// Nodes of the members, without links; behind a controller their addresses.
    pub(crate) members: Vec<PathBuf>,
    /// What is used of each member; none for level 0.
    pub(crate) component_kib: Option<u64>,
    /// What a RAID controller has to be told.
    pub(crate) hardware: Option<Hardware>,
}

/// How an array is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// All members work, and nothing goes on.
    Whole,
    /// It brings its members to one content: what, and how much of it is done.
    Syncing(String, f64),
    /// It is no longer what was created: why.
    Broken(String),
}

/// What a program said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) success: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The last thing that it said.
    pub(crate) fn last_words(&self) -> &str {
        let text = if self.err.trim().is_empty() { &self.out } else { &self.err };
        text.trim().lines().last().unwrap_or("it printed nothing")
    }
}

/// The world outside of this process.
pub(crate) trait Outside: Send {
    /// Runs a program to its end, without a terminal.
    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ran>;
    /// An attribute of a block device, without blanks around it; none where it is not there.
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
            // Ctrl-C is ours: a program that it ends in the middle would leave nobody knows what.
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
