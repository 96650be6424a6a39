//! fio's logs of rates and response times over time, from the intervals of a segment.

use engine::LoadOutcome;
use record::{Segment, Workload};
use stdx::units::SECOND_NS;

use super::Job;
use super::histogram_log;
use super::log_options::Logs;

/// What a log contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogKind {
    /// KiB per second.
    Bandwidth,
    /// Mean response times in ns.
    Latency,
    /// I/Os per second.
    Iops,
    /// Histograms of response times, whose number of bins is halved this many times.
    Histogram { coarseness: u8 },
}

/// The file of a log.
struct Log {
    path: String,
    kind: LogKind,
    intervals: usize,
    shows_priority: bool,
}

/// Returns the logs of a workload, under fio's names. `number` is the number of its first thread, counted from
/// 1 over all jobs.
fn logs_of(logs: &Logs, jobname: &str, number: usize) -> Vec<Log> {
    let log = |prefix: &Option<String>, word: &str, kind| {
        let prefix = prefix.as_deref()?;
        let prefix = if prefix.is_empty() { jobname } else { prefix };
        let is_histogram = matches!(kind, LogKind::Histogram { .. });
        let intervals = if is_histogram { logs.histogram_intervals } else { logs.intervals };
        let intervals = intervals.max(1) as usize;
        let shows_priority = logs.shows_priority;
        Some(Log { path: format!("{prefix}_{word}.{number}.log"), kind, intervals, shows_priority })
    };
    [
        log(&logs.bandwidth, "bw", LogKind::Bandwidth),
        // Response times are not split into submission and completion.
        log(&logs.latency, "clat", LogKind::Latency),
        log(&logs.latency, "lat", LogKind::Latency),
        log(&logs.iops, "iops", LogKind::Iops),
        log(&logs.histogram, "clat_hist", LogKind::Histogram { coarseness: logs.coarseness }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Log {
    fn text(&self, segment: &Segment) -> String {
        match self.kind {
            LogKind::Histogram { coarseness } => histogram_log::text(segment, self.intervals, coarseness),
            LogKind::Bandwidth | LogKind::Latency | LogKind::Iops => self.averages(segment),
        }
    }

    /// Returns the lines: time in ms, value, direction (0 for reads, 1 for writes), and a size and a priority that are 0
    /// because a line is an average. There is no line for a direction without I/Os.
    fn averages(&self, segment: &Segment) -> String {
        let series = &segment.series;
        let length_ns = segment.end_ns.saturating_sub(segment.start_ns);
        let reads: Vec<u64> = series.read_ios.iter().collect();
        let writes: Vec<u64> = series.write_ios.iter().collect();
        let means = means(segment);
        let priority = if self.shows_priority { "0x0000" } else { "0" };
        let mut out = String::new();
        for first in (0..reads.len()).step_by(self.intervals) {
            let part = first..(first + self.intervals).min(reads.len());
            let start_ns = part.start as u64 * series.interval_ns;
            let end_ns = (part.end as u64 * series.interval_ns).min(length_ns).max(start_ns + 1);
            let seconds = (end_ns - start_ns) as f64 / SECOND_NS as f64;
            for (number, ios, direction) in [(0, &reads, &segment.read), (1, &writes, &segment.write)] {
                let count: u64 = ios[part.clone()].iter().sum();
                if count == 0 {
                    continue;
                }
                let means = &means[number];
                let waited: u128 = part.clone().map(|i| u128::from(ios[i]) * u128::from(means[i])).sum();
                let value = match self.kind {
                    LogKind::Iops => count as f64 / seconds,
                    LogKind::Bandwidth => {
                        count as f64 / seconds * direction.bytes as f64 / direction.ios.max(1) as f64 / 1024.0
                    }
                    LogKind::Latency | LogKind::Histogram { .. } => waited as f64 / count as f64,
                };
                let time_ms = (segment.workload.regime.ramp_ns + end_ns) / 1_000_000;
                out.push_str(&format!("{time_ms}, {value:.0}, {number}, 0, {priority}\n"));
            }
        }
        out
    }
}

/// Returns the mean response times of reads and of writes by interval.
fn means(segment: &Segment) -> [Vec<u64>; 2] {
    match &segment.detail {
        Some(detail) if !detail.read_means_ns.is_empty() => {
            [detail.read_means_ns.clone(), detail.write_means_ns.clone()]
        }
        // All I/Os have one direction.
        _ => {
            let means: Vec<u64> = segment.series.latency_mean_ns.iter().collect();
            [means.clone(), means]
        }
    }
}

/// The log of one workload of a job.
pub struct PlannedLog {
    /// Position of the job.
    pub job: usize,
    /// Position of the workload within the job.
    stream: usize,
    log: Log,
}

impl PlannedLog {
    /// Returns the logs of all jobs and their workloads.
    #[must_use]
    pub fn of(jobs: &[Job], workloads: &[Vec<Workload>]) -> Vec<Self> {
        let (mut planned, mut number) = (Vec::new(), 1);
        for (index, (job, streams)) in jobs.iter().zip(workloads).enumerate() {
            for (stream, workload) in streams.iter().enumerate() {
                let logs = logs_of(&job.logs, &job.name, number).into_iter();
                planned.extend(logs.map(|log| Self { job: index, stream, log }));
                number += usize::from(workload.threads);
            }
        }
        planned
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.log.path
    }

    /// Returns the content of the file; `None` if the workload has no result.
    pub fn text<T>(&self, results: &[(LoadOutcome, T)]) -> Option<String> {
        match results.get(self.stream)? {
            (LoadOutcome::Finished(segment), _) => Some(self.log.text(segment)),
            (LoadOutcome::Stopped, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Surroundings, parse};
    use record::{Direction, Series};

    /// Returns a segment with three intervals, the last of which is only half a second long.
    fn segment(options: &str) -> Segment {
        let text = format!("[job]\n{}\n", options.replace(' ', "\n"));
        let jobs = parse("x", &text, &Job::default(), &Surroundings::none()).expect("known options");
        let series = Series {
            interval_ns: SECOND_NS,
            read_ios: vec![100, 0, 30].into(),
            write_ios: vec![10, 20, 0].into(),
            latency_mean_ns: vec![1000, 4000, 7000].into(),
            latency_max_ns: vec![0; 3].into(),
            times: None,
        };
        Segment {
            workload: jobs[0].streams(1 << 30, 0, 1).expect("a load").remove(0),
            start_ns: 7,
            end_ns: 7 + SECOND_NS * 5 / 2,
            read: Direction { ios: 130, bytes: 130 * 8192, ..Direction::default() },
            write: Direction { ios: 30, bytes: 30 * 4096, ..Direction::default() },
            series,
            errors: Vec::new(),
            io_path: record::IoEngine::IoUring.into(),
            gap_before: None,
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: None,
            detail: None,
        }
    }

    fn text(kind: LogKind, intervals: usize, options: &str) -> String {
        let shows_priority = options.contains("log_prio");
        Log { path: String::new(), kind, intervals, shows_priority }.text(&segment(options))
    }

    #[test]
    fn a_line_is_the_average_of_its_intervals_by_direction() {
        let iops = "1000, 100, 0, 0, 0\n1000, 10, 1, 0, 0\n2000, 20, 1, 0, 0\n2500, 60, 0, 0, 0\n";
        assert_eq!(text(LogKind::Iops, 1, "rw=randrw"), iops);
        let bandwidth = "2000, 400, 0, 0, 0\n2000, 60, 1, 0, 0\n2500, 480, 0, 0, 0\n";
        assert_eq!(text(LogKind::Bandwidth, 2, "rw=randrw"), bandwidth);
        let latency = text(LogKind::Latency, 9, "rw=randread ramp_time=5");
        // (100 * 1000 + 30 * 7000) / 130
        assert!(latency.starts_with("7500, 2385, 0, 0, 0\n"), "{latency}");
        let with_priority = text(LogKind::Iops, 9, "rw=randread log_prio=1");
        assert!(with_priority.starts_with("2500, 52, 0, 0, 0x0000\n"), "{with_priority}");
    }

    #[test]
    fn reads_and_writes_of_a_mix_have_their_own_means() {
        let detail = record::SegmentDetail {
            read_means_ns: vec![900, 0, 7000],
            write_means_ns: vec![2000, 4000, 0],
            ..record::SegmentDetail::default()
        };
        let mix = Segment { detail: Some(Box::new(detail)), ..segment("rw=randrw") };
        let log = Log { path: String::new(), kind: LogKind::Latency, intervals: 2, shows_priority: false };
        // (10 * 2000 + 20 * 4000) / 30
        assert_eq!(log.text(&mix), "2000, 900, 0, 0, 0\n2000, 3333, 1, 0, 0\n2500, 7000, 0, 0, 0\n");
    }

    #[test]
    fn logs_have_the_names_that_fio_gives_them() {
        let logs = Logs { bandwidth: Some("x".into()), latency: Some(String::new()), ..Logs::default() };
        let paths: Vec<String> = logs_of(&logs, "job", 3).into_iter().map(|log| log.path).collect();
        assert_eq!(paths, ["x_bw.3.log", "job_clat.3.log", "job_lat.3.log"]);
        let logs = Logs { histogram: Some("h".into()), intervals: 5, ..Logs::default() };
        let log = logs_of(&logs, "job", 1).remove(0);
        assert_eq!((log.path.as_str(), log.intervals), ("h_clat_hist.1.log", 1));
        assert!(logs_of(&Logs::default(), "job", 1).is_empty());
    }
}
