//! The host of each run.

use super::table::{Folded, Table, integer, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "host",
    about: "The host of one run",
    columns: &[
        text("cpu", "Processor model"),
        integer("cpus", "Number of processors"),
        text("microcode", "Microcode revision"),
        text("board", "Board"),
        text("bios_version", "BIOS version"),
        integer("memory_bytes", "Memory"),
        text("os", "Operating system"),
        text("kernel", "Kernel release"),
        text("kernel_command_line", "Kernel command line"),
        text("governor", "CPU frequency governor"),
        text("scheduler", "I/O scheduler of the target"),
        text("pcie_link", "PCIe link of the target"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let host = &folded.run.host;
    vec![vec![
        host.cpu.as_deref().into(),
        host.cpus.into(),
        host.microcode.as_deref().into(),
        host.board.as_deref().into(),
        host.bios_version.as_deref().into(),
        host.memory_bytes.into(),
        host.os.as_deref().into(),
        host.kernel.as_deref().into(),
        host.kernel_command_line.as_deref().into(),
        host.governor.as_deref().into(),
        host.scheduler.as_deref().into(),
        host.pcie_link.as_deref().into(),
    ]]
}
