//! Charts that the spreadsheet program draws from numbers in the workbook, all of them on one sheet.

use pts::exhibit::{Axis, Bars, Columns3d, Exhibit, Lines, ResponseTimes, Scale};
use rust_xlsxwriter::{
    Chart, ChartAxis, ChartAxisCrossing, ChartEmptyCells, ChartLegendPosition, ChartType, Worksheet,
    XlsxError,
};

use super::style::bold;

/// Name of the sheet with the numbers.
pub(super) const SHEET: &str = "Chart data";

/// If the ratio of the largest to the smallest column exceeds this, a linear axis would hide the small ones.
const WIDE: f64 = 20.0;
const WIDTH: u32 = 960;
const HEIGHT: u32 = 400;
/// Rows of a sheet that a chart covers, with its heading and some space below.
const ROWS: u32 = HEIGHT / 20 + 3;
/// First row of numbers; the rows above contain the names of the chart and of its columns.
const FIRST: u32 = 2;

/// The sheet with the numbers of all charts, side by side.
pub(super) struct ChartData {
    sheet: Worksheet,
    next: u16,
    label: Option<String>,
}

impl ChartData {
    /// Creates an empty sheet; every chart has `label` in its title.
    pub fn new(label: Option<String>) -> Result<Self, XlsxError> {
        let mut sheet = Worksheet::new();
        sheet.set_name(SHEET)?;
        Ok(Self { sheet, next: 0, label })
    }

    /// Returns the sheet; None if there are no charts.
    pub fn sheet(mut self) -> Result<Option<Worksheet>, XlsxError> {
        if self.next == 0 {
            return Ok(None);
        }
        self.sheet.set_freeze_panes(FIRST, 0)?;
        Ok(Some(self.sheet))
    }

    /// Draws `exhibit` at `row` of `sheet`; returns the next free row. Draws nothing if the exhibit is not a chart
    /// or has no values.
    pub fn insert(
        &mut self,
        sheet: &mut Worksheet,
        row: u32,
        (test, page): (&str, &str),
        exhibit: &Exhibit,
    ) -> Result<u32, XlsxError> {
        let first = self.next;
        let chart = match exhibit {
            Exhibit::Lines(lines) => self.lines(lines)?,
            Exhibit::Columns3d(columns) | Exhibit::HeatMap(columns) => self.columns(columns)?,
            Exhibit::Bars(bars) => self.bars(bars)?,
            Exhibit::ResponseTimes(times) => self.response_times(times)?,
            Exhibit::Table(_) | Exhibit::Facts(_) => None,
        };
        let Some(mut chart) = chart else { return Ok(row) };
        let name = format!("{test}: {page}");
        self.sheet.write_with_format(0, first, &name, &bold())?;
        // One empty column between the numbers of two charts.
        self.next += 1;
        let title = self.label.iter().fold(page.to_owned(), |title, label| format!("{title} · {label}"));
        chart.title().set_name(&title).set_font(rust_xlsxwriter::ChartFont::new().set_size(12));
        chart.set_width(WIDTH).set_height(HEIGHT).set_alt_text(&name);
        chart.legend().set_position(ChartLegendPosition::Right);
        sheet.write_with_format(row, 0, page, &bold())?;
        if let Some(reading) = exhibit.reading() {
            sheet.write_string(row + 1, 0, charts::sentence(reading))?;
        }
        sheet.insert_chart(row + 2, 0, &chart)?;
        Ok(row + 2 + ROWS)
    }

    /// Writes one column of numbers below its heading; returns its cell range in the notation that charts need.
    fn column(&mut self, heading: &str, values: &[Option<f64>]) -> Result<Place, XlsxError> {
        let column = self.take(heading)?;
        for (row, value) in (FIRST..).zip(values) {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                self.sheet.write_number(row, column, value)?;
            }
        }
        Ok(place(column, values.len()))
    }

    fn words(&mut self, heading: &str, words: &[String]) -> Result<Place, XlsxError> {
        let column = self.take(heading)?;
        for (row, word) in (FIRST..).zip(words) {
            self.sheet.write_string(row, column, word)?;
        }
        Ok(place(column, words.len()))
    }

    fn take(&mut self, heading: &str) -> Result<u16, XlsxError> {
        let column = self.next;
        self.sheet.write_with_format(FIRST - 1, column, heading, &bold())?;
        self.next += 1;
        Ok(column)
    }

    fn lines(&mut self, lines: &Lines) -> Result<Option<Chart>, XlsxError> {
        if lines.series.iter().all(|series| series.points.is_empty()) {
            return Ok(None);
        }
        let mut chart = Chart::new(ChartType::ScatterStraightWithMarkers);
        chart.show_empty_cells_as(ChartEmptyCells::Connected);
        scaled(chart.x_axis(), &lines.x);
        scaled(chart.y_axis(), &lines.y);
        let guides = lines.guides.iter().map(|guide| (&guide.name, vec![guide.from, guide.to]));
        let series = lines.series.iter().map(|series| (&series.name, series.points.clone()));
        let mut known: Option<(Vec<f64>, Place)> = None;
        for (name, points) in series.chain(guides).filter(|(_, points)| !points.is_empty()) {
            let x: Vec<f64> = points.iter().map(|point| point.0).collect();
            // Most series have the same x values.
            let at = match &known {
                Some((same, at)) if *same == x => *at,
                _ => {
                    let at = self.column(&lines.x.label, &x.iter().copied().map(Some).collect::<Vec<_>>())?;
                    known = Some((x, at));
                    at
                }
            };
            let values: Vec<Option<f64>> = points.iter().map(|point| Some(point.1)).collect();
            let values = self.column(name, &values)?;
            chart.add_series().set_name(heading(values)).set_categories(at).set_values(values);
        }
        Ok(Some(chart))
    }

    /// Draws a cluster of columns for each category on the x axis, because the library cannot draw 3D columns.
    fn columns(&mut self, columns: &Columns3d) -> Result<Option<Chart>, XlsxError> {
        if columns.heights.iter().flatten().all(Option::is_none) {
            return Ok(None);
        }
        let mut chart = Chart::new(ChartType::Column);
        chart.x_axis().set_name(&columns.x_label);
        chart.y_axis().set_name(&columns.height_label).set_num_format("#,##0.###");
        let values = || columns.heights.iter().flatten().flatten().copied();
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        if least > 0.0 && most > WIDE * least {
            // The columns begin at a power of ten so far below the smallest value that its column is visible.
            let from = 10_f64.powf((least / 2.0).log10().floor());
            chart.y_axis().set_name(&format!("{} (logarithmic)", columns.height_label));
            chart.y_axis().set_log_base(10).set_min(from).set_crossing(ChartAxisCrossing::Min);
        }
        let categories = self.words(&columns.x_label, &columns.x)?;
        for (name, heights) in columns.depth.iter().zip(&columns.heights) {
            let values = self.column(&format!("{} {name}", columns.depth_label), heights)?;
            chart.add_series().set_name(heading(values)).set_categories(categories).set_values(values);
        }
        Ok(Some(chart))
    }

    fn bars(&mut self, bars: &Bars) -> Result<Option<Chart>, XlsxError> {
        let (names, values): (Vec<String>, Vec<Option<f64>>) = bars.bars.iter().cloned().unzip();
        if values.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut chart = Chart::new(ChartType::Column);
        chart.x_axis().set_name(&bars.name_label);
        chart.y_axis().set_name(&bars.value_label).set_num_format("#,##0.###");
        let names = self.words(&bars.name_label, &names)?;
        let values = self.column(&bars.value_label, &values)?;
        chart.add_series().set_name(heading(values)).set_categories(names).set_values(values);
        Ok(Some(chart))
    }

    fn response_times(&mut self, times: &ResponseTimes) -> Result<Option<Chart>, XlsxError> {
        if times.bins.is_empty() {
            return Ok(None);
        }
        let mut chart = Chart::new(ChartType::Scatter);
        chart.x_axis().set_name("Response time (ms)").set_min(0.0).set_max(times.to_ms);
        chart.y_axis().set_name("I/Os per bin").set_log_base(10).set_num_format("#,##0");
        let ends: Vec<Option<f64>> = times.bins.iter().map(|bin| Some(bin.to_ms)).collect();
        let counts: Vec<Option<f64>> = times.bins.iter().map(|bin| Some(bin.ios as f64)).collect();
        let ends = self.column("Response time up to (ms)", &ends)?;
        let counts = self.column("I/Os per bin", &counts)?;
        chart.add_series().set_name(heading(counts)).set_categories(ends).set_values(counts);
        if !times.confidence.is_empty() {
            let limits: Vec<Option<f64>> = times.confidence.iter().map(|(ms, _)| Some(*ms)).collect();
            let shares: Vec<Option<f64>> = times.confidence.iter().map(|(_, share)| Some(*share)).collect();
            let limits = self.column("Response time (ms)", &limits)?;
            let shares = self.column("Confidence level (%)", &shares)?;
            let series = chart.add_series().set_name(heading(shares));
            series.set_categories(limits).set_values(shares).set_secondary_axis(true);
            chart.y2_axis().set_name("Confidence level (%)").set_min(0.0).set_max(100.0);
        }
        Ok(Some(chart))
    }
}

/// A range: sheet, first row and column, last row and column.
type Place = (&'static str, u32, u16, u32, u16);

fn place(column: u16, count: usize) -> Place {
    (SHEET, FIRST, column, FIRST + (count as u32).saturating_sub(1), column)
}

/// Returns the heading of a column.
fn heading((sheet, _, column, ..): Place) -> (&'static str, u32, u16) {
    (sheet, FIRST - 1, column)
}

fn scaled(axis: &mut ChartAxis, meant: &Axis) {
    axis.set_name(&meant.label).set_num_format("#,##0.###");
    match meant.scale {
        Scale::LinearFromZero => axis.set_min(0.0),
        Scale::LinearZoomed | Scale::Fitted | Scale::Integer | Scale::Rounds => axis,
        Scale::Log10 | Scale::Nines => axis.set_log_base(10),
        Scale::Log2 => axis.set_log_base(2),
    };
}
