//! Short names of workloads, from which the keys of figures are made.

use record::{Access, Workload};
use stdx::units::block_size;

/// Returns the short name of a workload: `rnd4k.w`, `seq1024k.r`, `rnd64k.65`, `rnd8k.65.tc32qd8`.
pub(crate) fn code(workload: &Workload, one_depth: bool) -> String {
    let kinds = if workload.kinds.is_empty() { "" } else { "mix" };
    let depth = depth(workload, one_depth, ".").to_lowercase();
    let short = short(workload.access, workload.block_bytes, workload.read_percent, kinds);
    format!("{short}{}", depth.replace(' ', ""))
}

/// Returns the short name of a workload without its demand. `kinds` is `mix` if several types of I/O are mixed.
pub(crate) fn short(access: Access, block_bytes: u32, read_percent: u8, kinds: &str) -> String {
    let access = if access == Access::Random { "rnd" } else { "seq" };
    let size = block_size(block_bytes.into()).replace("KiB", "k").replace(' ', "").to_lowercase();
    let mix = match read_percent {
        0 => "w".to_owned(),
        100 => "r".to_owned(),
        read => read.to_string(),
    };
    format!("{access}{kinds}{size}.{mix}")
}

/// Returns `before`, followed by a workload's TC and QD; empty if all workloads have the same TC and QD.
pub(crate) fn depth(workload: &Workload, one_depth: bool, before: &str) -> String {
    if one_depth { String::new() } else { demand(workload.threads, workload.queue_depth, before) }
}

/// Returns `before`, followed by TC and QD: `TC4 QD32`.
pub(crate) fn demand(threads: u16, queue_depth: u16, before: &str) -> String {
    format!("{before}TC{threads} QD{queue_depth}")
}
