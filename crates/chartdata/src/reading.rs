//! The content of each chart type. For each type, the `charts` crate contains a sentence that explains how to
//! read it.

use serde::{Deserialize, Serialize};

/// What a chart shows, which determines how to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadingHint {
    /// Values over rounds.
    Convergence,
    /// The tracking variable over rounds, with its window.
    Window,
    /// The rounds of the window, zoomed.
    Determination,
    /// Values by block size, one series per mix.
    ByBlockSize,
    /// Values by percentage of reads.
    ByMix,
    /// Bars, one per mix.
    Mixes,
    /// A grid of cells, by number of threads and queue depth.
    DemandMap,
    /// One line per round, for several rounds.
    Rounds,
    /// Returns to the baseline after different idle times.
    Returns,
    /// Response times by percentile.
    Tail,
    /// Columns by block size and mix.
    Columns,
    /// IOPS under write saturation, minute by minute.
    Saturation,
    /// Response times under write saturation, minute by minute.
    SaturationTimes,
    /// IOPS under write saturation by amount written.
    OverWritten,
    /// IOPS under write saturation by drive fills.
    OverFills,
    /// Bursts of writes, and the idle times between them.
    Idling,
    /// The access groups, one after another.
    AccessGroups,
    /// Values by position on the medium.
    ByPosition,
    /// Writes between measurements.
    PreWrites,
    /// IOPS by queue depth, one series per thread count.
    ByDepth,
    /// Response times by IOPS.
    Intensity,
    /// Rates by number of outstanding I/Os.
    ByOutstanding,
    /// Response times by number of outstanding I/Os.
    TimesByOutstanding,
    /// Rates by number of outstanding I/Os, one series per run.
    Runs,
    /// Any quantity, one series per run.
    OverlaidRuns,
    /// Columns of CPU load, by number of threads and queue depth.
    Processor,
    /// The rate of a load that lasts for hours.
    Endurance,
    /// One figure from several runs, over time.
    Trend,
    /// The rate of sustained writes by amount written.
    SustainedWrites,
    /// Long cells, one after another.
    CellsOverTime,
    /// A recorded workload over time.
    WorkloadOverTime,
    /// The steps of a recorded workload, in the original and in a replay.
    ReplayedSteps,
    /// Categories of a recorded workload.
    WorkloadBars,
    /// Accesses by position on the volume.
    Locality,
    /// Repeated accesses by the amount of other data accessed in between.
    ReuseDistance,
    /// Response-time histogram with confidence levels.
    ResponseTimes,
}
