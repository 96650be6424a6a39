//! Purges drives that only their controller sees. Such a drive cannot be read to verify that it is empty, so none of
//! this counts as a PTS purge.

use std::time::Duration;

use admin::purge::{PurgeOptions, Purging};
use engine::{Clock, Flow};
use record::Purged;

use super::answer::Operation;
use super::program::{StorCli, addresses, hardware_of, refusal_of};
use crate::array::hardware::{Hardware, Purge};
use crate::array::outside::Outside;
use crate::array::plan::Plan;
use crate::error::DriveError;

/// Interval between checks for a request to stop.
const LOOK_UP_EVERY: Duration = Duration::from_secs(1);
const LOOKS_BETWEEN_POLLS: u32 = 5;
/// Limit of a week: overwriting a 20 TB drive once takes a day and a half.
const POLLS_AT_MOST: u32 = 7 * 24 * 3600 / LOOKS_BETWEEN_POLLS;

/// Purges all members at the same time, with the method in the array description.
pub(super) fn all<O: Outside>(
    controller: &mut StorCli<O>,
    plan: &Plan,
    options: &PurgeOptions,
    clock: Clock,
    on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
) -> Result<Vec<Purged>, DriveError> {
    if options.method.is_some() || options.verify {
        return Err(DriveError::Invalid(
            "drives on a RAID controller are purged by the method in the array description, and cannot be \
             read to verify that; omit --purge-method and --verify-purge"
                .into(),
        ));
    }
    let hardware = hardware_of(plan)?;
    let start_ns = clock.now_ns();
    let (mode, method) = match hardware.purge {
        Purge::None => (None, "nothing (the members were not purged)"),
        Purge::Simple => (Some("simple"), "the controller's drive erase, one overwrite pass"),
        Purge::Crypto => (Some("crypto"), "the controller's cryptographic drive erase"),
    };
    let evidence = match mode {
        None => "not purged: its content is unchanged".to_owned(),
        Some(mode) => {
            erase(controller, plan, hardware, mode, on_progress)?;
            format!("the controller reported its erase ({mode}) as complete; this cannot be verified")
        }
    };
    let end_ns = clock.now_ns();
    let purged = Purged {
        method: method.into(),
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
    plan: &Plan,
    hardware: &Hardware,
    mode: &str,
    on_progress: &mut dyn FnMut(Purging<'_>) -> Flow,
) -> Result<(), DriveError> {
    let members = addresses(plan);
    let free = |controller: &mut StorCli<O>, address: &String, serial: &String| {
        let drive = controller.drive(address, serial)?;
        match refusal_of(&drive) {
            None if mode == "crypto" && drive.crypto_erase == Some(false) => {
                Err(DriveError::Unusable(format!(
                    "the controller reports that the drive {address} ({serial}) has no cryptographic erase; \
                     choose another purge in the array description"
                )))
            }
            None => Ok(()),
            Some(refusal) => Err(DriveError::Refused { target: address.clone(), refusals: vec![refusal] }),
        }
    };
    // Verify all drives before the first one is erased.
    for (address, serial) in members.iter().zip(&hardware.serials) {
        free(controller, address, serial)?;
    }
    for (address, serial) in members.iter().zip(&hardware.serials) {
        let what = format!("erasing the drive {address} ({serial})");
        controller.demand(&[address, "start", "erase", mode], &what)?;
    }
    on_progress(Purging::Step(&format!("the controller erases {} drives ({mode})", members.len())));
    for _ in 0..POLLS_AT_MOST {
        let mut shares = Vec::new();
        for address in &members {
            let what = format!("querying the erase progress of {address}");
            match controller.demand(&[address, "show", "erase"], &what)?.operations().first() {
                Some(Operation::Idle) => shares.push(1.0),
                Some(Operation::Running(share)) => shares.push(share.min(0.999)),
                Some(Operation::Other(status)) => {
                    return Err(DriveError::device(format!("the erase of {address} is '{status}'")));
                }
                None => {
                    return Err(DriveError::device(format!(
                        "the controller does not report the erase progress of {address}"
                    )));
                }
            }
        }
        if shares.iter().all(|share| *share >= 1.0) {
            // A drive that failed during its erase is no longer free.
            return members
                .iter()
                .zip(&hardware.serials)
                .try_for_each(|(at, serial)| free(controller, at, serial));
        }
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        for _ in 0..LOOKS_BETWEEN_POLLS {
            if on_progress(Purging::ShareDone(share)) == Flow::Stop {
                return Err(goes_on(controller, &members));
            }
            controller.outside.pause(LOOK_UP_EVERY);
        }
    }
    Err(DriveError::device(
        "the controller has been erasing the drives for a week and has not finished; check it with show erase",
    ))
}

/// Returns the error for a cancelled wait; the erase continues.
fn goes_on<O: Outside>(controller: &StorCli<O>, members: &[String]) -> DriveError {
    let program = controller.program.unwrap_or_default();
    let first = members.first().map_or("", String::as_str);
    DriveError::Stopped(format!(
        "stopped waiting for the erase, which the controller continues on its own: {}; watch each with \
         `{program} {first} show erase`, or end it with `{program} {first} stop erase`, before using the \
         drives again",
        members.join(", ")
    ))
}
