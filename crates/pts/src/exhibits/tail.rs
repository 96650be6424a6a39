//! The tail of response times up to five nines, on an axis where each additional nine has the same width.

use stdx::Histogram;

use super::exhibit::{Exhibit, Lines, Page, Scale, Series};
use super::reading::ReadingHint;
use super::response::Percentile;

/// I/Os beyond each point, per million: from the median to five nines.
const BEYOND_PPM: [u32; 20] = [
    500_000, 300_000, 200_000, 100_000, 50_000, 30_000, 20_000, 10_000, 5_000, 3_000, 2_000, 1_000, 500, 300,
    200, 100, 50, 30, 20, 10,
];

/// The tails of several measurements in one chart.
pub(crate) fn page(title: &str, measured: &[(String, &Histogram)]) -> Page {
    let series =
        measured.iter().map(|(name, histogram)| Series { name: name.clone(), points: points(histogram) });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let ends_early = series.iter().any(|series| series.points.len() < BEYOND_PPM.len());
    let (x, y) = (("Share of I/Os completed (%)", Scale::Nines), ("Response time (ms)", Scale::Log10));
    let lines = Lines::plain(ReadingHint::Tail, x, y, series);
    let mut page = Page::of("tail", title, Exhibit::Lines(lines));
    if ends_early {
        page.remarks.push("Each line ends where fewer than ten I/Os take longer.".into());
    }
    page
}

/// Returns the points with enough I/Os as (N, response time in ms): one in N I/Os takes longer than this time.
fn points(histogram: &Histogram) -> Vec<(f64, f64)> {
    let point = |beyond_ppm: u32| {
        let ms = Percentile { name: "", beyond_ppm }.of(histogram)?;
        Some((1e6 / f64::from(beyond_ppm), ms))
    };
    BEYOND_PPM.into_iter().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_ends_where_too_few_ios_remain() {
        let mut histogram = Histogram::new();
        (1..=1_000u64).for_each(|i| histogram.record(i * 1_000_000));
        let points = points(&histogram);
        let last = points.last().unwrap();
        assert!((last.0 - 100.0).abs() < 1e-9 && (last.1 - 990.0).abs() < 8.0, "{last:?}");
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
    }
}
