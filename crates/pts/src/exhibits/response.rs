//! Response times: percentiles with enough I/Os, and the histogram with confidence levels (in PTS 2.0, a page
//! that WSAT, LAT, CBW and DIRTH share).

use record::Segment;
use stdx::Histogram;
use stdx::histogram::slot_bounds;
use stdx::units::grouped;

use crate::Context;
use crate::exhibits::exhibit::{Bin, Cell, Exhibit, Page, PageKey, ResponseTimes, Row, SCALED, Table};
use crate::exhibits::unit::Unit;

/// A percentile, stored as the fraction of I/Os beyond it, because 99.999 % is not exact as a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentile {
    /// Percentage as printed: `99.999`.
    pub name: &'static str,
    /// I/Os beyond the percentile, per million.
    pub beyond_ppm: u32,
}

/// The five nines of the PTS 2.0 tables.
pub const FIVE_NINES: Percentile = Percentile { name: "99.999", beyond_ppm: 10 };

/// Percentiles on the histogram page.
const PERCENTILES: [Percentile; 17] = [
    Percentile { name: "1", beyond_ppm: 990_000 },
    Percentile { name: "5", beyond_ppm: 950_000 },
    Percentile { name: "10", beyond_ppm: 900_000 },
    Percentile { name: "20", beyond_ppm: 800_000 },
    Percentile { name: "30", beyond_ppm: 700_000 },
    Percentile { name: "40", beyond_ppm: 600_000 },
    Percentile { name: "50", beyond_ppm: 500_000 },
    Percentile { name: "60", beyond_ppm: 400_000 },
    Percentile { name: "70", beyond_ppm: 300_000 },
    Percentile { name: "80", beyond_ppm: 200_000 },
    Percentile { name: "90", beyond_ppm: 100_000 },
    Percentile { name: "95", beyond_ppm: 50_000 },
    Percentile { name: "99", beyond_ppm: 10_000 },
    Percentile { name: "99.9", beyond_ppm: 1_000 },
    Percentile { name: "99.99", beyond_ppm: 100 },
    FIVE_NINES,
    Percentile { name: "99.9999", beyond_ppm: 1 },
];

/// The median's index in `PERCENTILES`.
const MEDIAN: usize = 6;
/// The lowest percentile that is shown instead of maxima: the median says more than an empty chart.
const LOWEST_PPM: u32 = 500_000;
/// Indices of the percentiles drawn as vertical markers.
const MARKED: [usize; 3] = [13, 14, 15];
/// Minimum number of I/Os beyond a percentile for it to be printed.
pub const IOS_BEYOND: u64 = 10;
/// Histogram slots per bin of the plot: bins are 6 to 12 % wide.
const SLOTS_IN_BIN: usize = 16;

impl Percentile {
    /// Returns the percentile in ms; None if there are too few I/Os.
    #[must_use]
    pub fn of(self, histogram: &Histogram) -> Option<f64> {
        if self.is_known_from(histogram.count()) { self.estimate(histogram) } else { None }
    }

    /// Returns the percentile in ns; None if there are too few I/Os.
    #[must_use]
    pub fn ns_of(self, histogram: &Histogram) -> Option<u64> {
        self.of(histogram).map(|ms| (ms * 1e6).round() as u64)
    }

    /// Returns whether enough of `ios` I/Os are beyond the percentile.
    #[must_use]
    pub fn is_known_from(self, ios: u64) -> bool {
        ios >= (IOS_BEYOND * 1_000_000).div_ceil(u64::from(self.beyond_ppm))
    }

    fn estimate(self, histogram: &Histogram) -> Option<f64> {
        let share = f64::from(1_000_000 - self.beyond_ppm) / 1e6;
        histogram.quantile(share).map(|ns| ns as f64 / 1e6)
    }
}

/// The highest percentile that is based on enough I/Os. It replaces maxima on a scaled drive's pages, where
/// maxima are meaningless; title, axis and remark name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail(Option<Percentile>);

impl Tail {
    /// Chooses the percentile for cells with at least `fewest_ios` I/Os each.
    pub fn of(fewest_ios: u64) -> Self {
        let mut tail = PERCENTILES.iter().rev().take_while(|percentile| percentile.beyond_ppm <= LOWEST_PPM);
        Self(tail.find(|percentile| percentile.is_known_from(fewest_ios)).copied())
    }

    /// Value of the percentile in ms.
    pub fn value(self, histogram: &Histogram) -> Option<f64> {
        self.0.and_then(|percentile| percentile.of(histogram))
    }

    /// Returns the key of the page that shows maxima, which is comparable only with pages of the same percentile.
    pub fn key(self, key: &str) -> PageKey {
        format!("{key}-{}", self.0.map_or("none", |percentile| percentile.name)).into()
    }

    /// If a percentile is shown instead of maxima, adds it to the page's `title`.
    pub fn title(self, title: &str) -> String {
        match self.0 {
            Some(percentile) => format!("{title}: n/a, {} % shown", percentile.name),
            None => format!("{title}: n/a"),
        }
    }

    /// Label of the axis.
    pub fn label(self) -> String {
        self.0.map_or_else(|| "n/a (ms)".into(), |percentile| format!("{} % latency (ms)", percentile.name))
    }

    /// Returns a remark that explains why the page does not show maxima; None if it shows them.
    pub fn remark(self, context: &Context<'_>) -> Option<String> {
        let why = context.maxima_note()?;
        Some(match self.0 {
            Some(percentile) => {
                format!("{why}. Shown instead: {} % of the I/Os complete within this time.", percentile.name)
            }
            None => format!("{why}. Too few I/Os were measured to show a percentile instead."),
        })
    }
}

/// Response times of all I/Os in `segments`, reads and writes combined.
#[must_use]
pub fn merged<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Histogram {
    let mut all = Histogram::new();
    for segment in segments {
        all.merge(&segment.read.latency);
        all.merge(&segment.write.latency);
    }
    all
}

/// A histogram run's page: the plot and a table of percentiles.
pub(crate) fn page(key: &str, title: &str, segment: Option<&Segment>, context: &Context<'_>) -> Page {
    let Some(segment) = segment else {
        let mut page = Page::of(key, title, Exhibit::ResponseTimes(ResponseTimes::default()));
        page.remarks.push("The histogram run at the end of the test is not complete.".into());
        return page;
    };
    let histogram = merged([segment]);
    let caption = caption(segment, &histogram, context);
    let mut page = histogram_page(key, title, caption, &histogram, segment.is_host_limited());
    page.remarks.splice(0..0, context.maxima_note());
    page
}

/// The page for one histogram.
pub(crate) fn histogram_page(
    key: &str,
    title: &str,
    caption: String,
    histogram: &Histogram,
    host_limited: bool,
) -> Page {
    let mut page = Page::of(key, title, Exhibit::ResponseTimes(exhibit(caption, histogram)));
    let heading = "Response Time by Confidence Level";
    let row = [("ms".to_owned(), histogram)];
    page.exhibits.push(Exhibit::Table(table(heading, "Response time", &PERCENTILES, &row, host_limited)));
    if FIVE_NINES.of(histogram).is_none() {
        page.remarks.push(format!(
            "n/a: fewer than {IOS_BEYOND} of the {} I/Os lie beyond this percentile.",
            grouped(histogram.count() as f64, 0)
        ));
    }
    page
}

fn caption(segment: &Segment, histogram: &Histogram, context: &Context<'_>) -> String {
    let workload = &segment.workload;
    let maximum = match histogram.max() {
        Some(_) if !context.has_maxima() => SCALED.to_owned(),
        Some(ns) => format!("{} ms", grouped(ns as f64 / 1e6, 3)),
        None => "n/a".to_owned(),
    };
    format!(
        "{workload}, TC {} QD {}: {} IOPS, {} MB/s, MRT {maximum}",
        workload.threads,
        workload.queue_depth,
        grouped(segment.iops(), 1),
        grouped(segment.megabytes_per_second(), 1)
    )
}

fn exhibit(caption: String, histogram: &Histogram) -> ResponseTimes {
    let mut markers = vec![("ART".to_owned(), histogram.mean().map(|ns| ns / 1e6))];
    let marked = MARKED.map(|index| PERCENTILES[index]);
    markers.extend(marked.map(|percentile| (format!("{} %", percentile.name), percentile.of(histogram))));
    let confidence = PERCENTILES.iter().filter_map(|percentile| {
        let share = 100.0 - f64::from(percentile.beyond_ppm) / 1e4;
        Some((percentile.of(histogram)?, share))
    });
    ResponseTimes {
        caption,
        bins: bins(histogram),
        confidence: confidence.collect(),
        markers,
        to_ms: FIVE_NINES.estimate(histogram).map_or(1.0, |ms| ms * 1.1),
    }
}

fn bins(histogram: &Histogram) -> Vec<Bin> {
    let mut bins: Vec<(usize, Bin)> = Vec::new();
    for (slot, count) in histogram.filled() {
        let number = slot / SLOTS_IN_BIN;
        if let Some((_, bin)) = bins.last_mut().filter(|(last, _)| *last == number) {
            bin.ios += count;
            continue;
        }
        let from_ms = slot_bounds(number * SLOTS_IN_BIN).0 as f64 / 1e6;
        let to_ms = slot_bounds(number * SLOTS_IN_BIN + SLOTS_IN_BIN - 1).1.saturating_add(1) as f64 / 1e6;
        bins.push((number, Bin { from_ms, to_ms, ios: count }));
    }
    bins.into_iter().map(|(_, bin)| bin).collect()
}

/// Percentiles in ms from the median up, one row per histogram.
pub(crate) fn upper_half(heading: &str, rows_are: &str, histograms: &[(String, &Histogram)]) -> Table {
    // Never host-limited: the host cannot limit simulated drives.
    table(heading, rows_are, &PERCENTILES[MEDIAN..], histograms, false)
}

fn table(
    heading: &str,
    rows_are: &str,
    percentiles: &[Percentile],
    histograms: &[(String, &Histogram)],
    host_limited: bool,
) -> Table {
    let cell = |value: Option<f64>| Cell::of(value, host_limited, || "n/a".into());
    let row = |(name, histogram): &(String, &Histogram)| Row {
        name: name.clone(),
        cells: percentiles.iter().map(|percentile| cell(percentile.of(histogram))).collect(),
    };
    Table {
        heading: heading.into(),
        row_heading: rows_are.into(),
        column_heading: "Share of I/Os %".into(),
        columns: percentiles.iter().map(|percentile| percentile.name.to_owned()).collect(),
        rows: histograms.iter().map(row).collect(),
        decimals: 3,
        units: Unit::Milliseconds.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u64) -> Histogram {
        let mut histogram = Histogram::new();
        (1..=count).for_each(|i| histogram.record(i * 1_000));
        histogram
    }

    #[test]
    fn a_percentile_needs_ten_ios_beyond_it() {
        let (few, enough) = (of(999_999), of(1_000_000));
        assert_eq!(FIVE_NINES.of(&few), None);
        assert!((FIVE_NINES.of(&enough).unwrap() - 999.99).abs() < 5.0);
        assert_eq!(PERCENTILES[6].of(&of(19)), None);
        assert!(PERCENTILES[6].of(&of(20)).is_some());
        assert_eq!(FIVE_NINES.of(&of(0)), None);
    }

    #[test]
    fn a_tail_is_the_highest_percentile_that_is_known() {
        for (ios, name) in [
            (19, None),
            (20, Some("50")),
            (99, Some("80")),
            (100, Some("90")),
            (9_999, Some("99")),
            (10_000, Some("99.9")),
            (1_000_000, Some("99.999")),
        ] {
            assert_eq!(Tail::of(ios).0.map(|percentile| percentile.name), name, "{ios}");
        }
        assert_eq!(Tail::of(10_000).title("MAX"), "MAX: n/a, 99.9 % shown");
        assert_eq!((Tail::of(1).title("MAX"), Tail::of(1).value(&of(20))), ("MAX: n/a".into(), None));
    }

    #[test]
    fn percentiles_rise_and_end_below_a_hundred() {
        assert!(PERCENTILES.windows(2).all(|pair| pair[0].beyond_ppm > pair[1].beyond_ppm));
        for percentile in PERCENTILES {
            let share: f64 = percentile.name.parse().unwrap();
            assert!((100.0 - share - f64::from(percentile.beyond_ppm) / 1e4).abs() < 1e-9);
        }
    }

    #[test]
    fn bins_hold_every_io_and_do_not_overlap() {
        let histogram = of(5_000);
        let bins = bins(&histogram);
        assert_eq!(bins.iter().map(|b| b.ios).sum::<u64>(), 5_000);
        assert!(bins.windows(2).all(|pair| pair[0].to_ms <= pair[1].from_ms + 1e-12));
    }
}
