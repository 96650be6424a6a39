//! The options of a job that request logs.

/// The logs that a job requests. Each value is the beginning of a file name; if it is empty, the name of the
/// job is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    pub(crate) bandwidth: Option<String>,
    pub(crate) latency: Option<String>,
    pub(crate) iops: Option<String>,
    pub(crate) histogram: Option<String>,
    /// Number of intervals that a line averages; 0 if it was not specified.
    pub(crate) intervals: u32,
    /// The same for a line of the histogram log.
    pub(crate) histogram_intervals: u32,
    /// How often the number of bins of a histogram is halved.
    pub(crate) coarseness: u8,
    /// Whether each line shows a priority.
    pub(crate) shows_priority: bool,
}

impl Logs {
    pub(crate) fn is_none(&self) -> bool {
        [&self.bandwidth, &self.latency, &self.iops, &self.histogram].iter().all(|log| log.is_none())
    }
}
