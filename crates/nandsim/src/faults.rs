//! Faults that are laid over the drive: what fails, when, and for how long it is slow.
//!
//! The drive itself stays as it is; without its faults it does what it always does.

mod text;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::power::Unwritten;
use crate::ssd::Ssd;
pub use text::{FAULT_GRAMMAR, FaultError};

/// Faults to be laid over a drive. Times are those of the virtual clock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Parts of the drive that cannot be read or written.
    pub media: Vec<MediaFault>,
    /// Commands that are never answered.
    pub lost: Vec<LostCommands>,
    /// Times in which the drive is slow.
    pub slow: Vec<SlowTime>,
    /// When the drive vanishes; it comes back with [`Ssd::power_cycle`].
    pub removed_at_ns: Option<u64>,
    /// When it loses its power; the same.
    pub power_lost_at_ns: Vec<u64>,
}

/// A part of the drive that cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaFault {
    /// The bytes in question; a command that touches one of them fails.
    pub bytes: Range<u64>,
    /// Whether reads fail.
    pub reads: bool,
    /// Whether writes fail.
    pub writes: bool,
    /// How long the drive tries before it gives up in ns.
    pub retry_ns: u64,
}

/// Commands that are never answered; the host gives up on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostCommands {
    /// From when on.
    pub from_ns: u64,
    /// How many commands.
    pub commands: u32,
    /// How long the host waits in ns.
    pub timeout_ns: u64,
}

/// A time in which the drive holds itself to a rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowTime {
    /// From when to when.
    pub times_ns: Range<u64>,
    /// The rate in bytes per second, at least 1.
    pub bytes_per_second: u64,
}

/// Why a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Flash that cannot be read or written.
    Media,
    /// No answer in time.
    Timeout,
    /// The drive is gone.
    Removed,
    /// The drive is without power.
    Power,
}

/// A command that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub cause: Cause,
    /// Read, or else write.
    pub read: bool,
    /// First byte of the command.
    pub offset_bytes: u64,
    /// Length of the command in bytes.
    pub length_bytes: u32,
    /// When the host learned of it.
    pub at_ns: u64,
}

/// What the drive remembers of its faults.
#[derive(Default)]
pub(crate) struct Laid {
    faults: Faults,
    /// Commands in flight that will fail, by their event leaf.
    failing: BTreeMap<u32, Cause>,
}

impl Laid {
    /// The throttles of that moment.
    fn slow_at(&self, now_ns: u64) -> impl Iterator<Item = &SlowTime> {
        self.faults.slow.iter().filter(move |slow| slow.times_ns.contains(&now_ns))
    }
}

impl Ssd {
    /// Lays `faults` over the drive, in place of those before; [`Faults::default`] takes all away. Where one of them
    /// will take the power of a volatile buffer, what is in it reaches the flash first.
    pub fn lay_faults(&mut self, faults: Faults) {
        let goes_off = faults.removed_at_ns.is_some() || !faults.power_lost_at_ns.is_empty();
        let loses = self.plan.volatile_buffer && goes_off;
        if loses && self.buffer_used > 0 {
            self.empty_buffer();
        }
        self.unwritten = loses.then(|| Box::new(Unwritten::new(self.plan.dies)));
        self.faults =
            (faults != Faults::default()).then(|| Box::new(Laid { faults, failing: BTreeMap::new() }));
        self.attend();
    }

    /// Switches all faults on or off without forgetting them.
    pub fn set_faulty(&mut self, faulty: bool) {
        self.faulty = faulty;
        self.attend();
    }

    /// When the drive is gone next, if it will be, and why.
    fn outage(&self) -> Option<(u64, Cause)> {
        let faults = &self.laid()?.faults;
        let removal = faults.removed_at_ns.map(|at| (at, Cause::Removed));
        let losses = faults.power_lost_at_ns.iter().map(|&at| (at, Cause::Power));
        removal.into_iter().chain(losses).min_by_key(|&(at, _)| at)
    }

    /// When the drive vanishes or loses its power, if it does.
    pub(crate) fn gone_ns(&self) -> Option<u64> {
        self.outage().map(|(at, _)| at)
    }

    /// Why commands fail that the drive is gone for.
    pub(crate) fn gone_cause(&self) -> Cause {
        self.outage().map_or(Cause::Removed, |(_, cause)| cause)
    }

    fn laid(&self) -> Option<&Laid> {
        self.faults.as_deref().filter(|_| self.faulty)
    }

    /// The drive has its power again; whether it was gone.
    pub(crate) fn plug_in(&mut self) -> bool {
        let (now_ns, gone) = (self.now_ns, self.is_gone());
        if gone && let Some(laid) = self.faults.as_deref_mut() {
            laid.faults.removed_at_ns = laid.faults.removed_at_ns.filter(|&at| at > now_ns);
            laid.faults.power_lost_at_ns.retain(|&at| at > now_ns);
        }
        gone
    }

    /// Whether a command in flight will fail.
    pub(crate) fn has_failing(&self) -> bool {
        self.faults.as_deref().is_some_and(|laid| !laid.failing.is_empty())
    }

    /// Forgets the commands in flight.
    pub(crate) fn forget_failing(&mut self) {
        if let Some(laid) = self.faults.as_deref_mut() {
            laid.failing.clear();
        }
    }

    /// Whether a command fails from the start: then the time at which the host learns of it.
    pub(crate) fn strike(&mut self, leaf: usize, read: bool, offset: u64, bytes: u32) -> Option<u64> {
        let now_ns = self.now_ns;
        let laid = self.faults.as_deref_mut().filter(|_| self.faulty)?;
        let end = offset + u64::from(bytes);
        let lost = laid.faults.lost.iter_mut().find(|lost| lost.commands > 0 && lost.from_ns <= now_ns);
        let (cause, wait_ns) = if let Some(lost) = lost {
            lost.commands -= 1;
            (Cause::Timeout, lost.timeout_ns)
        } else {
            let hit = |fault: &&MediaFault| {
                let meant = if read { fault.reads } else { fault.writes };
                meant && fault.bytes.start < end && offset < fault.bytes.end
            };
            let fault = laid.faults.media.iter().find(hit)?;
            self.health.media_errors += 1;
            (Cause::Media, fault.retry_ns)
        };
        laid.failing.insert(leaf as u32, cause);
        Some(now_ns + wait_ns)
    }

    /// Whether the command that has just ended failed.
    #[inline]
    pub(crate) fn struck(&mut self, leaf: usize) -> Option<Cause> {
        self.faults.as_deref_mut()?.failing.remove(&(leaf as u32))
    }

    /// Whether an injected throttle holds the drive back at the moment.
    pub(crate) fn is_held_back(&self) -> bool {
        self.laid().is_some_and(|laid| laid.slow_at(self.now_ns).next().is_some())
    }

    /// What 64 KiB cost the controller by the throttle of the moment in ns; 0 is none.
    pub(crate) fn slowness_ns_per_64k(&self) -> u64 {
        let slow = |laid: &Laid| {
            let now = laid.slow_at(self.now_ns);
            now.map(|slow| (65_536 * 1_000_000_000) / slow.bytes_per_second.max(1)).max().unwrap_or(0)
        };
        let own = if self.thermal.throttled() { self.thermal.slow_ns_per_64k() } else { 0 };
        self.laid().map_or(0, slow).max(own)
    }
}
