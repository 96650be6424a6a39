//! Code shared by the NVMe methods: Format NVM and Sanitize (NVM Express Base Specification 2.0c, sections 5.14 and
//! 5.24).

use std::time::Duration;

use record::{PurgeEvidence, WhyNot};

use super::method::{Job, Offer, Polled, Purging};
use crate::capability::{Capabilities, Nvme, Protocol};
use crate::command::{Admin, Data, NvmeCommand, nvme};
use crate::error::{AdminError, DriveFault, Step};
use crate::wire::nvme::SanitizeState;

pub(crate) const FORMAT_NVM: u8 = 0x80;
const SANITIZE: u8 = 0x84;
/// Timeout for Format NVM, which completes only when the format is done.
pub(crate) const FORMATTING: Duration = Duration::from_secs(12 * 3600);

/// Secure Erase Settings (figure 323).
#[derive(Debug, Clone, Copy)]
pub(super) enum SecureErase {
    UserData = 1,
    Cryptographic = 2,
}

/// Sanitize Action (figure 304).
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    Block = 2,
    Overwrite = 3,
    Crypto = 4,
}

pub(super) fn offer(can: &Capabilities, has: fn(&Nvme) -> bool) -> Offer {
    match &can.protocol {
        Protocol::Nvme(nvme) => Offer::reported(has(nvme)),
        Protocol::Unasked(why) => Offer::No(WhyNot::Unqueried(why.clone())),
        _ => Offer::OtherInterface,
    }
}

/// Returns whether a format with secure erase affects other namespaces.
pub(super) fn format_hits_others(can: &Capabilities) -> bool {
    matches!(&can.protocol, Protocol::Nvme(nvme)
        if nvme.controller.format_hits_all || nvme.controller.secure_erase_hits_all)
}

/// A sanitize operation erases the whole subsystem, including all other namespaces.
pub(super) fn sanitize_hits_others(_: &Capabilities) -> bool {
    true
}

/// Dword 10 of Format NVM for an LBA format, without secure erase, protection or metadata (figure 323).
pub(crate) fn format_settings(format: u8) -> u32 {
    u32::from(format & 0xf) | u32::from(format >> 4) << 12
}

/// Formats the namespace, keeping its LBA format.
pub(super) fn format(job: &mut Job<'_>, erase: SecureErase) -> Result<Vec<PurgeEvidence>, AdminError> {
    let Protocol::Nvme(device) = &job.can.protocol else { unreachable!("offered to NVMe drives only") };
    let (number, now) = (device.number, &device.namespace);
    let mut settings = format_settings(now.format) | (erase as u32) << 9;
    settings |= u32::from(now.extended_metadata) << 4;
    settings |= u32::from(now.protection) << 5 | u32::from(now.protection_first) << 8;
    let command = NvmeCommand { timeout: FORMATTING, ..NvmeCommand::of(FORMAT_NVM, number, settings, 0) };
    job.recheck()?;
    let has_progress = now.format_remaining.is_some();
    let Job { admin, on_progress, .. } = job;
    let formatted = admin.nvme_long(&command, &mut |admin| {
        // Drives that report no progress may not respond until the format is done. Linux resets a controller that
        // exceeds a timeout, which would abort the format. Progress queries therefore use the timeout for the
        // format.
        let share = has_progress.then(|| nvme::format_progress(admin, number, FORMATTING)).flatten();
        // Stop requests are ignored: a format cannot be cancelled.
        on_progress(share.map_or(Purging::Waiting, Purging::ShareDone));
    });
    formatted.map_err(|fault| fault.during(Step::Format))?;
    let after =
        nvme::namespace(job.admin, number).map_err(|fault| fault.during(Step::IdentifyAfterFormat))?;
    let (was, is) = ((now.size_blocks, now.format), (after.size_blocks, after.format));
    if is != was {
        return Err(DriveFault::NamespaceChanged { was, is }.into());
    }
    Ok(vec![PurgeEvidence::Formatted { namespace: number, secure_erase: erase as u8 }])
}

/// Sanitizes the subsystem and waits until the operation completes.
pub(super) fn sanitize(job: &mut Job<'_>, action: Action) -> Result<Vec<PurgeEvidence>, AdminError> {
    // One overwrite pass of zeroes. Without AUSE, only another sanitize operation can clear the failed state.
    let passes = if matches!(action, Action::Overwrite) { 1 << 4 } else { 0 };
    let cdw10 = action as u32 | passes;
    let before = log(job.admin)?;
    if before.state == SanitizeState::Running {
        return Err(DriveFault::SanitizeRunning.into());
    }
    job.recheck()?;
    let command = NvmeCommand::of(SANITIZE, 0, cdw10, 0);
    job.admin.nvme(&command, Data::None).map_err(|fault| fault.during(Step::Sanitize))?;
    job.expects(match action {
        Action::Overwrite => before.expected[0],
        Action::Block => before.expected[1],
        Action::Crypto => before.expected[2],
    });
    job.poll(Step::Sanitize, ask)?;
    let after = log(job.admin)?;
    if after.command != cdw10 {
        return Err(DriveFault::OtherSanitize { found: after.command, requested: cdw10 }.into());
    }
    Ok(vec![PurgeEvidence::SanitizeLog { command: cdw10 }])
}

fn log(admin: &mut dyn Admin) -> Result<crate::wire::nvme::SanitizeLog, AdminError> {
    nvme::sanitize_log(admin).map_err(|fault| fault.during(Step::SanitizeLog))
}

fn ask(admin: &mut dyn Admin) -> Result<Polled, AdminError> {
    let log = log(admin)?;
    match log.state {
        SanitizeState::Done => Ok(Polled::Done),
        SanitizeState::Running => Ok(Polled::Running(Some(log.share_done))),
        SanitizeState::Failed => Err(DriveFault::SanitizeFailed.into()),
        SanitizeState::Never | SanitizeState::Unknown(_) => Err(DriveFault::NoSanitize(log.state).into()),
    }
}
