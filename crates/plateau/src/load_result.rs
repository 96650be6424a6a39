//! Results of jobs: their segments combined, as text and as JSON with fio's names.

mod document;
mod times;
mod words;

use engine::VerifyReport;
use record::{ClockFacts, Direction, Effort, HOST_LIMIT_SHARE, Segment, TargetFacts};
use stdx::units::{SECOND_NS, count_of, grouped};

pub use self::document::Document;
use crate::summary::simulated;

/// An open loop that reaches a smaller share of its rate has overloaded the target.
const REACHED_SHARE: f64 = 0.98;

/// One entry of the results: a job, or a group of jobs.
pub struct Part {
    pub name: String,
    /// The target of its I/Os.
    pub target: TargetFacts,
    pub segments: Vec<Segment>,
    pub findings: Option<VerifyReport>,
    pub notes: Vec<String>,
}

impl Part {
    /// Adds another job of the same group.
    pub fn join(&mut self, other: Self) {
        self.segments.extend(other.segments);
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        match (&mut self.findings, other.findings) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
    }

    /// Returns the time from the first counted moment of the first segment to the end of the last one.
    fn seconds(&self) -> f64 {
        let start = self.segments.iter().map(|segment| segment.start_ns).min().unwrap_or(0);
        let end = self.segments.iter().map(|segment| segment.end_ns).max().unwrap_or(0);
        end.saturating_sub(start) as f64 / SECOND_NS as f64
    }

    /// Returns the reads and writes of all segments combined.
    pub fn directions(&self) -> [(&'static str, Direction); 2] {
        let sum = |of: fn(&Segment) -> &Direction| {
            let mut sum = Direction::default();
            for direction in self.segments.iter().map(of) {
                sum.ios += direction.ios;
                sum.bytes += direction.bytes;
                sum.latency.merge(&direction.latency);
            }
            sum
        };
        [("read", sum(|segment| &segment.read)), ("write", sum(|segment| &segment.write))]
    }

    fn effort(&self) -> Option<Effort> {
        let mut sum = Effort::default();
        for segment in &self.segments {
            sum.add(&segment.host.as_ref()?.effort);
        }
        Some(sum)
    }

    /// Returns the scheduled I/Os per second.
    fn asked_per_second(&self) -> Option<f64> {
        let rates = self.segments.iter().map(|segment| segment.workload.regime.arrivals);
        rates.map(|rate| rate.map(|rate| f64::from(rate.per_second))).sum()
    }

    /// Returns whether maximum response times are meaningful: a smaller simulated drive has smaller bursts.
    fn has_maxima(&self) -> bool {
        self.target.simulated.as_ref().is_none_or(|sim| sim.scale_divisor == 1)
    }

    /// Returns the smallest ratio of average to requested outstanding I/Os of any workload.
    fn depth_share(&self) -> Option<f64> {
        self.segments.iter().filter_map(Segment::depth_share).min_by(f64::total_cmp)
    }

    /// Returns remarks about a simulated target.
    fn simulation(&self) -> Vec<String> {
        let Some(sim) = &self.target.simulated else { return Vec::new() };
        let mut remarks = vec![simulated(sim)];
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

    /// Returns all remarks about the numbers.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.simulation();
        remarks.extend(self.notes.iter().cloned());
        if self.host_limited() > 0 {
            let share = self.largest(Segment::host_share).unwrap_or(1.0) * 100.0;
            remarks.push(format!(
                "HOST-LIMITED: it used more than {:.0} % of the host's ceiling or CPU time ({share:.0} %), \
                 so it may reflect the host rather than the drive",
                HOST_LIMIT_SHARE * 100.0
            ));
        }
        if self.segments.iter().any(Segment::is_shallow) {
            let share = self.depth_share().unwrap_or(0.0) * 100.0;
            remarks.push(format!(
                "DEPTH NOT KEPT: on average {share:.0} % of the requested I/Os were outstanding; the target \
                 blocks during submission, or generating the data took too long"
            ));
        }
        let repeats: u64 =
            self.segments.iter().filter_map(|s| s.host.as_ref()).map(|host| host.repeats).sum();
        if repeats > 0 {
            remarks.push(format!(
                "I/O retries requested by the kernel (EAGAIN, EINTR): {repeats}; their response times count \
                 from the first attempt"
            ));
        }
        let ios: u64 = self.directions().iter().map(|(_, direction)| direction.ios).sum();
        if ios == 0 {
            remarks.push(
                "nothing was measured: the load ended within its ramp, or no I/O completed in time".into(),
            );
        }
        if let Some(asked) = self.asked_per_second() {
            let done = per_second(ios as f64, self.seconds());
            if done < asked * REACHED_SHARE && ios > 0 {
                remarks.push(format!(
                    "{} of {} I/Os per second: arrivals exceeded completions, so response times grew with \
                     the length of the load",
                    grouped(done, 0),
                    grouped(asked, 0)
                ));
            }
        }
        remarks
    }

    pub fn text(&self, clock: Option<&ClockFacts>) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            out.push_str(&format!(
                "{}: {}, {} with {} each, {:.3} s, engine {}\n",
                self.name,
                words::of(&segment.workload),
                count_of(segment.workload.threads.into(), "thread"),
                count_of(segment.workload.queue_depth.into(), "outstanding I/O"),
                segment.seconds(),
                segment.io_path
            ));
        }
        let directions = self.directions();
        for (name, direction) in directions.iter().filter(|(_, direction)| direction.ios > 0) {
            out.push_str(&times::text(name, direction, self.seconds(), self.has_maxima()));
        }
        if let Some(effort) = self.effort() {
            out.push_str(&self.effort_text(&effort));
            out.push_str(&self.host_text(clock));
        }
        if let Some(findings) = &self.findings {
            out.push_str(&format!("verify {findings}\n"));
        }
        let mut remarks = self.remarks();
        if directions.iter().any(|(_, direction)| times::lacks_percentiles(&direction.latency)) {
            remarks.push("n/a: fewer than ten I/Os lie beyond this percentile".into());
        }
        remarks.iter().for_each(|remark| out.push_str(&format!("note   {remark}\n")));
        out
    }

    fn effort_text(&self, effort: &Effort) -> String {
        let ios: u64 = self.directions().iter().map(|(_, direction)| direction.ios).sum();
        format!(
            "cpu    user {:.1} %  system {:.1} % of one CPU  {:.0} ns per I/O  {} context switches\n",
            effort.user_ns as f64 / self.seconds().max(1e-9) / 1e7,
            effort.system_ns as f64 / self.seconds().max(1e-9) / 1e7,
            effort.cpu_ns() as f64 / ios.max(1) as f64,
            grouped((effort.voluntary_switches + effort.involuntary_switches) as f64, 0)
        )
    }

    /// Formats the host's share in the result.
    fn host_text(&self, clock: Option<&ClockFacts>) -> String {
        let percent = |share: Option<f64>, what: &str, absent: &str| match share {
            Some(share) => format!("{:.0} % {what}", share * 100.0),
            None => absent.to_owned(),
        };
        let ceiling = self.largest(|segment| segment.host.as_ref()?.ceiling_share);
        let mut placements: Vec<&str> = Vec::new();
        for host in self.segments.iter().filter_map(|segment| segment.host.as_ref()) {
            if !placements.contains(&host.placement.as_str()) {
                placements.push(&host.placement);
            }
        }
        let mut words = vec![
            percent(ceiling, "of its ceiling", "ceiling not measured"),
            percent(self.largest(Segment::busy_share), "of its CPU time", "polled, so always busy"),
            placements.join(" and "),
        ];
        words.extend(clock.map(|clock| format!("clock {} ({:.0} ns)", clock.source, clock.cost_ns)));
        format!("host   {}\n", words.join("  "))
    }

    /// Returns the largest of the segments' shares.
    fn largest(&self, share: impl Fn(&Segment) -> Option<f64>) -> Option<f64> {
        self.segments.iter().filter_map(share).max_by(f64::total_cmp)
    }

    /// Returns whether the I/Os were issued by a host rather than a simulator.
    fn is_driven(&self) -> bool {
        self.segments.iter().any(|segment| segment.host.is_some())
    }

    /// Counts the segments that the host may have limited.
    fn host_limited(&self) -> usize {
        self.segments.iter().filter(|segment| segment.is_host_limited()).count()
    }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::{Job, parse};
    use record::{HostLoad, Series};

    /// One second of 4 KiB reads on one of two processors.
    fn part(cpu_ns: u64, ceiling_share: Option<f64>, polled: bool) -> Part {
        let jobs = parse("x", "[job]\nrw=randread\nruntime=1\ntime_based\n", &Job::default()).expect("a job");
        let host = HostLoad {
            effort: Effort { user_ns: cpu_ns, ..Effort::default() },
            usable_processors: 1,
            processors: 2,
            placement: "cpu 1".into(),
            polled,
            repeats: 0,
            ceiling_share,
        };
        let segment = Segment {
            workload: jobs[0].streams(1 << 30, 0, 1).expect("a load").remove(0),
            start_ns: 0,
            end_ns: SECOND_NS,
            read: Direction { ios: 1000, bytes: 4_096_000, ..Direction::default() },
            write: Direction::default(),
            series: Series::default(),
            errors: Vec::new(),
            io_path: record::IoEngine::IoUring.into(),
            gap_before: None,
            host: Some(host),
        };
        let file = std::env::temp_dir().join("plateau-a-file-that-nobody-makes");
        let open = device::OpenOptions { size_bytes: Some(1 << 30), ..device::OpenOptions::default() };
        let target =
            device::open(file.to_str().expect("a path"), &open).expect("a file to be").facts().clone();
        Part { name: "job".into(), target, segments: vec![segment], findings: None, notes: Vec::new() }
    }

    #[test]
    fn a_load_says_what_the_host_had_to_do_with_it() {
        let clock = ClockFacts { source: "TSC".into(), cost_ns: 8.8, resolution_ns: 1 };
        let (idle, busy) = (part(400_000_000, Some(0.25), false), part(100_000_000, Some(0.93), false));
        let text = idle.text(Some(&clock));
        let line = "host   25 % of its ceiling  40 % of its CPU time  cpu 1  clock TSC (9 ns)\n";
        assert!(text.contains(line) && !text.contains("HOST-LIMITED"), "{text}");
        let text = busy.text(Some(&clock));
        assert!(text.contains("used more than 70 % of the host's ceiling or CPU time (93 %)"), "{text}");
        let parts = [idle, busy];
        let document = serde_json::to_value(Document::of(&parts, None)).unwrap();
        let told: Vec<_> = document["jobs"].as_array().unwrap().iter().collect();
        assert_eq!((&told[0]["host_share"], &told[0]["host_limited"]), (&0.4.into(), &false.into()));
        assert_eq!((&told[1]["host_share"], &told[1]["host_limited"]), (&0.93.into(), &true.into()));
        assert_eq!(told[1]["placement"][0], "cpu 1");
        let polled = part(SECOND_NS, Some(0.5), true).text(None);
        assert!(polled.contains("polled, so always busy") && !polled.contains("HOST-LIMITED"), "{polled}");
        let mut shallow = part(400_000_000, None, false);
        (0..1000).for_each(|_| shallow.segments[0].read.latency.record(812_000));
        let text = shallow.text(None);
        assert!(text.contains("note   DEPTH NOT KEPT: on average 81 % of the requested I/Os"), "{text}");
        let mut repeated = part(400_000_000, None, false);
        assert!(!repeated.text(None).contains("repeats"));
        repeated.segments[0].host.as_mut().expect("a host").repeats = 3;
        let text = repeated.text(None);
        assert!(text.contains("note   I/O retries requested by the kernel (EAGAIN, EINTR): 3;"), "{text}");
    }
}
