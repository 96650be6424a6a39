//! The figures of a run that can be compared, each with the values it is the mean of.

use pts::{KeyFigure, Outcome};
use record::{Access, Entry, Segment, Workload};
use stdx::units::block_size;

use super::noise::Better;
use crate::Document;
use crate::answers::{Phase, answers};

/// One figure of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What identifies it in every run: `iops.rnd4k.w`, `lat.rnd4k.r.max`, `wsat.rnd-4kib-w-fob`.
    pub key: String,
    /// As printed.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// One for each round of the measurement window, or the only one; empty where it was not measured.
    pub values: Vec<f64>,
    /// Whether it is on a summary page.
    pub selected: bool,
    pub(super) better: Better,
}

impl Figure {
    /// The figure; none where it was not measured.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.values.iter().sum::<f64>() / self.values.len() as f64)
    }

    /// Standard deviation over the rounds as a share of the mean; none with fewer than two rounds.
    #[must_use]
    pub fn spread_share(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| *mean > 0.0)?;
        let squares = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (self.values.len() > 1).then(|| (squares / (self.values.len() - 1) as f64).sqrt() / mean)
    }
}

/// A value of a workload in one round.
struct Measure {
    /// End of the key.
    suffix: &'static str,
    unit: &'static str,
    better: Better,
    of: fn(&Segment) -> Option<f64>,
}

const MEASURES: [Measure; 4] = [
    Measure { suffix: "", unit: "IOPS", better: Better::More, of: |s| Some(s.iops()) },
    Measure { suffix: "", unit: "MB/s", better: Better::More, of: |s| Some(s.megabytes_per_second()) },
    Measure { suffix: "", unit: "ms", better: Better::Less, of: Segment::mean_latency_ms },
    Measure { suffix: ".max", unit: "ms", better: Better::Less, of: Segment::max_latency_ms },
];

/// Everything that can be compared of a run: per test its selected figures, then every workload of its loop.
pub(super) fn figures(document: &Document, entries: &[Entry]) -> Vec<Figure> {
    document.outcomes.iter().flat_map(|outcome| of_test(document, outcome, entries)).collect()
}

fn of_test(document: &Document, outcome: &Outcome, entries: &[Entry]) -> Vec<Figure> {
    let family = pts::Test::named(outcome.test).map_or(outcome.test, |test| test.family);
    let mut all = of_loop(document, outcome, family, entries);
    let mut first = Vec::new();
    for selected in &outcome.key_figures {
        // The figure of a summary page is that of a workload of the loop where one has its value.
        let same = all.iter().position(|figure| is_same(figure, selected));
        let figure = same.map_or_else(|| single(family, outcome, selected), |at| all.remove(at));
        first.push(Figure { selected: true, ..figure });
    }
    first.append(&mut all);
    first
}

fn is_same(figure: &Figure, selected: &KeyFigure) -> bool {
    let close = |(a, b): (f64, f64)| (a - b).abs() <= 1e-9 * b.abs();
    figure.unit == selected.unit && figure.mean().zip(selected.value).is_some_and(close)
}

/// A figure that stands alone.
fn single(family: &str, outcome: &Outcome, selected: &KeyFigure) -> Figure {
    Figure {
        key: format!("{family}.{}", crate::export::slug(&selected.name)),
        name: format!("{} {}", title(outcome), selected.name),
        unit: selected.unit,
        values: selected.value.filter(|value| value.is_finite()).into_iter().collect(),
        selected: true,
        better: if matches!(selected.unit, "ms" | "min") { Better::Less } else { Better::More },
    }
}

/// The workloads of the rounds that results are taken from, in the unit of the test.
fn of_loop(document: &Document, outcome: &Outcome, family: &str, entries: &[Entry]) -> Vec<Figure> {
    let Some((_, window)) = outcome.window.first() else { return Vec::new() };
    let Some(unit) = outcome.key_figures.first().map(|figure| figure.unit) else { return Vec::new() };
    let rounds = window.first_round..=window.last_round;
    let answers = answers(entries);
    let measured: Vec<&Segment> = answers
        .iter()
        .filter(|answer| answer.test == outcome.test && answer.phase == Phase::Measure)
        .filter(|answer| answer.round.is_some_and(|round| rounds.contains(&round)))
        .map(|answer| answer.segment)
        .collect();
    let depths: Vec<(u16, u16)> =
        measured.iter().map(|s| (s.workload.threads, s.workload.queue_depth)).collect();
    let one_depth = depths.windows(2).all(|pair| pair[0] == pair[1]);
    let mut figures: Vec<Figure> = Vec::new();
    for segment in measured {
        for measure in MEASURES.iter().filter(|measure| measure.unit == unit) {
            // A scaled simulated drive cannot tell a largest response time.
            if measure.suffix == ".max" && document.run.scale_divisor() > 1 {
                continue;
            }
            let Some(value) = (measure.of)(segment) else { continue };
            let key = format!("{family}.{}{}", code(&segment.workload, one_depth), measure.suffix);
            match figures.iter_mut().find(|figure| figure.key == key) {
                Some(figure) => figure.values.push(value),
                None => figures.push(Figure {
                    key,
                    name: name(outcome, &segment.workload, one_depth, measure),
                    unit: measure.unit,
                    values: vec![value],
                    selected: false,
                    better: measure.better,
                }),
            }
        }
    }
    figures
}

/// A workload in short: `rnd4k.w`, `seq1024k.r`, `rnd64k.65`, `rnd8k.65.tc32qd8`.
fn code(workload: &Workload, one_depth: bool) -> String {
    let access = if workload.access == Access::Random { "rnd" } else { "seq" };
    let size = block_size(workload.block_bytes.into()).replace("KiB", "k").replace(' ', "").to_lowercase();
    let mix = match workload.read_percent {
        0 => "w".to_owned(),
        100 => "r".to_owned(),
        read => read.to_string(),
    };
    let kinds = if workload.kinds.is_empty() { "" } else { "mix" };
    let depth = depth(workload, one_depth, ".").to_lowercase();
    format!("{access}{kinds}{size}.{mix}{}", depth.replace(' ', ""))
}

fn depth(workload: &Workload, one_depth: bool, before: &str) -> String {
    if one_depth {
        String::new()
    } else {
        format!("{before}TC{} QD{}", workload.threads, workload.queue_depth)
    }
}

fn name(outcome: &Outcome, workload: &Workload, one_depth: bool, measure: &Measure) -> String {
    let what = match (measure.unit, measure.suffix) {
        ("ms", "") => " average",
        ("ms", _) => " maximum",
        _ => "",
    };
    format!("{} {workload}{}{what}", title(outcome), depth(workload, one_depth, " "))
}

/// The test without the size that some carry in their title: the workload says it.
fn title(outcome: &Outcome) -> &'static str {
    outcome.title.split(" Test ").next().unwrap_or(outcome.title)
}
