//! The comparison as cards to share: the baseline's figures, how much the other runs differ from them, and the
//! runs as ranked bars.

use charts::card::{Card, CardFigure, Tone};
use charts::{Ranked, Size};
use report::formats::Files;
use report::parts::{card_files, tool};

use crate::authored::Authored;
use crate::comparison::{Comparison, Line};
use crate::html::title;
use crate::noise::{Difference, Finding};
use crate::overlays::named;
use crate::sections;
use crate::selected::ranked;
use crate::wording::{decimals, letter, mean, percent, signed};

/// Maximum number of figures.
const MOST_FIGURES: usize = 6;
/// Number of characters of a note that fit below a figure on cards of both sizes.
const NOTE: usize = 27;
/// Maximum number of bars that are legible on a card.
const MOST_BARS: usize = 16;
const BARS_WIDTH: f64 = 520.0;
/// Height of a card's bar area. If there are few runs, there is room for several figures.
const BARS_HEIGHT: f64 = 340.0;

/// Draws the card in all sizes and themes, as SVG and PNG.
///
/// # Errors
/// Returns an error if a picture cannot be rendered.
pub fn card(comparison: &Comparison, authored: &Authored) -> Result<Files, String> {
    card_files(&content(comparison, authored))
}

fn content(comparison: &Comparison, authored: &Authored) -> Card {
    // The figures that the baseline and as many runs as possible have are listed first.
    let missing = |line: &&Line| (0..comparison.runs.len()).filter(|run| !has_value(line, *run)).count();
    let mut lines: Vec<&Line> = comparison.lines.iter().filter(|line| line.selected).collect();
    lines.sort_by_key(|line| (!has_value(line, 0), missing(line)));
    let marks = Some(sections::marks(&comparison.runs)).filter(|text| !text.is_empty());
    let ids: Vec<&str> = comparison.runs.iter().map(|run| run.document.run.id.as_str()).collect();
    Card {
        device: title(comparison),
        about: about(comparison),
        marks: authored.watermark.iter().cloned().chain(marks).collect(),
        headlines: headlines(comparison),
        figures: lines.iter().take(MOST_FIGURES).map(|line| figure(comparison, line)).collect(),
        picture: picture(comparison, &lines),
        credit: format!("{} · {}", tool(&comparison.runs[0].document), ids.join(", ")),
    }
}

/// Names the baseline, and counts the caveats to note before comparing.
fn about(comparison: &Comparison) -> String {
    let baseline = format!("Baseline: {}", named(&comparison.runs, 0));
    match comparison.warnings.len() {
        0 => baseline,
        1 => format!("{baseline} · 1 caveat to note before comparing"),
        count => format!("{baseline} · {count} caveats to note before comparing"),
    }
}

/// Counts the findings of up to three runs.
fn headlines(comparison: &Comparison) -> Vec<(Tone, String)> {
    const MOST: usize = 3;
    let of_run = |run: usize| {
        let findings = || comparison.lines.iter().filter_map(|line| Some(line.differences[run]?.finding));
        let parts =
            [Finding::Better, Finding::Worse, Finding::WithinNoise, Finding::SpreadUnknown].map(|kind| {
                let count = findings().filter(|finding| *finding == kind).count();
                (count > 0).then(|| format!("{count} {}", kind.word()))
            });
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let counts = if parts.is_empty() { "no common figures".to_owned() } else { parts.join(", ") };
        (Tone::Open, format!("{}: {counts}", letter(run)))
    };
    (1..comparison.runs.len()).take(MOST).map(of_run).collect()
}

fn has_value(line: &Line, run: usize) -> bool {
    line.figures[run].as_ref().is_some_and(|figure| !figure.values.is_empty())
}

/// Returns the baseline's value, and how much the other runs differ from it.
fn figure(comparison: &Comparison, line: &Line) -> CardFigure {
    let baseline = line.figures[0].as_ref().and_then(|figure| mean(figure, decimals(line)));
    let is_valid = |run: usize| line.figures[run].as_ref().is_some_and(|f| comparison.runs[run].is_valid(f));
    let mut runs = (0..comparison.runs.len()).filter(|run| has_value(line, *run));
    CardFigure {
        name: format!("{}: {}", letter(0), line.name),
        unit: if baseline.is_some() { line.unit.symbol().to_owned() } else { String::new() },
        is_valid: baseline.is_some() && runs.all(is_valid),
        value: baseline.unwrap_or_else(|| "n/a".into()),
        note: note(line),
    }
}

/// Returns the differences of one or two runs if there is room for them, or the range of the differences.
fn note(line: &Line) -> String {
    let known: Vec<(String, &Difference)> = line
        .differences
        .iter()
        .enumerate()
        .filter_map(|(run, difference)| Some((letter(run), difference.as_ref()?)))
        .collect();
    let is_noise = |found: &Difference| found.finding == Finding::WithinNoise;
    let listed = match &known[..] {
        [] => String::new(),
        [(run, found)] => format!("{run} {} {}", percent(found), found.finding.word()),
        [(a, first), (b, second)] if is_noise(first) && is_noise(second) => format!("{a}, {b} within noise"),
        all => {
            let in_short =
                |found| if is_noise(found) { found.finding.word().to_owned() } else { percent(found) };
            all.iter().map(|(run, found)| format!("{run} {}", in_short(found))).collect::<Vec<_>>().join(", ")
        }
    };
    if known.len() <= 2 && listed.chars().count() <= NOTE {
        return listed;
    }
    let percents = || known.iter().map(|(_, found)| found.percent);
    let (low, high) =
        (percents().fold(f64::INFINITY, f64::min), percents().fold(f64::NEG_INFINITY, f64::max));
    match known.len() {
        1 => format!("{} {}", known[0].0, percent(known[0].1)),
        _ => format!("others: {} to {} %", signed(low, 1), signed(high, 1)),
    }
}

/// Draws the runs as bars, with as many of `lines` as fit.
fn picture(comparison: &Comparison, lines: &[&Line]) -> Option<(String, String, Size)> {
    let ranked: Vec<Ranked> = lines.iter().map(|line| bars(comparison, line)).collect();
    let height = ranked.iter().map(Ranked::height).reduce(f64::max)?;
    let each = Size { width: BARS_WIDTH, height };
    let count = ((BARS_HEIGHT / each.height) as usize).max(1);
    let pictures: Vec<String> =
        ranked.iter().take(count).map(|bars| charts::ranked_at_top(bars, each)).collect();
    let all = comparison.runs.len();
    let title = if all > MOST_BARS {
        format!("The best of {all} runs, and the baseline")
    } else {
        "The best first".to_owned()
    };
    let (svg, size) = charts::grid(&pictures, each, 1, &title);
    Some((title, svg, size))
}

/// Returns the runs as bars: all runs, or the best runs and the baseline.
fn bars(comparison: &Comparison, line: &Line) -> Ranked {
    let mut ranked = ranked(comparison, line);
    // A baseline that is not among the best runs is shown last.
    let baseline = ranked.bars.iter().position(|bar| bar.is_baseline);
    if let Some(baseline) = baseline.filter(|place| *place >= MOST_BARS) {
        ranked.bars.swap(MOST_BARS - 1, baseline);
    }
    ranked.bars.truncate(MOST_BARS);
    ranked
}
