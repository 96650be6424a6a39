//! The published measurements to which the models were fitted.

use super::{ActiveRange, Measured, Saturation};

const MINUTE_NS: u64 = 60_000_000_000;
/// The active range of PTS-C 1.0: 16 GiB in 2048 segments.
const CLIENT_RANGE: ActiveRange = ActiveRange { bytes: 16 << 30, segments: 2048 };

/// The measurements that a model was fitted to.
struct Reference {
    model: &'static str,
    table: &'static str,
    /// Thread count, queue depth and length in seconds of the cells.
    cells: (u16, u16, u64),
    active_range: Option<ActiveRange>,
    saturation: Option<Saturation>,
    sequential_mb_per_s: [f64; 2],
    response_ms: [f64; 3],
}

const REFERENCES: &[Reference] = &[
    Reference {
        model: "sas-slc-2011",
        table: include_str!("../../references/sas-slc-2011.csv"),
        cells: (2, 16, 60),
        active_range: None,
        saturation: Some(Saturation {
            threads: 2,
            queue_depth: 16,
            fresh_iops: 55_677.0,
            steady_iops: 19_415.0,
            steady_fills: (6.0, 7.0),
        }),
        sequential_mb_per_s: [437.0, 205.0],
        response_ms: [0.18, 0.16, 0.08],
    },
    Reference {
        model: "sas-slc-fast-2011",
        table: include_str!("../../references/sas-slc-fast-2011.csv"),
        cells: (2, 16, 60),
        active_range: None,
        saturation: Some(Saturation {
            threads: 2,
            queue_depth: 16,
            fresh_iops: 39_092.0,
            steady_iops: 16_305.0,
            steady_fills: (3.0, 4.0),
        }),
        sequential_mb_per_s: [514.0, 157.0],
        response_ms: [0.16, 0.14, 0.09],
    },
    Reference {
        model: "sata-mlc-2011",
        table: include_str!("../../references/sata-mlc-2011.csv"),
        cells: (1, 8, 60),
        active_range: Some(CLIENT_RANGE),
        saturation: Some(Saturation {
            threads: 16,
            queue_depth: 2,
            fresh_iops: 56_896.0,
            steady_iops: 2_714.0,
            steady_fills: (5.5, 6.5),
        }),
        sequential_mb_per_s: [417.0, 267.0],
        response_ms: [0.20, 0.33, 0.35],
    },
    Reference {
        model: "sata-mlc-hybrid-2011",
        table: include_str!("../../references/sata-mlc-hybrid-2011.csv"),
        cells: (32, 1, 60),
        active_range: Some(CLIENT_RANGE),
        saturation: Some(Saturation {
            threads: 16,
            queue_depth: 2,
            fresh_iops: 20_364.0,
            steady_iops: 658.0,
            steady_fills: (0.5, 1.5),
        }),
        sequential_mb_per_s: [264.0, 99.0],
        response_ms: [0.19, 0.65, 1.00],
    },
    Reference {
        model: "sata-eslc-2012",
        table: include_str!("../../references/sata-eslc-2012.csv"),
        cells: (2, 16, 60),
        active_range: None,
        saturation: None,
        sequential_mb_per_s: [129.0, 114.0],
        response_ms: [0.306, 0.285, 0.143],
    },
    Reference {
        model: "nvme-tlc-2018",
        table: include_str!("../../references/nvme-tlc-2018.csv"),
        cells: (2, 16, 30),
        active_range: None,
        saturation: None,
        sequential_mb_per_s: [2241.0, 203.0],
        response_ms: [0.079, 0.059, 0.051],
    },
];

impl Measured {
    /// The measurements that the built-in model of this name was fitted to; `None` for an uncalibrated model.
    #[must_use]
    pub fn of_model(name: &str) -> Option<Self> {
        let known = REFERENCES.iter().find(|reference| reference.model == name)?;
        let (threads, queue_depth, seconds) = known.cells;
        Some(Self {
            threads,
            queue_depth,
            cell_ns: seconds * MINUTE_NS / 60,
            active_range: known.active_range,
            cells: Self::cells_of(known.table).expect("the tables of this crate are valid"),
            saturation: known.saturation,
            sequential_mb_per_s: Some(known.sequential_mb_per_s),
            response_ms: Some(known.response_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MODELS;

    #[test]
    fn every_table_belongs_to_a_model_and_has_56_cells() {
        for reference in REFERENCES {
            assert!(MODELS.iter().any(|(name, _)| *name == reference.model), "{}", reference.model);
            assert_eq!(Measured::of_model(reference.model).unwrap().cells.len(), 56, "{}", reference.model);
        }
        assert!(Measured::of_model("nvme-qlc-2024").is_none());
    }
}
