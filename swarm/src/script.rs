//! A sequence of lives, as it is played and printed.

use std::fmt;

use plateau::course::Resumption;
use record::storage::simulated::{Crash, Fault, FaultKind};

/// What the wall clock shows when a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The same as before: no time passed.
    Stands,
    /// A day later.
    Goes,
    /// An hour earlier: it was set back.
    Back,
}

/// Where a life ends before its time, and what that leaves of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cut {
    /// Entries of the list of what happened that come before it.
    pub after: usize,
    /// How it ends.
    pub crash: Crash,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Life {
    /// How it is begun; the first one is always `plateau run`.
    pub how: Resumption,
    /// The time when it begins.
    pub clock: Clock,
    /// What goes wrong with the disk.
    pub faults: Vec<Fault>,
    /// Where it is cut; where not, it comes to its own end.
    pub cut: Option<Cut>,
}

/// What is needed to see something again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Script {
    /// Of the scenario.
    pub seed: u64,
    /// What is asked for, as typed after `plateau run`.
    pub words: Vec<String>,
    /// The lives; the last one is neither cut nor troubled.
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
        FaultKind::Interrupt => "Ctrl-C meanwhile".into(),
    }
}

fn crash(crash: Crash) -> String {
    match crash {
        Crash::Killed => "killed".into(),
        Crash::NothingSurvives => "power lost, with everything that was not synced".into(),
        Crash::EverythingSurvives => "power lost, after everything was written".into(),
        Crash::Drawn(seed) => format!("power lost, what survives is drawn from {seed}"),
    }
}
