//! A sequence of processes that can be simulated and printed.

use std::fmt;

use plateau::course::Resumption;
use record::storage::simulated::{Crash, Fault, FaultKind};

/// The wall-clock time when a run is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The same time as before.
    Stands,
    /// A day later.
    Goes,
    /// An hour earlier, because the clock was set back.
    Back,
}

/// The point at which a process crashes, and the data that remains on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cut {
    /// Number of log entries before the crash.
    pub after: usize,
    /// What the crash leaves on the disk.
    pub crash: Crash,
}

/// One process of a run, from its start to its end or crash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Life {
    /// How the run is resumed. Ignored for the first process, which is always a `plateau run`.
    pub how: Resumption,
    /// The wall-clock time at which it starts.
    pub clock: Clock,
    /// Disk faults.
    pub faults: Vec<Fault>,
    /// The point at which the process crashes; `None` if it runs to completion.
    pub cut: Option<Cut>,
}

/// Everything needed to reproduce a failure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Script {
    /// The seed of the scenario.
    pub seed: u64,
    /// Arguments of `plateau run`.
    pub words: Vec<String>,
    /// The processes, in order. The last one has neither a power cut nor faults.
    pub lives: Vec<Life>,
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}", self.seed)?;
        for (number, life) in self.lives.iter().enumerate() {
            if number == 0 {
                writeln!(f, "  plateau run {}", self.words.join(" "))?;
            } else {
                writeln!(f, "  plateau resume{} {}", option(life.how), clock(life.clock))?;
            }
            for fault in &life.faults {
                writeln!(f, "    call {} of the disk: {}", fault.call, name(fault.kind))?;
            }
            if let Some(cut) = life.cut {
                writeln!(f, "    after event {}: {}", cut.after, crash(cut.crash))?;
            }
        }
        Ok(())
    }
}

fn option(how: Resumption) -> &'static str {
    match how {
        Resumption::Plain => "",
        Resumption::RestartTest => " --restart-test",
        Resumption::ContinueTimeline => " --continue-timeline",
    }
}

fn clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Stands => "at the same time",
        Clock::Goes => "a day later",
        Clock::Back => "an hour earlier",
    }
}

fn name(kind: FaultKind) -> String {
    match kind {
        FaultKind::NoSpace => "ENOSPC from here on".into(),
        FaultKind::Quota => "EDQUOT from here on".into(),
        FaultKind::ReadOnly => "EROFS from here on".into(),
        FaultKind::Broken => "EIO once".into(),
        FaultKind::Dead => "EIO from here on".into(),
        FaultKind::Slow { ns } => format!("takes {} s", ns / 1_000_000_000),
        FaultKind::Interrupt => "Ctrl-C during the call".into(),
    }
}

fn crash(crash: Crash) -> String {
    match crash {
        Crash::Killed => "killed".into(),
        Crash::NothingSurvives => "power lost, and everything that was not synced".into(),
        Crash::EverythingSurvives => "power lost, after everything was written".into(),
        Crash::Drawn(seed) => format!("power lost; the surviving parts are drawn from {seed}"),
    }
}
