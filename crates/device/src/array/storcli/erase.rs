//! Purges drives that only their controller can access. The host cannot read such a drive to verify that it
//! is empty, so these methods do not count as a PTS purge.

use std::time::Duration;

use admin::purge::{PurgeOptions, Purging};
use engine::{Clock, Flow};
use record::{PurgeEvidence, Purged};

use super::program::{StorCli, addresses, hardware_of, refusal_of};
use crate::array::hardware::{Hardware, Purge};
use crate::array::outside::Outside;
use crate::array::plan::ArrayPlan;
use crate::error::array::{ArrayError, ControllerStep};
use crate::error::{DriveError, PurgeError};
use admin::storcli::Operation;

/// Interval between checks for a stop request.
const LOOK_UP_EVERY: Duration = Duration::from_secs(1);
const LOOKS_BETWEEN_POLLS: u32 = 5;
/// Limit of a week: overwriting a 20 TB drive once takes a day and a half.
const POLLS_AT_MOST: u32 = 7 * 24 * 3600 / LOOKS_BETWEEN_POLLS;

/// How the controller erases a drive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Simple,
    Crypto,
}

impl Way {
    /// Returns the keyword for the command line of the controller's program.
    const fn word(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Crypto => "crypto",
        }
    }
}

/// Purges all members at the same time, with the method in the array description.
pub(super) fn all<O: Outside>(
    controller: &mut StorCli<O>,
    plan: &ArrayPlan,
    options: &PurgeOptions,
    clock: Clock,
    on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
) -> Result<Vec<Purged>, DriveError> {
    if options.method.is_some() || options.verify {
        return Err(PurgeError::OptionsForController.into());
    }
    let hardware = hardware_of(plan)?;
    let start_ns = clock.now_ns();
    let (way, method) = match hardware.purge {
        Purge::None => (None, "nothing (the members were not purged)"),
        Purge::Simple => (Some(Way::Simple), "the controller's drive erase, one overwrite pass"),
        Purge::Crypto => (Some(Way::Crypto), "the controller's cryptographic drive erase"),
    };
    let evidence = match way {
        None => PurgeEvidence::ContentKept,
        Some(way) => {
            erase(controller, plan, hardware, way, on_progress)?;
            PurgeEvidence::ControllerErased { cryptographic: way == Way::Crypto }
        }
    };
    let end_ns = clock.now_ns();
    let purged = Purged {
        method: method.into(),
        name: None,
        pts_purge: false,
        start_ns,
        end_ns,
        evidence: vec![evidence],
        samples_read: false,
    };
    Ok(vec![purged; plan.members.len()])
}

fn erase<O: Outside>(
    controller: &mut StorCli<O>,
    plan: &ArrayPlan,
    hardware: &Hardware,
    way: Way,
    on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
) -> Result<(), DriveError> {
    let members = addresses(plan);
    let free = |controller: &mut StorCli<O>, address: &String, serial: &String| {
        let drive = controller.drive(address, serial)?;
        match refusal_of(&drive) {
            None if way == Way::Crypto && drive.crypto_erase == Some(false) => {
                let (address, serial) = (address.clone(), serial.clone());
                Err(ArrayError::NoCryptoErase { address, serial }.into())
            }
            None => Ok(()),
            Some(refusal) => Err(DriveError::Refused { target: address.clone(), refusals: vec![refusal] }),
        }
    };
    // Verify all drives before the first drive is erased.
    for (address, serial) in members.iter().zip(&hardware.serials) {
        free(controller, address, serial)?;
    }
    for (address, serial) in members.iter().zip(&hardware.serials) {
        let step = ControllerStep::Erase { address: address.clone(), serial: serial.clone() };
        controller.demand(&[address, "start", "erase", way.word()], step)?;
    }
    on_progress(Purging::Step(&format!("the controller erases {} drives ({})", members.len(), way.word())));
    for _ in 0..POLLS_AT_MOST {
        let mut shares = Vec::new();
        for address in &members {
            let step = ControllerStep::QueryErase(address.clone());
            match controller.demand(&[address, "show", "erase"], step)?.operations().first() {
                Some(Operation::Idle) => shares.push(1.0),
                Some(Operation::Running(share)) => shares.push(share.min(0.999)),
                Some(Operation::Other(status)) => {
                    let (address, status) = (address.clone(), status.clone());
                    return Err(ArrayError::EraseFailed { address, status }.into());
                }
                None => return Err(ArrayError::EraseUnreported(address.clone()).into()),
            }
        }
        if shares.iter().all(|share| *share >= 1.0) {
            // A drive that failed during its erase must not be reported as free.
            return members
                .iter()
                .zip(&hardware.serials)
                .try_for_each(|(at, serial)| free(controller, at, serial));
        }
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        for _ in 0..LOOKS_BETWEEN_POLLS {
            if on_progress(Purging::ShareDone(share)) == Flow::Stop {
                let program = controller.program.unwrap_or_default();
                return Err(ArrayError::EraseContinues { program, members }.into());
            }
            controller.outside.pause(LOOK_UP_EVERY);
        }
    }
    Err(ArrayError::EraseHangs.into())
}
