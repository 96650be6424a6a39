//! How to read a chart: one sentence for each kind of chart, printed under it in every format that contains charts.

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

impl ReadingHint {
    /// What the reader sees and how to read it, in one sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Convergence => {
                "Each line is one workload, round by round: where it runs level, the drive has settled."
            }
            Self::Window => {
                "The tracking variable by round: steady if the points of the window span no more than the dotted lines \
                 (20 % of the average) and the fit no more than the dashed ones (10 %)."
            }
            Self::Determination => {
                "The rounds of the window, enlarged: steady if the points span no more than the dotted lines (20 % of \
                 the average) and the red fit no more than the dashed ones (10 %)."
            }
            Self::ByBlockSize => {
                "Mean of the rounds that count, by block size: the distance between the lines is what the mix of reads \
                 and writes costs."
            }
            Self::ByMix => {
                "Mean of the rounds that count, by share of reads: only writes on the left, only reads on the right."
            }
            Self::Columns => {
                "Each column is one block size at one mix over the rounds that count: writes stand in front, reads at \
                 the back."
            }
            Self::Saturation => {
                "Each point is one minute since the purge: a high start is the fresh drive, the fall its transition, a \
                 level end what it sustains."
            }
            Self::SaturationTimes => {
                "Each point is the average response time of one minute since the purge: it rises as the drive leaves \
                 its fresh state and runs level once it is steady."
            }
            Self::OverWritten => {
                "Each point is one minute, placed by what was written until then, so that the speed of the drive does \
                 not stretch the curve."
            }
            Self::OverFills => {
                "Each point is one minute, placed by how often the capacity was written until then, so that drives of \
                 any size can be compared."
            }
            Self::Idling => {
                "Bursts of writes alternate with idle time: the higher the bursts after longer pauses, the more the \
                 drive recovers while idle."
            }
            Self::AccessGroups => {
                "Each colour is one access group: the step where one follows the other is the cost of changing between \
                 sequential and random writes."
            }
            Self::ByPosition => {
                "Each point is one zone, from the start of the address space: on a rotating disk that is the outer \
                 edge, and the fastest."
            }
            Self::PreWrites => {
                "Each point is one minute of the writes that bring the drive into the same state before a measurement."
            }
            Self::ByDepth => {
                "Each line is one thread count: where it stops rising, more outstanding I/Os per thread do not help."
            }
            Self::Intensity => {
                "Each point is one TC and QD, joined by rising QD: the knee before the steep rise has the most IOPS for \
                 its response time."
            }
            Self::ByOutstanding => {
                "By outstanding I/Os (TC x QD): where a line stops rising, the drive is saturated."
            }
            Self::TimesByOutstanding => {
                "By outstanding I/Os (TC x QD): where response times double with the I/Os, additional ones only wait."
            }
            Self::Runs => {
                "Each line is one run: the highest is the fastest at that number of outstanding I/Os, and where a line \
                 stops rising, that drive is saturated."
            }
            Self::Processor => {
                "Each column is the CPU load at one TC and QD: near 100 % the host may limit the result."
            }
            Self::Endurance => {
                "The rate of the load in each interval: a sound drive shows a level line, and a lasting fall calls for \
                 a look at its temperature and health."
            }
            Self::SustainedWrites => {
                "The rate by amount written: the first fall is the end of the SLC cache, the level after it is what \
                 the drive sustains."
            }
            Self::CellsOverTime => {
                "The course of each cell, one after another: a level line is a sustained rate, a step down the end of a \
                 cache."
            }
            Self::ResponseTimes => {
                "The bars count I/Os by response time (left axis, logarithmic), the curve is the share completed within \
                 that time (right axis)."
            }
        }
    }
}
