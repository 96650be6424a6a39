//! Health readings.

use record::Event;

use super::table::{Folded, Table, boolean, integer, numbered};
use crate::value::Value;

/// The table.
pub(super) const TABLE: Table = Table {
    name: "health",
    about: "One reading of the drive's health; values that the drive does not report are null",
    columns: &[
        integer("number", "Position among the readings of the run, from 1"),
        integer("record", "Number of the journal record"),
        integer("at_ns", "Time on the target's clock"),
        integer("temperature_celsius", "Temperature"),
        integer("critical_warning", "Critical Warning bits of the NVMe health log"),
        integer("available_spare_percent", "Remaining spare blocks"),
        integer("percentage_used", "Percentage of the rated endurance used"),
        integer("power_on_hours", "Power-on hours"),
        integer("host_read_bytes", "Bytes read by hosts over the drive's life"),
        integer("host_written_bytes", "Bytes written by hosts over the drive's life"),
        integer("media_written_bytes", "Bytes written to flash over the drive's life"),
        integer("media_errors", "Unrecovered data errors"),
        integer("reallocated_sectors", "Sectors that the drive has replaced with spare sectors"),
        integer("unsafe_shutdowns", "Power losses without prior notice"),
        integer("throttle_seconds", "Seconds of thermal throttling over the drive's life"),
        integer("hot_minutes", "Minutes above the warning temperature over the drive's life"),
        boolean("throttling", "1 if the drive is throttled"),
        integer("power_state", "NVMe power state"),
    ],
    by_test: None,
    rows,
};

fn rows(folded: &Folded<'_>) -> Vec<Vec<Value>> {
    numbered(folded.loaded.entries.iter().filter_map(|entry| match &entry.event {
        Event::Health { at_ns, health } => Some(vec![
            entry.seq.into(),
            (*at_ns).into(),
            health.temperature_celsius.into(),
            health.critical_warning.into(),
            health.available_spare_percent.into(),
            health.percentage_used.into(),
            health.power_on_hours.into(),
            health.host_read_bytes.into(),
            health.host_written_bytes.into(),
            health.media_written_bytes.into(),
            health.media_errors.into(),
            health.reallocated_sectors.into(),
            health.unsafe_shutdowns.into(),
            health.throttle_seconds.into(),
            health.hot_minutes.into(),
            health.throttling.into(),
            health.power_state.into(),
        ]),
        _ => None,
    }))
}
