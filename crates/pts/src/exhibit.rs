//! What a test shows, as data: tests emit exhibits, renderers know kinds of exhibit and never a test.

/// One page of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Title of the plot or table, in the words of the PTS.
    pub title: String,
    /// What is on it, from top to bottom.
    pub exhibits: Vec<Exhibit>,
    /// Remarks below.
    pub remarks: Vec<String>,
}

impl Page {
    /// A page with one exhibit and no remarks.
    #[must_use]
    pub fn of(title: &str, exhibit: Exhibit) -> Self {
        Self { title: title.into(), exhibits: vec![exhibit], remarks: Vec::new() }
    }
}

/// A kind of exhibit.
#[derive(Debug, Clone, PartialEq)]
pub enum Exhibit {
    /// Points joined by lines.
    Lines(Lines),
    /// Numbers in rows and columns.
    Table(Table),
    /// Labelled values: the steady-state determination box, key figures.
    Facts(Facts),
    /// Columns over two categories.
    Columns3d(Columns3d),
    /// Response times with their confidence level.
    ResponseTimes(ResponseTimes),
}

/// A chart of points joined by lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// What is plotted, in the order of the legend.
    pub series: Vec<Series>,
    /// Lines that are not data: mean, bounds, fit.
    pub guides: Vec<Guide>,
    /// A marked stretch of the horizontal axis: from, to, label.
    pub marked: Option<(f64, f64, String)>,
}

impl Lines {
    /// Lines without guides and marks; an axis is its label and its scale.
    pub(crate) fn plain(x: (&str, Scale), y: (&str, Scale), series: Vec<Series>) -> Self {
        let axis = |(label, scale): (&str, Scale)| Axis { label: label.into(), scale };
        Self { x: axis(x), y: axis(y), series, guides: Vec::new(), marked: None }
    }
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Label with unit, such as `Block size (KiB)`.
    pub label: String,
    /// How values are spread.
    pub scale: Scale,
}

/// How values are spread over an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear, starting at zero.
    LinearFromZero,
    /// Linear, zoomed to the values and guides.
    LinearZoomed,
    /// Whole numbers, such as rounds.
    Integer,
    /// Logarithmic, base 10.
    Log10,
    /// Powers of two with a tick at each value that occurs (block sizes).
    Log2,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points, in the order to join.
    pub points: Vec<(f64, f64)>,
}

/// A line that is not data.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// Name in the legend.
    pub name: String,
    /// First end.
    pub from: (f64, f64),
    /// Other end.
    pub to: (f64, f64),
    /// What it stands for; the renderer chooses colour and dash.
    pub role: GuideRole,
}

/// What a guide stands for (PTS 1.0, steady state measurement window plot).
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

/// Numbers in rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Heading over all, such as `IOPS`.
    pub heading: String,
    /// Heading of the row names.
    pub row_heading: String,
    /// Heading over the columns.
    pub column_heading: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Digits behind the point.
    pub decimals: usize,
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// One cell per column.
    pub cells: Vec<Cell>,
}

/// What stands for a maximum that a scaled simulated drive cannot tell.
pub const SCALED: &str = "n/a (scaled)";

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number.
    Value(f64),
    /// A number that the host may have set and not the drive.
    HostLimited(f64),
    /// No number, and why: `n/a (4Kn)`.
    Absent(String),
}

impl Cell {
    /// A number that was measured, or why there is none.
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
    /// Label and value as printed.
    pub items: Vec<(String, String)>,
}

/// Columns over two categories.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns3d {
    /// Label of the horizontal category, left to right.
    pub x_label: String,
    /// Its values.
    pub x: Vec<String>,
    /// Label of the depth category, front to back.
    pub depth_label: String,
    /// Its values.
    pub depth: Vec<String>,
    /// Label of the height.
    pub height_label: String,
    /// Heights as `[depth][x]`; none where nothing was measured.
    pub heights: Vec<Vec<Option<f64>>>,
}

/// A response-time histogram with its confidence level (PTS 2.0).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseTimes {
    /// What was measured, with the figures that may lie outside the picture.
    pub caption: String,
    /// I/Os per bin, rising, without the empty ones.
    pub bins: Vec<Bin>,
    /// Share of I/Os in percent that take at most so long, as (ms, percent), rising.
    pub confidence: Vec<(f64, f64)>,
    /// Response times to mark, with their names; none where there are too few I/Os.
    pub markers: Vec<(String, Option<f64>)>,
    /// Right end of the picture in ms; the left one is 0.
    pub to_ms: f64,
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Lower edge.
    pub from_ms: f64,
    /// Upper edge.
    pub to_ms: f64,
    /// I/Os in it.
    pub ios: u64,
}
