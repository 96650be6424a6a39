//! An imported test and the values that its pages need.

use record::{ImportedTest, Origin, Reading, TargetFacts};

use crate::exhibits::exhibit::Page;
use crate::method::steady::{WINDOW_ROUNDS, WindowStats};
use crate::{KeyFigure, Profile, Unit};

/// A kind of imported test.
pub(crate) struct Kind {
    /// Name, as in [`ImportedTest::test`].
    pub name: &'static str,
    pub title: &'static str,
    /// The title without a block size.
    pub subject: &'static str,
    pub purpose: &'static str,
    /// The tracking variable; None if the test has none.
    pub tracked: Option<fn(&View<'_>) -> TrackedSeries>,
    pub pages: fn(&View<'_>) -> Vec<Page>,
    pub figures: fn(&View<'_>) -> Vec<KeyFigure>,
}

/// Extracts a value from a reading, in the unit of a page.
pub(crate) type Measure = fn(&Reading) -> Option<f64>;

/// A tracking variable: its name, unit, and value in each round.
pub(crate) struct TrackedSeries {
    pub name: String,
    pub unit: Unit,
    pub points: Vec<(f64, f64)>,
}

/// An imported test with its context.
pub(crate) struct View<'a> {
    pub test: &'a ImportedTest,
    pub origin: &'a Origin,
    pub target: &'a TargetFacts,
    pub profile: &'static Profile,
}

/// The workload that a reading belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub block_bytes: u32,
    pub read_percent: u8,
}

impl View<'_> {
    pub fn of(&self, spot: Spot) -> impl Iterator<Item = &Reading> {
        self.test
            .readings
            .iter()
            .filter(move |r| r.block_bytes == spot.block_bytes && r.read_percent == spot.read_percent)
    }

    pub fn in_window(&self, reading: &Reading) -> bool {
        let (first, last) = self.test.window.unwrap_or((1, u32::MAX));
        reading.round.is_some_and(|round| (first..=last).contains(&round))
    }

    /// Returns the reported mean over the window or, without one, the mean of the rounds in it.
    pub fn mean(&self, spot: Spot, measure: Measure) -> Option<f64> {
        if let Some(stated) = self.of(spot).find(|r| r.round.is_none()).and_then(measure) {
            return Some(stated);
        }
        let values: Vec<f64> = self.of(spot).filter(|r| self.in_window(r)).filter_map(measure).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Maximum over the window.
    pub fn largest(&self, spot: Spot, measure: Measure) -> Option<f64> {
        let counted = |r: &&Reading| r.round.is_none() || self.in_window(r);
        self.of(spot).filter(counted).filter_map(measure).max_by(f64::total_cmp)
    }

    /// The value of each round.
    pub fn points(&self, spot: Spot, measure: Measure) -> Vec<(f64, f64)> {
        self.of(spot).filter_map(|r| Some((f64::from(r.round?), measure(r)?))).collect()
    }

    /// Block sizes in ascending order.
    pub fn sizes(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.test.readings.iter().map(|r| r.block_bytes).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Percentages of reads in ascending order.
    pub fn mixes(&self) -> Vec<u8> {
        let mut all: Vec<u8> = self.test.readings.iter().map(|r| r.read_percent).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn rounds(&self) -> u32 {
        self.test.readings.iter().filter_map(|r| r.round).max().unwrap_or(0)
    }

    /// Names the averaged rounds (`Mean of rounds 2-6.`), or says that the source reports only the mean.
    pub fn mean_remark(&self) -> String {
        match (self.test.window, self.rounds()) {
            (Some((first, last)), 0) => {
                format!(
                    "Means of rounds {first}-{last} according to the source, which does not contain the rounds."
                )
            }
            (None, 0) => "Means according to the source.".into(),
            (Some((first, last)), _) => format!("Mean of rounds {first}-{last}."),
            (None, rounds) => format!("Mean of rounds 1-{rounds}."),
        }
    }
}

/// Evaluates the measurement window that the source names, based on its values.
pub(crate) fn judged(test: &ImportedTest, tracked: &TrackedSeries) -> Option<WindowStats> {
    let (first, last) = test.window?;
    let inside = |(round, _): &&(f64, f64)| (f64::from(first)..=f64::from(last)).contains(round);
    let values: Vec<f64> = tracked.points.iter().filter(inside).map(|(_, value)| *value).collect();
    let values: [f64; WINDOW_ROUNDS] = values.try_into().ok()?;
    (last >= WINDOW_ROUNDS as u32).then(|| WindowStats::of(last, &values))
}
