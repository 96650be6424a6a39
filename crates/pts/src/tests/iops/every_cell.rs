//! Steady state of every cell. The specification evaluates only the tracking variables.

use stdx::units::{count_of, kib};

use super::answers::{IopsAnswers, iops_of, mixes, sizes};
use crate::exhibits::exhibit::{Cell as TableCell, Exhibit, Facts, Page, Row, Table, Units};
use crate::flows::rounds::Round;
use crate::method::confidence::confidence;
use crate::method::profile::{Cell, mix_name};
use crate::method::steady::{WINDOW_ROUNDS, WindowStats};

/// A cell in the five rounds of a window.
struct JudgedCell {
    cell: Cell,
    window: WindowStats,
    /// Probability that the verdict on the trend is correct.
    confidence: Option<f64>,
}

impl JudgedCell {
    /// Evaluates `cell` in `rounds`; None unless there are five rounds and all of them contain the cell.
    fn of(rounds: &[Round], cell: Cell) -> Option<Self> {
        let values: Option<Vec<f64>> = rounds.iter().map(|round| iops_of(&round.segments, cell)).collect();
        let values = <[f64; WINDOW_ROUNDS]>::try_from(values?).ok()?;
        let window = WindowStats::of(rounds.last()?.number, &values);
        Some(Self { cell, window, confidence: confidence(&values) })
    }

    /// The larger of the two excursions as a percentage of its limit; None if the mean is not positive.
    fn excursion_percent(&self) -> Option<f64> {
        let WindowStats { range, range_allowed, slope_excursion, slope_allowed, mean, .. } = self.window;
        (mean > 0.0).then(|| 100.0 * (range / range_allowed).max(slope_excursion / slope_allowed))
    }
}

/// Returns the page; None until five rounds are complete.
pub(super) fn page(answers: &IopsAnswers) -> Option<Page> {
    let judged = judged(answers.rounds.results());
    if judged.is_empty() {
        return None;
    }
    let excursions =
        |judged: &JudgedCell| TableCell::of(judged.excursion_percent(), false, || "no I/O".into());
    let confidences = |judged: &JudgedCell| {
        TableCell::of(judged.confidence.map(|share| 100.0 * share), false, || "excursion".into())
    };
    Some(Page {
        exhibits: vec![
            Exhibit::Facts(facts(answers, &judged)),
            Exhibit::Table(table("Larger excursion, % of its limit", &judged, excursions)),
            Exhibit::Table(table("Confidence of the verdict, %", &judged, confidences)),
        ],
        remarks: vec![
            format!(
                "Rounds {}. A cell is steady if neither excursion exceeds 100 % of its limit. Confidence: probability \
                 that the fitted line is level (or, if the cell is not steady, that it is not), from Student's t with 3 \
                 degrees of freedom; \"excursion\": only the data excursion exceeds its limit.",
                answers.rounds.names()
            ),
            "The verdict of the test does not depend on this page: the PTS evaluates only the tracking variables.".into(),
        ],
        key: None,
        title: "IOPS - Steady State of Every Cell (beyond the standard)".into(),
        names_test: true,
    })
}

/// All cells measured in `rounds`.
fn judged(rounds: &[Round]) -> Vec<JudgedCell> {
    let cells =
        sizes().flat_map(|block_bytes| mixes().map(move |read_percent| Cell { block_bytes, read_percent }));
    cells.filter_map(|cell| JudgedCell::of(rounds, cell)).collect()
}

fn facts(answers: &IopsAnswers, judged: &[JudgedCell]) -> Facts {
    let unsteady = judged.iter().filter(|judged| !judged.window.steady).count();
    let verdict = match unsteady {
        0 => format!("steady: all {} cells", judged.len()),
        _ => format!("not steady: {unsteady} of {} cells", judged.len()),
    };
    let lowest = judged
        .iter()
        .filter_map(|judged| Some((judged.confidence?, judged.cell)))
        .min_by(|(a, _), (b, _)| a.total_cmp(b));
    let lowest = lowest.map(|(share, cell)| format!("{:.0} % ({})", 100.0 * share, cell.name()));
    Facts {
        heading: "Verdict over all cells".into(),
        items: vec![
            ("Verdict".into(), verdict),
            ("First window with all cells steady".into(), first_window(answers)),
            ("Lowest confidence of a cell".into(), lowest.unwrap_or_else(|| "n/a".into())),
        ],
        host_limited: false,
    }
}

/// The first five consecutive rounds in which there is no interruption and every cell is steady.
fn first_window(answers: &IopsAnswers) -> String {
    let done = &answers.rounds.done;
    let since = done.len().saturating_sub(answers.rounds.history.len() as usize);
    let is_steady = |rounds: &&[Round]| judged(rounds).iter().all(|judged| judged.window.steady);
    match done[since..].windows(WINDOW_ROUNDS).find(is_steady) {
        Some([first, .., last]) => format!("rounds {}-{}", first.number, last.number),
        _ => format!("none in {}", count_of(done.len(), "round")),
    }
}

fn table(heading: &str, judged: &[JudgedCell], shown: impl Fn(&JudgedCell) -> TableCell) -> Table {
    let cell = |block_bytes: u32, read_percent: u8| {
        let found = judged.iter().find(|judged| judged.cell == Cell { block_bytes, read_percent });
        found.map_or_else(|| TableCell::Absent("not measured".into()), &shown)
    };
    let row = |block_bytes: u32| Row {
        name: kib(u64::from(block_bytes)),
        cells: mixes().map(|read_percent| cell(block_bytes, read_percent)).collect(),
    };
    Table {
        heading: heading.into(),
        row_heading: "Block Size (KiB)".into(),
        column_heading: "Read / Write Mix %".into(),
        columns: mixes().map(mix_name).collect(),
        rows: sizes().map(row).collect(),
        decimals: 0,
        units: Units::All("%".into()),
    }
}
