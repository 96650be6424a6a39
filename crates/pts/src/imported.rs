//! Runs measured by another tool or taken from a publication, shown like Plateau's own runs.
//!
//! They have no standard to comply with and no answers to replay. Steady state is judged here from the reported values;
//! a note says where the source disagrees. Pages without reported figures are omitted.

mod areas;
mod jobs;
mod loops;
mod saturation;

use record::{Entry, Event, ImportedTest, Origin, Reading, RunFile};

use crate::exhibit::Page;
use crate::outcome::{Convergence, Phases, TestHeader};
use crate::profile::{Edition, Profile};
use crate::profiles::PTS_E_1_0;
use crate::replay::Replayed;
use crate::rounds::History;
use crate::steady::{Steadiness, WINDOW_ROUNDS};
use crate::{Context, KeyFigure, Outcome, explain};

/// Replaces the version of the specification in imported runs.
pub(crate) const PROFILE: Profile = Profile {
    name: "imported",
    revision: "NOT PTS",
    class: "Imported",
    edition: Edition::V1_0,
    tests: &[],
    ..PTS_E_1_0
};

/// A kind of imported test.
pub(crate) struct Kind {
    /// Name, as in [`ImportedTest::test`].
    name: &'static str,
    title: &'static str,
    purpose: &'static str,
    /// The tracking variable; None if the test has none.
    tracked: Option<fn(&View<'_>) -> Tracked>,
    pages: fn(&View<'_>) -> Vec<Page>,
    figures: fn(&View<'_>) -> Vec<KeyFigure>,
}

/// All kinds.
const KINDS: &[Kind] = &[
    loops::IOPS,
    loops::THROUGHPUT,
    loops::THROUGHPUT_1024,
    loops::THROUGHPUT_128,
    loops::LATENCY,
    saturation::KIND,
    areas::IOPS,
    areas::THROUGHPUT,
    jobs::KIND,
];

/// Extracts a value from a reading, in the unit of a page.
pub(crate) type Measure = fn(&Reading) -> Option<f64>;

/// A tracking variable: name, and value in each round.
pub(crate) struct Tracked {
    name: String,
    points: Vec<(f64, f64)>,
}

/// An imported test with its context.
pub(crate) struct View<'a> {
    pub test: &'a ImportedTest,
    pub origin: &'a Origin,
    pub context: Context<'a>,
}

/// The workload that a reading belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub block_bytes: u32,
    pub read_percent: u8,
}

impl View<'_> {
    fn of(&self, spot: Spot) -> impl Iterator<Item = &Reading> {
        self.test
            .readings
            .iter()
            .filter(move |r| r.block_bytes == spot.block_bytes && r.read_percent == spot.read_percent)
    }

    fn in_window(&self, reading: &Reading) -> bool {
        let (first, last) = self.test.window.unwrap_or((1, u32::MAX));
        reading.round.is_some_and(|round| (first..=last).contains(&round))
    }

    /// The reported mean over the window, or else the mean of the rounds in it.
    fn mean(&self, spot: Spot, measure: Measure) -> Option<f64> {
        if let Some(told) = self.of(spot).find(|r| r.round.is_none()).and_then(measure) {
            return Some(told);
        }
        let values: Vec<f64> = self.of(spot).filter(|r| self.in_window(r)).filter_map(measure).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Maximum over the window.
    fn largest(&self, spot: Spot, measure: Measure) -> Option<f64> {
        let counted = |r: &&Reading| r.round.is_none() || self.in_window(r);
        self.of(spot).filter(counted).filter_map(measure).max_by(f64::total_cmp)
    }

    /// The value of each round.
    fn points(&self, spot: Spot, measure: Measure) -> Vec<(f64, f64)> {
        self.of(spot).filter_map(|r| Some((f64::from(r.round?), measure(r)?))).collect()
    }

    /// Block sizes in ascending order.
    fn sizes(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.test.readings.iter().map(|r| r.block_bytes).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Percentages of reads in ascending order.
    fn mixes(&self) -> Vec<u8> {
        let mut all: Vec<u8> = self.test.readings.iter().map(|r| r.read_percent).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn rounds(&self) -> u32 {
        self.test.readings.iter().filter_map(|r| r.round).max().unwrap_or(0)
    }

    /// States the averaged rounds (`Mean of rounds 2-6.`), or that the source reports only the mean.
    fn mean_remark(&self) -> String {
        match (self.test.window, self.rounds()) {
            (Some((first, last)), 0) => {
                format!(
                    "Means of rounds {first}-{last} as given by the source, which does not give the rounds."
                )
            }
            (None, 0) => "Means as given by the source.".into(),
            (Some((first, last)), _) => format!("Mean of rounds {first}-{last}."),
            (None, rounds) => format!("Mean of rounds 1-{rounds}."),
        }
    }
}

/// Converts an imported run to its displayed form.
pub(crate) fn replay(run: &RunFile, origin: &Origin, entries: &[Entry]) -> Result<Replayed, String> {
    let tests = entries.iter().filter_map(|entry| match &entry.event {
        Event::Imported(test) => Some(test),
        _ => None,
    });
    let outcomes = tests.map(|test| outcome(run, origin, test)).collect::<Result<_, _>>()?;
    Ok(Replayed { outcomes, modified: Vec::new() })
}

fn outcome(run: &RunFile, origin: &Origin, test: &ImportedTest) -> Result<Outcome, String> {
    let kind = KINDS.iter().find(|kind| kind.name == test.test).ok_or_else(|| {
        format!("the imported run has a test '{}' that this version does not support", test.test)
    })?;
    let view = View { test, origin, context: Context::of(run)? };
    let tracked = kind.tracked.map(|tracked| tracked(&view));
    let window = tracked.as_ref().and_then(|tracked| judged(test, tracked));
    let converged = window.map(|w| w.steady).or(test.steady);
    let mut notes = Vec::new();
    if let (Some(window), Some(told)) = (window, test.steady)
        && window.steady != told
    {
        let words = |steady: bool| if steady { "steady" } else { "not steady" };
        notes.push(format!(
            "the file states {} for rounds {}-{}; by its own values they are {}",
            words(told),
            window.first_round,
            window.last_round,
            words(window.steady)
        ));
    }
    if window.is_none() && test.steady.is_some() {
        notes.push("steady state as stated by the source; it gives no round values to check it".into());
    }
    let explained = match &tracked {
        Some(tracked) if window.is_none_or(|w| !w.steady) => explained(tracked),
        _ => Vec::new(),
    };
    Ok(Outcome {
        test: kind.name.into(),
        title: kind.title.into(),
        clause: None,
        purpose: kind.purpose.into(),
        outline: test.outline.clone(),
        header: header(&view, converged),
        rounds: view.rounds(),
        converged,
        window: tracked.iter().zip(window).map(|(tracked, w)| (tracked.name.clone(), w)).collect(),
        explained,
        pages: (kind.pages)(&view),
        key_figures: (kind.figures)(&view),
        notes,
        modified: Vec::new(),
        host_limited: None,
        stop: None,
    })
}

/// Judges the measurement window stated by the source, based on its values.
pub(crate) fn judged(test: &ImportedTest, tracked: &Tracked) -> Option<Steadiness> {
    let (first, last) = test.window?;
    let inside = |(round, _): &&(f64, f64)| (f64::from(first)..=f64::from(last)).contains(round);
    let values: Vec<f64> = tracked.points.iter().filter(inside).map(|(_, value)| *value).collect();
    let values: [f64; WINDOW_ROUNDS] = values.try_into().ok()?;
    (last >= WINDOW_ROUNDS as u32).then(|| Steadiness::of(last, &values))
}

fn explained(tracked: &Tracked) -> Vec<explain::Explanation> {
    let mut history = History::of(vec![tracked.name.clone()]);
    for (round, value) in &tracked.points {
        history.judge(*round as u32, vec![*value]);
    }
    explain::explain(&history)
}

fn header(view: &View<'_>, converged: Option<bool>) -> TestHeader {
    let test = view.test;
    let told = |text: &Option<String>| text.clone().unwrap_or_else(|| "n/a".into());
    let [pc_ar, test_ar, ar_amount, ar_segments] =
        test.active_range.clone().unwrap_or_else(|| ["n/a"; 4].map(str::to_owned));
    TestHeader {
        requirement: "NOT PTS",
        purge: told(&test.purge),
        workload_independent: Some(told(&test.preconditioning)),
        workload_dependent: "n/a".into(),
        data_pattern: "n/a".into(),
        queue_depth: test.queue_depth.unwrap_or(0),
        threads: test.threads.unwrap_or(0),
        convergence: match converged {
            None => Convergence::NotSought,
            Some(true) => Convergence::Reached,
            Some(false) => Convergence::NotReached,
        },
        rounds: test.window.map_or_else(|| "N/A".into(), |(first, last)| format!("{first}-{last}")),
        pc_ar,
        test_ar,
        ar_amount,
        ar_segments,
        phases: Phases::default(),
    }
}
