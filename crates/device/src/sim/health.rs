//! Health of a simulated drive.

use record::Health;

/// Returns the health of a simulated drive.
pub(super) fn of_simulated(smart: &nandsim::Smart) -> Health {
    let bytes = |units: u64| Some(units * 512_000);
    Health {
        temperature_celsius: i16::try_from(smart.temperature_c).ok(),
        percentage_used: u8::try_from(smart.percentage_used.min(255)).ok(),
        host_read_bytes: bytes(smart.data_units_read),
        host_written_bytes: bytes(smart.data_units_written),
        media_written_bytes: bytes(smart.nand_units_written),
        media_errors: Some(smart.media_errors),
        unsafe_shutdowns: Some(smart.unsafe_shutdowns),
        throttling: Some(smart.throttled),
        ..Health::default()
    }
}
