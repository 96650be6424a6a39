//! How to read a chart: one sentence per kind of chart, printed below the chart in every format that contains
//! charts.

use chartdata::ReadingHint;

const CONVERGENCE: &str =
    "Each line is one workload, round by round: where it is flat, the drive has settled.";
const WINDOW: &str = "The tracking variable by round: steady if the points of the window span no more than the \
     dotted lines (20 % of the average) and the fit no more than the dashed ones (10 %).";
const DETERMINATION: &str = "The rounds of the window, enlarged: steady if the points span no more than the dotted lines \
     (20 % of the average) and the red fit no more than the dashed ones (10 %).";
const BY_BLOCK_SIZE: &str = "Mean of each workload, by block size: the distance between the lines is the cost of \
                             the mix of reads and writes.";
const MIXES: &str = "Each bar is the mean over the measurement window at one mix of reads and writes, as \
                     reads/writes in percent.";
const DEMAND_MAP: &str = "Each cell is one TC and QD, and darker means more: where the shade stops changing to \
                          the right or upwards, additional outstanding I/Os do not change the value.";
const ROUNDS: &str = "Each line is one round: the closer the lines, the less the rounds differ; the first line \
                      shows how much changed before steady state.";
const RETURNS: &str = "Each line is the return to writing without a pause after one wait state: the higher it starts, the more \
     the drive had recovered while idle.";
const TAIL: &str = "Response time by share of I/Os, with equal space for each additional nine: a steep end \
                    means that a few I/Os take much longer than all others.";
const BY_MIX: &str = "Mean of each mix, by share of reads: only writes on the left, only reads on the right.";
const COLUMNS: &str = "Each column is one block size at one mix over the measurement window: writes in front, \
                       reads at the back.";
const SATURATION: &str = "Each point is one cell, a minute by default, since the purge: a high start is the \
                          fresh drive, the fall is its transition, and a flat end is the sustained rate.";
const SATURATION_TIMES: &str = "Each point is the average response time of one cell, a minute by default, since \
                                the purge: it rises as the drive leaves its fresh state and is flat once it is \
                                steady.";
const OVER_WRITTEN: &str = "Each point is one cell, a minute by default, placed by the amount written so far, \
                            so that the speed of the drive does not stretch the curve.";
const OVER_FILLS: &str = "Each point is one cell, a minute by default, placed by the number of drive fills so \
                          far, so that drives of any size can be compared.";
const IDLING: &str = "Each shade is one state of writing and idle seconds: the higher the bursts after longer pauses, the \
     more the drive recovers while idle.";
const ACCESS_GROUPS: &str = "Each colour is one access group: the step between two of them is the cost of \
                             changing between sequential and random writes.";
const BY_POSITION: &str = "Each point is one part of the address space, from its start: on a rotating disk, that \
                           is the outer edge, which is the fastest.";
const PRE_WRITES: &str = "Each point is one cell, a minute by default, of the writes that bring the drive into the same state before a \
     measurement.";
const BY_DEPTH: &str = "Each line is one thread count: where it stops rising, additional outstanding I/Os per \
                        thread do not help.";
const INTENSITY: &str = "Each point is one combination of TC and QD, and a line joins the points in order of QD: the knee before the steep rise is \
                         the best trade-off between IOPS and response time.";
const BY_OUTSTANDING: &str =
    "By outstanding I/Os (TC x QD): where a line stops rising, the drive is saturated.";
const TIMES_BY_OUTSTANDING: &str = "By outstanding I/Os (TC x QD): where response times double with the I/Os, additional ones \
     only wait.";
const RUNS: &str = "Each line is one run: the highest is the fastest at that number of outstanding I/Os, and \
     where a line stops rising, that drive is saturated.";
const OVERLAID_RUNS: &str =
    "Each line is one run, named in the legend: where two lines coincide, the runs do not differ.";
const PROCESSOR: &str =
    "Each column is the CPU load at one TC and QD: near 100 %, the host may limit the result.";
const ENDURANCE: &str = "The rate of the load in each interval: a healthy drive shows a flat line; if the rate \
                         falls permanently, check temperature and health.";
const SUSTAINED_WRITES: &str = "The rate by amount written: the first fall is the end of the SLC cache, and the \
                                level after it is the sustained rate.";
const CELLS_OVER_TIME: &str = "The rate over each cell, one after another: a flat line is a sustained rate, a \
                               step down the end of a cache.";
const WORKLOAD_OVER_TIME: &str =
    "The recorded workload, step by step: peaks are bursts, and gaps are times without I/O.";
const REPLAYED_STEPS: &str = "The steps of the recorded workload, in the original and in this run: where the lines \
                              differ, this drive serves the load differently.";
const WORKLOAD_BARS: &str = "Each bar shows how often its category occurs in the recorded workload.";
const LOCALITY: &str = "Share of the I/Os by their offset on the volume: peaks are frequently accessed data.";
const REUSE_DISTANCE: &str = "Share of the accesses whose data was accessed before, with at most this much \
                              other data accessed in between: a cache of this size would contain it.";
const RESPONSE_TIMES: &str = "The bars count I/Os by response time (left axis, logarithmic), the curve is the share \
     completed within that time (right axis).";

const TREND: &str = "Each point is one run: a flat fit means that neither the drive nor the host has changed; a \
                     step often coincides with new firmware.";

/// Returns what the chart shows and how to read it, in one sentence.
#[must_use]
pub const fn sentence(hint: ReadingHint) -> &'static str {
    match hint {
        ReadingHint::Convergence => CONVERGENCE,
        ReadingHint::Window => WINDOW,
        ReadingHint::Determination => DETERMINATION,
        ReadingHint::ByBlockSize => BY_BLOCK_SIZE,
        ReadingHint::ByMix => BY_MIX,
        ReadingHint::Mixes => MIXES,
        ReadingHint::DemandMap => DEMAND_MAP,
        ReadingHint::Rounds => ROUNDS,
        ReadingHint::Returns => RETURNS,
        ReadingHint::Tail => TAIL,
        ReadingHint::Columns => COLUMNS,
        ReadingHint::Saturation => SATURATION,
        ReadingHint::SaturationTimes => SATURATION_TIMES,
        ReadingHint::OverWritten => OVER_WRITTEN,
        ReadingHint::OverFills => OVER_FILLS,
        ReadingHint::Idling => IDLING,
        ReadingHint::AccessGroups => ACCESS_GROUPS,
        ReadingHint::ByPosition => BY_POSITION,
        ReadingHint::PreWrites => PRE_WRITES,
        ReadingHint::ByDepth => BY_DEPTH,
        ReadingHint::Intensity => INTENSITY,
        ReadingHint::ByOutstanding => BY_OUTSTANDING,
        ReadingHint::TimesByOutstanding => TIMES_BY_OUTSTANDING,
        ReadingHint::Runs => RUNS,
        ReadingHint::OverlaidRuns => OVERLAID_RUNS,
        ReadingHint::Processor => PROCESSOR,
        ReadingHint::Endurance => ENDURANCE,
        ReadingHint::Trend => TREND,
        ReadingHint::SustainedWrites => SUSTAINED_WRITES,
        ReadingHint::CellsOverTime => CELLS_OVER_TIME,
        ReadingHint::WorkloadOverTime => WORKLOAD_OVER_TIME,
        ReadingHint::ReplayedSteps => REPLAYED_STEPS,
        ReadingHint::WorkloadBars => WORKLOAD_BARS,
        ReadingHint::Locality => LOCALITY,
        ReadingHint::ReuseDistance => REUSE_DISTANCE,
        ReadingHint::ResponseTimes => RESPONSE_TIMES,
    }
}
