//! One figure over time, for the runs on one drive or on drives of one model: its drift, and the effects of
//! firmware changes.

use jiff::Timestamp;
use report::parts::Better;
use stdx::table::fitted;
use stdx::text::on_one_line;
use stdx::units::{count_of, grouped};

use crate::noise::{Difference, Sample, mean_interval, student_t};

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Relative difference of values that differ only because they were rounded.
const ROUNDING: f64 = 1e-9;
/// Minimum number of values for control limits.
const LEAST_CONTROLLED: usize = 8;
/// Ratio of the mean moving range (of two values) to the standard deviation, for a normal distribution.
const MOVING_RANGE: f64 = 1.128;

/// One figure from several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// The requested drive or model.
    pub subject: String,
    /// Key of the figure.
    pub figure: String,
    /// Name of the figure, as printed.
    pub name: String,
    /// Unit of the figure.
    pub unit: String,
    /// Direction of improvement.
    pub better: Better,
    /// The runs, oldest first.
    pub points: Vec<Point>,
}

/// The figure from one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Id of the run.
    pub run: String,
    /// Start of the run.
    pub created: Timestamp,
    /// Identifies the drive.
    pub drive: String,
    /// Firmware revision, if known.
    pub firmware: Option<String>,
    /// State of the run.
    pub state: String,
    /// Settings that affect results: profile, TC, QD, and the scale of a simulated drive.
    pub settings: String,
    /// Label of simulated results.
    pub simulated: Option<String>,
    /// The value.
    pub value: f64,
    /// The values whose mean is the figure.
    pub rounds: Vec<f64>,
    /// Whether the value may reflect the host instead of the drive.
    pub host_limited: bool,
}

impl Point {
    /// Returns the 95 % confidence interval of the value; None if it is not a mean.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        mean_interval(&self.rounds)
    }
}

/// A straight line fitted to the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Values of the line at the first and the last run.
    pub ends: (f64, f64),
    /// Change from the first to the last run, in the figure's unit.
    pub change: f64,
    /// Bounds of the 95 % confidence interval of the change, in the figure's unit.
    pub interval: (f64, f64),
    /// Change in percent of the mean; its magnitude can exceed 100 % if a value falls to a fraction of the first.
    pub percent: f64,
    /// Bounds of the interval in percent of the mean.
    pub interval_percent: (f64, f64),
}

impl Drift {
    /// Returns whether the change exceeds the scatter of the values.
    #[must_use]
    pub fn is_beyond_noise(&self) -> bool {
        let (low, high) = self.interval;
        low > 0.0 || high < 0.0
    }
}

/// Limits of a control chart of individual values: a value beyond them is very unlikely if nothing has changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// Lower and upper limit: the mean minus and plus three standard deviations, estimated from the moving range. The
    /// lower limit is not negative unless a value is.
    pub limits: (f64, f64),
    /// Ids of the runs beyond the limits.
    pub outside: Vec<String>,
    /// Whether the newest run is beyond the limits.
    pub is_newest_outside: bool,
}

/// A change of a drive's firmware.
#[derive(Debug, Clone, PartialEq)]
pub struct FirmwareChange {
    /// Identifies the drive.
    pub drive: String,
    /// First run with the new firmware.
    pub run: String,
    /// Start of the first run with the new firmware.
    pub at: Timestamp,
    /// Old and new revision.
    pub revisions: (String, String),
    /// Difference between the drive's runs with the new and the old revision.
    pub difference: Option<Difference>,
}

impl Trend {
    /// Returns the mean over the runs, and the standard deviation as a percentage of the mean; None if there
    /// are no runs.
    #[must_use]
    pub fn mean(&self) -> Option<(f64, Option<f64>)> {
        let sample = Sample::of(&self.values())?;
        Some((sample.mean, sample.variance.map(|variance| variance.sqrt() / sample.mean * 100.0)))
    }

    fn values(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.value).collect()
    }

    /// Returns the number of days from the first run to each run.
    pub(crate) fn days(&self) -> Vec<f64> {
        let first = self.points.first().map(|point| point.created);
        let days = |point: &Point| {
            first.map_or(0.0, |first| point.created.duration_since(first).as_secs_f64() / SECONDS_PER_DAY)
        };
        self.points.iter().map(days).collect()
    }

    /// Returns the drift; None if there are fewer than three runs, or if all of them were started at the same time.
    #[must_use]
    pub fn drift(&self) -> Option<Drift> {
        let (x, y) = (self.days(), self.values());
        let (at, of) = (Sample::of(&x)?, Sample::of(&y)?);
        let degrees = at.count - 2.0;
        let squares: f64 = x.iter().map(|x| (x - at.mean).powi(2)).sum();
        if degrees < 1.0 || squares <= 0.0 || of.mean <= 0.0 {
            return None;
        }
        let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - at.mean) * (y - of.mean)).sum();
        let slope = products / squares;
        let line = |x: f64| of.mean + slope * (x - at.mean);
        let residuals: f64 = x.iter().zip(&y).map(|(x, y)| (y - line(*x)).powi(2)).sum();
        let half = student_t(degrees) * (residuals / degrees / squares).sqrt();
        let length = x.last()? - x.first()?;
        let (change, interval) = (slope * length, ((slope - half) * length, (slope + half) * length));
        let percent = |change: f64| change / of.mean * 100.0;
        Some(Drift {
            ends: (line(*x.first()?), line(*x.last()?)),
            change,
            interval,
            percent: percent(change),
            interval_percent: (percent(interval.0), percent(interval.1)),
        })
    }

    /// Returns the limits of a control chart; None unless there are at least eight runs, all of one drive.
    #[must_use]
    pub fn control(&self) -> Option<Control> {
        let values = self.values();
        if values.len() < LEAST_CONTROLLED || self.drives().len() > 1 {
            return None;
        }
        let ranges: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        let half = 3.0 * Sample::of(&ranges)?.mean / MOVING_RANGE;
        let mean = Sample::of(&values)?.mean;
        // The mean of equal values, such as those of a simulated drive, may differ from them in the last bit.
        let half_and_rounding = half + ROUNDING * mean.abs();
        let is_outside = |point: &&Point| (point.value - mean).abs() > half_and_rounding;
        let least = values.iter().copied().fold(0.0, f64::min);
        Some(Control {
            limits: ((mean - half).max(least), mean + half),
            outside: self.points.iter().filter(is_outside).map(|point| point.run.clone()).collect(),
            is_newest_outside: self.points.last().is_some_and(|point| is_outside(&point)),
        })
    }

    /// Returns all firmware changes, oldest first.
    #[must_use]
    pub fn firmware_changes(&self) -> Vec<FirmwareChange> {
        let mut changes = Vec::new();
        for (at, point) in self.points.iter().enumerate() {
            let earlier = self.points[..at].iter().rev().find(|earlier| earlier.drive == point.drive);
            let revisions = earlier.and_then(|earlier| earlier.firmware.clone()).zip(point.firmware.clone());
            if let Some((before, after)) = revisions.filter(|(before, after)| before != after) {
                changes.push(FirmwareChange {
                    drive: point.drive.clone(),
                    run: point.run.clone(),
                    at: point.created,
                    difference: self.difference(&point.drive, &before, &after),
                    revisions: (before, after),
                });
            }
        }
        changes
    }

    fn difference(&self, drive: &str, before: &str, after: &str) -> Option<Difference> {
        let values = |firmware: &str| -> Vec<f64> {
            let own = |point: &&Point| point.drive == drive && point.firmware.as_deref() == Some(firmware);
            self.points.iter().filter(own).map(|point| point.value).collect()
        };
        Difference::of(&values(before), &values(after), self.better)
    }

    /// Returns the drives, in the order of their first runs.
    #[must_use]
    pub fn drives(&self) -> Vec<&str> {
        let mut drives: Vec<&str> = Vec::new();
        for point in &self.points {
            if !drives.contains(&&*point.drive) {
                drives.push(&point.drive);
            }
        }
        drives
    }

    /// Returns the remarks needed to interpret the values.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let distinct = |of: fn(&Point) -> Option<&str>| {
            let mut found: Vec<&str> = self.points.iter().filter_map(of).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let settings = distinct(|point| Some(&*point.settings));
        let differ = (settings.len() > 1)
            .then(|| format!("the runs differ in settings that affect results: {}", settings.join("; ")));
        let simulated = distinct(|point| point.simulated.as_deref());
        let simulated = (!simulated.is_empty()).then(|| simulated.join("; "));
        let limited = self.points.iter().filter(|point| point.host_limited).count();
        let limited = (limited > 0)
            .then(|| format!("* {} may reflect the host instead of the drive", count_of(limited, "value")));
        let unsteady = self.points.iter().filter(|point| point.state == "unsteady").count();
        let unsteady =
            (unsteady > 0).then(|| format!("! {} did not reach steady state", count_of(unsteady, "run")));
        [simulated, differ, limited, unsteady].into_iter().flatten().collect()
    }

    /// Returns one sentence each about the mean, the drift and firmware changes.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let Some((mean, spread)) = self.mean() else { return Vec::new() };
        let spread = spread.map(|spread| format!(", standard deviation {spread:.1} %")).unwrap_or_default();
        let mut findings = vec![format!(
            "mean {} {} over {} of {}{spread}",
            self.number(mean),
            self.unit,
            count_of(self.points.len(), "run"),
            count_of(self.drives().len(), "drive"),
        )];
        findings.push(match self.drift() {
            None => "drift unknown: at least three runs at different times are required".into(),
            Some(drift) => {
                let word = if drift.is_beyond_noise() { "beyond noise" } else { "within noise" };
                let [change, low, high] =
                    [drift.change, drift.interval.0, drift.interval.1].map(|value| self.signed(value));
                format!(
                    "drift from the first to the last run: {change} {} (95 % interval {low} to {high}), which is \
                     {:.1} % of the mean and {word}",
                    self.unit,
                    drift.percent.abs()
                )
            }
        });
        findings.extend(self.control().map(|control| self.control_text(&control)));
        findings.extend(self.firmware_changes().iter().map(|change| {
            let (before, after) = &change.revisions;
            let difference = change.difference.map_or_else(String::new, |difference| {
                format!(": {:+.1} %, {}", difference.percent, difference.finding.word())
            });
            format!("firmware {before} -> {after} of {} from {} on{difference}", change.drive, change.run)
        }));
        findings
    }

    fn control_text(&self, control: &Control) -> String {
        let (low, high) = control.limits;
        let limits = format!("control limits {} to {} {}", self.number(low), self.number(high), self.unit);
        let outside = match &control.outside[..] {
            [] => "no run is beyond them".to_owned(),
            runs => format!("beyond them: {}", runs.join(", ")),
        };
        let warning = if control.is_newest_outside {
            "; WARNING: the newest run is beyond them, so the drive or the host has changed"
        } else {
            ""
        };
        format!("{limits}; {outside}{warning}")
    }

    /// Formats a value. All values of a trend have the same number of decimals, which gives the mean four significant
    /// digits.
    fn number(&self, value: f64) -> String {
        let decimals = match self.mean().map_or(0.0, |(mean, _)| mean.abs()) {
            1000.0.. => 0,
            100.0.. => 1,
            10.0.. => 2,
            _ => 3,
        };
        grouped(value, decimals)
    }

    /// Formats a change of a value.
    fn signed(&self, change: f64) -> String {
        let sign = if change < 0.0 { '-' } else { '+' };
        format!("{sign}{}", self.number(change.abs()))
    }

    /// Returns the cells of the table, including the head.
    pub(crate) fn cells(&self) -> Vec<[String; 6]> {
        let head =
            ["run", "started (UTC)", "drive", "firmware", &*self.unit, "95 % interval"].map(str::to_owned);
        let mut known: Vec<(&str, &str)> = Vec::new();
        let row = |point: &Point| {
            let interval = point.interval().map_or_else(
                || "-".to_owned(),
                |(low, high)| format!("{} to {}", self.number(low), self.number(high)),
            );
            let limited = if point.host_limited { "*" } else { "" };
            let unsteady = if point.state == "unsteady" { "!" } else { "" };
            [
                point.run.clone(),
                point.created.strftime("%Y-%m-%d %H:%M").to_string(),
                point.drive.clone(),
                point.firmware.clone().unwrap_or_else(|| "-".into()),
                format!("{}{limited}{unsteady}", self.number(point.value)),
                interval,
            ]
        };
        let mut rows = vec![head];
        for point in &self.points {
            let mut cells = row(point);
            // Marks a firmware change, so that readers do not have to compare revisions.
            if let Some(firmware) = point.firmware.as_deref() {
                let earlier = known.iter_mut().find(|(drive, _)| *drive == point.drive);
                let has_changed = earlier.as_ref().is_some_and(|(_, earlier)| *earlier != firmware);
                match earlier {
                    Some(entry) => entry.1 = firmware,
                    None => known.push((&*point.drive, firmware)),
                }
                if has_changed {
                    cells[3].push_str(" (new)");
                }
            }
            rows.push(cells.map(|cell| on_one_line(&cell).into_owned()));
        }
        rows
    }
}

/// Returns the trend as text: a table of the runs that fits `width` columns, then the findings.
#[must_use]
pub fn trend_text(trend: &Trend, width: Option<usize>) -> String {
    let mut out = format!("{} ({}), {}: {}\n", trend.figure, trend.name, trend.unit, trend.subject);
    let cells = trend.cells();
    let wide = fitted(&cells, 4..6, None);
    let is_wide = |line: &str| width.is_some_and(|width| line.chars().count() > width);
    if wide.lines().any(is_wide) {
        out.push_str(&narrow(&cells, width));
    } else {
        out.push_str(&format!("\n{wide}"));
    }
    out.push('\n');
    trend.findings().iter().chain(&trend.remarks()).for_each(|text| out.push_str(&format!("{text}\n")));
    out
}

/// Returns the table with the values next to the runs. A drive or firmware that is the same for all runs is
/// mentioned only once, above the table.
fn narrow(cells: &[[String; 6]], width: Option<usize>) -> String {
    let common = |column: usize| {
        let (_, runs) = cells.split_first()?;
        let first = &runs.first()?[column];
        runs.iter().all(|row| row[column] == *first).then_some(first)
    };
    let names = [(2, "drive"), (3, "firmware")];
    let known = |column: usize| common(column).filter(|text| *text != "-");
    let once: Vec<String> =
        names.iter().filter_map(|(column, name)| Some(format!("{name} {}", known(*column)?))).collect();
    let differ = names.iter().map(|(column, _)| *column).filter(|column| common(*column).is_none());
    let shown: Vec<usize> = [0, 1, 4, 5].into_iter().chain(differ).collect();
    let rows: Vec<Vec<String>> =
        cells.iter().map(|row| shown.iter().map(|column| row[*column].clone()).collect()).collect();
    let once = if once.is_empty() { String::new() } else { format!("{}\n", once.join(", ")) };
    format!("{once}\n{}", fitted(&rows, 2..4, width))
}
