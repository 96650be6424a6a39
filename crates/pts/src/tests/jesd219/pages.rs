//! The test's pages: the workload, the convergence to steady state, and the response times.

use record::Segment;

use super::answers::{DEMAND, Jesd219Answers, NAME};
use crate::conclusions::header::{Phases, TestHeader};
use crate::exhibits::exhibit::{Page, Series};
use crate::exhibits::response::{histogram_page, merged};
use crate::exhibits::unit::Unit;
use crate::exhibits::window_pages;
use crate::{Context, KeyFigure, Outcome, PRECONDITION_BLOCK, Stop, Test};

pub fn outcome(test: &Test, context: &Context<'_>, answers: &Jesd219Answers, stop: Option<Stop>) -> Outcome {
    let demand = context.demand(Some(DEMAND));
    let mut begun = Outcome::begun(test, context, answers.purge.as_ref(), context.whole_test_range(), stop);
    begun.modified.extend(answers.composite.modification(context));
    let outcome = answers.rounds.conclude(begun, answers.precondition.as_ref(), None);
    let phases = Phases {
        pre_condition_1: context.precondition_phase(context.demand(None), PRECONDITION_BLOCK),
        stimulus_1: [
            NAME.into(),
            "40:60".into(),
            "Composite".into(),
            demand.to_string(),
            outcome.header.steady_rounds(),
        ],
        ..Phases::default()
    };
    Outcome {
        tracked_unit: Some(Unit::Iops),
        purpose: "measure a drive under the enterprise workload of JESD219".into(),
        outline: format!(
            "purge; {}; 40 % reads and 60 % writes of 0.5 to 64 KiB, half of them in 5 % of the range, one cell a round, until \
             the IOPS are steady over five rounds",
            context.precondition_in_words()
        ),
        header: TestHeader {
            workload_independent: Some(format!("{}X SEQ/128KiB", context.settings.precondition_capacities)),
            workload_dependent: NAME.into(),
            threads: Some(demand.threads),
            queue_depth: Some(demand.queue_depth),
            phases,
            ..outcome.header
        },
        pages: pages(context, answers),
        key_figures: key_figures(answers),
        ..outcome
    }
}

fn iops(segments: &[Segment]) -> Option<f64> {
    segments.first().map(Segment::iops)
}

fn is_host_limited(answers: &Jesd219Answers) -> bool {
    answers.rounds.results().iter().flat_map(|round| &round.segments).any(Segment::is_host_limited)
}

fn pages(context: &Context<'_>, answers: &Jesd219Answers) -> Vec<Page> {
    let points = || answers.rounds.points(iops);
    let series = Series { name: NAME.into(), points: points() };
    let window = answers.rounds.history.window();
    let histogram = merged(answers.rounds.results().iter().flat_map(|round| &round.segments));
    let title = "Response Time Histogram - Confidence Level Plot";
    let caption = format!("{NAME}, {}, rounds {}", context.demand(Some(DEMAND)), answers.rounds.names());
    vec![
        answers.composite.page(),
        window_pages::convergence("JESD219 IOPS - SS Convergence", "IOPS", vec![series]),
        window_pages::determination(NAME, Unit::Iops, points(), window.first(), context.profile),
        histogram_page("response-times", title, caption, &histogram, is_host_limited(answers)),
    ]
}

fn key_figures(answers: &Jesd219Answers) -> Vec<KeyFigure> {
    let host_limited = is_host_limited(answers);
    let mean =
        |of: fn(&Segment) -> Option<f64>| answers.rounds.mean(|segments| segments.first().and_then(of));
    let figure = |name: &str, value, unit, decimals| KeyFigure {
        name: name.into(),
        key: None,
        value,
        absent: "n/a",
        unit,
        decimals,
        host_limited,
    };
    vec![
        figure("JESD219 40/60", mean(|segment| Some(segment.iops())), Unit::Iops, 0),
        figure(
            "Throughput",
            mean(|segment| Some(segment.megabytes_per_second())),
            Unit::MegabytesPerSecond,
            1,
        ),
        figure("Average response time", mean(Segment::mean_latency_ms), Unit::Milliseconds, 3),
    ]
}
