//! Statistics over groups of runs: the mean of a population of drives, the spread between its drives and between runs
//! of one drive, and outliers within their group.

use report::parts::Figure;
use stdx::units::{count_of, grouped};

use crate::comparison::{Comparison, Line};
use crate::group::Group;
use crate::noise::{Difference, Sample, mean_interval};
use crate::wording::{decimals, difference, letter};

/// One figure in a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of drives and number of runs that have the figure.
    pub counts: (usize, usize),
    /// Mean over the drives, with equal weight; None if no run has the figure.
    pub mean: Option<f64>,
    /// Standard deviation of the drives' means, in percent of the mean; None if there are fewer than two
    /// drives.
    pub between_drives_percent: Option<f64>,
    /// Standard deviation between runs of the same drive, in percent of the mean; None if no drive has two runs.
    pub between_runs_percent: Option<f64>,
    /// 95 % confidence interval of the mean: over drives, or over runs if there is one drive.
    pub interval: Option<(f64, f64)>,
    /// Difference from the first group.
    pub difference: Option<Difference>,
    /// Indices of the outliers.
    pub outliers: Vec<usize>,
    /// Indices of the runs whose figure is included, but is not a valid result.
    pub doubtful: Vec<usize>,
}

impl Comparison {
    /// Returns statistics of a figure: one summary per group.
    #[must_use]
    pub fn summaries(&self, line: &Line) -> Vec<Summary> {
        summaries(self, line)
    }
}

fn summaries(comparison: &Comparison, line: &Line) -> Vec<Summary> {
    let samples: Vec<Vec<f64>> =
        comparison.groups.iter().map(|group| sample(comparison, line, group)).collect();
    let better = line.figures.iter().flatten().next().map(|figure| figure.better);
    let summary = |(index, group): (usize, &Group)| {
        let difference = better.filter(|_| index > 0);
        Summary {
            difference: difference.and_then(|better| Difference::of(&samples[0], &samples[index], better)),
            ..summary(comparison, line, group)
        }
    };
    comparison.groups.iter().enumerate().map(summary).collect()
}

/// Returns the mean of each run in a group, by drive.
fn by_drive(comparison: &Comparison, line: &Line, group: &Group) -> Vec<Vec<f64>> {
    let mut drives: Vec<(String, Vec<f64>)> = Vec::new();
    for run in &group.runs {
        let Some(mean) = line.figures[*run].as_ref().and_then(Figure::mean) else { continue };
        let drive = comparison.runs[*run].drive();
        match drives.iter_mut().find(|(known, _)| *known == drive) {
            Some((_, means)) => means.push(mean),
            None => drives.push((drive, vec![mean])),
        }
    }
    drives.into_iter().map(|(_, means)| means).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    Sample::of(values).map(|sample| sample.mean)
}

/// Returns the values from which a group's interval is calculated: one per drive or, for a single drive, one
/// per run.
fn sample(comparison: &Comparison, line: &Line, group: &Group) -> Vec<f64> {
    match &by_drive(comparison, line, group)[..] {
        [only] => only.clone(),
        drives => drives.iter().filter_map(|runs| mean(runs)).collect(),
    }
}

fn summary(comparison: &Comparison, line: &Line, group: &Group) -> Summary {
    let drives = by_drive(comparison, line, group);
    let means: Vec<f64> = drives.iter().filter_map(|runs| mean(runs)).collect();
    let of_all = mean(&means);
    let percent = |deviation: f64| of_all.filter(|mean| *mean > 0.0).map(|mean| deviation / mean * 100.0);
    let between = Sample::of(&means).and_then(|sample| sample.variance);
    let (squares, freedom) = drives
        .iter()
        .filter_map(|runs| Some((Sample::of(runs)?.variance?, runs.len() as f64 - 1.0)))
        .fold((0.0, 0.0), |(squares, freedom), (variance, more)| (squares + variance * more, freedom + more));
    let within = (freedom > 0.0).then(|| squares / freedom);
    Summary {
        counts: (drives.len(), drives.iter().map(Vec::len).sum()),
        mean: of_all,
        between_drives_percent: between.and_then(|variance| percent(variance.sqrt())),
        between_runs_percent: within.and_then(|variance| percent(variance.sqrt())),
        interval: mean_interval(&sample(comparison, line, group)),
        difference: None,
        outliers: outliers(line, group),
        doubtful: group.runs.iter().copied().filter(|run| comparison.is_invalid(line, *run)).collect(),
    }
}

/// Runs whose distance from the median exceeds 3.5 times the scaled median distance (Iglewicz and Hoaglin), in groups of
/// at least five runs. Distances below 1 % of the median are never outliers.
fn outliers(line: &Line, group: &Group) -> Vec<usize> {
    const LIMIT: f64 = 3.5;
    /// Ratio of a normal distribution's standard deviation to its median distance from the median.
    const SCALE: f64 = 1.4826;
    const RUNS: usize = 5;
    const NEGLIGIBLE: f64 = 0.01;
    let means: Vec<(usize, f64)> =
        group.runs.iter().filter_map(|run| Some((*run, line.figures[*run].as_ref()?.mean()?))).collect();
    if means.len() < RUNS {
        return Vec::new();
    }
    let centre = median(means.iter().map(|(_, mean)| *mean).collect());
    let distance = median(means.iter().map(|(_, mean)| (mean - centre).abs()).collect());
    let limit = (LIMIT * SCALE * distance).max(NEGLIGIBLE * centre.abs());
    means.into_iter().filter(|(_, mean)| (mean - centre).abs() > limit).map(|(run, _)| run).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

/// Returns how many runs of a group are not valid results: ` (2 not valid)`; empty if all are.
fn not_valid(summary: &Summary) -> String {
    match summary.doubtful.len() {
        0 => String::new(),
        count => format!(" ({count} not valid)"),
    }
}

/// How to read the statistics.
pub(crate) const READING: &str = "The mean counts each drive once. Its 95 % confidence interval is calculated from \
                                  the means of the drives, or from the runs if there is one drive. Between drives \
                                  and between runs: standard deviation in percent of the mean. Outliers: runs whose \
                                  distance from the median exceeds 3.5 times the scaled median distance, in groups \
                                  of at least five runs. Not valid: runs whose test is not steady or not complete; \
                                  their figures are included.";

/// Headings of the columns after the name of the group.
pub(crate) const HEAD: [&str; 7] =
    ["Drives", "Runs", "Mean", "95 % interval", "Between drives", "Between runs", "Outliers"];

/// Returns a group's cells below [`HEAD`].
pub(crate) fn cells(comparison: &Comparison, line: &Line, summary: &Summary) -> [String; 7] {
    let decimals = decimals(line);
    let or_na = |text: Option<String>| text.unwrap_or_else(|| "n/a".into());
    let share = |percent: Option<f64>| or_na(percent.map(|percent| format!("{percent:.1} %")));
    let outlier = |run: &usize| format!("{} {}", letter(*run), comparison.runs[*run].name);
    let outliers: Vec<String> = summary.outliers.iter().map(outlier).collect();
    let bounds = |(low, high): (f64, f64)| {
        // No figure on a summary page is negative, but the interval of a few scattered drives can reach below zero.
        let low = if summary.mean.is_some_and(|mean| mean >= 0.0) { low.max(0.0) } else { low };
        format!("{} to {}", grouped(low, decimals), grouped(high, decimals))
    };
    [
        summary.counts.0.to_string(),
        format!("{}{}", summary.counts.1, not_valid(summary)),
        or_na(summary.mean.map(|mean| grouped(mean, decimals))),
        or_na(summary.interval.map(bounds)),
        share(summary.between_drives_percent),
        share(summary.between_runs_percent),
        if outliers.is_empty() { "none".into() } else { outliers.join(", ") },
    ]
}

/// Returns the statistics for terminals; empty if there are no groups.
pub(crate) fn text(comparison: &Comparison, all: bool) -> String {
    let mut out = String::new();
    if comparison.groups.is_empty() {
        return out;
    }
    out.push_str("\nStatistics over drives and runs\n");
    for line in comparison.lines.iter().filter(|line| all || line.selected) {
        out.push_str(&format!("{} ({})\n", line.name, line.unit));
        for (group, summary) in comparison.groups.iter().zip(summaries(comparison, line)) {
            let [_, _, mean, interval, between_drives, between_runs, outliers] =
                cells(comparison, line, &summary);
            out.push_str(&format!("  {}: mean {mean} ({interval})\n", group.name));
            let (drives, runs) = summary.counts;
            let (drives, runs) = (count_of(drives, "drive"), count_of(runs, "run") + &not_valid(&summary));
            out.push_str(&format!("    {drives}, {runs}; standard deviation between drives "));
            out.push_str(&format!(
                "{between_drives},\n    between runs {between_runs}; outliers: {outliers}\n"
            ));
            if let Some(found) = &summary.difference {
                out.push_str(&format!("    vs. {}: {}\n", comparison.groups[0].name, difference(found)));
            }
        }
    }
    out
}
