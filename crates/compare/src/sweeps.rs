//! Rates over the number of outstanding I/Os: for each workload, one chart with one line per run, and a table
//! of its values.

use pts::exhibit::{Axis, Cell, Lines, Row, Scale, Series, Table};
use pts::host_limit::legend;
use pts::{DemandSweep, Outcome, ReadingHint, SweepPoint};

use crate::candidate::Candidate;
use crate::overlays::{Overlay, named};
use crate::sections::labels_of;
use report::parts::has_host_limited;

/// One workload of a test that several runs swept.
pub(crate) struct SweepSection {
    pub title: String,
    pub overlay: Overlay,
    pub table: Table,
    /// Caveats for the numbers: marks, simulated drives.
    pub notes: Vec<String>,
}

/// A run's index, its letter and name, and its sweep.
type Swept<'a> = (usize, String, &'a DemandSweep);

/// Returns the sweeps that at least two runs have in common.
pub(crate) fn sections(runs: &[Candidate]) -> Vec<SweepSection> {
    let mut sections = Vec::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for outcome in runs.iter().flat_map(|run| &run.document.outcomes) {
        for sweep in &outcome.sweeps {
            let key = (outcome.test.as_str(), sweep.workload.as_str());
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let swept: Vec<Swept<'_>> = runs
                .iter()
                .enumerate()
                .filter_map(|(i, run)| Some((i, named(runs, i), find(run, outcome, sweep)?)))
                .collect();
            if swept.len() > 1 {
                sections.push(section(runs, outcome, sweep, &swept));
            }
        }
    }
    sections
}

/// Returns the sweep of the same workload in the same test, in the same unit.
fn find<'a>(run: &'a Candidate, of: &Outcome, sweep: &DemandSweep) -> Option<&'a DemandSweep> {
    let outcome = run.document.outcomes.iter().find(|outcome| outcome.test == of.test)?;
    outcome.sweeps.iter().find(|other| (&other.workload, other.unit) == (&sweep.workload, sweep.unit))
}

fn section(runs: &[Candidate], outcome: &Outcome, sweep: &DemandSweep, swept: &[Swept<'_>]) -> SweepSection {
    let point = |point: &SweepPoint| (f64::from(point.outstanding), point.value);
    let series = |(_, name, sweep): &Swept<'_>| Series {
        name: name.clone(),
        points: sweep.points.iter().map(point).collect(),
    };
    let axis = |label: &str, scale| Axis { label: label.into(), scale };
    let table = table(sweep, swept);
    let labels = labels_of(runs, swept.iter().map(|(run, _, _)| *run));
    let notes = has_host_limited(&table).then(legend).into_iter();
    SweepSection {
        title: format!("Comparing {} - {} by outstanding I/Os", outcome.title, sweep.workload),
        overlay: Overlay {
            title: String::new(),
            lines: Lines {
                reading: ReadingHint::Runs,
                x: axis("Outstanding I/Os (TC x QD)", Scale::Log2),
                y: axis(sweep.unit.symbol(), Scale::LinearFromZero),
                series: swept.iter().map(series).collect(),
                guides: Vec::new(),
                marked: None,
                bands: Vec::new(),
            },
            runs: swept.iter().map(|(run, _, _)| *run).collect(),
            caveats: swept.iter().map(|(run, _, _)| runs[*run].caveat(&outcome.test)).collect(),
        },
        notes: notes.chain((!labels.is_empty()).then(|| labels.join("; "))).collect(),
        table,
    }
}

fn table(sweep: &DemandSweep, swept: &[Swept<'_>]) -> Table {
    let mut all: Vec<u32> =
        swept.iter().flat_map(|(_, _, sweep)| sweep.points.iter().map(|point| point.outstanding)).collect();
    all.sort_unstable();
    all.dedup();
    let cell = |sweep: &DemandSweep, outstanding: u32| {
        let point = sweep.points.iter().find(|point| point.outstanding == outstanding);
        let limited = point.is_some_and(|point| point.host_limited);
        Cell::of(point.map(|point| point.value), limited, || "n/a".into())
    };
    let row = |outstanding: u32| Row {
        name: outstanding.to_string(),
        cells: swept.iter().map(|(_, _, sweep)| cell(sweep, outstanding)).collect(),
    };
    Table {
        heading: format!("{} ({})", sweep.workload, sweep.unit),
        row_heading: "Outstanding I/Os".into(),
        column_heading: "Run".into(),
        columns: swept.iter().map(|(_, name, _)| name.clone()).collect(),
        rows: all.into_iter().map(row).collect(),
        decimals: 1,
        units: sweep.unit.into(),
    }
}
