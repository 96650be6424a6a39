//! Figures of an own test: what its cells come to over the rounds of the results.

use record::{Access, OwnCell, OwnFigure, Segment};
use stdx::units::block_size;

use super::{Seen, demand};
use crate::Context;
use crate::profile::{Demand, mix_name};
use crate::timeline::mean;
use crate::window_pages::{IOPS, MEGABYTES, MILLISECONDS, Unit};

/// What is measured in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    Iops,
    Megabytes,
    MeanLatency,
    MaxLatency,
}

/// Order and share of reads of a load, and its block size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub access: Access,
    pub read_percent: u8,
}

/// One cell over the rounds of the results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    pub load: Load,
    pub block_bytes: u32,
    pub demand: Demand,
    pub iops: f64,
    pub megabytes: f64,
    pub mean_ms: Option<f64>,
    /// Of the largest of all; none for a scaled simulated drive.
    pub max_ms: Option<f64>,
    pub host_limited: bool,
    /// Too few I/Os ended in one of its segments to conclude anything from it.
    pub coarse: bool,
}

/// The value of a segment that is tracked; none without I/O.
pub fn value(figure: OwnFigure, segment: &Segment) -> Option<f64> {
    match figure {
        OwnFigure::Iops => Some(segment.iops()),
        OwnFigure::MegabytesPerSecond => Some(segment.megabytes_per_second()),
        OwnFigure::MeanLatency => segment.mean_latency_ms(),
    }
}

/// Its unit.
pub fn unit(figure: OwnFigure) -> Unit {
    Figure::from(figure).unit()
}

/// A cell as tracked and drawn: `RND 4KiB W, TC 8 QD 32`.
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
    /// What a test of such a figure has tables of, the figure itself first.
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

    /// Whether `a` is the better of two values.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Iops | Self::Megabytes => a > b,
            Self::MeanLatency | Self::MaxLatency => a < b,
        }
    }
}

impl Load {
    /// `RND 4KiB W`, or without the block size `RND W`.
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

/// Every cell over the rounds of the results, in the order of the loop; none before a round is finished.
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
