//! Pages of the demand variation tests: fourteen, plus the access pattern in ECW, and IOPS over total OIO from PTS 2.0
//! on.

use std::collections::BTreeMap;

use record::TargetKind;
use stdx::units::{block_size, grouped};

use super::answers::DemandAnswers;
use super::pattern::{BETWEEN_MINUTES, HIGHEST, HISTOGRAM_MINUTES, STEPS, Stimulus};
use super::points::{Point, RESPONSE_LIMIT_MS};
use crate::conclusions::header::{Phases, TestHeader, titled};
use crate::conclusions::judged_loop::JudgedLoop;
use crate::conclusions::modified;
use crate::exhibits::exhibit::{Columns3d, Exhibit, Lines, Page, Scale, Series};
use crate::exhibits::reading::ReadingHint;
use crate::exhibits::unit::Unit;
use crate::exhibits::window_pages;
use crate::exhibits::{response, tail};
use crate::flows::composite::Composite;
use crate::flows::precondition::ROUND_MINUTES;
use crate::method::explain::{explain, remarks};
use crate::method::profile::{Demand, Edition, mix_name};
use crate::method::timeline::{Sample, mean};
use crate::{Context, DemandSweep, KeyFigure, Outcome, Stop};

const CHOSEN: [&str; 3] = ["Max", "Mid", "Min"];

pub fn outcome(context: &Context<'_>, answers: &DemandAnswers, stop: Option<Stop>) -> Outcome {
    let test = answers.pattern.test;
    let complete = stop.is_none();
    let converged = answers.precondition.converged && answers.converged;
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.whole_test_range(), stop);
    let composite = composite(context, answers);
    begun.modified.extend(composite.and_then(|composite| composite.modification(context)));
    answers.incidents.add_to(&mut begun.modified);
    modified::by_histogram(context, HISTOGRAM_MINUTES, &mut begun.modified);
    let histories = [&answers.history, &answers.precondition.history];
    let header = TestHeader {
        workload_dependent: answers.pattern.name(0),
        threads: Some(HIGHEST.threads),
        queue_depth: Some(HIGHEST.queue_depth),
        ..begun.header
    };
    let rounds = |history: &crate::method::history::History, converged| {
        let header = header.clone().judged(converged, complete, history.window().first());
        header.steady_rounds()
    };
    let phases = phases(
        context,
        answers,
        rounds(&answers.precondition.history, answers.precondition.converged),
        rounds(&answers.history, answers.converged),
    );
    let header = TestHeader { phases, ..header };
    Outcome {
        tracked_unit: Some(Unit::Iops),
        purpose: "show IOPS and response times over demand intensity, and the demand that serves a host best"
            .into(),
        outline: outline(answers),
        header: header.judged(converged, complete, answers.history.window().first()),
        rounds: answers.rounds.len() as u32,
        converged: (complete || converged).then_some(converged),
        pages: pages(context, answers),
        beyond: vec![tails(answers)],
        sweeps: sweep(answers).into_iter().collect(),
        key_figures: key_figures(answers),
        notes: notes(context, answers, complete),
        // The window with the result rounds comes first.
        window: histories.iter().flat_map(|history| history.named_window()).collect(),
        loops: loops(answers),
        explained: histories.iter().flat_map(|history| explain(history)).collect(),
        ..begun
    }
}

/// Returns the IOPS of the stimulus by number of outstanding I/Os.
fn sweep(answers: &DemandAnswers) -> Option<DemandSweep> {
    let means = answers.means();
    let cells = means.iter().map(|point| (point.outstanding(), point.iops, point.host_limited));
    DemandSweep::of(answers.pattern.name(answers.pattern.read_percent), Unit::Iops, cells)
}

fn loops(answers: &DemandAnswers) -> Vec<JudgedLoop> {
    let variation = JudgedLoop {
        name: "demand variation",
        rounds: answers.rounds.len() as u32,
        converged: answers.converged,
        window: answers.history.window().into_iter().next(),
        only_step: None,
    };
    vec![answers.precondition.judged("preconditioning"), variation]
}

fn phases(context: &Context<'_>, answers: &DemandAnswers, preconditioned: String, varied: String) -> Phases {
    let length = |minutes| titled(&context.minutes_in_words(minutes));
    let (pattern, read) = (answers.pattern, answers.pattern.read_percent);
    let sizes = match pattern.stimulus {
        Stimulus::Block(bytes) => block_size(bytes.into()),
        Stimulus::Composite => "Composite".into(),
    };
    let points = answers.chosen.map_or_else(
        || "N/A".to_owned(),
        |chosen| {
            let of = |demand: Demand| format!("{},{}", demand.threads, demand.queue_depth);
            // The header lists points from Min to Max.
            chosen.demands().into_iter().rev().map(of).collect::<Vec<_>>().join("; ")
        },
    );
    Phases {
        pre_condition_1: [pattern.name(0), HIGHEST.to_string(), preconditioned],
        pre_condition_2: [
            format!("Inter-Round Pre W: {}", pattern.name(0)),
            HIGHEST.to_string(),
            length(BETWEEN_MINUTES),
        ],
        stimulus_1: [
            pattern.name(read),
            format!("{read}:{}", 100_u8.saturating_sub(read)),
            sizes,
            "From 1-32, High to Low TOIO".into(),
            varied,
        ],
        stimulus_2: [
            "Min, Mid, Max IOPS Point".into(),
            points,
            format!("{} each", length(HISTOGRAM_MINUTES)),
        ],
    }
}

fn outline(answers: &DemandAnswers) -> String {
    format!(
        "purge; write at TC 32 QD 32 until one minute out of every {ROUND_MINUTES} is steady; {} over 7 x 7 \
         TC and QD from high to low until TC 32 QD 32 is steady; histograms at the Max, Mid and Min IOPS \
         points",
        answers.pattern.name(answers.pattern.read_percent)
    )
}

fn notes(context: &Context<'_>, answers: &DemandAnswers, complete: bool) -> Vec<String> {
    let mut notes: Vec<String> = answers.incidents.note().into_iter().collect();
    if matches!(answers.pattern.stimulus, Stimulus::Block(_)) && !context.settings.dirth.is_none() {
        notes.push(format!(
            "workload chosen by the tester: {}",
            answers.pattern.name(answers.pattern.read_percent)
        ));
    }
    if !answers.precondition.converged
        && !answers.precondition.rounds.is_empty()
        && (complete || !answers.rounds.is_empty())
    {
        let rounds = answers.precondition.rounds.len();
        notes.push(format!("SS NOT ACHIEVED: no steady state in {rounds} rounds of preconditioning"));
        notes.extend(remarks(&answers.precondition.history));
    }
    if complete && !answers.converged {
        let rounds = answers.rounds.len();
        notes.push(format!("SS NOT ACHIEVED: no steady state in {rounds} rounds of demand variation"));
        notes.extend(remarks(&answers.history));
    }
    if answers.chosen.is_some_and(|chosen| chosen.all_slow) {
        notes.push(format!(
            "no point has an average response time below {RESPONSE_LIMIT_MS} ms, so Max is the point with \
             the lowest"
        ));
    }
    if !complete {
        notes.push(format!(
            "NOT COMPLETE: completed {} rounds of preconditioning, {} of demand variation and {} histograms",
            answers.precondition.rounds.len(),
            answers.rounds.len(),
            answers.histograms.iter().filter(|drawn| drawn.segment.is_some()).count()
        ));
    }
    notes
}

fn pages(context: &Context<'_>, answers: &DemandAnswers) -> Vec<Page> {
    let means = answers.means();
    let pre =
        (1..).map(f64::from).zip(&answers.precondition.rounds).map(|(round, sample)| (round, sample.iops));
    let pre: Vec<(f64, f64)> = pre.collect();
    let tracked = (1..).map(f64::from).zip(&answers.rounds).map(|(round, cells)| (round, cells[0].iops));
    let one = |name: &str, points: &[(f64, f64)]| vec![Series { name: name.into(), points: points.into() }];
    let check = |title: &str, points: Vec<(f64, f64)>, history: &crate::method::history::History| {
        let window = history.window();
        let mut page =
            window_pages::determination("TC32-QD32", Unit::Iops, points, window.first(), context.profile);
        page.title = title.into();
        page
    };
    let mut pages = vec![
        window_pages::convergence("Pre Conditioning IOPS", "IOPS", one("TC32-QD32", &pre)),
        check("Pre Conditioning Steady State Check TC32-QD32", pre, &answers.precondition.history),
        over_minutes(
            "pre-writes",
            "Between Round Pre-Writes",
            &writes_at(answers, HIGHEST),
            &answers.between,
        ),
        window_pages::convergence("DV IOPS, TC = 32, All QD", "IOPS", by_depth(answers)),
        check("DV Steady State Check TC32-QD32", tracked.collect(), &answers.history),
        demand_variation(&means),
        demand_intensity(&means),
        processor(context, &means),
    ];
    for (index, name) in CHOSEN.into_iter().enumerate() {
        let drawn = answers.histograms.get(index);
        let writes = drawn.map_or(&[][..], |drawn| &drawn.pre_writes);
        let demand = answers.chosen.map_or(HIGHEST, |chosen| chosen.demands()[index]);
        let key = format!("pre-writes-{name}");
        pages.push(over_minutes(
            &key,
            &format!("{name} IOPS Pre-Writes"),
            &writes_at(answers, demand),
            writes,
        ));
        let title = format!("{name} IOPS Response Time Histogram");
        pages.push(response::page(
            &format!("response-times-{name}"),
            &title,
            drawn.and_then(|drawn| drawn.segment.as_ref()),
            context,
        ));
    }
    if context.profile.edition >= Edition::V2_0 {
        pages.push(over_total(&means));
    } else {
        // The access pattern page comes first: it is page 0 in the specification.
        pages.splice(..0, composite(context, answers).map(|composite| composite.page()));
    }
    pages
}

/// The tails at the three points for which histograms are recorded.
fn tails(answers: &DemandAnswers) -> Page {
    let recorded = CHOSEN.into_iter().zip(&answers.histograms);
    let times: Vec<_> = recorded
        .filter_map(|(name, drawn)| {
            Some((format!("{name} IOPS"), response::merged([drawn.segment.as_ref()?])))
        })
        .collect();
    let measured: Vec<_> = times.iter().map(|(name, times)| (name.clone(), times)).collect();
    tail::page("Response Time Tail at Max, Mid and Min IOPS", &measured)
}

fn composite(context: &Context<'_>, answers: &DemandAnswers) -> Option<Composite> {
    (answers.pattern.stimulus == Stimulus::Composite).then(|| Composite::of(context))
}

fn writes_at(answers: &DemandAnswers, demand: Demand) -> String {
    format!("{} TC{} QD{}", answers.pattern.name(0), demand.threads, demand.queue_depth)
}

fn over_minutes(key: &str, title: &str, name: &str, samples: &[Sample]) -> Page {
    let points = samples.iter().map(|sample| (sample.minute, sample.iops)).collect();
    let series = vec![Series { name: name.into(), points }];
    let (x, y) = (("Time (minutes)", Scale::LinearFromZero), ("IOPS", Scale::LinearFromZero));
    Page::of(key, title, Exhibit::Lines(Lines::plain(ReadingHint::PreWrites, x, y, series)))
}

/// Loop values in page order: ascending.
fn rising() -> impl Iterator<Item = u16> {
    STEPS.into_iter().rev()
}

fn by_depth(answers: &DemandAnswers) -> Vec<Series> {
    let series = |(index, queue_depth): (usize, u16)| Series {
        name: format!("QD {queue_depth}"),
        // A round starts with the cells that have the largest thread count.
        points: (1..)
            .map(f64::from)
            .zip(&answers.rounds)
            .map(|(round, cells)| (round, cells[index].iops))
            .collect(),
    };
    STEPS.into_iter().enumerate().map(series).collect()
}

fn at(means: &[Point], threads: u16, queue_depth: u16) -> Option<&Point> {
    means.iter().find(|point| point.demand == Demand { threads, queue_depth })
}

/// Returns one series per thread count, with one point per queue depth, ascending.
fn by_threads(means: &[Point], point: impl Fn(&Point) -> Option<(f64, f64)>) -> Vec<Series> {
    let series = |threads: u16| Series {
        name: format!("TC {threads}"),
        points: rising().filter_map(|depth| point(at(means, threads, depth)?)).collect(),
    };
    rising().map(series).collect()
}

fn demand_variation(means: &[Point]) -> Page {
    let series = by_threads(means, |point| Some((f64::from(point.demand.queue_depth), point.iops)));
    let (x, y) = (("QD", Scale::Log2), ("IOPS", Scale::LinearFromZero));
    let lines = Lines::plain(ReadingHint::ByDepth, x, y, series);
    Page::of("variation", "Demand Variation", Exhibit::Lines(lines))
}

fn demand_intensity(means: &[Point]) -> Page {
    let series = by_threads(means, |point| Some((point.iops, point.mean_ms?)));
    let (x, y) = (("IOPS", Scale::LinearFromZero), ("ART (ms)", Scale::Log10));
    let lines = Lines::plain(ReadingHint::Intensity, x, y, series);
    Page::of("intensity", "Demand Intensity", Exhibit::Lines(lines))
}

/// Returns the host's CPU load by cell.
fn processor(context: &Context<'_>, means: &[Point]) -> Page {
    let percent = |threads, queue_depth| at(means, threads, queue_depth)?.processor_percent;
    let names = || rising().map(|value| value.to_string()).collect::<Vec<_>>();
    let columns = Columns3d {
        reading: ReadingHint::Processor,
        x_label: "QD".into(),
        x: names(),
        depth_label: "TC".into(),
        depth: names(),
        height_label: "CPU (%)".into(),
        heights: rising().map(|threads| rising().map(|depth| percent(threads, depth)).collect()).collect(),
    };
    let measured = means.iter().any(|point| point.processor_percent.is_some());
    let remark = match (context.target.kind, measured) {
        (TargetKind::Simulated, _) => {
            "A simulated drive puts no load on the host, so there is nothing to show."
        }
        (_, true) => {
            "CPU time of the load threads, in user space and in the kernel, as a share of all CPUs; other \
             activity of the host is not included."
        }
        (_, false) => "No cell was measured, or its record contains no CPU time.",
    };
    let mut page =
        Page::of("processor", "System CPU Utilization During Demand Variation", Exhibit::Columns3d(columns));
    page.remarks.push(remark.into());
    // The specification requires the page, even if there is nothing to draw.
    page.exhibits.retain(|_| measured);
    page
}

/// Averages cells with equal TC x QD into one value.
fn over_total(means: &[Point]) -> Page {
    let mut by_total: BTreeMap<u32, Vec<&Point>> = BTreeMap::new();
    for point in means {
        by_total.entry(point.outstanding()).or_default().push(point);
    }
    let series = |name: &str, value: fn(&Point) -> Option<f64>| Series {
        name: name.into(),
        points: by_total
            .iter()
            .filter_map(|(total, points)| {
                Some((f64::from(*total), mean(points.iter().filter_map(|point| value(point)))?))
            })
            .collect(),
    };
    let lines = |reading, label: &str, series: Series| {
        let x = ("Total OIO (TC x QD)", Scale::Log2);
        Exhibit::Lines(Lines::plain(reading, x, (label, Scale::LinearFromZero), vec![series]))
    };
    Page {
        key: Some("over-total".into()),
        title: "IOPS v Total OIO".into(),
        names_test: false,
        exhibits: vec![
            lines(ReadingHint::ByOutstanding, "IOPS", series("IOPS", |point| Some(point.iops))),
            lines(ReadingHint::TimesByOutstanding, "ms", series("ART", |point| point.mean_ms)),
        ],
        remarks: Vec::new(),
    }
}

fn key_figures(answers: &DemandAnswers) -> Vec<KeyFigure> {
    let Some(chosen) = answers.chosen else { return Vec::new() };
    let read = answers.pattern.read_percent;
    let mix = match answers.pattern.stimulus {
        Stimulus::Block(_) => answers.pattern.name(read),
        // The test's title already names the workload.
        Stimulus::Composite => mix_name(read),
    };
    let figure = |(name, point): (&str, Point)| {
        let ms = point.mean_ms.map_or_else(|| "n/a".into(), |ms| grouped(ms, 3));
        let Demand { threads, queue_depth } = point.demand;
        KeyFigure {
            name: format!("{name} point, {mix} TC {threads} QD {queue_depth}, ART {ms} ms"),
            key: None,
            value: Some(point.iops),
            host_limited: point.host_limited,
            unit: Unit::Iops,
            absent: "n/a",
            decimals: 0,
        }
    };
    CHOSEN.into_iter().zip([chosen.max, chosen.mid, chosen.min]).map(figure).collect()
}
