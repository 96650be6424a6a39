//! The cells of a demand variation, and the choice of three of them for histograms.

use record::Segment;

use crate::method::profile::Demand;
use crate::method::timeline::mean;

/// Points with a higher mean response time do not count as operating points.
pub const RESPONSE_LIMIT_MS: f64 = 5.0;

/// Measurements at one demand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub demand: Demand,
    pub iops: f64,
    /// Mean response time over reads and writes; None if there was no I/O.
    pub mean_ms: Option<f64>,
    /// The workload's CPU time as a percentage of all CPUs; None for a simulated drive.
    pub processor_percent: Option<f64>,
    /// Whether the host may have limited the cell in any round.
    pub host_limited: bool,
}

impl Point {
    pub fn of(demand: Demand, segment: &Segment) -> Self {
        Self {
            demand,
            iops: segment.iops(),
            mean_ms: segment.mean_latency_ms(),
            processor_percent: segment.processor_percent(),
            host_limited: segment.is_host_limited(),
        }
    }

    /// Total outstanding I/Os of all threads.
    pub fn outstanding(&self) -> u32 {
        u32::from(self.demand.threads) * u32::from(self.demand.queue_depth)
    }

    fn is_quick(&self) -> bool {
        self.mean_ms.is_some_and(|ms| ms < RESPONSE_LIMIT_MS)
    }
}

/// Returns the mean of each cell over `rounds`, which contain the same cells.
pub fn means(rounds: &[Vec<Point>]) -> Vec<Point> {
    let Some(first) = rounds.first() else { return Vec::new() };
    let cell = |(index, point): (usize, &Point)| {
        let same = || rounds.iter().filter_map(move |round| round.get(index));
        Point {
            demand: point.demand,
            iops: mean(same().map(|point| point.iops)).unwrap_or(0.0),
            mean_ms: mean(same().filter_map(|point| point.mean_ms)),
            processor_percent: mean(same().filter_map(|point| point.processor_percent)),
            host_limited: same().any(|point| point.host_limited),
        }
    };
    first.iter().enumerate().map(cell).collect()
}

/// The points with maximum, medium and minimum useful demand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    pub max: Point,
    pub mid: Point,
    pub min: Point,
    /// Whether no point met the response time limit; if so, `max` is the point with the lowest response time.
    pub all_slow: bool,
}

impl Chosen {
    /// Chooses the points from a window's means; None if the cell with one outstanding I/O is missing.
    pub fn of(points: &[Point]) -> Option<Self> {
        let min = *points.iter().find(|point| point.outstanding() == 1)?;
        let quick = || points.iter().filter(|point| point.is_quick());
        // In a tie, choose the lower demand, then fewer threads, to put the least load on the host.
        let rank = |point: &Point| (point.outstanding(), point.demand.threads);
        let by_demand = |a: &&Point, b: &&Point| rank(a).cmp(&rank(b));
        let fastest = quick().max_by(|a, b| a.iops.total_cmp(&b.iops).then(by_demand(b, a)));
        let Some(max) = fastest.copied() else {
            let response = |point: &Point| point.mean_ms.unwrap_or(f64::INFINITY);
            let quickest =
                points.iter().min_by(|a, b| response(a).total_cmp(&response(b)).then(by_demand(a, b)));
            return quickest.map(|point| Self { max: *point, mid: *point, min, all_slow: true });
        };
        let middle = f64::midpoint(max.iops, min.iops);
        let away = |point: &Point| (point.iops - middle).abs();
        let mid = quick().min_by(|a, b| away(a).total_cmp(&away(b)).then(by_demand(a, b)));
        Some(Self { max, mid: mid.copied().unwrap_or(max), min, all_slow: false })
    }

    /// The demands in the order in which their histograms are measured.
    pub fn demands(&self) -> [Demand; 3] {
        [self.max.demand, self.mid.demand, self.min.demand]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(threads: u16, queue_depth: u16, iops: f64, ms: f64) -> Point {
        Point {
            demand: Demand { threads, queue_depth },
            iops,
            mean_ms: Some(ms),
            processor_percent: None,
            host_limited: false,
        }
    }

    #[test]
    fn the_maximum_must_be_quick_and_the_middle_is_nearest() {
        let points = [
            point(32, 32, 9_000.0, 40.0),
            point(8, 8, 8_000.0, 4.9),
            point(8, 6, 8_000.0, 4.0),
            point(2, 2, 4_600.0, 0.8),
            point(1, 2, 3_000.0, 0.4),
            point(1, 1, 2_000.0, 0.3),
        ];
        let chosen = Chosen::of(&points).unwrap();
        let of = |point: Point| (point.demand.threads, point.demand.queue_depth);
        assert_eq!((of(chosen.max), of(chosen.mid), of(chosen.min)), ((8, 6), (2, 2), (1, 1)));
        assert!(!chosen.all_slow);
    }

    #[test]
    fn the_middle_is_the_smaller_demand_in_a_tie() {
        // 3,000 IOPS is midway between 5,000 and 1,000.
        let points = [
            point(8, 1, 5_000.0, 1.0),
            point(4, 1, 4_000.0, 1.0),
            point(2, 1, 2_000.0, 1.0),
            point(1, 1, 1_000.0, 1.0),
        ];
        assert_eq!(Chosen::of(&points).unwrap().mid.iops, 2_000.0);
    }

    #[test]
    fn if_all_points_are_slow_the_fastest_is_chosen() {
        let points = [point(2, 1, 100.0, 9.0), point(1, 1, 50.0, 12.0)];
        let chosen = Chosen::of(&points).unwrap();
        assert!(chosen.all_slow);
        assert_eq!((chosen.max.iops, chosen.mid.iops, chosen.min.iops), (100.0, 100.0, 50.0));
        assert_eq!(Chosen::of(&[]), None);
    }

    #[test]
    fn means_are_cell_by_cell() {
        let rounds = [vec![point(1, 1, 100.0, 1.0)], vec![point(1, 1, 300.0, 2.0)]];
        assert_eq!(means(&rounds), [point(1, 1, 200.0, 1.5)]);
        assert_eq!(means(&[]), []);
    }
}
