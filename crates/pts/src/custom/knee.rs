//! The knee of the demand curve, beyond which more outstanding I/Os increase response times rather than IOPS.
//!
//! It is the point with the highest IOPS per ms of mean response time. Below the knee, doubling the outstanding
//! I/Os multiplies the IOPS by more than 1.41; above the knee, by less. Among points within 3 % of the best one,
//! the knee is the point with the fewest outstanding I/Os, then the fewest threads, because it puts the least load
//! on the host.

use crate::method::profile::Demand;

/// Points whose value is at least this fraction of the best value are considered equally good.
const AS_GOOD: f64 = 0.97;
/// Fraction of the highest IOPS at which a drive counts as saturated.
const SATURATED: f64 = 0.95;

/// Measurements at one demand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// TC and QD.
    pub demand: Demand,
    /// I/Os per second.
    pub iops: f64,
    /// Mean response time; None if no I/O completed.
    pub mean_ms: Option<f64>,
    /// Whether the host may have limited the result.
    pub host_limited: bool,
}

/// Results of a sweep over demand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The point with the highest IOPS per ms of response time: the recommended demand.
    pub at: Point,
    /// The point with the lowest demand that reaches 95 % of the highest IOPS.
    pub saturated: Point,
    /// The point with the highest IOPS.
    pub highest: Point,
}

impl Point {
    fn outstanding(&self) -> u32 {
        u32::from(self.demand.threads) * u32::from(self.demand.queue_depth)
    }

    /// Returns the IOPS per ms of response time.
    fn power(&self) -> Option<f64> {
        self.mean_ms.filter(|ms| *ms > 0.0 && self.iops > 0.0).map(|ms| self.iops / ms)
    }
}

impl Knee {
    /// Returns the knee among `points`; None if nothing was measured.
    #[must_use]
    pub fn of(points: &[Point]) -> Option<Self> {
        let at = least(points, Point::power, AS_GOOD)?;
        let iops = |point: &Point| Some(point.iops).filter(|iops| *iops > 0.0);
        Some(Self { at, saturated: least(points, iops, SATURATED)?, highest: least(points, iops, 1.0)? })
    }
}

/// Returns the point with the lowest demand whose value is at least `share` of the maximum.
fn least(points: &[Point], value: impl Fn(&Point) -> Option<f64>, share: f64) -> Option<Point> {
    let best = points.iter().filter_map(&value).max_by(f64::total_cmp)?;
    let good = points.iter().filter(|point| value(point).is_some_and(|value| value >= share * best));
    good.min_by_key(|point| (point.outstanding(), point.demand.threads)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A drive that processes `parallel` I/Os at a time, each in `service_ms`.
    fn drive(parallel: f64, service_ms: f64) -> Vec<Point> {
        let steps = [1u16, 2, 4, 8, 16, 32];
        let of = |threads: u16, queue_depth: u16| {
            let outstanding = f64::from(threads) * f64::from(queue_depth);
            let iops = outstanding.min(parallel) / service_ms * 1000.0;
            Point {
                demand: Demand { threads, queue_depth },
                iops,
                mean_ms: Some(outstanding / iops * 1000.0),
                host_limited: false,
            }
        };
        steps.into_iter().flat_map(|threads| steps.map(|depth| of(threads, depth))).collect()
    }

    #[test]
    fn a_drive_with_a_limit_of_concurrent_ios_has_its_knee_there() {
        for parallel in [1u32, 2, 8, 64, 256] {
            let knee = Knee::of(&drive(f64::from(parallel), 0.1)).unwrap();
            assert_eq!(knee.at.outstanding(), parallel);
            assert_eq!(knee.saturated.outstanding(), parallel);
            assert!((knee.highest.iops - f64::from(parallel) * 10_000.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_fewest_threads_are_proposed() {
        let knee = Knee::of(&drive(32.0, 0.1)).unwrap();
        assert_eq!((knee.at.demand.threads, knee.at.demand.queue_depth), (1, 32));
    }

    #[test]
    fn without_completions_there_is_no_knee() {
        let none = Point {
            demand: Demand { threads: 1, queue_depth: 1 },
            iops: 0.0,
            mean_ms: None,
            host_limited: false,
        };
        assert_eq!(Knee::of(&[none]), None);
        assert_eq!(Knee::of(&[]), None);
    }

    proptest! {
        #[test]
        fn a_faster_drive_of_the_same_shape_has_the_same_knee(parallel in 1u32..500, factor in 0.01f64..100.0) {
            let knee = |service_ms| Knee::of(&drive(f64::from(parallel), service_ms)).unwrap().at.demand;
            prop_assert_eq!(knee(0.1), knee(0.1 * factor));
        }

        #[test]
        fn the_knee_is_a_measured_point_and_never_beyond_saturation(values in prop::collection::vec(1.0f64..1e6, 3..40)) {
            let point = |(index, iops): (usize, &f64)| {
                let queue_depth = index as u16 + 1;
                let ms = f64::from(queue_depth) / iops * 1000.0;
                Point { demand: Demand { threads: 1, queue_depth }, iops: *iops, mean_ms: Some(ms), host_limited: false }
            };
            let points: Vec<Point> = values.iter().enumerate().map(point).collect();
            let knee = Knee::of(&points).unwrap();
            prop_assert!(points.contains(&knee.at) && points.contains(&knee.saturated));
            prop_assert!(knee.highest.iops >= knee.at.iops);
            prop_assert!(knee.saturated.outstanding() <= knee.highest.outstanding());
        }
    }
}
