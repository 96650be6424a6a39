//! The published measurements to which the models were fitted.

use super::{ActiveRange, Demand, Latency, Measured, Saturation, Throughput};

const MINUTE_NS: u64 = 60_000_000_000;
/// The active range of PTS-C 1.0: 16 GiB in 2048 segments.
const CLIENT_RANGE: ActiveRange = ActiveRange { bytes: 16 << 30, segments: 2048 };
const LARGE: u32 = 1 << 20;
const SMALL: u32 = 128 << 10;
/// Throughput as TKperf prints it: labelled MB/s, but actually in MiB/s.
const PRINTED: f64 = 1.048_576;

/// The measurements to which a model was fitted.
struct Reference {
    model: &'static str,
    table: &'static str,
    /// Demand in the IOPS test, and the length of its cells in seconds.
    cells: (Demand, u64),
    active_range: Option<ActiveRange>,
    saturation: Option<Saturation>,
    throughput: &'static [Throughput],
    latency: &'static [Latency],
}

const fn demand(threads: u16, queue_depth: u16) -> Demand {
    Demand { threads, queue_depth }
}

const TWO_BY_SIXTEEN: Demand = demand(2, 16);

/// A PTS throughput test.
const fn standard(block_bytes: u32, demand: Demand, mb_per_s: [f64; 2]) -> Throughput {
    Throughput { block_bytes, demand, preconditioned: true, mb_per_s }
}

/// A TKperf throughput test, with throughput in the unit that TKperf prints.
const fn tkperf(block_bytes: u32, mib_per_s: [f64; 2]) -> Throughput {
    let mb_per_s = [mib_per_s[0] * PRINTED, mib_per_s[1] * PRINTED];
    Throughput { block_bytes, demand: TWO_BY_SIXTEEN, preconditioned: false, mb_per_s }
}

/// Mean and maximum response times in ms with one command in flight.
const fn latency(block_bytes: u32, read_percent: u8, mean_ms: f64, most_ms: f64) -> Latency {
    Latency { block_bytes, read_percent, mean_ms, most_ms }
}

const REFERENCES: &[Reference] = &[
    Reference {
        model: "sas-slc-2011",
        table: include_str!("../../references/sas-slc-2011.csv"),
        cells: (TWO_BY_SIXTEEN, 60),
        active_range: None,
        saturation: Some(Saturation {
            demand: TWO_BY_SIXTEEN,
            fresh_iops: 55_677.0,
            steady_iops: 19_415.0,
            steady_fills: (6.0, 7.0),
            drop: (30.0, 2.0),
            steady: (100.0, 6.0),
        }),
        throughput: &[
            standard(LARGE, TWO_BY_SIXTEEN, [437.0, 205.0]),
            standard(SMALL, TWO_BY_SIXTEEN, [419.0, 248.0]),
        ],
        latency: &[
            latency(4096, 100, 0.18, 0.39),
            latency(4096, 65, 0.16, 442.49),
            latency(4096, 0, 0.08, 443.94),
        ],
    },
    Reference {
        model: "sas-slc-fast-2011",
        table: include_str!("../../references/sas-slc-fast-2011.csv"),
        cells: (TWO_BY_SIXTEEN, 60),
        active_range: None,
        saturation: Some(Saturation {
            demand: TWO_BY_SIXTEEN,
            fresh_iops: 39_092.0,
            steady_iops: 16_305.0,
            steady_fills: (3.0, 4.0),
            drop: (30.0, 0.7),
            steady: (50.0, 1.5),
        }),
        throughput: &[
            standard(LARGE, TWO_BY_SIXTEEN, [514.3, 157.5]),
            standard(SMALL, TWO_BY_SIXTEEN, [409.3, 144.5]),
        ],
        latency: &[
            latency(4096, 100, 0.16, 6.26),
            latency(4096, 65, 0.14, 46.78),
            latency(4096, 0, 0.09, 32.63),
        ],
    },
    Reference {
        model: "sata-mlc-2011",
        table: include_str!("../../references/sata-mlc-2011.csv"),
        cells: (demand(1, 8), 60),
        active_range: Some(CLIENT_RANGE),
        saturation: Some(Saturation {
            demand: demand(16, 2),
            fresh_iops: 56_896.0,
            steady_iops: 2_714.0,
            steady_fills: (5.5, 6.5),
            drop: (60.0, 0.977),
            steady: (1000.0, 5.469),
        }),
        throughput: &[standard(LARGE, demand(32, 32), [416.9, 267.2])],
        latency: &[
            latency(4096, 100, 0.20, 1.59),
            latency(4096, 65, 0.33, 50.02),
            latency(4096, 0, 0.35, 51.05),
        ],
    },
    Reference {
        model: "sata-mlc-hybrid-2011",
        table: include_str!("../../references/sata-mlc-hybrid-2011.csv"),
        cells: (demand(32, 1), 60),
        active_range: Some(CLIENT_RANGE),
        saturation: Some(Saturation {
            demand: demand(16, 2),
            fresh_iops: 20_364.0,
            steady_iops: 658.0,
            steady_fills: (0.5, 1.5),
            drop: (46.0, 0.238),
            steady: (275.0, 0.5),
        }),
        throughput: &[standard(LARGE, demand(1, 2), [264.0, 99.0])],
        latency: &[
            latency(4096, 100, 0.19, 1.43),
            latency(4096, 65, 0.65, 283.21),
            latency(4096, 0, 1.00, 288.29),
        ],
    },
    Reference {
        model: "sata-eslc-2012",
        table: include_str!("../../references/sata-eslc-2012.csv"),
        cells: (TWO_BY_SIXTEEN, 60),
        active_range: None,
        saturation: None,
        throughput: &[
            tkperf(LARGE, [123.211, 108.692]),
            tkperf(65_536, [132.904, 118.883]),
            tkperf(8192, [110.89, 99.582]),
            tkperf(4096, [54.605, 46.97]),
            tkperf(512, [7.122, 4.475]),
        ],
        latency: &[
            latency(8192, 100, 0.691, 335.412),
            latency(8192, 65, 0.35, 36.326),
            latency(8192, 0, 0.169, 124.041),
            latency(4096, 100, 0.306, 48.715),
            latency(4096, 65, 0.285, 25.825),
            latency(4096, 0, 0.143, 127.373),
            latency(512, 100, 0.194, 2.359),
            latency(512, 65, 0.24, 48.859),
            latency(512, 0, 0.12, 155.116),
        ],
    },
    Reference {
        model: "nvme-tlc-2018",
        table: include_str!("../../references/nvme-tlc-2018.csv"),
        cells: (TWO_BY_SIXTEEN, 30),
        active_range: None,
        saturation: None,
        throughput: &[
            tkperf(LARGE, [2137.501, 193.988]),
            tkperf(65_536, [1971.361, 213.219]),
            tkperf(8192, [849.629, 211.958]),
            tkperf(4096, [518.3, 234.859]),
            tkperf(512, [39.044, 10.687]),
        ],
        latency: &[
            latency(8192, 100, 0.102, 1.288),
            latency(8192, 65, 0.08, 13.025),
            latency(8192, 0, 0.058, 190.45),
            latency(4096, 100, 0.079, 3.196),
            latency(4096, 65, 0.059, 10.197),
            latency(4096, 0, 0.051, 157.873),
            latency(512, 100, 0.08, 1.557),
            latency(512, 65, 0.064, 73.752),
            latency(512, 0, 0.059, 111.916),
        ],
    },
];

impl Measured {
    /// Returns the measurements to which the built-in model with this name was fitted; `None` for an
    /// uncalibrated model.
    #[must_use]
    pub fn of_model(name: &str) -> Option<Self> {
        let known = REFERENCES.iter().find(|reference| reference.model == name)?;
        let (demand, seconds) = known.cells;
        Some(Self {
            demand,
            cell_ns: seconds * MINUTE_NS / 60,
            active_range: known.active_range,
            cells: Self::cells_of(known.table).expect("the tables of this crate are valid"),
            saturation: known.saturation,
            throughput: known.throughput.to_vec(),
            latency: known.latency.to_vec(),
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
