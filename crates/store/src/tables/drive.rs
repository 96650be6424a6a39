//! The drive of each run.

use record::TargetKind;

use super::table::{Folded, Table, boolean, integer, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "drive",
    about: "The drive of one run, as it was during the run",
    columns: &[
        text("kind", "`block`, `file`, `simulated` or `imported`"),
        text("path", "Path as typed"),
        text("identity", "Identity, as typed to confirm erasure"),
        text("vendor", "Vendor"),
        text("model", "Model"),
        text("serial", "Serial number"),
        text("firmware", "Firmware revision"),
        text("interface", "Interface"),
        text("nand", "NAND type"),
        integer("capacity_bytes", "User capacity"),
        integer("logical_block_bytes", "Logical block size"),
        integer("physical_block_bytes", "Physical block size"),
        boolean("rotational", "1 if the kernel reports it as rotational, 0 if not"),
        text("simulated_model", "Model of a simulated drive; null for all others"),
        text("array", "Description of an array of drives; null for a single drive"),
        text(
            "drive",
            "Distinguishes the drive from others: serial number or identity, or model and seed of a simulated drive",
        ),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let target = &folded.run.target;
    let kind = match target.kind {
        TargetKind::Block => "block",
        TargetKind::File => "file",
        TargetKind::Simulated => "simulated",
        TargetKind::Imported => "imported",
    };
    vec![vec![
        kind.into(),
        (&*target.path).into(),
        (&*target.identity).into(),
        target.vendor.as_deref().into(),
        target.model.as_deref().into(),
        target.serial.as_deref().into(),
        target.firmware.as_deref().into(),
        target.interface.as_deref().into(),
        target.nand.as_deref().into(),
        target.capacity_bytes.into(),
        target.logical_block_bytes.into(),
        target.physical_block_bytes.into(),
        target.rotational.into(),
        target.simulated.as_ref().map(|simulated| &*simulated.model).into(),
        target.array.as_ref().map(record::ArrayFacts::words).into(),
        target.drive().into(),
    ]]
}
