//! A run that was sent the stop signal.

use launch::Process;

/// A run and the process that was sent the stop signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub run: String,
    /// None if the server could not identify the process.
    pub process: Option<Process>,
    /// Number of times that the run had been resumed, according to its journal.
    pub resumed: usize,
}

impl Stopped {
    /// Returns whether the process that `asked` would signal has already received this signal. The journal alone does
    /// not show this: a process that resumes a run works for a long time before it records that, for example while
    /// it restores a simulated drive.
    pub fn includes(&self, asked: &Self) -> bool {
        self.run == asked.run
            && match (self.process, asked.process) {
                (Some(known), Some(asked)) => known == asked,
                _ => self.resumed == asked.resumed,
            }
    }
}
