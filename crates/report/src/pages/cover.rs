//! The cover, which is sufficient for readers in a hurry. It has no page number, so that the numbered pages
//! match those of the specification.

use charts::card::{CardFigure, Tone};
use pts::exhibit::{Exhibit, Page, Scale};
use pts::host_limit::legend;
use pts::{KeyFigure, Outcome};
use stdx::units::count_of;

use super::test_summary::{figure_value, is_valid};
use super::values::{Fact, capacity, fact, interface, model, number, or_na, test_platform};
use crate::document::contents::Document;
use crate::facts::conformance::Verdict;

/// Title in contents and bookmarks.
pub(crate) const TITLE: &str = "Summary";
/// What an imported run is in place of its conformance, which is the last headline.
pub(crate) const NOT_PTS: &str = "not a PTS run";
/// Maximum number of figures.
const MOST_FIGURES: usize = 6;
/// Number of figures in the sentence; more would make it hard to read.
const FIGURES_IN_SENTENCE: usize = 3;

/// A verdict in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Headline {
    pub tone: Tone,
    pub text: String,
}

/// One row per test: title, verdict, and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestRow {
    pub title: String,
    pub headline: Headline,
    pub settings: [String; 5],
}

/// Headings of [`TestRow::settings`].
pub(crate) const SETTINGS: [&str; 5] =
    ["Purge", "PC AR / Test AR", "AR Amt / Segments", "TC / QD", "SS rounds"];

/// Everything on the cover except the banners.
#[derive(Debug, Clone)]
pub(crate) struct Cover<'a> {
    pub device: String,
    /// The verdicts: acceptance of the drive, if a test decides it, followed by steady state and conformance.
    pub headlines: Vec<Headline>,
    /// One sentence about the drive's performance.
    pub sentence: String,
    pub figures: Vec<CardFigure>,
    /// The most telling chart of each of up to two tests, with titles.
    pub pictures: Vec<(&'a Exhibit, String)>,
    pub tests: Vec<TestRow>,
    pub facts: Vec<Fact>,
    /// Caveats about the figures that are not in a banner.
    pub doubts: Vec<String>,
}

/// Returns the cover of `document`.
pub(crate) fn cover(document: &Document) -> Cover<'_> {
    Cover {
        device: model(document).to_owned(),
        headlines: document
            .outcomes
            .iter()
            .filter_map(accepted)
            .chain([steadiness(document), conformity(document)])
            .collect(),
        sentence: sentence(document),
        figures: figures(document),
        pictures: pictures(document),
        tests: document.outcomes.iter().map(|outcome| test_row(document, outcome)).collect(),
        facts: facts(document),
        doubts: doubts(document),
    }
}

/// Returns the verdict of a test that accepts or rejects the drive.
fn accepted(outcome: &Outcome) -> Option<Headline> {
    let acceptance = outcome.acceptance.as_ref()?;
    let tone = if acceptance.is_pass() { Tone::Good } else { Tone::Bad };
    Some(Headline { tone, text: format!("{}: {}", outcome.title, acceptance.word()) })
}

fn is_rejected(outcome: &Outcome) -> bool {
    outcome.acceptance.as_ref().is_some_and(|acceptance| !acceptance.is_pass())
}

fn verdict_of(document: &Document, outcome: &Outcome) -> Headline {
    if let Some((headline, acceptance)) = accepted(outcome).zip(outcome.acceptance.as_ref()) {
        return Headline { text: acceptance.word().to_owned(), ..headline };
    }
    let (tone, text) = match (&outcome.stop, outcome.converged) {
        (Some(stop), _) => (Tone::Bad, format!("not complete: {stop}")),
        (None, Some(true)) => {
            let window = outcome.window.first().map(|(_, window)| window);
            let rounds =
                window.map_or_else(String::new, |w| format!(" in rounds {}-{}", w.first_round, w.last_round));
            (Tone::Good, format!("steady state{rounds}"))
        }
        (None, Some(false)) => (Tone::Bad, format!("no steady state in {}", outcome.missed_rounds())),
        // Unless a mark says that the test did not complete, it is unknown whether it did.
        (None, None) if document.run.origin.is_some() => {
            (Tone::Open, "steady state not evaluated".to_owned())
        }
        (None, None) => (Tone::Open, "complete; steady state not evaluated".to_owned()),
    };
    Headline { tone, text }
}

fn test_row(document: &Document, outcome: &Outcome) -> TestRow {
    let header = &outcome.header;
    let text = |text: &str| or_na(Some(text));
    let both = |first: &str, second: &str| match [first, second] {
        [pts::ABSENT, pts::ABSENT] => pts::ABSENT.to_owned(),
        _ => format!("{} / {}", text(first), text(second)),
    };
    TestRow {
        title: outcome.title.clone(),
        headline: verdict_of(document, outcome),
        settings: [
            text(&header.purge),
            both(&header.pc_ar, &header.test_ar),
            both(&header.ar_amount, &header.ar_segments),
            both(&number(header.threads), &number(header.queue_depth)),
            text(&header.rounds),
        ],
    }
}

/// Returns the verdict on steady state over all tests.
fn steadiness(document: &Document) -> Headline {
    let outcomes = &document.outcomes;
    let headline = |tone, text| Headline { tone, text };
    let incomplete =
        outcomes.iter().filter(|outcome| outcome.stop.is_some()).count() + document.not_begun.len();
    if outcomes.is_empty() || incomplete > 0 {
        let all = outcomes.len() + document.not_begun.len();
        return headline(Tone::Bad, format!("{} of {} complete", all - incomplete, tests(all)));
    }
    let unsteady: Vec<&str> =
        outcomes.iter().filter(|o| o.converged == Some(false)).map(|o| o.title.as_str()).collect();
    let judged = outcomes.iter().filter(|outcome| outcome.converged.is_some()).count();
    match (unsteady.as_slice(), judged) {
        ([], 0) => headline(Tone::Open, "Steady state not evaluated".into()),
        ([], 1) => headline(Tone::Good, "Steady state reached".into()),
        ([], judged) => headline(Tone::Good, format!("Steady state reached in {}", tests(judged))),
        ([_] | [_, _], _) => headline(Tone::Bad, format!("No steady state: {}", unsteady.join(", "))),
        // The table of tests has their names.
        (some, judged) => {
            headline(Tone::Bad, format!("No steady state in {} of {}", some.len(), tests(judged)))
        }
    }
}

fn tests(count: usize) -> String {
    count_of(count, "test")
}

fn conformity(document: &Document) -> Headline {
    if let Some(origin) = &document.run.origin {
        return Headline { tone: Tone::Doubtful, text: format!("Imported from {}: {NOT_PTS}", origin.tool) };
    }
    let revision = document.profile.revision;
    let (tone, text) = match document.verdict(None) {
        Verdict::Conforms => (Tone::Good, format!("Conforms to {revision}")),
        Verdict::Modified => (Tone::Doubtful, format!("{revision}, modified")),
        Verdict::DoesNotConform => (Tone::Bad, format!("Does not conform to {revision}")),
    };
    Headline { tone, text }
}

/// Returns the first figure of each test, then the second figures, up to [`MOST_FIGURES`], in the order of the
/// tests. Figures without a value are included only if there are not enough others.
fn selected(document: &Document) -> Vec<(&Outcome, &KeyFigure)> {
    let outcomes = &document.outcomes;
    let most = outcomes.iter().map(|outcome| outcome.key_figures.len()).max().unwrap_or(0);
    let by_rank = (0..most).flat_map(|rank| {
        outcomes.iter().enumerate().filter_map(move |(test, outcome)| {
            let last = outcome.key_figures.len().checked_sub(1 + rank)?;
            // WSAT and tests with marks on their curves are time series: the end matters more than the beginning.
            let index = if outcome.marks.is_empty() && outcome.test != "wsat" { rank } else { last };
            Some((test, index, outcome, &outcome.key_figures[index]))
        })
    });
    let mut all: Vec<_> = by_rank.collect();
    all.sort_by_key(|(.., figure)| figure.value.is_none());
    all.truncate(MOST_FIGURES);
    all.sort_by_key(|(test, index, ..)| (*test, *index));
    all.into_iter().map(|(_, _, outcome, figure)| (outcome, figure)).collect()
}

/// Returns the spread of the rounds, which differs from the range that the steady-state criteria limit.
fn spread(share: f64) -> String {
    let value = if share < 0.0005 { "< 0.1".to_owned() } else { format!("{:.1}", share * 100.0) };
    format!("std. dev. of rounds {value} %")
}

fn figures(document: &Document) -> Vec<CardFigure> {
    let several = document.outcomes.iter().filter(|outcome| !outcome.key_figures.is_empty()).count() > 1;
    selected(document)
        .into_iter()
        .map(|(outcome, figure)| {
            let name = or_na(Some(&figure.name));
            let note = match (&outcome.stop, outcome.converged, document.spread(outcome, figure)) {
                _ if is_rejected(outcome) => "drive rejected".to_owned(),
                (Some(_), ..) => "test not complete".to_owned(),
                (None, Some(false), _) => "not steady".to_owned(),
                // Without steady state, the values may belong to parts of a disk instead of rounds.
                (None, Some(true), Some(share)) => spread(share),
                (None, ..) => String::new(),
            };
            CardFigure {
                name: if several { format!("{}: {name}", outcome.subject) } else { name },
                value: figure_value(figure),
                unit: figure.value.map_or_else(String::new, |_| figure.unit.symbol().to_owned()),
                note,
                is_valid: is_valid(outcome, figure),
            }
        })
        .collect()
}

/// Describes the drive's performance in one factual sentence: whether it was accepted or, if that was not
/// tested, its first valid figures.
fn sentence(document: &Document) -> String {
    let device = match document.watermark() {
        Some(word) => format!("{} ({})", model(document), word.to_lowercase()),
        None => model(document).to_owned(),
    };
    let accepted = document.outcomes.iter().find_map(|outcome| Some((outcome, outcome.acceptance.as_ref()?)));
    if let Some((outcome, acceptance)) = accepted {
        let reasons: Vec<String> = acceptance.reasons.iter().map(ToString::to_string).collect();
        return match reasons.as_slice() {
            [] => format!("{device} passed {}.", outcome.title),
            reasons => format!("{device} failed {}: {}.", outcome.title, reasons.join("; ")),
        };
    }
    let all = selected(document);
    let valid = |is_meant: fn(&Outcome) -> bool| -> Vec<&KeyFigure> {
        let of_test = |outcome: &Outcome| outcome.stop.is_none() && is_meant(outcome);
        let figures = all.iter().filter(|(outcome, figure)| figure.value.is_some() && of_test(outcome));
        figures.map(|(_, figure)| *figure).take(FIGURES_IN_SENTENCE).collect()
    };
    let (steady, unjudged) = (valid(|o| o.converged == Some(true)), valid(|o| o.converged.is_none()));
    let (figures, state) = if steady.is_empty() { (unjudged, "") } else { (steady, " in steady state") };
    let parts: Vec<String> = figures
        .iter()
        .map(|figure| format!("{} {} ({})", figure_value(figure), figure.unit.symbol(), figure.name))
        .collect();
    match parts.as_slice() {
        [] => format!("{device} has no complete steady-state result in this run."),
        parts => format!("Measured on {device}{state}: {}.", parts.join("; ")),
    }
}

/// Curves over time and columns over block sizes are the most informative; a plot over rounds shows only how steady
/// state was reached.
fn pictures(document: &Document) -> Vec<(&Exhibit, String)> {
    let mut all: Vec<(&Exhibit, String)> = Vec::new();
    for outcome in &document.outcomes {
        let of_kind = |is_meant: fn(&Exhibit) -> bool| -> Option<(&Page, &Exhibit)> {
            let found = |page| Some((page, page_exhibit(page, is_meant)?));
            outcome.pages.iter().find_map(found)
        };
        let Some((page, exhibit)) = of_kind(is_columns).or_else(|| of_kind(is_curve)) else { continue };
        // Two pictures of the same kind are less informative than two of different kinds.
        let is_new = |(other, _): &(&Exhibit, String)| {
            std::mem::discriminant(*other) != std::mem::discriminant(exhibit)
        };
        if all.iter().all(is_new) {
            all.push((exhibit, picture_title(document, outcome, page)));
        }
    }
    // A page without a picture says even less than an approach to steady state.
    if all.is_empty() {
        let first = document.outcomes.iter().find_map(|outcome| {
            let found = |page| Some((page, page_exhibit(page, has_points)?));
            outcome.pages.iter().find_map(found).map(|(page, exhibit)| (outcome, page, exhibit))
        });
        all.extend(first.map(|(outcome, page, exhibit)| (exhibit, picture_title(document, outcome, page))));
    }
    all
}

/// The title of a page, with the name of its test unless there is only one test or the title begins with the name.
fn picture_title(document: &Document, outcome: &Outcome, page: &Page) -> String {
    if document.outcomes.len() == 1 || page.names_test {
        return page.title.clone();
    }
    format!("{}: {}", outcome.title, page.title)
}

fn page_exhibit(page: &Page, is_meant: fn(&Exhibit) -> bool) -> Option<&Exhibit> {
    page.exhibits.iter().find(|exhibit| is_meant(exhibit))
}

/// Returns whether an exhibit has columns with at least one value.
fn is_columns(exhibit: &Exhibit) -> bool {
    matches!(exhibit, Exhibit::Columns3d(columns)
        if columns.heights.iter().flatten().flatten().any(|height| height.is_finite()))
}

/// Returns whether an exhibit is a curve of results with at least two points that its axes can show.
fn is_curve(exhibit: &Exhibit) -> bool {
    has_points(exhibit) && matches!(exhibit, Exhibit::Lines(lines) if lines.x.scale != Scale::Rounds)
}

/// A curve with at least two points that its axes can show.
fn has_points(exhibit: &Exhibit) -> bool {
    let Exhibit::Lines(lines) = exhibit else { return false };
    let shown = |(x, y): &&(f64, f64)| is_on(lines.x.scale, *x) && is_on(lines.y.scale, *y);
    let has_curve = |series: &pts::exhibit::Series| series.points.iter().filter(shown).count() > 1;
    lines.series.iter().any(has_curve)
}

fn is_on(scale: Scale, value: f64) -> bool {
    value.is_finite() && (value > 0.0 || !matches!(scale, Scale::Log10 | Scale::Log2))
}

fn facts(document: &Document) -> Vec<Fact> {
    let target = &document.run.target;
    let (begin, end) = document.dates_of(None);
    let mut facts = vec![
        ("Capacity", capacity(document)),
        ("Interface", interface(document)),
        ("Firmware", fact(document, target.firmware.as_deref())),
        ("Serial number", fact(document, target.serial.as_deref())),
    ];
    let imported = document.run.origin.is_some();
    if !imported {
        facts.push(("Write cache", document.write_cache()));
        facts.push(("Profile", document.profile.revision.to_owned()));
    }
    facts.push(("Test system", test_platform(document)));
    // An imported run has one date, as on page 1.
    facts.push(("Tested", if imported { begin } else { format!("{begin} to {end}") }));
    facts
}

fn doubts(document: &Document) -> Vec<String> {
    let limited = document.outcomes.iter().filter_map(|outcome| {
        let count = outcome.host_limited.as_deref()?;
        Some(format!("{}: the host may have limited {count}", outcome.title))
    });
    let has_mark = selected(document).iter().any(|(_, figure)| figure.value.is_some() && figure.host_limited);
    let legend = has_mark.then(legend);
    let all = document.invalidating.join("; ");
    let failed = (!all.is_empty()).then(|| {
        format!("a host check failed, so results may reflect the host rather than the drive: {all}")
    });
    let unchecked = document.outcomes.iter().filter_map(|outcome| {
        let unchecked = &outcome.acceptance.as_ref()?.unchecked;
        (!unchecked.is_empty()).then(|| format!("{}: not checked: {}", outcome.title, unchecked.join(", ")))
    });
    unchecked.chain(limited).chain(legend).chain(failed).collect()
}
