//! A fake bench with computed results, shared by the tests of all PTS tests.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses only part of this module")]

use pts::exhibit::{Exhibit, Table};
use pts::{Bench, Context, Outcome, Profile, Stop, Test};
use record::{
    Direction, Effort, Gap, HostLoad, Note, Purged, Segment, Series, Settings, TargetFacts, TargetKind,
    Until, Workload,
};
use stdx::Histogram;
use stdx::histogram::slot_of;
use stdx::units::SECOND_NS;

type Of = Box<dyn Fn(u32, &Workload) -> u64>;
type OfSecond = Box<dyn Fn(u32, &Workload, u64) -> u64>;

/// Computes the result of each workload from functions of the round and the workload.
pub struct Fake {
    iops: Of,
    /// Response time of all I/Os in ns.
    pub latency_ns: Of,
    /// The workload's CPU time as a fraction of the time available on four processors; `None` if there is no host.
    pub processor_share: Option<fn(&Workload) -> f64>,
    /// IOPS in each second of a workload; `None` if they are constant.
    pub iops_of_second: Option<OfSecond>,
    pub round: u32,
    clock_ns: u64,
    /// Log of requests, in order.
    pub log: Vec<String>,
    /// The requested workloads in full, without purges and idle times.
    pub requested: Vec<Workload>,
    pub notes: Vec<Note>,
    /// Rounds and steps before which there is a one-hour interruption.
    pub gaps: Vec<(u32, usize)>,
    step: usize,
    pub fail_after_cells: Option<usize>,
    pub cells: usize,
    /// Total requested time of `run` and `idle`, respectively.
    pub run_ns: u64,
    pub idle_ns: u64,
}

impl Fake {
    pub fn new(iops: impl Fn(u32, &Workload) -> u64 + 'static) -> Self {
        Self {
            iops: Box::new(iops),
            latency_ns: Box::new(|_, _| 100_000),
            processor_share: None,
            iops_of_second: None,
            round: 0,
            clock_ns: 0,
            log: Vec::new(),
            requested: Vec::new(),
            notes: Vec::new(),
            gaps: Vec::new(),
            step: 0,
            fail_after_cells: None,
            cells: 0,
            run_ns: 0,
            idle_ns: 0,
        }
    }

    fn answer(&mut self, workload: &Workload) -> Segment {
        self.requested.push(workload.clone());
        let length_ns = match workload.until {
            Until::DurationNs(length_ns) => length_ns,
            Until::AmountBytes(_) => SECOND_NS,
        };
        let seconds = (length_ns / SECOND_NS).max(1);
        let preconditioning = matches!(workload.until, Until::AmountBytes(_));
        let rate = |second| match &self.iops_of_second {
            _ if preconditioning => 1000,
            Some(of) => of(self.round, workload, second),
            None => (self.iops)(self.round, workload),
        };
        let write_ios: Vec<u64> = (0..seconds).map(rate).collect();
        let ios = write_ios.iter().sum::<u64>();
        let latency_ns = (self.latency_ns)(self.round, workload);
        let start_ns = self.clock_ns;
        self.clock_ns += length_ns;
        Segment {
            workload: workload.clone(),
            start_ns,
            end_ns: self.clock_ns,
            read: Direction::default(),
            write: Direction {
                ios,
                bytes: ios * u64::from(workload.block_bytes),
                latency: all_at(latency_ns, ios),
            },
            series: Series {
                interval_ns: SECOND_NS.min(length_ns),
                read_ios: vec![0; write_ios.len()].into(),
                latency_mean_ns: vec![latency_ns; write_ios.len()].into(),
                latency_max_ns: vec![latency_ns; write_ios.len()].into(),
                write_ios: write_ios.into(),
                times: None,
            },
            errors: Vec::new(),
            io_path: record::IoEngine::Simulated.into(),
            gap_before: None,
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: self.processor_share.map(|share| host_load(share(workload), length_ns)),
            detail: None,
        }
    }
}

fn host_load(share: f64, length_ns: u64) -> HostLoad {
    let user_ns = (share * 4.0 * length_ns as f64) as u64;
    HostLoad {
        effort: Effort { user_ns, ..Effort::default() },
        usable_processors: 4,
        processors: 4,
        placement: String::new(),
        polled: false,
        repeats: 0,
        ceiling_share: None,
    }
}

/// Returns a histogram of `ios` I/Os that all have the same response time.
fn all_at(ns: u64, ios: u64) -> Histogram {
    if ios == 0 {
        return Histogram::new();
    }
    Histogram::from_parts(&[(slot_of(ns), ios)], u128::from(ns) * u128::from(ios), ns, ns).unwrap()
}

impl Bench for Fake {
    fn purge(&mut self) -> Result<Purged, Stop> {
        self.log.push("purge".into());
        Ok(Purged {
            method: "Format Unit".into(),
            name: None,
            pts_purge: true,
            start_ns: 0,
            end_ns: 1,
            evidence: Vec::new(),
            samples_read: false,
        })
    }
    fn write(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        self.log.push(format!("write {workload} {:?}", workload.until));
        Ok(self.answer(workload))
    }
    fn run(&mut self, workload: &Workload) -> Result<Segment, Stop> {
        if self.fail_after_cells == Some(self.cells) {
            return Err(Stop::Failed("EIO".into()));
        }
        self.cells += 1;
        self.log.push(format!("{} TC{} QD{}", workload, workload.threads, workload.queue_depth));
        if let Until::DurationNs(length_ns) = workload.until {
            self.run_ns += length_ns;
        }
        let mut segment = self.answer(workload);
        if self.gaps.contains(&(self.round, self.step)) {
            segment.gap_before = Some(Gap { length_ns: 3600 * SECOND_NS });
        }
        self.step += 1;
        Ok(segment)
    }
    fn idle(&mut self, length_ns: u64) -> Result<(), Stop> {
        self.log.push(format!("idle {} ms", length_ns / 1_000_000));
        self.idle_ns += length_ns;
        self.clock_ns += length_ns;
        Ok(())
    }
    fn note(&mut self, note: Note) -> Result<(), Stop> {
        if let Note::RoundStarted { round, .. } = note {
            (self.round, self.step) = (round, 0);
        }
        self.notes.push(note);
        Ok(())
    }
}

/// Returns a drive of 100 GB.
pub fn target(logical_block_bytes: u32) -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Block,
        path: "/dev/fake".into(),
        identity: "S1".into(),
        attachment: None,
        vendor: None,
        model: None,
        serial: Some("S1".into()),
        firmware: None,
        interface: None,
        nand: None,
        capacity_bytes: 100_000_000_000,
        logical_block_bytes,
        physical_block_bytes: 4096,
        rotational: Some(false),
        simulated: None,
        array: None,
    }
}

pub fn run_on(test: &str, profile: &str, target: &TargetFacts, bench: &mut Fake) -> Outcome {
    run_with(test, profile, &Profile::named(profile).unwrap().settings(1), target, bench)
}

pub fn run_with(
    test: &str,
    profile: &str,
    settings: &Settings,
    target: &TargetFacts,
    bench: &mut Fake,
) -> Outcome {
    let profile = Profile::named(profile).unwrap();
    (Test::named(test).unwrap().run)(&Context { profile, settings, target }, bench)
}

/// Returns all tables in an outcome, in order.
pub fn tables(outcome: &Outcome) -> Vec<&Table> {
    let exhibits = outcome.pages.iter().flat_map(|p| &p.exhibits);
    exhibits.filter_map(|e| if let Exhibit::Table(t) = e { Some(t) } else { None }).collect()
}

/// Returns the first table in an outcome.
pub fn figures(outcome: &Outcome) -> &Table {
    tables(outcome).first().expect("a page with a table")
}

pub fn titles(outcome: &Outcome) -> Vec<&str> {
    outcome.pages.iter().map(|page| page.title.as_str()).collect()
}
