//! Findings for line charts, depending on what the chart shows.

use chartdata::ReadingHint;
use chartdata::exhibit::{Axis, GuideRole, Lines, Scale, Series};

use super::amounts::{
    MILLISECONDS, SMALLEST, amount, at, change, is_unchanged, moved, pair, percent, quantity, unit_of, within,
};
use super::columns::extremes;
use super::course;

/// Share of the highest value that counts as having reached it.
const NEARLY: f64 = 0.95;
/// Rounds at the end of a convergence plot: as many as a measurement window has.
const LAST_ROUNDS: usize = 5;
/// Maximum number of means to list.
const LISTED: usize = 3;

pub(super) fn finding(lines: &Lines) -> Option<String> {
    match lines.reading {
        ReadingHint::Convergence => convergence(lines),
        ReadingHint::Window | ReadingHint::Determination => window(lines),
        ReadingHint::ByBlockSize | ReadingHint::ByMix | ReadingHint::ByPosition => by_place(lines),
        ReadingHint::Saturation
        | ReadingHint::SaturationTimes
        | ReadingHint::PreWrites
        | ReadingHint::Endurance => first_course(lines, "minutes"),
        ReadingHint::OverWritten | ReadingHint::SustainedWrites => first_course(lines, "GB written"),
        ReadingHint::OverFills => first_course(lines, "drive fills"),
        ReadingHint::Rounds => rounds(lines),
        ReadingHint::Tail => tail(lines),
        ReadingHint::Returns => first_course(lines, "minutes"),
        ReadingHint::Idling
        | ReadingHint::AccessGroups
        | ReadingHint::CellsOverTime
        | ReadingHint::ReplayedSteps => means(lines),
        ReadingHint::ByDepth | ReadingHint::ByOutstanding | ReadingHint::Runs | ReadingHint::OverlaidRuns => {
            peak(lines)
        }
        ReadingHint::TimesByOutstanding => from_first_to_last(lines),
        ReadingHint::Intensity => intensity(lines),
        // Other kinds of exhibit and line charts without a finding.
        ReadingHint::Columns
        | ReadingHint::WorkloadOverTime
        | ReadingHint::WorkloadBars
        | ReadingHint::Locality
        | ReadingHint::ReuseDistance
        | ReadingHint::Processor
        | ReadingHint::ResponseTimes
        | ReadingHint::Trend
        | ReadingHint::Mixes
        | ReadingHint::DemandMap => None,
    }
}

/// Returns the finite points of a series.
fn known(series: &Series) -> Vec<(f64, f64)> {
    series.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

/// The name of a series and the quantity, or only the quantity if there is just one series. A label that is only a unit
/// does not name a quantity, but the series does.
fn label(lines: &Lines, series: &Series) -> String {
    let label = &lines.y.label;
    match lines.series.len() {
        _ if label == MILLISECONDS => format!("{} ({label})", series.name),
        0 | 1 => label.clone(),
        _ => match quantity(label) {
            (name, unit) if unit.is_empty() => format!("{}: {}", series.name, within(name)),
            (name, unit) => format!("{}: {} ({})", series.name, within(name), unit.trim_start()),
        },
    }
}

fn first_course(lines: &Lines, unit: &str) -> Option<String> {
    lines.series.iter().find_map(|series| course::sentence(&label(lines, series), &series.points, unit))
}

/// Names the line that changed most, and says how much the last rounds vary.
fn convergence(lines: &Lines) -> Option<String> {
    let all: Vec<(&Series, Vec<(f64, f64)>)> =
        lines.series.iter().map(|series| (series, known(series))).filter(|(_, p)| p.len() > 1).collect();
    let changed = |points: &[(f64, f64)]| {
        let (first, last) = (points[0].1, points[points.len() - 1].1);
        if first > 0.0 { (last / first).ln().abs() } else { 0.0 }
    };
    let (series, points) =
        all.iter().reduce(|most, other| if changed(&other.1) > changed(&most.1) { other } else { most })?;
    let (first, last) = (points[0], points[points.len() - 1]);
    let span = |points: &[(f64, f64)]| {
        let tail = &points[points.len().saturating_sub(LAST_ROUNDS)..];
        let values = || tail.iter().map(|point| point.1);
        let mean = values().sum::<f64>() / tail.len() as f64;
        (values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)) / mean
    };
    let widest =
        all.iter().map(|(_, points)| span(points)).filter(|span| span.is_finite()).fold(0.0, f64::max);
    let (name, unit) = quantity(&lines.y.label);
    let course = || moved(first.1, last.1, &unit);
    let most = match all.len() {
        1 => format!("{} {}", within(name), course()),
        _ if is_unchanged(first.1, last.1) => "each line ended where it began".to_owned(),
        _ => format!("{} changed most: it {}", series.name, course()),
    };
    Some(format!(
        "From round {} to {}, {most}; {}",
        first.0,
        last.0,
        match (all.len(), points.len().min(LAST_ROUNDS)) {
            (1, rounds) => format!("the last {rounds} rounds span {} of their mean", percent(widest)),
            (_, rounds) => {
                let widest = percent(widest.max(SMALLEST));
                format!("in the last {rounds} rounds each line spans at most {widest} of its mean")
            }
        }
    ))
}

/// Gives the excursions of the measurement window as percentages of its average.
fn window(lines: &Lines) -> Option<String> {
    let of = |role: GuideRole| lines.guides.iter().find(|guide| guide.role == role);
    let (mean, fit) = (of(GuideRole::Mean)?, of(GuideRole::Fit)?);
    let inside = |x: f64| x >= mean.from.0 && x <= mean.to.0;
    let values: Vec<f64> =
        lines.series.iter().flat_map(known).filter(|point| inside(point.0)).map(|point| point.1).collect();
    let average = mean.from.1;
    if values.is_empty() || average <= 0.0 {
        return None;
    }
    let range =
        values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min);
    Some(format!(
        "In rounds {} to {}, the values span {} of their average of {}{} (limit 20 %), the fit {} (limit 10 %)",
        mean.from.0,
        mean.to.0,
        percent(range / average),
        amount(average),
        unit_of(&lines.y.label),
        percent((fit.to.1 - fit.from.1).abs() / average)
    ))
}

/// A position on an axis; sizes and counts of which each has a tick are written as on the tick.
fn place(axis: &Axis, value: f64) -> String {
    let text = amount(value);
    if axis.scale == Scale::Log2 { text.replace(',', "") } else { text }
}

fn by_place(lines: &Lines) -> Option<String> {
    let named = |series: &Series| {
        let name = |x: f64| format!("{}, {}", series.name, at(&lines.x.label, &place(&lines.x, x)));
        known(series).into_iter().map(|(x, y)| (y, name(x))).collect::<Vec<_>>()
    };
    let all: Vec<(f64, String)> = lines.series.iter().flat_map(named).collect();
    extremes(&lines.y.label, &all)
}

/// Describes the point at which the rounds differ most.
fn rounds(lines: &Lines) -> Option<String> {
    let all: Vec<(f64, f64)> = lines.series.iter().flat_map(known).filter(|point| point.1 > 0.0).collect();
    let range_at = |x: f64| {
        let at = || all.iter().filter(|point| point.0 == x).map(|point| point.1);
        (at().fold(f64::MAX, f64::min), at().fold(f64::MIN, f64::max))
    };
    let places: Vec<(f64, (f64, f64))> = all.iter().map(|point| (point.0, range_at(point.0))).collect();
    let share = |range: (f64, f64)| range.1 / range.0 - 1.0;
    let most = places.iter().reduce(|a, b| if share(b.1) > share(a.1) { b } else { a })?;
    (lines.series.len() > 1).then(|| {
        let (least, largest) = pair(most.1.0, most.1.1);
        format!(
            "The rounds differ most at {}: {least} to {largest} {}, {} apart",
            at(&lines.x.label, &place(&lines.x, most.0)),
            lines.y.label,
            percent(share(most.1))
        )
    })
}

/// Describes the median and the last point of the line that ends highest.
fn tail(lines: &Lines) -> Option<String> {
    let ends = lines.series.iter().filter_map(|series| Some((series, *known(series).last()?)));
    let (series, end) = ends.reduce(|worst, other| if other.1.1 > worst.1.1 { other } else { worst })?;
    let start = *known(series).first()?;
    Some(format!(
        "{}: one I/O out of {} takes longer than {} ms, one out of {} longer than {} ms{}",
        series.name,
        amount(start.0),
        amount(start.1),
        amount(end.0),
        amount(end.1),
        change(start.1, end.1)
    ))
}

/// Gives the mean of each series, or the highest and the lowest mean if there are many.
fn means(lines: &Lines) -> Option<String> {
    let mut names: Vec<&String> = Vec::new();
    for series in &lines.series {
        if !names.contains(&&series.name) {
            names.push(&series.name);
        }
    }
    let mean = |name: &String| {
        let points: Vec<(f64, f64)> =
            lines.series.iter().filter(|s| s.name == *name).flat_map(known).collect();
        (!points.is_empty())
            .then(|| (points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64, name.clone()))
    };
    let all: Vec<(f64, String)> = names.into_iter().filter_map(mean).collect();
    let (name, unit) = quantity(&lines.y.label);
    // The names of the series say which response time it is.
    let label = match (name, unit.trim_start()) {
        (MILLISECONDS, _) => "Means in ms".to_owned(),
        (name, "") => format!("Mean {}", within(name)),
        (name, unit) => format!("Mean {} ({unit})", within(name)),
    };
    match all.as_slice() {
        [] => None,
        few if few.len() <= LISTED => {
            let listed: Vec<String> =
                few.iter().map(|(mean, name)| format!("{name} {}{unit}", amount(*mean))).collect();
            Some(format!("{}: {}", quantity(&label).0, listed.join(", ")))
        }
        many => extremes(&label, many),
    }
}

/// Describes the highest point, and the first point on the same line that comes close to it.
fn peak(lines: &Lines) -> Option<String> {
    let highest = |series: &Series| known(series).into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
    let tops = lines.series.iter().filter_map(|series| Some((series, highest(series)?)));
    let (series, top) = tops.reduce(|best, other| if other.1.1 > best.1.1 { other } else { best })?;
    let near = known(series).into_iter().find(|point| point.1 >= NEARLY * top.1)?;
    let name = if lines.series.len() > 1 { format!(", {} at ", series.name) } else { " at ".into() };
    let (x, (quantity, unit)) = (&lines.x, quantity(&lines.y.label));
    let reached =
        if near.0 < top.0 { format!("; 95 % of that at {}", place(x, near.0)) } else { String::new() };
    Some(format!(
        "{quantity}: highest {}{unit}{name}{}{reached}",
        amount(top.1),
        at(&x.label, &place(x, top.0))
    ))
}

fn from_first_to_last(lines: &Lines) -> Option<String> {
    let series = lines.series.first()?;
    let points = known(series);
    let (first, last) = (points.first()?, points.last()?);
    (points.len() > 1).then(|| {
        let label = label(lines, series);
        let ((name, unit), (over, of)) = (quantity(&label), quantity(&lines.x.label));
        format!(
            "{name} {} from {over} {} to {}{of}",
            moved(first.1, last.1, &unit),
            place(&lines.x, first.0),
            place(&lines.x, last.0)
        )
    })
}

/// Describes the point with the most I/Os, and the one with the shortest response time.
fn intensity(lines: &Lines) -> Option<String> {
    let points =
        || lines.series.iter().flat_map(|series| known(series).into_iter().map(move |p| (p, &series.name)));
    let most = points().reduce(|a, b| if b.0.0 > a.0.0 { b } else { a })?;
    let shortest = points().reduce(|a, b| if b.0.1 < a.0.1 { b } else { a })?;
    let (x, (y, unit)) = (&lines.x.label, quantity(&lines.y.label));
    let text = |(point, name): ((f64, f64), &String)| {
        format!("{} {x} at {y} {}{unit} ({name})", amount(point.0), amount(point.1))
    };
    Some(format!("Most: {}; shortest: {}", text(most), text(shortest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartdata::exhibit::Guide;

    fn chart(reading: ReadingHint, series: &[(&str, &[f64])]) -> Lines {
        let axis = |label: &str| Axis { label: label.into(), scale: Scale::LinearFromZero };
        let points = |values: &[f64]| (1..).map(f64::from).zip(values.iter().copied()).collect();
        let series =
            series.iter().map(|(name, values)| Series { name: (*name).into(), points: points(values) });
        let series = series.collect();
        Lines {
            reading,
            x: axis("QD"),
            y: axis("IOPS"),
            series,
            guides: Vec::new(),
            marked: None,
            bands: Vec::new(),
        }
    }

    #[test]
    fn convergence_names_the_line_that_changed_most() {
        let lines =
            chart(ReadingHint::Convergence, &[("4KiB", &[100.0, 50.0, 48.0]), ("8KiB", &[60.0, 60.0, 59.0])]);
        let text = finding(&lines).unwrap();
        assert!(
            text.starts_with("From round 1 to 3, 4KiB changed most: it fell from 100 to 48 (-52 %)"),
            "{text}"
        );
        let lines =
            chart(ReadingHint::Convergence, &[("4KiB", &[3.0, 3.2, 3.0]), ("8KiB", &[5.0, 5.0, 5.0])]);
        let text = finding(&lines).unwrap();
        assert!(text.starts_with("From round 1 to 3, each line ended where it began; "), "{text}");
    }

    #[test]
    fn values_that_print_alike_do_not_rise_and_units_follow_their_values() {
        let mut lines = chart(ReadingHint::Convergence, &[("1024KiB", &[212.6, 212.61])]);
        lines.y.label = "MB/s".into();
        assert!(finding(&lines).unwrap().starts_with("From round 1 to 2, throughput stayed at 213 MB/s;"));
        let mut lines = chart(ReadingHint::TimesByOutstanding, &[("ART", &[0.25, 100.0])]);
        lines.y.label = "ms".into();
        assert_eq!(
            finding(&lines).unwrap(),
            "ART rose from 0.25 to 100 ms (400 times as much) from QD 1 to 2"
        );
    }

    #[test]
    fn a_window_states_its_excursions() {
        let guide = |role, from, to| Guide { name: String::new(), from: (2.0, from), to: (4.0, to), role };
        let mut lines = chart(ReadingHint::Window, &[("4KiB", &[900.0, 95.0, 100.0, 105.0])]);
        assert_eq!(finding(&lines), None);
        lines.guides = vec![guide(GuideRole::Mean, 100.0, 100.0), guide(GuideRole::Fit, 95.0, 105.0)];
        assert_eq!(
            finding(&lines).unwrap(),
            "In rounds 2 to 4, the values span 10 % of their average of 100 IOPS (limit 20 %), the fit 10 % (limit 10 %)"
        );
    }

    #[test]
    fn a_peak_states_where_the_line_comes_close_to_it() {
        let lines =
            chart(ReadingHint::ByDepth, &[("TC 1", &[10.0, 96.0, 100.0]), ("TC 2", &[5.0, 9.0, 9.0])]);
        assert_eq!(finding(&lines).unwrap(), "IOPS: highest 100, TC 1 at QD 3; 95 % of that at 2");
    }

    #[test]
    fn charts_without_values_show_nothing() {
        for reading in [
            ReadingHint::Convergence,
            ReadingHint::Window,
            ReadingHint::ByBlockSize,
            ReadingHint::Saturation,
            ReadingHint::Idling,
            ReadingHint::ByDepth,
            ReadingHint::TimesByOutstanding,
            ReadingHint::Intensity,
        ] {
            assert_eq!(finding(&chart(reading, &[])), None, "{reading:?}");
            assert_eq!(finding(&chart(reading, &[("a", &[f64::NAN; 9])])), None, "{reading:?}");
        }
    }
}
