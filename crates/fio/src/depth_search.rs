//! `latency_target`: a search for the greatest queue depth at which response times stay within a limit.
//!
//! The depth is doubled until the limit is exceeded and then bisected, each depth for `latency_window`. The job itself
//! runs at the depth that was found.

use std::fmt::Write as _;

use engine::LoadOutcome;
use record::{Regime, Segment, Until, Workload};
use stdx::Histogram;
use stdx::units::{SECOND_NS, count_of, grouped};

use super::Job;
use super::latency_target::{ALL_MILLI, LatencyTarget};

impl LatencyTarget {
    /// Returns the response time within which the required percentage of the I/Os completed; `None` without I/Os.
    fn time_of(&self, segments: &[&Segment]) -> Option<u64> {
        let mut all = Histogram::default();
        for direction in segments.iter().flat_map(|segment| [&segment.read, &segment.write]) {
            all.merge(&direction.latency);
        }
        if self.percent_milli == ALL_MILLI {
            return all.max();
        }
        all.quantile(f64::from(self.percent_milli) / f64::from(ALL_MILLI))
    }

    fn is_met_by(&self, time_ns: Option<u64>) -> bool {
        time_ns.is_some_and(|ns| ns <= self.limit_ns)
    }

    fn percent(&self) -> f64 {
        f64::from(self.percent_milli) / 1e3
    }

    /// Returns the name of the response time that decides, such as `p99.9`.
    fn statistic(&self) -> String {
        if self.percent_milli == ALL_MILLI { "maximum".into() } else { format!("p{}", self.percent()) }
    }
}

/// A search over depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Depths {
    most: u16,
    /// The greatest depth that met the target; 0 if there is none yet.
    met: u16,
    /// The smallest depth that missed it.
    missed: Option<u16>,
}

impl Depths {
    fn up_to(most: u16) -> Self {
        Self { most, met: 0, missed: None }
    }

    /// Returns the depth to try next; `None` at the end.
    fn next(&self) -> Option<u16> {
        match self.missed {
            None if self.met >= self.most => None,
            None => Some(self.met.saturating_mul(2).clamp(1, self.most)),
            Some(missed) if missed <= self.met + 1 => None,
            Some(missed) => Some(self.met + (missed - self.met) / 2),
        }
    }

    fn add(&mut self, depth: u16, is_met: bool) {
        if is_met {
            self.met = depth;
        } else {
            self.missed = Some(depth);
        }
    }

    /// Returns the depth that was found, or 1 if not even that meets the target.
    fn found(&self) -> u16 {
        self.met.max(1)
    }
}

/// A depth that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tried {
    depth: u16,
    time_ns: Option<u64>,
    iops: f64,
}

/// The search of a job, which is the only one in its stage.
#[derive(Debug, Clone, PartialEq)]
pub struct DepthSearch {
    target: LatencyTarget,
    depths: Depths,
    tried: Vec<Tried>,
}

/// Checks that a job with a target for its response times runs alone: other jobs would change these.
///
/// # Errors
/// Returns the position of the job, and a description of the problem.
pub fn check_targets(jobs: &[Job], stages: &[Vec<usize>]) -> Result<(), (usize, String)> {
    for stage in stages {
        let others = stage.iter().skip(1).any(|job| !jobs[*job].continues);
        if let Some(job) = stage.iter().find(|job| jobs[**job].latency.limit_ns > 0 && others) {
            let text = "latency_target: other jobs run at the same time; separate them with stonewall";
            return Err((*job, text.to_owned()));
        }
    }
    Ok(())
}

impl Job {
    /// Checks that the job's options can be combined with `latency_target`.
    pub(crate) fn check_latency_target(&self) -> Result<(), String> {
        if self.latency.limit_ns == 0 {
            return Ok(());
        }
        let conflicts = [
            ("a rate", self.rate_iops.is_some() || self.rate_bytes.is_some()),
            ("thinktime", self.think.time().is_some()),
            ("steadystate", self.steady_state()?.is_some()),
            ("verify", self.verify),
            ("rate_min", self.limits.has_rate()),
            ("max_latency", self.limits.has_latency()),
        ];
        match conflicts.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => Err(format!("latency_target cannot be combined with {name}")),
            None => Ok(()),
        }
    }
}

impl DepthSearch {
    /// Returns the search of a stage; `None` if its job does not request one.
    #[must_use]
    pub fn of(jobs: &[Job], stage: &[usize]) -> Option<Self> {
        let job = stage.iter().map(|job| &jobs[*job]).find(|job| job.latency.limit_ns > 0)?;
        Some(Self { target: job.latency, depths: Depths::up_to(job.depth()), tried: Vec::new() })
    }

    /// Returns the workloads at the depth to try next; `None` at the end.
    #[must_use]
    pub fn next(&self, workloads: &[Workload]) -> Option<Vec<Workload>> {
        let queue_depth = self.depths.next()?;
        Some(workloads.iter().map(|workload| self.for_a_window(workload, queue_depth)).collect())
    }

    /// Adds the results at this depth.
    pub fn add<'a>(&mut self, outcomes: impl Iterator<Item = &'a LoadOutcome>) {
        let Some(depth) = self.depths.next() else { return };
        let segments: Vec<&Segment> = outcomes
            .filter_map(|outcome| match outcome {
                LoadOutcome::Finished(segment) => Some(segment),
                LoadOutcome::Stopped => None,
            })
            .collect();
        let time_ns = self.target.time_of(&segments);
        self.depths.add(depth, self.target.is_met_by(time_ns));
        let iops = segments.iter().map(|segment| segment.iops()).sum();
        self.tried.push(Tried { depth, time_ns, iops });
    }

    /// Returns the workloads of the job itself, at the depth that was found.
    #[must_use]
    pub fn settled(&self, workloads: &[Workload]) -> Vec<Workload> {
        let queue_depth = self.depths.found();
        let settled = |workload: &Workload| match self.target.runs_on {
            true => Workload { queue_depth, ..workload.clone() },
            false => {
                let of_a_window = self.for_a_window(workload, queue_depth);
                Workload {
                    regime: Regime { ramp_ns: workload.regime.ramp_ns, ..of_a_window.regime },
                    ..of_a_window
                }
            }
        };
        workloads.iter().map(settled).collect()
    }

    fn for_a_window(&self, workload: &Workload, queue_depth: u16) -> Workload {
        Workload {
            queue_depth,
            until: Until::DurationNs(self.target.window_ns),
            regime: Regime { ramp_ns: 0, limit_ns: None, ..workload.regime },
            // Repeated offsets could be served from a cache.
            seed: workload.seed.wrapping_add(self.tried.len() as u64),
            ..workload.clone()
        }
    }

    /// Returns the longest permitted response time in ns, the percentage of I/Os that it applies to, and the time at
    /// each depth in µs, as in fio's JSON.
    pub(crate) fn fio_values(&self) -> (u64, f64, u64) {
        (self.target.limit_ns, self.target.percent(), self.target.window_ns / 1000)
    }

    /// Formats the search, and whether the results of the job itself meet the target.
    pub(crate) fn text(&self, segments: &[Segment]) -> String {
        let Self { target, depths, tried } = self;
        let milliseconds = |ns: Option<u64>| match ns {
            Some(ns) => format!("{:.3} ms", ns as f64 / 1e6),
            None => "no I/O".into(),
        };
        let (limit, statistic) = (milliseconds(Some(target.limit_ns)), target.statistic());
        let mut out = format!(
            "target {} % of I/Os within {limit}, tried for {} s at each depth\n",
            target.percent(),
            target.window_ns as f64 / SECOND_NS as f64
        );
        for Tried { depth, time_ns, iops } in tried {
            let verdict = if target.is_met_by(*time_ns) { "met" } else { "missed" };
            let _ = writeln!(
                out,
                "       {:24} {statistic} {:>12}  {:>12} IOPS  {verdict}",
                count_of(*depth, "outstanding I/O"),
                milliseconds(*time_ns),
                grouped(*iops, 0)
            );
        }
        let time_ns = target.time_of(&segments.iter().collect::<Vec<_>>());
        let verdict = match (depths.met, target.is_met_by(time_ns)) {
            (0, _) => "TARGET NOT MET at any depth; the results are those at",
            (_, true) => "the target is met at",
            (_, false) => "TARGET NOT MET by the results, although it was met when it was tried, at",
        };
        let depth = count_of(depths.found(), "outstanding I/O");
        let _ = writeln!(out, "       {verdict} {depth}: {statistic} {}", milliseconds(time_ns));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::part;
    use crate::{Surroundings, parse, stages};

    /// Returns the depth that is found if depths up to `limit` meet the target, and the number of trials.
    fn found(most: u16, limit: u16) -> (u16, usize) {
        let (mut depths, mut trials) = (Depths::up_to(most), 0);
        while let Some(depth) = depths.next() {
            depths.add(depth, depth <= limit);
            trials += 1;
        }
        (depths.found(), trials)
    }

    #[test]
    fn the_greatest_depth_is_found_in_few_trials() {
        for most in [1, 2, 3, 8, 100, 128, 4096, u16::MAX] {
            for limit in [1, 2, 3, 5, 8, 99, 127, 128, 4000, u16::MAX] {
                let (depth, trials) = found(most, limit);
                assert_eq!(depth, limit.min(most), "up to {most}");
                assert!(trials <= 2 * 17, "{trials} trials up to {most}");
            }
        }
        assert_eq!(found(128, 0), (1, 1));
    }

    fn jobs(text: &str) -> Result<Vec<Job>, String> {
        let jobs =
            parse("x", text, &Job::default(), &Surroundings::none()).map_err(|error| error.to_string())?;
        Ok(jobs.into_iter().flat_map(|job| job.expanded().expect("targets")).collect())
    }

    const SEARCH: &str = "rw=randread\nfilename=d\niodepth=4\nlatency_target=1ms\nlatency_percentile=99.9\n";

    #[test]
    fn a_job_is_tried_at_several_depths_and_then_runs_at_the_best() {
        let jobs = jobs(&format!("[a]\n{SEARCH}latency_window=2s\nruntime=60\nramp_time=5\n")).unwrap();
        let workloads = jobs[0].streams(1 << 30, 0, 1).unwrap();
        let mut search = DepthSearch::of(&jobs, &[0]).expect("a search");
        let outcome = |latency_ns: u64| {
            let mut segment = part(1, None, false).segments.remove(0);
            (0..1000).for_each(|_| segment.read.latency.record(latency_ns));
            LoadOutcome::Finished(segment)
        };
        for (depth, latency_ns) in [(1, 300_000), (2, 600_000), (4, 1_200_000), (3, 900_000)] {
            let trial = &search.next(&workloads).expect("a trial")[0];
            assert_eq!((trial.queue_depth, trial.until), (depth, Until::DurationNs(2 * SECOND_NS)));
            assert_eq!((trial.regime.ramp_ns, trial.regime.limit_ns), (0, None));
            search.add([outcome(latency_ns)].iter());
        }
        assert_eq!(search.next(&workloads), None);
        let settled = &search.settled(&workloads)[0];
        assert_eq!((settled.queue_depth, settled.until), (3, Until::DurationNs(2 * SECOND_NS)));
        assert_eq!(settled.regime.ramp_ns, 5 * SECOND_NS);
        search.target.runs_on = true;
        assert_eq!(search.settled(&workloads)[0].until, workloads[0].until);
        let LoadOutcome::Finished(segment) = outcome(900_000) else { unreachable!() };
        let text = search.text(&[segment]);
        assert!(
            text.starts_with("target 99.9 % of I/Os within 1.000 ms, tried for 2 s at each depth\n"),
            "{text}"
        );
        assert_eq!(text.matches(" met\n").count(), 3, "{text}");
        assert!(text.contains("the target is met at 3 outstanding I/Os: p99.9 0.9"), "{text}");
    }

    #[test]
    fn the_job_runs_alone_and_as_fast_as_it_can() {
        let alone = |text: &str| {
            let jobs = jobs(text).expect("jobs");
            check_targets(&jobs, &stages(&jobs).expect("stages")).map_err(|(job, _)| job)
        };
        assert_eq!(alone(&format!("[a]\n{SEARCH}[b]\nfilename=e\n")), Err(0));
        assert_eq!(alone(&format!("[b]\nfilename=e\n[a]\n{SEARCH}")), Err(1));
        assert_eq!(alone(&format!("[a]\n{SEARCH}[b]\nstonewall\nfilename=e\n")), Ok(()));
        assert_eq!(alone(&format!("[a]\n{SEARCH}filename=d:e\n")), Ok(()));
        for option in ["rate_iops=100", "thinktime=1ms", "verify=crc32c", "max_latency=1s"] {
            let jobs = jobs(&format!("[a]\n{SEARCH}{option}\n")).expect("jobs");
            let error = jobs[0].streams(1 << 30, 0, 1).expect_err("a conflict");
            assert!(error.contains("latency_target cannot be combined with"), "{option}: {error}");
        }
    }
}
