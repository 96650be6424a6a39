//! What each kind of chart shows. The crate that draws charts says in one sentence how to read it.

/// What a chart shows, which decides how to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingHint {
    /// Values over rounds.
    Convergence,
    /// The tracking variable over rounds, with its window.
    Window,
    /// The rounds of the window, zoomed.
    Determination,
    /// Values by block size, one series per mix.
    ByBlockSize,
    /// Values by share of reads.
    ByMix,
    /// Columns by block size and mix.
    Columns,
    /// IOPS of a saturated drive, minute by minute.
    Saturation,
    /// Response times of a saturated drive, minute by minute.
    SaturationTimes,
    /// Minutes by amount written.
    OverWritten,
    /// Minutes by drive fills.
    OverFills,
    /// Bursts and idle times.
    Idling,
    /// Access groups one after another.
    AccessGroups,
    /// Values by position on the medium.
    ByPosition,
    /// Writes between measurements.
    PreWrites,
    /// IOPS by queue depth, one series per thread count.
    ByDepth,
    /// Response times by IOPS.
    Intensity,
    /// Rates by outstanding I/Os.
    ByOutstanding,
    /// Response times by outstanding I/Os.
    TimesByOutstanding,
    /// Rates by outstanding I/Os, one series per run.
    Runs,
    /// Columns of CPU load by threads and queue depth.
    Processor,
    /// The rate of a load that lasts for hours.
    Endurance,
    /// The rate of sustained writes by amount written.
    SustainedWrites,
    /// Long cells, one after another.
    CellsOverTime,
    /// Response-time histogram with confidence levels.
    ResponseTimes,
}
