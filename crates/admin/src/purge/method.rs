//! The definition of a purge method and the state of a purge in progress.

use std::time::Duration;

use record::{PurgeEvidence, WhyNot};
use stdx::Flow;

use crate::capability::Capabilities;
use crate::command::Admin;
use crate::error::{AdminError, DriveFault, Step};

/// A purge method.
pub(super) struct Method {
    /// As typed: `nvme-format-user`.
    pub(super) name: &'static str,
    /// The name shown in a report.
    pub(super) label: &'static str,
    /// Whether the PTS accepts the method as a purge.
    pub(super) is_pts: bool,
    pub(super) offer: fn(&Capabilities) -> Offer,
    /// Whether the method also erases the other namespaces.
    pub(super) hits_others: fn(&Capabilities) -> bool,
    /// Performs the purge, waits until it completes, and returns evidence of it.
    pub(super) run: fn(&mut Job<'_>) -> Result<Vec<PurgeEvidence>, AdminError>,
}

/// Whether a device supports a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Offer {
    Yes,
    /// The method may work, but is used only if requested by name; contains the reason.
    Unsure(WhyNot),
    /// The drive does not report support for the method.
    NotReported,
    /// The method requires another interface.
    OtherInterface,
    /// Supported in principle, but not available now; contains the reason.
    No(WhyNot),
}

impl Offer {
    pub(super) fn reported(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::NotReported }
    }

    /// Returns whether the method may be used when requested by name.
    pub(super) const fn is_available(&self) -> bool {
        matches!(self, Self::Yes | Self::Unsure(_))
    }

    /// Returns why the method is not used by default.
    pub(super) fn why_not(self) -> Option<WhyNot> {
        match self {
            Self::Yes => None,
            Self::Unsure(why) | Self::No(why) => Some(why),
            Self::NotReported => Some(WhyNot::NotReported),
            Self::OtherInterface => Some(WhyNot::OtherInterface),
        }
    }
}

pub(super) fn hits_no_others(_: &Capabilities) -> bool {
    false
}

/// Progress of a purge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Purging<'a> {
    /// The current step.
    Step(&'a str),
    /// Completed fraction, 0 to 1.
    ShareDone(f64),
    /// In progress; the completed fraction is unknown.
    Waiting,
    /// The drive's estimate of how long the current step takes.
    Expected(Duration),
}

/// A purge in progress.
pub(super) struct Job<'a> {
    pub(super) admin: &'a mut dyn Admin,
    pub(super) can: &'a Capabilities,
    pub(super) all_namespaces: bool,
    pub(super) on_progress: &'a mut dyn FnMut(Purging<'_>) -> Flow,
}

/// Status of a command that the drive executes in the background.
pub(super) enum Polled {
    Done,
    Running(Option<f64>),
}

const POLL_EVERY: Duration = Duration::from_secs(1);
/// A drive that takes longer than this is assumed to be hung.
pub(super) const POLL_AT_MOST: Duration = Duration::from_secs(48 * 3600);

impl Job<'_> {
    pub(super) fn step(&mut self, text: &str) {
        // Stop requests are ignored: a step cannot be cancelled, only the wait after it.
        (self.on_progress)(Purging::Step(text));
    }

    /// Reports the drive's own estimate for the next command, if any.
    pub(super) fn expects(&mut self, length: Option<Duration>) {
        if let Some(length) = length {
            (self.on_progress)(Purging::Expected(length));
        }
    }

    pub(super) fn waits(&mut self, share: Option<f64>) -> Flow {
        (self.on_progress)(share.map_or(Purging::Waiting, |share| Purging::ShareDone(share.clamp(0.0, 1.0))))
    }

    /// Reports how many bytes the host has written; fails if a stop was requested.
    pub(super) fn written(&mut self, bytes: u64, all: u64) -> Result<(), AdminError> {
        match self.waits(Some(bytes as f64 / all as f64)) {
            Flow::Stop | Flow::Finish if bytes < all => Err(AdminError::StoppedWriting { bytes, all }),
            Flow::Stop | Flow::Finish | Flow::Continue => Ok(()),
        }
    }

    /// Performs the final check before data is destroyed.
    pub(super) fn recheck(&mut self) -> Result<(), AdminError> {
        self.admin.recheck(self.all_namespaces)
    }

    /// Polls until the command completes.
    pub(super) fn poll(
        &mut self,
        step: Step,
        ask: fn(&mut dyn Admin) -> Result<Polled, AdminError>,
    ) -> Result<(), AdminError> {
        let begun_ns = self.admin.now_ns();
        loop {
            match ask(self.admin)? {
                Polled::Done => return Ok(()),
                Polled::Running(share) if self.waits(share) == Flow::Stop => {
                    return Err(AdminError::StoppedWaiting(step));
                }
                Polled::Running(_) => {}
            }
            if u128::from(self.admin.now_ns() - begun_ns) > POLL_AT_MOST.as_nanos() {
                return Err(DriveFault::Hangs { step, hours: POLL_AT_MOST.as_secs() / 3600 }.into());
            }
            self.admin.pause(POLL_EVERY);
        }
    }
}
