//! Figures of a custom test, averaged over the result rounds.

use record::{Access, OwnCell, OwnFigure, Segment};
use stdx::units::block_size;

use super::{Seen, demand};
use crate::Context;
use crate::profile::{Demand, mix_name};
use crate::timeline::mean;
use crate::window_pages::{IOPS, MEGABYTES, MILLISECONDS, Unit};

/// Figure measured in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    Iops,
    Megabytes,
    MeanLatency,
    MaxLatency,
}

/// Access order and percentage of reads of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub access: Access,
    pub read_percent: u8,
}

/// One cell, averaged over the result rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    pub load: Load,
    pub block_bytes: u32,
    pub demand: Demand,
    pub iops: f64,
    pub megabytes: f64,
    pub mean_ms: Option<f64>,
    /// Maximum response time over all rounds; None for a scaled simulated drive.
    pub max_ms: Option<f64>,
    pub host_limited: bool,
    /// True if too few I/Os completed in one of its segments to draw conclusions.
    pub coarse: bool,
}

/// Value of the tracked figure in a segment; None without I/O.
pub fn value(figure: OwnFigure, segment: &Segment) -> Option<f64> {
    match figure {
        OwnFigure::Iops => Some(segment.iops()),
        OwnFigure::MegabytesPerSecond => Some(segment.megabytes_per_second()),
        OwnFigure::MeanLatency => segment.mean_latency_ms(),
    }
}

/// Unit of the figure.
pub fn unit(figure: OwnFigure) -> Unit {
    Figure::from(figure).unit()
}

/// Name of a cell as a tracking variable and in charts: `RND 4KiB W, TC 8 QD 32`.
pub fn name(context: &Context<'_>, cell: &OwnCell) -> String {
    let load = Load { access: cell.access, read_percent: cell.read_percent };
    format!("{}, {}", load.name(Some(cell.block_bytes)), demand_name(demand(context, cell)))
}

pub fn demand_name(demand: Demand) -> String {
    format!("TC {} QD {}", demand.threads, demand.queue_depth)
}

pub fn outstanding(demand: Demand) -> u32 {
    u32::from(demand.threads) * u32::from(demand.queue_depth)
}

impl From<OwnFigure> for Figure {
    fn from(figure: OwnFigure) -> Self {
        match figure {
            OwnFigure::Iops => Self::Iops,
            OwnFigure::MegabytesPerSecond => Self::Megabytes,
            OwnFigure::MeanLatency => Self::MeanLatency,
        }
    }
}

impl Figure {
    /// The figures that a test reports in tables, beginning with its main figure.
    pub fn shown(first: OwnFigure, has_maxima: bool) -> Vec<Self> {
        let mut all = match first {
            OwnFigure::Iops => vec![Self::Iops, Self::MeanLatency],
            OwnFigure::MegabytesPerSecond => vec![Self::Megabytes, Self::MeanLatency],
            OwnFigure::MeanLatency => vec![Self::MeanLatency, Self::Iops],
        };
        if has_maxima {
            all.push(Self::MaxLatency);
        }
        all
    }

    pub fn of(self, mean: &Mean) -> Option<f64> {
        match self {
            Self::Iops => Some(mean.iops),
            Self::Megabytes => Some(mean.megabytes),
            Self::MeanLatency => mean.mean_ms,
            Self::MaxLatency => mean.max_ms,
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Iops => IOPS,
            Self::Megabytes => MEGABYTES,
            Self::MeanLatency | Self::MaxLatency => MILLISECONDS,
        }
    }

    pub const fn heading(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Megabytes => "Throughput (MB/s)",
            Self::MeanLatency => "Average Response Time (ms)",
            Self::MaxLatency => "Maximum Response Time (ms)",
        }
    }

    /// Whether `a` is better than `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Iops | Self::Megabytes => a > b,
            Self::MeanLatency | Self::MaxLatency => a < b,
        }
    }
}

impl Load {
    /// Formats as `RND 4KiB W`, or without a block size `RND W`.
    pub fn name(self, block_bytes: Option<u32>) -> String {
        let order = match self.access {
            Access::Random => "RND",
            Access::Sequential => "SEQ",
        };
        let size = block_bytes.map_or_else(String::new, |bytes| format!(" {}", block_size(bytes.into())));
        let mix = match self.read_percent {
            0 => "W".to_owned(),
            100 => "R".to_owned(),
            read => mix_name(read),
        };
        format!("{order}{size} {mix}")
    }
}

/// Averages every cell over the result rounds, in loop order; empty before the first completed round.
pub fn means(context: &Context<'_>, seen: &Seen<'_>) -> Vec<Mean> {
    let rounds = &seen.rounds[seen.results()];
    if rounds.is_empty() {
        return Vec::new();
    }
    let of = |(index, cell): (usize, &OwnCell)| {
        let same = || rounds.iter().filter_map(move |round| round.get(index));
        let maxima = same().filter_map(Segment::max_latency_ms);
        Mean {
            load: Load { access: cell.access, read_percent: cell.read_percent },
            block_bytes: cell.block_bytes,
            demand: demand(context, cell),
            iops: mean(same().map(Segment::iops)).unwrap_or(0.0),
            megabytes: mean(same().map(Segment::megabytes_per_second)).unwrap_or(0.0),
            mean_ms: mean(same().filter_map(Segment::mean_latency_ms)),
            max_ms: maxima.max_by(f64::total_cmp).filter(|_| context.has_maxima()),
            host_limited: same().any(Segment::is_host_limited),
            coarse: same().any(crate::few_ios::has_few),
        }
    };
    seen.cells.iter().enumerate().map(of).collect()
}
