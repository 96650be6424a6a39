//! LBA format of an NVMe namespace: its sector size. Changing it erases the namespace.

use crate::capability::{Capabilities, Nvme, Protocol};
use crate::command::{Admin, Data, NvmeCommand, nvme};
use crate::error::AdminError;
use crate::purge::{FORMAT_NVM, FORMATTING, format_settings};

/// Returns the number of the current format; `None` unless this is an NVMe namespace.
#[must_use]
pub fn get(can: &Capabilities) -> Option<u8> {
    match &can.protocol {
        Protocol::Nvme(drive) => Some(drive.namespace.format),
        _ => None,
    }
}

/// Refuses an unsupported format.
///
/// # Errors
/// If the device does not support the format.
pub fn check(can: &Capabilities, format: u8) -> Result<&Nvme, AdminError> {
    let Protocol::Nvme(drive) = &can.protocol else { return Err(only_nvme()) };
    problem(drive, format).map_or(Ok(drive), |problem| Err(AdminError::Invalid(problem)))
}

/// Returns the error for devices other than NVMe namespaces.
#[must_use]
pub fn only_nvme() -> AdminError {
    AdminError::Invalid("only NVMe namespaces have a choice of LBA formats; omit --lba-format".into())
}

/// Formats the namespace and verifies the new format.
///
/// # Errors
/// If the device does not support the format, or the change failed.
pub fn set(admin: &mut dyn Admin, can: &Capabilities, format: u8) -> Result<(), AdminError> {
    let drive = check(can, format)?;
    admin.recheck(drive.controller.format_hits_all)?;
    let command = NvmeCommand {
        timeout: FORMATTING,
        ..NvmeCommand::of(FORMAT_NVM, drive.number, format_settings(format), 0)
    };
    admin.nvme(&command, Data::None).map_err(|fault| {
        fault.during("Format NVM", "check the drive with plateau info, or omit --lba-format")
    })?;
    let after = nvme::namespace(admin, drive.number)
        .map_err(|fault| fault.during("Identify after the format", "power-cycle the drive"))?;
    if after.format == format {
        return Ok(());
    }
    Err(AdminError::device(format!(
        "the drive accepted Format NVM with LBA format {format} but still has format {}; omit --lba-format",
        after.format
    )))
}

/// Explains why a format is unavailable, and lists the available ones.
fn problem(drive: &Nvme, format: u8) -> Option<String> {
    if !drive.controller.can_format {
        return Some("the drive does not support Format NVM, so its LBA format cannot be changed".into());
    }
    if drive.controller.format_hits_all && !drive.others.is_empty() {
        let names: Vec<&str> = drive.others.iter().map(|other| other.name.as_str()).collect();
        return Some(format!(
            "a format would affect all namespaces of this drive, including {}",
            names.join(", ")
        ));
    }
    let plain = || drive.namespace.formats.iter().filter(|known| known.metadata_bytes == 0);
    if plain().any(|known| known.index == format) {
        return None;
    }
    let choices: Vec<String> =
        plain().map(|known| format!("{} ({} B)", known.index, known.block_bytes)).collect();
    Some(format!("the drive has no LBA format {format} without metadata; it has {}", choices.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::Other;
    use crate::command::script::{Answer, Script};
    use crate::wire::nvme::{Controller, IDENTIFY_BYTES, Namespace};

    fn namespace(format: u8) -> Vec<u8> {
        let mut bytes = vec![0; IDENTIFY_BYTES];
        (bytes[0], bytes[25], bytes[26]) = (64, 2, format);
        bytes[128..140].copy_from_slice(&[0, 0, 9, 0, 0, 0, 12, 0, 8, 0, 12, 0]);
        bytes
    }

    fn drive(oacs: u8, fna: u8) -> Capabilities {
        let mut bytes = [0; IDENTIFY_BYTES];
        (bytes[256], bytes[524]) = (oacs, fna);
        Capabilities {
            protocol: Protocol::Nvme(Nvme {
                number: 2,
                controller: Controller::decode(&bytes),
                namespace: Namespace::decode(namespace(0)[..].try_into().expect("that many")),
                others: vec![Other { name: "nvme0n1".into(), identity: "S1".into() }],
            }),
            capacity_bytes: 0,
            block_bytes: 512,
            discard: false,
            write_zeroes: false,
        }
    }

    #[test]
    fn a_format_is_set_and_looked_at_again() {
        let can = drive(0b10, 0);
        assert_eq!(get(&can), Some(0));
        let script = Script::new(0).nvme(0x80, 2, 1, Answer::Ok);
        let mut script = script.nvme(0x06, 2, 0, Answer::Bytes(namespace(1)));
        set(&mut script, &can, 1).expect("a format");
        assert_eq!(script.rechecks, [false], "looked at again, and the other namespace does not matter");
        script.finish();
    }

    #[test]
    fn a_drive_that_fails_or_does_nothing_is_an_error() {
        let mut script = Script::new(0).nvme(0x80, 2, 1, Answer::Nvme(0x10a));
        assert!(
            set(&mut script, &drive(0b10, 0), 1)
                .expect_err("an error")
                .to_string()
                .contains("Format NVM failed")
        );
        let script = Script::new(0).nvme(0x80, 2, 1, Answer::Ok);
        let mut script = script.nvme(0x06, 2, 0, Answer::Bytes(namespace(0)));
        let error = set(&mut script, &drive(0b10, 0), 1).expect_err("an error");
        assert!(error.to_string().contains("but still has format"), "{error}");
        script.finish();
        let mut script = Script::new(0);
        script.in_use_from = 0;
        let error = set(&mut script, &drive(0b10, 0), 1).expect_err("in use");
        assert!(matches!(error, AdminError::Recheck(_)));
    }

    #[test]
    fn nothing_is_sent_for_a_format_that_cannot_be_had() {
        let cases = [
            (drive(0, 0), 1, "does not support Format NVM"),
            (drive(0b10, 0b1), 1, "including nvme0n1"),
            (drive(0b10, 0), 2, "it has 0 (512 B), 1 (4096 B)"),
            (drive(0b10, 0), 9, "no LBA format 9"),
            (Capabilities { protocol: Protocol::Plain, ..drive(0, 0) }, 1, "only NVMe"),
        ];
        for (can, format, expected) in cases {
            let error = set(&mut Script::new(0), &can, format).expect_err(expected);
            assert!(matches!(error, AdminError::Invalid(_)));
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
