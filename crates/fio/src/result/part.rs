//! The figures of a job or a group of jobs, and the remarks about them.

use engine::VerifyReport;
use record::{Direction, Effort, HOST_LIMIT_SHARE, Segment, Synced, TargetFacts, Tolerated, errno};
use stdx::units::{SECOND_NS, grouped};

use super::origin::{Reading, Span};
use crate::depth_search::DepthSearch;
use crate::job::GivenOptions;
use crate::steady::SteadyResult;

/// An open loop that reaches less than this fraction of its rate has overloaded the target.
const REACHED_SHARE: f64 = 0.98;

/// A kind of I/O, reported separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Read,
    Write,
    Trim,
}

impl Way {
    /// Returns fio's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }

    /// Returns the I/Os of this kind. If a workload trims, its writes count as trims.
    pub fn of(self, segment: &Segment) -> Option<&Direction> {
        match (self, segment.workload.regime.trims) {
            (Self::Read, _) => Some(&segment.read),
            (Self::Write, false) | (Self::Trim, true) => Some(&segment.write),
            _ => None,
        }
    }
}

/// The failed I/Os of a job that continued after them.
pub struct ToleratedErrors {
    pub total: u64,
    /// Name of the first error.
    pub first: Option<String>,
}

impl ToleratedErrors {
    /// Returns the number of the first error; 0 if there was none.
    pub fn first_number(&self) -> i32 {
        self.first.as_deref().and_then(errno::number).unwrap_or(0)
    }
}

/// One entry of the results: a job, or a group of jobs.
pub struct Part {
    /// Name of the job, or of the first job of the group.
    pub name: String,
    /// The target of the job.
    pub target: TargetFacts,
    /// The results of the workloads, with times since the [`Reading`] of all clocks before the stage.
    pub segments: Vec<Segment>,
    /// Result of checking the stamped blocks; `None` if they were not checked.
    pub report: Option<VerifyReport>,
    /// Remarks that result from the options.
    pub notes: Vec<String>,
    /// The search for steady state, if the job requests one.
    pub steady: Option<SteadyResult>,
    /// The search for a queue depth, if the job requests one.
    pub depths: Option<DepthSearch>,
    /// The options of the job.
    pub given: GivenOptions,
    /// When the segments ran; `None` for a simulated target.
    pub span: Option<Span>,
}

impl Part {
    /// Adds the result of a workload, whose times are on the clock of its target.
    pub fn add(&mut self, mut segment: Segment, report: Option<VerifyReport>, reading: Reading) {
        self.join_span(Span::of(&segment, reading));
        segment.start_ns = segment.start_ns.saturating_sub(reading.target_ns);
        segment.end_ns = segment.end_ns.saturating_sub(reading.target_ns);
        self.segments.push(segment);
        self.join_report(report);
    }

    /// Adds another job of the same group.
    pub fn join(&mut self, other: Self) {
        self.segments.extend(other.segments);
        self.join_span(other.span);
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.steady = self.steady.take().or(other.steady);
        self.depths = self.depths.take().or(other.depths);
        self.join_report(other.report);
    }

    fn join_span(&mut self, other: Option<Span>) {
        self.span = match (self.span, other) {
            (Some(mine), Some(theirs)) => Some(mine.joined(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
    }

    fn join_report(&mut self, other: Option<VerifyReport>) {
        match (&mut self.report, other) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
    }

    /// Returns the time from the start of the first measurement to the end of the last segment.
    pub(super) fn seconds(&self) -> f64 {
        let start = self.segments.iter().map(|segment| segment.start_ns).min().unwrap_or(0);
        let end = self.segments.iter().map(|segment| segment.end_ns).max().unwrap_or(0);
        end.saturating_sub(start) as f64 / SECOND_NS as f64
    }

    /// Returns the reads, writes and trims of all segments combined.
    pub fn directions(&self) -> [(Way, Direction); 3] {
        let sum = |way: Way| {
            let mut sum = Direction::default();
            for direction in self.segments.iter().filter_map(|segment| way.of(segment)) {
                sum.ios += direction.ios;
                sum.bytes += direction.bytes;
                sum.latency.merge(&direction.latency);
            }
            (way, sum)
        };
        [Way::Read, Way::Write, Way::Trim].map(sum)
    }

    /// Returns the syncs of all segments combined.
    pub(super) fn synced(&self) -> Synced {
        let mut sum = Synced::default();
        self.segments.iter().filter_map(|segment| segment.synced.as_ref()).for_each(|synced| sum.add(synced));
        sum
    }

    /// Returns the errors that did not end the job; `None` if every error would have ended it.
    pub(super) fn tolerated(&self) -> Option<ToleratedErrors> {
        let tolerates = |segment: &Segment| segment.workload.regime.tolerated != Tolerated::NONE;
        self.segments.iter().any(tolerates).then(|| {
            let errors = self.segments.iter().flat_map(|segment| &segment.errors);
            let first = errors.clone().next().map(|error| error.kind.clone());
            ToleratedErrors { total: errors.map(|error| error.count).sum(), first }
        })
    }

    /// Returns the number of failed I/Os of a kind that did not end the job.
    pub(super) fn failed(&self, way: Way) -> u64 {
        let of = |segment: &Segment| {
            way.of(segment)?;
            let detail = segment.detail.as_deref()?;
            Some(if way == Way::Read { detail.failed_reads } else { detail.failed_writes })
        };
        self.segments.iter().filter_map(of).sum()
    }

    /// Returns the number of zone resets; `None` if the job neither writes nor trims zones.
    pub(super) fn zone_resets(&self) -> Option<u64> {
        let counts = self.segments.iter().filter_map(|segment| segment.detail.as_ref()?.zone_resets);
        counts.reduce(|sum, count| sum + count)
    }

    /// Returns the lengths of the measurements of all threads combined.
    pub(super) fn clone_seconds(&self) -> f64 {
        self.segments.iter().map(|segment| segment.seconds() * f64::from(segment.workload.threads)).sum()
    }

    /// Returns a CPU time as a percentage of the time that all clones measured: as in fio, the mean per clone.
    pub(super) fn percent_per_clone(&self, ns: u64) -> f64 {
        per_second(ns as f64, self.clone_seconds()) / 1e7
    }

    pub(super) fn effort(&self) -> Option<Effort> {
        let mut sum = Effort::default();
        for segment in &self.segments {
            sum.add(&segment.host.as_ref()?.effort);
        }
        Some(sum)
    }

    /// Returns the scheduled I/Os per second.
    pub(super) fn requested_per_second(&self) -> Option<f64> {
        let rates = self.segments.iter().map(|segment| segment.workload.regime.arrivals);
        rates.map(|rate| rate.map(|rate| rate.rate())).sum()
    }

    /// Returns whether maximum response times are meaningful. For a scaled simulated drive, whose bursts are
    /// smaller, they are not.
    pub(super) fn has_maxima(&self) -> bool {
        self.target.simulated.as_ref().is_none_or(|sim| sim.scale_divisor == 1)
    }

    /// Returns the largest requested depth.
    pub(super) fn depth(&self) -> u16 {
        self.segments.iter().map(|segment| segment.workload.queue_depth).max().unwrap_or(0)
    }

    /// Returns the smallest ratio of average to requested outstanding I/Os over all workloads.
    pub(super) fn depth_share(&self) -> Option<f64> {
        self.segments.iter().filter_map(Segment::depth_share).min_by(f64::total_cmp)
    }

    /// Returns remarks about a simulated target.
    pub(super) fn simulation(&self) -> Vec<String> {
        let Some(sim) = &self.target.simulated else { return Vec::new() };
        let mut remarks = vec![sim.label_in_full()];
        if !self.has_maxima() {
            let n = sim.scale_divisor;
            remarks.push(format!(
                "scale 1/{n}: capacity, runtime and ramps are divided by {n}; maximum response times are \
                 meaningless and omitted"
            ));
        }
        remarks.extend(sim.faults.iter().map(|fault| format!("injected fault {fault}")));
        remarks
    }

    /// Returns all remarks about the figures.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = self.simulation();
        remarks.extend(self.notes.iter().cloned());
        if self.host_limited() > 0 {
            let share = self.largest(Segment::host_share).unwrap_or(1.0) * 100.0;
            remarks.push(format!(
                "HOST-LIMITED: the load used more than {:.0} % of the host's ceiling or CPU time ({share:.0} %), \
                 so the results may reflect the host rather than the drive",
                HOST_LIMIT_SHARE * 100.0
            ));
        }
        // A job that waits for others does not maintain its depth.
        if self.segments.iter().any(Segment::is_shallow) && !self.given.has("flow") {
            let share = self.depth_share().unwrap_or(0.0) * 100.0;
            remarks.push(format!(
                "QUEUE DEPTH NOT MAINTAINED: on average, only {share:.0} % of the requested depth was \
                 outstanding; the target \
                 blocks during submission, or generating the data took too long"
            ));
        }
        remarks.extend(self.preferences());
        let repeats: u64 =
            self.segments.iter().filter_map(|s| s.host.as_ref()).map(|host| host.repeats).sum();
        if repeats > 0 {
            remarks.push(format!(
                "I/O retries requested by the kernel (EAGAIN, EINTR): {repeats}; their response times are \
                 measured from the first attempt"
            ));
        }
        let ios: u64 = self.directions().iter().map(|(_, direction)| direction.ios).sum();
        if ios == 0 {
            remarks.push(
                "nothing was measured: the load ended during its ramp, or no I/O completed in time".into(),
            );
        }
        if let Some(requested) = self.requested_per_second() {
            let done = per_second(ios as f64, self.seconds());
            if done < requested * REACHED_SHARE && ios > 0 {
                remarks.push(format!(
                    "{} of {} I/Os per second: arrivals exceeded completions, so response times grew with \
                     the length of the load",
                    grouped(done, places_of(requested)),
                    grouped(requested, places_of(requested))
                ));
            }
        }
        remarks
    }

    /// Returns a remark for each engine that was preferred to the first in the fixed order.
    fn preferences(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for [used, first] in self.segments.iter().filter_map(|segment| segment.io_path.preferred()) {
            let (name, other) = (used.engine.name(), first.engine.name());
            let remark = format!(
                "{name} was chosen by measurement: {used}, compared with {first}; ioengine={other} uses {other}"
            );
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        remarks
    }

    /// Returns the maximum of the segments' shares.
    pub(super) fn largest(&self, share: impl Fn(&Segment) -> Option<f64>) -> Option<f64> {
        self.segments.iter().filter_map(share).max_by(f64::total_cmp)
    }

    /// Returns whether the I/Os were issued by a host, not by a simulator.
    pub(super) fn is_driven(&self) -> bool {
        self.segments.iter().any(|segment| segment.host.is_some())
    }

    /// Counts the segments that the host may have limited.
    pub(super) fn host_limited(&self) -> usize {
        self.segments.iter().filter(|segment| segment.is_host_limited()).count()
    }
}

/// Returns the number of decimal places of a scheduled rate.
pub fn places_of(rate: f64) -> usize {
    if rate.fract() == 0.0 { 0 } else { 3 }
}

/// Returns a rate; 0 if no time has passed.
pub fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::part;
    use super::*;

    /// The second target was opened half a second after the first, so its clock shows half a second less.
    #[test]
    fn targets_that_were_opened_one_after_the_other_have_one_time() {
        let mut one = part(1, None, false);
        let segment = |start_ns: u64| Segment {
            start_ns,
            end_ns: start_ns + 2 * SECOND_NS,
            ..part(1, None, false).segments.remove(0)
        };
        one.segments.clear();
        for (target_ns, start_ns) in [(900_000_000, 1_000_000_000), (400_000_000, 510_000_000)] {
            one.add(segment(start_ns), None, Reading { target_ns, wall: None });
        }
        assert!((one.seconds() - 2.01).abs() < 1e-9, "{}", one.seconds());
        assert_eq!((one.segments.len(), one.span), (2, None));
    }
}
