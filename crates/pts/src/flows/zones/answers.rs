//! The results that a zone test received.

use record::Segment;

use super::sweep::{Figure, Sweep};
use crate::conclusions::incidents::Incidents;
use crate::method::profile::Cell;

/// One completed cell. A test has more than 500 cells, so their segments, which contain histograms, are not kept.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Zone number, starting at 0.
    pub zone: u32,
    pub cell: Cell,
    pub value: f64,
    pub mean_ms: Option<f64>,
    pub host_limited: bool,
}

impl Sample {
    pub fn of(figure: Figure, zone: u32, cell: Cell, segment: &Segment) -> Self {
        let value = match figure {
            Figure::Iops => segment.iops(),
            Figure::Throughput => segment.megabytes_per_second(),
        };
        let mean_ms = segment.mean_latency_ms();
        Self { zone, cell, value, mean_ms, host_limited: segment.is_host_limited() }
    }
}

/// All results that the test received, whether or not it completed.
pub struct ZoneAnswers {
    pub sweep: &'static Sweep,
    pub samples: Vec<Sample>,
    /// Number of completed zones, summed over all passes.
    pub finished: u32,
    pub incidents: Incidents,
}
