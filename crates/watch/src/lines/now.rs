//! The current activity of the run, or its last activity.

use follow::live::{FixedRounds, Live};
use live::{LivePhase, LiveSecond};
use ratatui::text::{Line, Span};
use record::Segment;
use stdx::units::{grouped, span};

use super::label::{COLUMNS, labelled};
use crate::paint::Paint;
use crate::shown::Shown;

/// Minimum width at which the latency of the last seconds is also shown. A narrow screen needs its lines for
/// more important data.
const WITH_LATENCY: usize = 90;
const BAR: usize = 24;
const BARS: [char; 8] =
    ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];

pub(super) fn lines(shown: &Shown, live: &Live<'_>, paint: Paint, width: usize) -> Vec<Line<'static>> {
    let Some(now) = shown.present() else {
        return live.latest.map_or_else(Vec::new, |segment| vec![latest(segment, paint)]);
    };
    let mut lines = vec![labelled("now", vec![paint.bold(&place(now))], paint)];
    lines.push(labelled("progress", progress(now, paint), paint));
    if let (Some(from), Some(to)) = (now.test_left_min_seconds, now.test_left_max_seconds) {
        let (from, to) = (duration(from), duration(to));
        let text = if from == to { from } else { format!("{from} to {to}") } + " for this test";
        lines.push(labelled("left", vec![paint.plain(&text)], paint));
    }
    if let Some(second) = now.seconds.last().filter(|_| is_load(now)) {
        lines.push(labelled("IOPS", vec![paint.bold(&rates(second))], paint));
        lines.push(labelled("latency", vec![paint.plain(&latencies(second))], paint));
    }
    let room = width.saturating_sub(COLUMNS);
    let values = |of: fn(&LiveSecond) -> f64| now.seconds.iter().map(of).collect::<Vec<f64>>();
    lines.extend(chart("seconds", &values(|second| second.iops), "IOPS", room, paint));
    if width >= WITH_LATENCY {
        let latency = values(|second| second.max_latency_seconds * 1e3);
        lines.extend(chart("", &latency, "ms, slowest I/O", room, paint));
    }
    lines
}

/// Returns where the run is: phase, round, cell and workload.
pub(super) fn place(now: &live::Live) -> String {
    let most = now.max_rounds.map_or("?".to_owned(), |rounds| rounds.to_string());
    let step = now.step.as_deref().map(|step| format!("  {step}")).unwrap_or_default();
    format!("{}{step}", phase(now, &format!(" of up to {most}")))
}

/// Returns where the run is, in the fewest words.
pub(super) fn short_place(now: &live::Live) -> String {
    phase(now, "")
}

fn phase(now: &live::Live, of_rounds: &str) -> String {
    let test = now.test.as_deref().map(|test| format!("{test}: ")).unwrap_or_default();
    let phase = match now.phase {
        None => "between two steps".to_owned(),
        Some(LivePhase::Purge) => "purge".into(),
        Some(LivePhase::Settle) => "waiting for the array".into(),
        Some(LivePhase::Rebuild) => "rebuilding the simulated drive".into(),
        Some(LivePhase::Precondition) => "preconditioning".into(),
        Some(LivePhase::Idle) => "idle".into(),
        Some(LivePhase::Load) => now.cell.map_or("load".into(), |load| format!("load {load}")),
        Some(LivePhase::Cell) => {
            let of = |number: Option<u32>| number.map_or("?".to_owned(), |number| number.to_string());
            let (round, cell) = (of(now.round), format!("cell {} of {}", of(now.cell), of(now.cells)));
            match now.test.as_deref().and_then(FixedRounds::of) {
                Some(FixedRounds { name, count }) => format!("{name} {round} of {count}, {cell}"),
                None => format!("round {round}{of_rounds}, {cell}"),
            }
        }
    };
    format!("{test}{phase}")
}

const fn is_load(now: &live::Live) -> bool {
    matches!(now.phase, Some(LivePhase::Precondition | LivePhase::Cell | LivePhase::Load))
}

fn progress(now: &live::Live, paint: Paint) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    if let Some(share) = now.share_done {
        let filled = ((share * BAR as f64) as usize).min(BAR);
        let bar = format!("{}{}", "\u{2588}".repeat(filled), "\u{2581}".repeat(BAR - filled));
        spans.extend([paint.chart(&bar), paint.bold(&format!(" {:>3.0} %  ", share * 100.0))]);
    }
    let elapsed = now.elapsed_seconds.map(|elapsed| format!("{} elapsed", duration(elapsed)));
    let left = match (now.left_seconds, now.left_is_estimate) {
        (Some(left), false) => Some(format!("{} left", duration(left))),
        (Some(left), true) => Some(format!("about {} left", duration(left))),
        (None, true) => Some("longer than expected".to_owned()),
        (None, false) => None,
    };
    let text: Vec<String> = [elapsed, left].into_iter().flatten().collect();
    spans.push(paint.plain(&text.join(", ")));
    spans
}

fn rates(second: &LiveSecond) -> String {
    format!("{}  {} MB/s", grouped(second.iops, 0), grouped(second.bytes_per_second / 1e6, 1))
}

fn latencies(second: &LiveSecond) -> String {
    let ms = |seconds: f64| grouped(seconds * 1e3, 3);
    format!("mean {} ms, max {} ms", ms(second.mean_latency_seconds), ms(second.max_latency_seconds))
}

fn latest(segment: &Segment, paint: Paint) -> Line<'static> {
    let limited = if segment.is_host_limited() { "  host-limited" } else { "" };
    let mean = segment.mean_latency_ms().map(|mean| format!("  mean {} ms", grouped(mean, 3)));
    let text = format!(
        "{}  {} IOPS  {} MB/s{}{limited}",
        segment.workload,
        grouped(segment.iops(), 1),
        grouped(segment.megabytes_per_second(), 1),
        mean.unwrap_or_default()
    );
    labelled("latest", vec![paint.plain(&text)], paint)
}

/// Returns the last values as bars, with the smallest and the largest displayed value.
fn chart(label: &str, values: &[f64], unit: &str, room: usize, paint: Paint) -> Option<Line<'static>> {
    let range = |values: &[f64]| {
        let (low, high) =
            (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max));
        let decimals = if high < 100.0 { 1 } else { 0 };
        let text = format!(" {} to {} {unit}", grouped(low, decimals), grouped(high, decimals));
        (text, high)
    };
    let text_columns = range(values).0.len();
    let columns = room.saturating_sub(text_columns + 1).min(values.len());
    if columns < 2 {
        return None;
    }
    let kept = &values[values.len() - columns..];
    let (text, high) = range(kept);
    let bar = |value: &f64| {
        let step = if high > 0.0 { (value / high * (BARS.len() - 1) as f64).round() as usize } else { 0 };
        BARS[step.min(BARS.len() - 1)]
    };
    let bars: String = kept.iter().map(bar).collect();
    Some(labelled(label, vec![paint.chart(&bars), paint.soft(&text)], paint))
}

fn duration(seconds: f64) -> String {
    match seconds {
        // A cell may last less than a second.
        0.05..0.95 => format!("{seconds:.1} s"),
        // For longer durations, fractions of a second do not matter.
        _ => span((seconds.round().max(0.0) * 1e9) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_a_column_for_each_second_that_fits() {
        let text = |values: &[f64], room| {
            let line = chart("", values, "IOPS", room, Paint::PLAIN)?;
            Some(line.spans[1..].iter().map(|span| span.content.as_ref()).collect::<String>())
        };
        assert_eq!(text(&[100.0, 200.0, 0.0], 60).as_deref(), Some("\u{2585}\u{2588}\u{2581} 0 to 200 IOPS"));
        assert_eq!(text(&[0.0, 0.0], 60).as_deref(), Some("\u{2581}\u{2581} 0.0 to 0.0 IOPS"));
        let long: Vec<f64> = (0..60).map(f64::from).collect();
        let cut = text(&long, 30).expect("it fits");
        assert!(cut.ends_with(" to 59.0 IOPS") && cut.chars().count() <= 30, "{cut}");
        assert_eq!(text(&long, 5), None);
        assert_eq!(text(&[1.0], 60), None);
    }

    #[test]
    fn no_part_of_a_short_cell_is_zero() {
        assert_eq!(
            [0.0, 0.2, 0.94, 0.96, 59.6].map(duration),
            ["0 s", "0.2 s", "0.9 s", "1 s", "1 min 00 s"]
        );
    }
}
