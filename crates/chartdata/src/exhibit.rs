//! Test results as data. Tests produce exhibits; renderers handle kinds of exhibit and do not depend on tests.

use serde::{Deserialize, Serialize};

use super::unit::Unit;
use crate::reading::ReadingHint;

/// The content of a page, independent of its title: pages of one test with equal keys can be compared between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageKey(String);

impl PageKey {
    /// Returns the key of a part of the page, counted from 1.
    #[must_use]
    pub fn part(&self, number: usize) -> Self {
        Self(if number == 1 { self.0.clone() } else { format!("{}-{number}", self.0) })
    }
}

impl From<&str> for PageKey {
    fn from(key: &str) -> Self {
        Self(key.into())
    }
}

impl From<String> for PageKey {
    fn from(key: String) -> Self {
        Self(key)
    }
}

/// One page of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Key of the page's content; None if the page shows the approach to steady state, which is not compared
    /// between runs.
    pub key: Option<PageKey>,
    /// Title of the plot or table, as worded in the PTS.
    pub title: String,
    /// Whether the title identifies the test (`WSAT IOPS v TGBW`), so that a picture beside those of other tests needs
    /// no further name. Not set for pages whose pictures are only shown within their test.
    pub names_test: bool,
    /// Contents from top to bottom.
    pub exhibits: Vec<Exhibit>,
    /// Remarks printed below the exhibits.
    pub remarks: Vec<String>,
}

impl Page {
    /// Creates a page with one exhibit and no remarks.
    #[must_use]
    pub fn of(key: impl Into<PageKey>, title: &str, exhibit: Exhibit) -> Self {
        let (key, title) = (Some(key.into()), title.into());
        Self { key, title, names_test: false, exhibits: vec![exhibit], remarks: Vec::new() }
    }

    /// Like [`Page::of`], with a title that begins with `name`, the name of the test.
    #[must_use]
    pub fn named(key: impl Into<PageKey>, name: &str, title: &str, exhibit: Exhibit) -> Self {
        Self { names_test: true, ..Self::of(key, &format!("{name} {title}"), exhibit) }
    }

    /// Returns whether the page shows no results. Labelled values are texts, which only repeat that there are none if the
    /// page's charts and tables are empty.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let is_text = |exhibit: &Exhibit| matches!(exhibit, Exhibit::Facts(_));
        let has_only_texts = !self.exhibits.is_empty() && self.exhibits.iter().all(is_text);
        !has_only_texts && !self.exhibits.iter().any(Exhibit::has_values)
    }
}

/// An exhibit, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Exhibit {
    /// A line chart.
    Lines(Lines),
    /// A table of numbers.
    Table(Table),
    /// Labelled values: the steady-state determination box, key figures.
    Facts(Facts),
    /// A 3D column chart with two category axes.
    Columns3d(Columns3d),
    /// The data of a 3D column chart, drawn as a grid of cells with values.
    HeatMap(Columns3d),
    /// A bar chart with one bar for each of a few categories.
    Bars(Bars),
    /// A response-time histogram with confidence levels.
    ResponseTimes(ResponseTimes),
}

impl Exhibit {
    /// Returns the hint on how to read the exhibit; None if it is not a chart.
    #[must_use]
    pub const fn reading(&self) -> Option<ReadingHint> {
        match self {
            Self::Lines(lines) => Some(lines.reading),
            Self::Columns3d(columns) | Self::HeatMap(columns) => Some(columns.reading),
            Self::Bars(bars) => Some(bars.reading),
            Self::ResponseTimes(_) => Some(ReadingHint::ResponseTimes),
            Self::Table(_) | Self::Facts(_) => None,
        }
    }

    /// Returns whether a chart or a table contains any value.
    fn has_values(&self) -> bool {
        match self {
            Self::Lines(lines) => lines.series.iter().any(|series| !series.points.is_empty()),
            Self::Table(table) => table.has_values(),
            Self::Columns3d(columns) | Self::HeatMap(columns) => {
                columns.heights.iter().flatten().any(Option::is_some)
            }
            Self::Bars(bars) => bars.bars.iter().any(|(_, value)| value.is_some()),
            Self::ResponseTimes(times) => !times.bins.is_empty(),
            Self::Facts(_) => false,
        }
    }
}

/// A line chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// How to read the chart.
    pub reading: ReadingHint,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Data series, in legend order.
    pub series: Vec<Series>,
    /// Reference lines: mean, bounds, fit.
    pub guides: Vec<Guide>,
    /// Highlighted interval of the horizontal axis: start, end, label.
    pub marked: Option<(f64, f64, String)>,
    /// Consecutive states of the drive or of the load; every other one is shaded.
    pub bands: Vec<Band>,
}

/// A named interval of the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Start.
    pub from: f64,
    /// End.
    pub to: f64,
    /// Name, printed above the plot if there is room.
    pub name: String,
}

impl Lines {
    /// Creates a line chart without guides or a highlighted interval; each axis is given as a label and a
    /// scale.
    #[must_use]
    pub fn plain(reading: ReadingHint, x: (&str, Scale), y: (&str, Scale), series: Vec<Series>) -> Self {
        let axis = |(label, scale): (&str, Scale)| Axis { label: label.into(), scale };
        Self { reading, x: axis(x), y: axis(y), series, guides: Vec::new(), marked: None, bands: Vec::new() }
    }
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Label with unit, for example `Block size (KiB)`.
    pub label: String,
    /// Mapping of values to positions.
    pub scale: Scale,
}

/// Maps values to positions on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Linear, starting at zero.
    LinearFromZero,
    /// Linear, fitted to the values and guides.
    LinearZoomed,
    /// Integers.
    Integer,
    /// Rounds of a test: integers. A chart over rounds shows the approach to steady state rather than a result.
    Rounds,
    /// Logarithmic, base 10.
    Log10,
    /// Base 2, with a tick at each value that occurs (block sizes).
    Log2,
    /// Linear, from the smallest to the largest value without margins (times within a part of a test).
    Fitted,
    /// Fractions of I/Os with equal space for each additional nine: a value of 1,000 means that one in 1,000 I/Os lies
    /// beyond, so its tick is labelled 99.9.
    Nines,
}

/// One data series of a chart. Series with the same name form one line with gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points in drawing order.
    pub points: Vec<(f64, f64)>,
}

/// A reference line that is not data.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// Name in the legend.
    pub name: String,
    /// Start point.
    pub from: (f64, f64),
    /// End point.
    pub to: (f64, f64),
    /// Meaning; the renderer derives colour and dash pattern from it.
    pub role: GuideRole,
}

/// Meaning of a guide (PTS 1.0, steady state measurement window plot).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuideRole {
    /// Mean of the window: solid black.
    Mean,
    /// Mean +/- 10 %: dotted black.
    DataBound,
    /// Least-squares fit: red.
    Fit,
    /// Mean +/- 5 %: dashed black.
    SlopeBound,
}

/// A table of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Heading above the table, for example `IOPS`.
    pub heading: String,
    /// Heading of the column with the row names.
    pub row_heading: String,
    /// Heading above the columns.
    pub column_heading: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Number of decimal places.
    pub decimals: usize,
    /// Units of the numbers.
    pub units: Units,
}

impl Table {
    /// Returns whether any cell contains a number.
    #[must_use]
    pub fn has_values(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| !matches!(cell, Cell::Absent(_)))
    }

    /// Returns the unit of the number in a row and a column, both counted from 0; empty for a ratio.
    #[must_use]
    pub fn unit(&self, row: usize, column: usize) -> &str {
        match &self.units {
            Units::All(unit) => unit,
            Units::OfRows(units) => units.get(row).map_or("", String::as_str),
            Units::OfColumns(units) => units.get(column).map_or("", String::as_str),
        }
    }

    /// Returns the decimal places of the number in a row and a column. In a table of several units, those that a small
    /// number needs, such as a ratio, would suggest a precision that rates, shares and durations do not have.
    #[must_use]
    pub fn decimals_at(&self, row: usize, column: usize) -> usize {
        match (&self.units, self.unit(row, column)) {
            (Units::All(_), _) => self.decimals,
            (_, "IOPS" | "MB/s" | "%" | "s" | "min") => self.decimals.min(1),
            _ => self.decimals,
        }
    }
}

/// Units of the numbers in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Units {
    /// All numbers have the same unit.
    All(String),
    /// One unit per row.
    OfRows(Vec<String>),
    /// One unit per column.
    OfColumns(Vec<String>),
}

impl From<Unit> for Units {
    fn from(unit: Unit) -> Self {
        Self::All(unit.to_string())
    }
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Row name.
    pub name: String,
    /// Cells, one per column.
    pub cells: Vec<Cell>,
}

/// Text printed instead of maxima, which are not meaningful on a scaled simulated drive.
pub const SCALED: &str = "n/a (scaled)";

/// A cell in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number.
    Value(f64),
    /// A number that may reflect the host instead of the drive.
    HostLimited(f64),
    /// No number, and the reason: `n/a (4Kn)`.
    Absent(String),
}

impl Cell {
    /// Returns a measured number, or the reason for its absence.
    #[must_use]
    pub fn of(value: Option<f64>, host_limited: bool, absent: impl FnOnce() -> String) -> Self {
        match value {
            None => Self::Absent(absent()),
            Some(value) if host_limited => Self::HostLimited(value),
            Some(value) => Self::Value(value),
        }
    }
}

/// Labelled values.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Heading.
    pub heading: String,
    /// Pairs of label and value as printed.
    pub items: Vec<(String, String)>,
    /// Whether any value is marked as host-limited; the page must then explain the mark.
    pub host_limited: bool,
}

/// A 3D column chart with two category axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns3d {
    /// How to read the chart.
    pub reading: ReadingHint,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Categories from left to right.
    pub x: Vec<String>,
    /// Label of the depth axis.
    pub depth_label: String,
    /// Categories from front to back.
    pub depth: Vec<String>,
    /// Label of the vertical axis.
    pub height_label: String,
    /// Heights as `[depth][x]`; None if not measured.
    pub heights: Vec<Vec<Option<f64>>>,
}

/// A bar chart, for values that must not be connected by a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// How to read the bars.
    pub reading: ReadingHint,
    /// Label of the category axis.
    pub name_label: String,
    /// Label of the value axis, with the unit.
    pub value_label: String,
    /// Category and value from top to bottom; None if not measured.
    pub bars: Vec<(String, Option<f64>)>,
}

/// A response-time histogram with confidence levels (PTS 2.0).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseTimes {
    /// Describes the measurement, including figures that may lie outside the plot.
    pub caption: String,
    /// I/Os per bin in ascending order; empty bins are omitted.
    pub bins: Vec<Bin>,
    /// Cumulative percentage of I/Os completed within a time, as (ms, percent), ascending.
    pub confidence: Vec<(f64, f64)>,
    /// Response times to mark, with their labels; None if there are too few I/Os.
    pub markers: Vec<(String, Option<f64>)>,
    /// Right edge of the plot in ms; the left edge is 0.
    pub to_ms: f64,
}

/// One bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Lower edge.
    pub from_ms: f64,
    /// Upper edge.
    pub to_ms: f64,
    /// Number of I/Os in the bin.
    pub ios: u64,
}
