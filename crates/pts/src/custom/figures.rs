//! A custom test's figures, averaged over the result rounds.

use record::{Access, CustomCell, CustomFigure, Segment};
use stdx::units::block_size;

use crate::exhibits::unit::Unit;
use crate::method::profile::{Demand, mix_name};
use crate::{Context, KeyFigure};

/// A figure measured in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    Iops,
    Megabytes,
    MeanLatency,
    MaxLatency,
}

/// A workload's access order and percentage of reads.
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
    /// Whether one of the cell's segments has too few I/Os to draw conclusions.
    pub coarse: bool,
}

/// The tracked figure's value in a segment; None if there was no I/O.
pub fn value(figure: CustomFigure, segment: &Segment) -> Option<f64> {
    match figure {
        CustomFigure::Iops => Some(segment.iops()),
        CustomFigure::MegabytesPerSecond => Some(segment.megabytes_per_second()),
        CustomFigure::MeanLatency => segment.mean_latency_ms(),
    }
}

/// Unit of the figure.
pub fn unit(figure: CustomFigure) -> Unit {
    Figure::from(figure).unit()
}

/// Returns a cell's demand; values that the plan does not specify come from the settings.
pub fn demand(context: &Context<'_>, cell: &CustomCell) -> Demand {
    Demand {
        threads: cell.threads.unwrap_or(context.settings.threads),
        queue_depth: cell.queue_depth.unwrap_or(context.settings.queue_depth),
    }
}

/// Returns a cell's name as a tracking variable and in charts, such as `RND 4KiB W, TC 8 QD 32`.
pub fn name(context: &Context<'_>, cell: &CustomCell) -> String {
    let load = Load { access: cell.access, read_percent: cell.read_percent };
    format!("{}, {}", load.name(Some(cell.block_bytes)), demand_name(demand(context, cell)))
}

pub fn demand_name(demand: Demand) -> String {
    format!("TC {} QD {}", demand.threads, demand.queue_depth)
}

pub fn outstanding(demand: Demand) -> u32 {
    u32::from(demand.threads) * u32::from(demand.queue_depth)
}

/// Returns a figure for the summary page.
pub fn key_figure(name: String, figure: Figure, value: Option<f64>, host_limited: bool) -> KeyFigure {
    let unit = figure.unit();
    // IOPS are whole numbers, as in PTS summaries.
    let decimals = if figure == Figure::Iops { 0 } else { unit.decimals() };
    KeyFigure { name, key: None, value, absent: "n/a", unit, decimals, host_limited }
}

impl From<CustomFigure> for Figure {
    fn from(figure: CustomFigure) -> Self {
        match figure {
            CustomFigure::Iops => Self::Iops,
            CustomFigure::MegabytesPerSecond => Self::Megabytes,
            CustomFigure::MeanLatency => Self::MeanLatency,
        }
    }
}

impl Figure {
    /// The figures in a test's tables, starting with its main figure.
    pub fn shown(first: CustomFigure, has_maxima: bool) -> Vec<Self> {
        let mut all = match first {
            CustomFigure::Iops => vec![Self::Iops, Self::MeanLatency],
            CustomFigure::MegabytesPerSecond => vec![Self::Megabytes, Self::MeanLatency],
            CustomFigure::MeanLatency => vec![Self::MeanLatency, Self::Iops],
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
            Self::Iops => Unit::Iops,
            Self::Megabytes => Unit::MegabytesPerSecond,
            Self::MeanLatency | Self::MaxLatency => Unit::Milliseconds,
        }
    }

    /// Part of a page key.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Megabytes => "throughput",
            Self::MeanLatency => "average",
            Self::MaxLatency => "maximum",
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

    /// Returns whether `a` is a better value than `b` for this figure.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Iops | Self::Megabytes => a > b,
            Self::MeanLatency | Self::MaxLatency => a < b,
        }
    }
}

impl Load {
    /// Formats the workload as `RND 4KiB W` or, without a block size, `RND W`.
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
