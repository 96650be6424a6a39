//! The LBA format of an NVMe namespace, which determines its sector size and metadata size. Changing it
//! erases the namespace.

use crate::capability::{Capabilities, Nvme, Protocol};
use crate::command::{Admin, Data, NvmeCommand, nvme};
use crate::error::{AdminError, DriveFault, LbaFormatError, Step};
use crate::purge::{FORMAT_NVM, FORMATTING, format_settings};

/// Returns the number of the current format; `None` if the device is not an NVMe namespace.
#[must_use]
pub fn get(can: &Capabilities) -> Option<u8> {
    match &can.protocol {
        Protocol::Nvme(drive) => Some(drive.namespace.format),
        _ => None,
    }
}

/// Checks that the device supports the format.
///
/// # Errors
/// Returns an error if the device does not support the format.
pub fn check(can: &Capabilities, format: u8) -> Result<&Nvme, AdminError> {
    let Protocol::Nvme(drive) = &can.protocol else { return Err(LbaFormatError::NotNvme.into()) };
    problem(drive, format).map_or(Ok(drive), |problem| Err(problem.into()))
}

/// Formats the namespace and verifies the new format.
///
/// # Errors
/// Returns an error if the device does not support the format or if the change fails.
pub fn set(admin: &mut dyn Admin, can: &Capabilities, format: u8) -> Result<(), AdminError> {
    let drive = check(can, format)?;
    admin.recheck(drive.controller.format_hits_all)?;
    let command = NvmeCommand {
        timeout: FORMATTING,
        ..NvmeCommand::of(FORMAT_NVM, drive.number, format_settings(format), 0)
    };
    admin.nvme(&command, Data::None).map_err(|fault| fault.during(Step::ChangeFormat))?;
    let after =
        nvme::namespace(admin, drive.number).map_err(|fault| fault.during(Step::IdentifyAfterFormat))?;
    if after.format == format {
        return Ok(());
    }
    Err(DriveFault::LbaFormatKept { requested: format, kept: after.format }.into())
}

/// Explains why a format is unavailable and lists the available formats.
fn problem(drive: &Nvme, format: u8) -> Option<LbaFormatError> {
    if !drive.controller.can_format {
        return Some(LbaFormatError::NoFormatCommand);
    }
    if drive.controller.format_hits_all && !drive.others.is_empty() {
        let others = drive.others.iter().map(|other| other.name.clone()).collect();
        return Some(LbaFormatError::AffectsOthers { others });
    }
    let plain = || drive.namespace.formats.iter().filter(|known| known.metadata_bytes == 0);
    if plain().any(|known| known.index == format) {
        return None;
    }
    let known = plain().map(|known| (known.index, known.block_bytes)).collect();
    Some(LbaFormatError::Unknown { format, known })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::OtherNamespace;

    use crate::command::script::{Answer, Script};
    use crate::fault::Fault;
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
                others: vec![OtherNamespace { name: "nvme0n1".into(), identity: "S1".into() }],
            }),
            capacity_bytes: 0,
            block_bytes: 512,
            discard: false,
            write_zeroes: false,
        }
    }

    #[test]
    fn a_format_is_set_and_verified() {
        let can = drive(0b10, 0);
        assert_eq!(get(&can), Some(0));
        let script = Script::new(0).nvme(0x80, 2, 1, Answer::Ok);
        let mut script = script.nvme(0x06, 2, 0, Answer::Bytes(namespace(1)));
        set(&mut script, &can, 1).expect("a format");
        assert_eq!(script.rechecks, [false], "rechecked, and the other namespace does not matter");
        script.finish();
    }

    #[test]
    fn a_drive_that_fails_or_ignores_the_command_is_an_error() {
        let mut script = Script::new(0).nvme(0x80, 2, 1, Answer::Nvme(0x10a));
        let error = set(&mut script, &drive(0b10, 0), 1).expect_err("an error");
        assert!(
            matches!(error, AdminError::Command { step: Step::ChangeFormat, fault: Fault::Nvme(0x10a) }),
            "{error:?}"
        );
        let script = Script::new(0).nvme(0x80, 2, 1, Answer::Ok);
        let mut script = script.nvme(0x06, 2, 0, Answer::Bytes(namespace(0)));
        let error = set(&mut script, &drive(0b10, 0), 1).expect_err("an error");
        assert!(
            matches!(error, AdminError::Drive(DriveFault::LbaFormatKept { requested: 1, kept: 0 })),
            "{error:?}"
        );
        script.finish();
        let mut script = Script::new(0);
        script.in_use_from = 0;
        let error = set(&mut script, &drive(0b10, 0), 1).expect_err("in use");
        assert!(matches!(error, AdminError::Recheck(_)));
    }

    #[test]
    fn nothing_is_sent_for_a_format_that_is_unavailable() {
        let unknown = |format| LbaFormatError::Unknown { format, known: vec![(0, 512), (1, 4096)] };
        let others = vec!["nvme0n1".to_owned()];
        let cases = [
            (drive(0, 0), 1, LbaFormatError::NoFormatCommand),
            (drive(0b10, 0b1), 1, LbaFormatError::AffectsOthers { others }),
            (drive(0b10, 0), 2, unknown(2)),
            (drive(0b10, 0), 9, unknown(9)),
            (Capabilities { protocol: Protocol::Plain, ..drive(0, 0) }, 1, LbaFormatError::NotNvme),
        ];
        for (can, format, expected) in cases {
            let error = set(&mut Script::new(0), &can, format).expect_err("an error");
            assert!(matches!(&error, AdminError::LbaFormat(error) if *error == expected), "{error:?}");
        }
        assert!(unknown(2).to_string().ends_with("it has 0 (512 B), 1 (4096 B)"));
    }
}
