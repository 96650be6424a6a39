//! Compares the results of both programs, pair by pair.

use std::fmt;

use anyhow::{Context as _, ensure};

use super::figures::{Figures, bucket_of};
use crate::bench::results::{Row, Verdict, median, part};

/// Largest difference in IOPS, as a fraction.
const CLOSE_IOPS: f64 = 0.02;
/// Largest distance of the 99th percentiles, in fio's buckets.
const CLOSE_BUCKETS: f64 = 1.0;

/// The results of two runs, one right after the other.
pub struct Pair {
    pub fio: Vec<Figures>,
    pub plateau: Vec<Figures>,
}

/// A direction of a job in all pairs.
pub struct Line {
    /// Example, job and direction.
    what: String,
    /// Medians.
    fio: Medians,
    plateau: Medians,
    /// Plateau's IOPS divided by fio's, for each pair.
    ratios: Vec<f64>,
    /// Number of buckets from fio's p99 completion latency to Plateau's, for each pair.
    distances: Vec<f64>,
    /// Largest minus smallest of fio's IOPS, in percent of their median.
    fio_spread_percent: f64,
    /// Largest minus smallest bucket of fio's p99 completion latency.
    fio_spread_buckets: usize,
}

/// Medians over all runs of a program.
struct Medians {
    iops: f64,
    clat_p99_ns: f64,
    lat_p99_ns: f64,
}

impl Medians {
    fn of(runs: &[&Figures]) -> Self {
        Self {
            iops: median(runs.iter().map(|run| run.iops)),
            clat_p99_ns: median(runs.iter().map(|run| run.clat_p99_ns as f64)),
            lat_p99_ns: median(runs.iter().map(|run| run.lat_p99_ns as f64)),
        }
    }
}

/// Compares all jobs of an example. Fails if the results contain different jobs or directions.
pub fn lines(example: &str, pairs: &[Pair]) -> anyhow::Result<Vec<Line>> {
    let first = pairs.first().context("no pairs")?;
    let expected = keys(&first.fio);
    for found in pairs.iter().flat_map(|pair| [keys(&pair.fio), keys(&pair.plateau)]) {
        ensure!(found == expected, "the results differ in jobs or directions: {expected:?} and {found:?}");
    }
    Ok(first.fio.iter().map(|figures| line(example, figures, pairs)).collect())
}

/// Returns the jobs and directions in alphabetical order.
fn keys(all: &[Figures]) -> Vec<(&str, &str)> {
    let mut keys: Vec<_> = all.iter().map(|figures| (figures.job.as_str(), figures.direction)).collect();
    keys.sort_unstable();
    keys
}

/// Compares a direction of a job, which all results contain.
fn line(example: &str, key: &Figures, pairs: &[Pair]) -> Line {
    let same = |run: &&Figures| run.job == key.job && run.direction == key.direction;
    let fio: Vec<&Figures> = pairs.iter().filter_map(|pair| pair.fio.iter().find(same)).collect();
    let plateau: Vec<&Figures> = pairs.iter().filter_map(|pair| pair.plateau.iter().find(same)).collect();
    let both = || plateau.iter().zip(&fio);
    let iops = || fio.iter().map(|run| run.iops);
    let buckets = || fio.iter().map(|run| bucket_of(run.clat_p99_ns));
    let medians = Medians::of(&fio);
    Line {
        what: format!("{example}: {} {}", key.job, key.direction),
        ratios: both().map(|(ours, theirs)| ours.iops / theirs.iops).collect(),
        distances: both().map(|(ours, theirs)| distance(ours.clat_p99_ns, theirs.clat_p99_ns)).collect(),
        fio_spread_percent: (iops().fold(0.0, f64::max) - iops().fold(f64::MAX, f64::min)) / medians.iops
            * 100.0,
        fio_spread_buckets: buckets().max().unwrap_or(0) - buckets().min().unwrap_or(0),
        plateau: Medians::of(&plateau),
        fio: medians,
    }
}

/// Returns the number of buckets from `theirs_ns` to `ours_ns`.
fn distance(ours_ns: u64, theirs_ns: u64) -> f64 {
    bucket_of(ours_ns) as f64 - bucket_of(theirs_ns) as f64
}

impl Line {
    fn ratio(&self) -> f64 {
        median(self.ratios.iter().copied())
    }

    /// Returns the distance from fio's completion latency.
    fn distance(&self) -> f64 {
        distance(self.plateau.clat_p99_ns as u64, self.fio.clat_p99_ns as u64)
    }

    /// Returns the distance from fio's whole response time, which begins where Plateau's begins.
    fn lat_distance(&self) -> f64 {
        distance(self.plateau.lat_p99_ns as u64, self.fio.lat_p99_ns as u64)
    }

    /// Returns the results with their targets: IOPS and p99.
    pub fn rows(&self) -> [Row; 2] {
        [self.iops_row(), self.p99_row()]
    }

    fn iops_row(&self) -> Row {
        let deviation = (self.ratio() - 1.0).abs();
        let deviations = self.ratios.iter().map(|ratio| (ratio - 1.0).abs());
        let measured = format!("{:.4} x {:.0}", self.ratio(), self.fio.iops);
        Row {
            target: format!("IOPS within {:.0} % of fio's", CLOSE_IOPS * 100.0),
            limit: Some(CLOSE_IOPS),
            best_quarter: Some(part(deviations, 0.25)),
            ..Row::stated(self.what.clone(), measured, deviation)
        }
    }

    fn p99_row(&self) -> Row {
        let distances = self.distances.iter().map(|distance| distance.abs());
        let measured = format!(
            "{:+} buckets, {} and {} us",
            self.distance(),
            microseconds(self.plateau.clat_p99_ns),
            microseconds(self.fio.clat_p99_ns)
        );
        Row {
            target: "p99 within one bucket".into(),
            limit: Some(CLOSE_BUCKETS),
            best_quarter: Some(part(distances, 0.25)),
            ..Row::stated(self.what.clone(), measured, self.distance().abs())
        }
    }
}

/// Returns the head of the table.
pub fn heading() -> String {
    format!(
        "{:<48} {:>9} {:>9} {:>7} {:>12} {:>11} {:>11} {:>8} {:>8} {:>13}  {}",
        "median over the pairs",
        "fio IOPS",
        "plateau",
        "ratio",
        "fio clat p99",
        "fio lat p99",
        "plateau p99",
        "to clat",
        "to lat",
        "fio's spread",
        "IOPS, p99"
    )
}

/// Times are in us and distances in buckets.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spread = format!("{:.1} %, {}", self.fio_spread_percent, self.fio_spread_buckets);
        write!(
            f,
            "{:<48} {:>9.1} {:>9.1} {:>7.4} {:>12} {:>11} {:>11} {:>+8} {:>+8} {spread:>13}  {}, {}",
            self.what,
            self.fio.iops,
            self.plateau.iops,
            self.ratio(),
            microseconds(self.fio.clat_p99_ns),
            microseconds(self.fio.lat_p99_ns),
            microseconds(self.plateau.clat_p99_ns),
            self.distance(),
            self.lat_distance(),
            self.iops_row().verdict().word(),
            self.p99_row().verdict().word()
        )
    }
}

fn microseconds(ns: f64) -> String {
    format!("{:.1}", ns / 1e3)
}

/// Counts the lines that agree.
pub fn summary(lines: &[Line]) -> String {
    let count = |agrees: fn(&Line) -> bool| lines.iter().filter(|line| agrees(line)).count();
    format!(
        "{} of {all} within {:.0} % in IOPS, {} of {all} p99 within a bucket of fio's clat ({} of {all} of its lat)",
        count(|line| line.iops_row().verdict() == Verdict::Met),
        CLOSE_IOPS * 100.0,
        count(|line| line.p99_row().verdict() == Verdict::Met),
        count(|line| line.lat_distance().abs() <= CLOSE_BUCKETS),
        all = lines.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(job: &str, iops: f64, clat_p99_ns: u64) -> Figures {
        Figures { job: job.into(), direction: "read", iops, clat_p99_ns, lat_p99_ns: clat_p99_ns + 20_000 }
    }

    fn pairs(all: &[[(f64, u64); 2]]) -> Vec<Pair> {
        let of = |(iops, ns): (f64, u64)| vec![figures("a", iops, ns)];
        all.iter().map(|[fio, plateau]| Pair { fio: of(*fio), plateau: of(*plateau) }).collect()
    }

    fn line_of(all: &[[(f64, u64); 2]]) -> Line {
        lines("example", &pairs(all)).unwrap().remove(0)
    }

    fn verdicts(all: &[[(f64, u64); 2]]) -> [Verdict; 2] {
        line_of(all).rows().map(|row| row.verdict())
    }

    #[test]
    fn iops_within_two_percent_and_p99_within_a_bucket_agree() {
        // Buckets around 1 ms: 958, 959, 960 and 961.
        let (first, next, third) = (1_044_480, 1_056_768, 1_073_152);
        let met = [Verdict::Met; 2];
        assert_eq!(verdicts(&[[(1000.0, first), (1000.0, first)]]), met);
        assert_eq!(verdicts(&[[(1000.0, first), (1019.0, next)]]), met);
        assert_eq!(verdicts(&[[(1000.0, next), (981.0, first)]]), met);
        assert_eq!(verdicts(&[[(1000.0, first), (1021.0, third)]]), [Verdict::Missed; 2]);
        assert_eq!(verdicts(&[[(1000.0, third), (979.0, first)]]), [Verdict::Missed; 2]);
    }

    #[test]
    fn medians_decide_and_a_miss_within_the_spread_is_level() {
        let close = [(1000.0, 1_044_480), (1001.0, 1_044_480)];
        let far = [(1000.0, 1_044_480), (1100.0, 2_000_000)];
        assert_eq!(verdicts(&[close, far, close]), [Verdict::Met; 2]);
        assert_eq!(verdicts(&[far, far, far]), [Verdict::Missed; 2]);
        assert_eq!(verdicts(&[close, far, far, far, close]), [Verdict::Level; 2]);
    }

    #[test]
    fn a_line_shows_how_well_fio_repeats_itself() {
        let line =
            line_of(&[[(990.0, 1_036_288), (1000.0, 1_056_768)], [(1010.0, 1_056_768), (1000.0, 1_056_768)]]);
        assert_eq!((line.fio.iops, line.fio_spread_buckets), (1000.0, 2));
        assert!((line.fio_spread_percent - 2.0).abs() < 1e-9, "{}", line.fio_spread_percent);
        assert_eq!(line.what, "example: a read");
        assert!(line.to_string().contains(" 2.0 %, 2 "), "{line}");
    }

    #[test]
    fn the_summary_counts_each_target_separately() {
        let all = [
            line_of(&[[(1000.0, 1_044_480), (1000.0, 1_044_480)]]),
            line_of(&[[(1000.0, 1_044_480), (1000.0, 2_000_000)]]),
            line_of(&[[(1000.0, 1_044_480), (1500.0, 2_000_000)]]),
        ];
        let text = summary(&all);
        assert!(text.starts_with("2 of 3 within 2 % in IOPS, 1 of 3 p99 within a bucket"), "{text}");
    }

    #[test]
    fn results_of_other_jobs_are_not_compared() {
        let pair = |job: &str| Pair { fio: vec![figures("a", 1.0, 1)], plateau: vec![figures(job, 1.0, 1)] };
        assert!(lines("example", &[pair("a")]).is_ok());
        assert!(lines("example", &[pair("a"), pair("b")]).is_err());
        assert!(lines("example", &[]).is_err());
        let without = Pair { fio: vec![figures("a", 1.0, 1)], plateau: Vec::new() };
        assert!(lines("example", &[without]).is_err());
    }
}
