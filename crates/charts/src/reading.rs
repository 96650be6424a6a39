//! How to read a chart: one sentence for each kind of chart, printed under it in every format that contains charts.

use pts::ReadingHint;

/// What the reader sees and how to read it, in one sentence.
#[must_use]
pub const fn sentence(hint: ReadingHint) -> &'static str {
    match hint {
        ReadingHint::Convergence => {
            "Each line is one workload, round by round: where it runs level, the drive has settled."
        }
        ReadingHint::Window => {
            "The tracking variable by round: steady if the points of the window span no more than the dotted lines \
             (20 % of the average) and the fit no more than the dashed ones (10 %)."
        }
        ReadingHint::Determination => {
            "The rounds of the window, enlarged: steady if the points span no more than the dotted lines (20 % of \
             the average) and the red fit no more than the dashed ones (10 %)."
        }
        ReadingHint::ByBlockSize => {
            "Mean of the rounds that count, by block size: the distance between the lines is what the mix of reads \
             and writes costs."
        }
        ReadingHint::ByMix => {
            "Mean of the rounds that count, by share of reads: only writes on the left, only reads on the right."
        }
        ReadingHint::Columns => {
            "Each column is one block size at one mix over the rounds that count: writes stand in front, reads at \
             the back."
        }
        ReadingHint::Saturation => {
            "Each point is one minute since the purge: a high start is the fresh drive, the fall its transition, a \
             level end what it sustains."
        }
        ReadingHint::SaturationTimes => {
            "Each point is the average response time of one minute since the purge: it rises as the drive leaves \
             its fresh state and runs level once it is steady."
        }
        ReadingHint::OverWritten => {
            "Each point is one minute, placed by what was written until then, so that the speed of the drive does \
             not stretch the curve."
        }
        ReadingHint::OverFills => {
            "Each point is one minute, placed by how often the capacity was written until then, so that drives of \
             any size can be compared."
        }
        ReadingHint::Idling => {
            "Bursts of writes alternate with idle time: the higher the bursts after longer pauses, the more the \
             drive recovers while idle."
        }
        ReadingHint::AccessGroups => {
            "Each colour is one access group: the step where one follows the other is the cost of changing between \
             sequential and random writes."
        }
        ReadingHint::ByPosition => {
            "Each point is one zone, from the start of the address space: on a rotating disk that is the outer \
             edge, and the fastest."
        }
        ReadingHint::PreWrites => {
            "Each point is one minute of the writes that bring the drive into the same state before a measurement."
        }
        ReadingHint::ByDepth => {
            "Each line is one thread count: where it stops rising, more outstanding I/Os per thread do not help."
        }
        ReadingHint::Intensity => {
            "Each point is one TC and QD, joined by rising QD: the knee before the steep rise has the most IOPS for \
             its response time."
        }
        ReadingHint::ByOutstanding => {
            "By outstanding I/Os (TC x QD): where a line stops rising, the drive is saturated."
        }
        ReadingHint::TimesByOutstanding => {
            "By outstanding I/Os (TC x QD): where response times double with the I/Os, additional ones only wait."
        }
        ReadingHint::Runs => {
            "Each line is one run: the highest is the fastest at that number of outstanding I/Os, and where a line \
             stops rising, that drive is saturated."
        }
        ReadingHint::Processor => {
            "Each column is the CPU load at one TC and QD: near 100 % the host may limit the result."
        }
        ReadingHint::Endurance => {
            "The rate of the load in each interval: a sound drive shows a level line, and a lasting fall calls for \
             a look at its temperature and health."
        }
        ReadingHint::SustainedWrites => {
            "The rate by amount written: the first fall is the end of the SLC cache, the level after it is what \
             the drive sustains."
        }
        ReadingHint::CellsOverTime => {
            "The course of each cell, one after another: a level line is a sustained rate, a step down the end of a \
             cache."
        }
        ReadingHint::ResponseTimes => {
            "The bars count I/Os by response time (left axis, logarithmic), the curve is the share completed within \
             that time (right axis)."
        }
    }
}
