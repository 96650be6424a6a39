//! Health reported by a drive, in one format for all interfaces.

use record::Health;

use crate::capability::{Capabilities, Protocol};
use crate::command::{Admin, ata, nvme, scsi};
use crate::wire::nvme::SmartLog;

const ZERO_CELSIUS_IN_KELVIN: i32 = 273;

/// Reads the device's current health; unreported values are absent.
pub fn read(admin: &mut dyn Admin, can: &Capabilities) -> Health {
    match &can.protocol {
        Protocol::Nvme(_) => {
            let Ok(log) = nvme::smart_log(admin) else { return Health::default() };
            let media_written_bytes = nvme::media_written_bytes(admin).and_then(small);
            let power_state = nvme::power_state(admin).ok();
            Health { media_written_bytes, power_state, ..of_nvme(&log) }
        }
        Protocol::Ata(drive) => {
            let statistics = ata::health(admin);
            let general = statistics.general;
            let bytes = |blocks: u64| blocks.checked_mul(u64::from(drive.logical_block_bytes));
            Health {
                temperature_celsius: statistics.temperature,
                percentage_used: statistics.percentage_used,
                media_errors: statistics.uncorrectable_errors,
                reallocated_sectors: statistics.reallocated_sectors,
                power_on_hours: general.power_on_hours,
                host_read_bytes: general.read_blocks.and_then(bytes),
                host_written_bytes: general.written_blocks.and_then(bytes),
                ..Health::default()
            }
        }
        Protocol::Scsi(_) => Health {
            temperature_celsius: scsi::degrees(admin),
            percentage_used: scsi::percentage_used(admin),
            media_errors: scsi::uncorrected_errors(admin),
            ..Health::default()
        },
        Protocol::Plain | Protocol::Unasked(_) => Health::default(),
    }
}

fn small(count: u128) -> Option<u64> {
    u64::try_from(count).ok()
}

fn of_nvme(log: &SmartLog) -> Health {
    let celsius = log.temperature_kelvin.map(|kelvin| i32::from(kelvin) - ZERO_CELSIUS_IN_KELVIN);
    Health {
        temperature_celsius: celsius.and_then(|celsius| i16::try_from(celsius).ok()),
        critical_warning: Some(log.critical_warning),
        available_spare_percent: Some(log.available_spare_percent),
        percentage_used: Some(log.percentage_used),
        power_on_hours: small(log.power_on_hours),
        host_read_bytes: small(log.read_bytes),
        host_written_bytes: small(log.written_bytes),
        media_errors: small(log.media_errors),
        unsafe_shutdowns: small(log.unsafe_shutdowns),
        throttle_seconds: Some(u64::from(log.throttle_seconds)),
        hot_minutes: Some(
            u64::from(log.warning_temperature_minutes) + u64::from(log.critical_temperature_minutes),
        ),
        ..Health::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::script::{Answer, Script};
    use crate::wire::nvme::LOG_BYTES;

    #[test]
    fn the_nvme_log_becomes_celsius_and_bytes() {
        let mut bytes = vec![0; LOG_BYTES];
        bytes[..4].copy_from_slice(&[0, 0x43, 0x01, 100]);
        (bytes[48], bytes[192], bytes[224]) = (3, 4, 5);
        let health = of_nvme(&SmartLog::decode(bytes[..].try_into().expect("that many")));
        assert_eq!((health.temperature_celsius, health.host_written_bytes), (Some(50), Some(1_536_000)));
        assert_eq!((health.hot_minutes, health.throttle_seconds), (Some(4), Some(5)));
    }

    #[test]
    fn errors_of_reads_and_writes_are_added() {
        // Total errors corrected (0003h), then total uncorrected errors (0006h) in one byte.
        let page = |code: u8, errors: u8| {
            let parameters = [0, 3, 0, 2, 1, 2, 0, 6, 0, 1, errors];
            Answer::Bytes([&[code, 0, 0, parameters.len() as u8][..], &parameters].concat())
        };
        let ask = |code: u8| [0x4d, 0, 0x40 | code, 0, 0, 0, 0, 0, 255, 0];
        let mut script = Script::new(0).scsi(&ask(2), page(2, 3)).scsi(&ask(3), page(3, 4));
        assert_eq!(scsi::uncorrected_errors(&mut script), Some(7));
        script.finish();
        let endurance = vec![0x11, 0, 0, 8, 0, 1, 3, 4, 0, 0, 0, 42];
        let mut script = Script::new(0).scsi(&ask(0x11), Answer::Bytes(endurance));
        assert_eq!(scsi::percentage_used(&mut script), Some(42));
        script.finish();
    }

    #[test]
    fn a_disk_without_logs_has_no_health_and_no_error() {
        let mut script = Script::new(0).scsi(
            &[0x4d, 0, 0x4d, 0, 0, 0, 0, 0, 255, 0],
            Answer::Scsi(2, crate::command::script::sense(5, (0x20, 0), None)),
        );
        assert_eq!(scsi::degrees(&mut script), None);
        script.finish();
    }
}
