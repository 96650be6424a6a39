//! Code shared by the SCSI methods: FORMAT UNIT and SANITIZE (SBC-3, sections 5.3 and 5.28).

use std::time::Duration;

use record::{PurgeEvidence, WhyNot};

use super::method::{Job, Offer, Polled};
use crate::capability::{Capabilities, Protocol, Scsi};
use crate::command::{ASKING, Admin, Data, scsi};
use crate::error::{AdminError, DriveFault, Step};
use crate::fault::Fault;
use crate::wire::sense::{FORMAT_RUNNING, SANITIZE_RUNNING};

const FORMAT_UNIT: u8 = 0x04;
const SANITIZE: u8 = 0x48;
/// IMMED: the command returns at once and continues in the background.
const IMMEDIATELY: u8 = 0x80;

/// Service actions of SANITIZE (SBC-3, table 113).
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    Overwrite = 1,
    Block = 2,
    Crypto = 3,
}

pub(super) fn offer(can: &Capabilities, has: fn(&Scsi) -> Option<bool>) -> Offer {
    match &can.protocol {
        Protocol::Scsi(drive) => {
            has(drive).map_or_else(|| Offer::Unsure(WhyNot::Unreported), Offer::reported)
        }
        Protocol::Unasked(why) => Offer::No(WhyNot::Unqueried(why.clone())),
        _ => Offer::OtherInterface,
    }
}

pub(super) fn format_unit(job: &mut Job<'_>) -> Result<Vec<PurgeEvidence>, AdminError> {
    // FMTDATA with a short parameter list header: IMMED set, no defect list.
    let (command, list) = ([FORMAT_UNIT, 0x10, 0, 0, 0, 0], [0, 0b10, 0, 0]);
    job.recheck()?;
    scsi::send(job.admin, &command, Data::Out(&list), ASKING)
        .map_err(|fault| fault.during(Step::FormatUnit))?;
    job.poll(Step::FormatUnit, ask)?;
    Ok(vec![PurgeEvidence::FormatUnitCompleted])
}

pub(super) fn sanitize(job: &mut Job<'_>, action: Action) -> Result<Vec<PurgeEvidence>, AdminError> {
    // Overwrite: one pass with a pattern of four zero bytes, repeated by the drive.
    let pattern: &[u8] = if matches!(action, Action::Overwrite) { &[1, 0, 0, 4, 0, 0, 0, 0] } else { &[] };
    let command = [SANITIZE, IMMEDIATELY | action as u8, 0, 0, 0, 0, 0, 0, pattern.len() as u8, 0];
    let data = if pattern.is_empty() { Data::None } else { Data::Out(pattern) };
    job.recheck()?;
    scsi::send(job.admin, &command, data, ASKING).map_err(|fault| fault.during(Step::ScsiSanitize))?;
    job.poll(Step::ScsiSanitize, ask)?;
    Ok(vec![PurgeEvidence::SanitizeCompleted { action: action as u8 }])
}

/// Sends TEST UNIT READY, which reports progress.
fn ask(admin: &mut dyn Admin) -> Result<Polled, AdminError> {
    match scsi::send(admin, &[0; 6], Data::None, Duration::from_secs(60)) {
        Ok(()) => Ok(Polled::Done),
        Err(Fault::Scsi(_, Some(sense))) => match sense.code {
            FORMAT_RUNNING | SANITIZE_RUNNING => {
                // Some drives report progress only in response to REQUEST SENSE.
                let by_request_sense = |admin| scsi::request_sense(admin).and_then(|sense| sense.share_done);
                Ok(Polled::Running(sense.share_done.or_else(|| by_request_sense(admin))))
            }
            _ => Err(DriveFault::ScsiFailed(sense).into()),
        },
        Err(fault) => Err(fault.during(Step::TestUnitReady)),
    }
}
