//! The drive's volatile write cache: WCE and WCD in the PTS.

use crate::capability::{Capabilities, Protocol};
use crate::command::{Admin, ata, nvme, scsi};
use crate::error::{AdminError, DriveFault, Step};
use crate::fault::Fault;

/// Returns whether the cache is on; `None` if the drive has no cache or its cache cannot be switched.
///
/// # Errors
/// Returns an error if the device does not respond.
pub fn get(admin: &mut dyn Admin, can: &Capabilities) -> Result<Option<bool>, Fault> {
    match &can.protocol {
        Protocol::Nvme(drive) if drive.controller.has_write_cache => nvme::write_cache(admin).map(Some),
        Protocol::Ata(drive) if drive.has_write_cache => {
            ata::identify(admin).map(|now| Some(now.write_cache_on))
        }
        Protocol::Scsi(_) => scsi::caching(admin).map(|page| page.map(|page| page.write_cache_on)),
        _ => Ok(None),
    }
}

/// Turns the cache on or off and verifies the result; returns `false` if the drive has no cache that can be
/// switched.
///
/// # Errors
/// Returns an error if the device does not support the change or did not make it.
pub fn set(admin: &mut dyn Admin, can: &Capabilities, on: bool) -> Result<bool, AdminError> {
    let failed = |fault: Fault| fault.during(Step::SetWriteCache(on));
    match get(admin, can).map_err(failed)? {
        None => return Ok(false),
        Some(now) if now == on => return Ok(true),
        Some(_) => {}
    }
    match &can.protocol {
        Protocol::Nvme(_) => nvme::set_write_cache(admin, on).map_err(failed)?,
        Protocol::Ata(_) => ata::set_write_cache(admin, on).map_err(failed)?,
        Protocol::Scsi(_) => {
            let page = scsi::caching(admin).map_err(failed)?;
            page.map_or(Ok(()), |page| scsi::set_write_cache(admin, &page, on)).map_err(failed)?;
        }
        Protocol::Plain | Protocol::Unasked(_) => {}
    }
    if get(admin, can).map_err(failed)? == Some(on) {
        return Ok(true);
    }
    Err(DriveFault::WriteCacheKept { on }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::Nvme;
    use crate::command::script::{Answer, Script};
    use crate::wire::nvme::{Controller, IDENTIFY_BYTES, Namespace};

    fn nvme() -> Capabilities {
        let mut bytes = [0; IDENTIFY_BYTES];
        bytes[525] = 1;
        Capabilities {
            protocol: Protocol::Nvme(Nvme {
                number: 1,
                controller: Controller::decode(&bytes),
                namespace: Namespace::decode(&bytes),
                others: Vec::new(),
            }),
            capacity_bytes: 0,
            block_bytes: 512,
            discard: false,
            write_zeroes: false,
        }
    }

    fn reporting(script: Script, on: u8) -> Script {
        script.nvme(0x0a, 0, 6, Answer::Bytes(vec![on]))
    }

    #[test]
    fn the_cache_is_set_and_the_result_verified() {
        let script = reporting(Script::new(0), 1).nvme_with(0x09, 0, (6, 0), Answer::Ok);
        let mut script = reporting(script, 0);
        assert_eq!(set(&mut script, &nvme(), false).ok(), Some(true));
        script.finish();
        let mut script = reporting(Script::new(0), 1);
        assert_eq!(set(&mut script, &nvme(), true).ok(), Some(true));
        script.finish();
    }

    #[test]
    fn a_drive_that_keeps_its_cache_on_is_an_error() {
        let script = reporting(Script::new(0), 1).nvme_with(0x09, 0, (6, 0), Answer::Ok);
        let mut script = reporting(script, 1);
        let error = set(&mut script, &nvme(), false).expect_err("an error");
        assert!(matches!(error, AdminError::Drive(DriveFault::WriteCacheKept { on: false })), "{error:?}");
        let mut script = reporting(Script::new(0), 1).nvme_with(0x09, 0, (6, 0), Answer::Nvme(0x10e));
        let error = set(&mut script, &nvme(), false).expect_err("an error");
        let step = Step::SetWriteCache(false);
        assert!(
            matches!(&error, AdminError::Command { step: failed, fault: Fault::Nvme(0x10e) } if *failed == step),
            "{error:?}"
        );
    }

    #[test]
    fn a_device_without_a_cache_is_left_alone() {
        let plain = Capabilities { protocol: Protocol::Plain, ..nvme() };
        assert_eq!(set(&mut Script::new(0), &plain, false).ok(), Some(false));
    }
}
