//! The definition of a power source.

use std::path::PathBuf;

use record::PowerFacts;

use crate::error::PowerError;

/// Reads the drive's maximum power in its current power state, in microwatts; `None` if the drive does not
/// report it.
pub type BoundReader = Box<dyn FnMut() -> Option<u64> + Send>;

/// A type of source.
pub struct Kind {
    /// Its name: `hwmon`.
    pub name: &'static str,
    /// Help text about the argument after the colon; `None` if there is none.
    pub argument: Option<&'static str>,
    /// Help text about what the source measures.
    pub about: &'static str,
    /// Whether the source belongs to a single drive, so that each of several targets can have its own.
    pub is_per_drive: bool,
    /// Whether using the source starts a program or opens a device, in which case only the operator may name
    /// it.
    pub needs_trust: bool,
    /// Opens the source. The first parameter is the text after the colon.
    pub(crate) open: fn(&str, Surroundings) -> Result<Opened, PowerError>,
}

impl Kind {
    /// Syntax of the source, such as `hwmon:NAME`.
    #[must_use]
    pub fn syntax(&self) -> String {
        self.argument.map_or_else(|| self.name.to_owned(), |argument| format!("{}:{argument}", self.name))
    }
}

/// The drive for which a source is looked up.
pub struct Surroundings {
    /// Mount point of sysfs.
    pub sys: PathBuf,
    /// The drive's directory in sysfs, without symbolic links; `None` if there is none.
    pub drive: Option<PathBuf>,
    /// Reads the drive's power state; `None` if it has none.
    pub bound: Option<BoundReader>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self { sys: "/sys".into(), drive: None, bound: None }
    }
}

/// An open source and what it measures.
pub struct Opened {
    /// The meter's properties.
    pub facts: PowerFacts,
    /// The source.
    pub source: Box<dyn Source>,
}

/// When a source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// About once a second during a load.
    EachSecond,
    /// About once a second at all times, because the meter sends unprompted.
    AtAllTimes,
    /// Only before and after a load, because reading it sends a command to the drive.
    AtEnds,
}

/// A reading from a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The power.
    pub watts: f64,
    /// Time that the reading covers; 1 if it is not known.
    pub seconds: f64,
}

impl Sample {
    pub(crate) const fn now(watts: f64) -> Self {
        Self { watts, seconds: 1.0 }
    }
}

/// A power source.
pub trait Source: Send {
    /// Returns when the source may be read.
    fn pace(&self) -> Pace {
        Pace::EachSecond
    }

    /// Starts a measurement; earlier readings do not count. Never waits.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    fn begin(&mut self) -> Result<Vec<Sample>, PowerError> {
        self.read().map(|_| Vec::new())
    }

    /// Returns the power since the previous reading. Never waits.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    fn read(&mut self) -> Result<Vec<Sample>, PowerError>;
}
