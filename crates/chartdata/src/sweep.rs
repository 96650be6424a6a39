//! Rates by number of outstanding I/Os; a comparison draws one line per drive.

use std::collections::BTreeMap;

use crate::unit::Unit;

/// One workload, measured with different numbers of outstanding I/Os.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandSweep {
    /// The workload, such as `RND 4KiB R`.
    pub workload: String,
    /// Unit of the values.
    pub unit: Unit,
    /// At least two points, in ascending order of outstanding I/Os.
    pub points: Vec<SweepPoint>,
}

/// The rate at a given number of outstanding I/Os.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepPoint {
    /// Number of threads times queue depth.
    pub outstanding: u32,
    /// Mean of the cells with this product of threads and queue depth.
    pub value: f64,
    /// Whether any of these cells may reflect the host instead of the drive.
    pub host_limited: bool,
}

impl DemandSweep {
    /// Returns the sweep over `cells`, each with its outstanding I/Os, its rate and whether it is host-limited;
    /// None if the number of outstanding I/Os does not vary.
    pub fn of(
        workload: String,
        unit: Unit,
        cells: impl IntoIterator<Item = (u32, f64, bool)>,
    ) -> Option<Self> {
        let mut by_outstanding: BTreeMap<u32, (f64, u32, bool)> = BTreeMap::new();
        for (outstanding, value, host_limited) in cells {
            let (sum, count, limited) = by_outstanding.entry(outstanding).or_default();
            (*sum, *count, *limited) = (*sum + value, *count + 1, *limited || host_limited);
        }
        let point = |(outstanding, (sum, count, host_limited)): (u32, (f64, u32, bool))| SweepPoint {
            outstanding,
            value: sum / f64::from(count),
            host_limited,
        };
        let points: Vec<SweepPoint> = by_outstanding.into_iter().map(point).collect();
        (points.len() > 1).then_some(Self { workload, unit, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_equal_products_are_averaged_and_one_product_is_not_a_sweep() {
        let of = |cells: &[(u32, f64, bool)]| {
            DemandSweep::of("RND 4KiB R".into(), Unit::Iops, cells.iter().copied())
        };
        let sweep = of(&[(8, 40.0, false), (1, 10.0, false), (8, 20.0, true)]).unwrap();
        let points: Vec<_> = sweep.points.iter().map(|p| (p.outstanding, p.value, p.host_limited)).collect();
        assert_eq!(points, [(1, 10.0, false), (8, 30.0, true)]);
        assert_eq!(of(&[(8, 40.0, false), (8, 20.0, false)]), None);
        assert_eq!(of(&[]), None);
    }
}
