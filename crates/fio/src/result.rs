//! Results of jobs: combined segments, as text and as JSON with fio's names.

mod document;
mod grouped;
mod origin;
mod part;
mod priorities;
mod samples;
mod terse;
mod times;
mod words;

use record::{ClockFacts, Effort, Segment};
use stdx::units::{count_of, grouped};

pub use self::document::Document;
pub(crate) use self::document::{Syncs, Times, syncs, times};
pub use self::grouped::parts_of_stage;
pub(crate) use self::origin::milliseconds;
pub use self::origin::{ClockState, Host, Origin, Reading, Span, Start};
pub use self::part::Part;
pub(crate) use self::part::per_second;
pub(crate) use self::times::{lacks_percentiles, of_syncs as text_of_syncs, text as text_of};

impl Part {
    /// Formats the results for people; `clock` is the clock used to measure response times.
    #[must_use]
    pub fn text(&self, clock: Option<&ClockFacts>) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            out.push_str(&format!(
                "{}: {}, {} with {} each, {:.3} s, engine {}\n",
                self.name,
                words::of(&segment.workload),
                count_of(segment.workload.threads, "thread"),
                count_of(segment.workload.queue_depth, "outstanding I/O"),
                segment.seconds(),
                segment.io_path
            ));
        }
        let directions = self.directions();
        for (way, direction) in directions.iter().filter(|(_, direction)| direction.ios > 0) {
            out.push_str(&times::text(way.name(), direction, self.seconds(), self.has_maxima()));
            for (priority, latency) in self.priorities(*way) {
                out.push_str(&times::of_priority(
                    way.name(),
                    priority.unwrap_or_default(),
                    &latency,
                    direction,
                ));
            }
        }
        out.push_str(&times::of_syncs(&self.synced(), self.seconds()));
        if let Some(resets) = self.zone_resets() {
            out.push_str(&format!("zones  {} resets\n", grouped(resets as f64, 0)));
        }
        if let Some(errors) = self.tolerated() {
            let first = errors.first.as_deref().unwrap_or("none");
            out.push_str(&format!("errors total {}  first {first}\n", grouped(errors.total as f64, 0)));
        }
        if let Some(effort) = self.effort() {
            out.push_str(&self.effort_text(&effort));
            out.push_str(&self.host_text(clock));
        }
        if let Some(steady) = &self.steady {
            out.push_str(&format!("steady {steady}\n"));
        }
        if let Some(depths) = &self.depths {
            out.push_str(&depths.text(&self.segments));
        }
        if let Some(report) = &self.report {
            out.push_str(&format!("verify {report}\n"));
        }
        let mut remarks = self.remarks();
        let lacking = directions.iter().any(|(_, direction)| times::lacks_percentiles(&direction.latency));
        if lacking || times::lacks_percentiles(&self.synced().latency) {
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

    /// Formats how much of the host's capacity the load used: its ceiling, CPU time and placement.
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
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Job, Surroundings, parse};
    use record::{Direction, HostLoad, SegmentDetail, Series};
    use stdx::units::SECOND_NS;

    /// Returns the results of one second of 4 KiB reads on one of two processors.
    pub(crate) fn part(cpu_ns: u64, ceiling_share: Option<f64>, polled: bool) -> Part {
        let jobs =
            parse("x", "[job]\nrw=randread\nruntime=1\ntime_based\n", &Job::default(), &Surroundings::none())
                .expect("a job");
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
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: Some(host),
            detail: None,
        };
        let target = serde_json::from_str(
            &serde_json::json!({
                "kind": "file",
                "path": "/tmp/x",
                "identity": "x",
                "capacity_bytes": 1 << 30,
                "logical_block_bytes": 512,
                "physical_block_bytes": 512,
            })
            .to_string(),
        );
        let target = target.expect("facts of a file");
        Part {
            name: "job".into(),
            target,
            segments: vec![segment],
            report: None,
            steady: None,
            depths: None,
            notes: Vec::new(),
            given: crate::job::GivenOptions::default(),
            span: None,
        }
    }

    pub(crate) fn origin() -> Origin {
        let host = Host { name: "a".into(), boot_id: Some("b007".into()) };
        Origin { host, requested: None, clock: None }
    }

    #[test]
    fn failed_ios_and_zone_resets_count_as_in_fio() {
        let mut both = part(0, None, false);
        let detail = |failed_writes, zone_resets| {
            let detail =
                SegmentDetail { failed_reads: 3, failed_writes, zone_resets, ..SegmentDetail::default() };
            Some(Box::new(detail))
        };
        let mut trims = both.segments[0].clone();
        trims.workload.regime.trims = true;
        (both.segments[0].detail, trims.detail) = (detail(5, Some(1200)), detail(7, Some(34)));
        both.segments.push(trims);
        assert!(both.text(None).contains("\nzones  1,234 resets\n"), "{}", both.text(None));
        let parts = [both, part(0, None, false)];
        let document = serde_json::to_value(Document::of(&parts, None, &origin())).unwrap();
        let job = &document["jobs"][0];
        let counts = ["read", "write", "trim"].map(|way| job[way]["total_ios"].as_u64());
        assert_eq!(counts, [Some(2006), Some(5), Some(7)], "{job}");
        assert_eq!((&job["read"]["iops"], &job["zone_resets"]), (&2000.0.into(), &1234.into()), "{job}");
        assert!(document["jobs"][1].get("zone_resets").is_none(), "it uses no zones");
    }

    #[test]
    fn the_results_show_how_much_of_the_host_was_used() {
        let clock = ClockFacts { source: "TSC".into(), cost_ns: 8.8, resolution_ns: 1 };
        let (idle, busy) = (part(400_000_000, Some(0.25), false), part(100_000_000, Some(0.93), false));
        let text = idle.text(Some(&clock));
        let line = "host   25 % of its ceiling  40 % of its CPU time  cpu 1  clock TSC (9 ns)\n";
        assert!(text.contains(line) && !text.contains("HOST-LIMITED"), "{text}");
        let text = busy.text(Some(&clock));
        assert!(text.contains("used more than 70 % of the host's ceiling or CPU time (93 %)"), "{text}");
        let parts = [idle, busy];
        let document = serde_json::to_value(Document::of(&parts, None, &origin())).unwrap();
        let jobs: Vec<_> = document["jobs"].as_array().unwrap().iter().collect();
        assert_eq!((&jobs[0]["host_share"], &jobs[0]["host_limited"]), (&0.4.into(), &false.into()));
        assert_eq!((&jobs[1]["host_share"], &jobs[1]["host_limited"]), (&0.93.into(), &true.into()));
        assert_eq!(jobs[1]["placement"][0], "cpu 1");
        let polled = part(SECOND_NS, Some(0.5), true).text(None);
        assert!(polled.contains("polled, so always busy") && !polled.contains("HOST-LIMITED"), "{polled}");
        let mut shallow = part(400_000_000, None, false);
        (0..1000).for_each(|_| shallow.segments[0].read.latency.record(812_000));
        let text = shallow.text(None);
        assert!(
            text.contains("note   QUEUE DEPTH NOT MAINTAINED: on average, only 81 % of the requested depth"),
            "{text}"
        );
        let mut repeated = part(400_000_000, None, false);
        assert!(!repeated.text(None).contains("repeats"));
        repeated.segments[0].host.as_mut().expect("a host").repeats = 3;
        let text = repeated.text(None);
        assert!(text.contains("note   I/O retries requested by the kernel (EAGAIN, EINTR): 3;"), "{text}");
    }
}
