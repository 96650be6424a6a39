//! The members of arrays.

use super::table::{Folded, Table, integer, numbered, text};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "member",
    about: "One member drive of an array",
    columns: &[
        integer("number", "Position in the array, from 1"),
        text("path", "Path, or address on its RAID controller"),
        text("identity", "Identity"),
        text("vendor", "Vendor"),
        text("model", "Model"),
        text("serial", "Serial number"),
        text("firmware", "Firmware revision"),
        integer("capacity_bytes", "User capacity"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    let members = folded.run.target.array.iter().flat_map(|array| &array.members);
    numbered(members.map(|member| {
        vec![
            (&*member.path).into(),
            (&*member.identity).into(),
            member.vendor.as_deref().into(),
            member.model.as_deref().into(),
            member.serial.as_deref().into(),
            member.firmware.as_deref().into(),
            member.capacity_bytes.into(),
        ]
    }))
}
