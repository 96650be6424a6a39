//! Fault injection: what fails, when the drive is slow, and for how long.
//!
//! Faults are overlaid on the drive. Without them it behaves exactly as before.

mod text;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::power::UnprogrammedSlots;
use crate::ssd::Ssd;
pub use text::{FAULT_GRAMMAR, FaultError};

/// Faults to inject into a drive. Times are in virtual time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// Regions that cannot be read or written.
    pub media: Vec<MediaFault>,
    /// Commands that never complete.
    pub lost: Vec<LostCommands>,
    /// Periods during which the drive is slow.
    pub slow: Vec<Throttling>,
    /// When the drive disappears; [`Ssd::power_cycle`] brings it back.
    pub removed_at_ns: Option<u64>,
    /// When the drive loses its power; [`Ssd::power_cycle`] brings it back.
    pub power_lost_at_ns: Vec<u64>,
}

/// A region that cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaFault {
    /// The affected bytes; a command that touches any of them fails.
    pub bytes: Range<u64>,
    /// Whether reads fail.
    pub reads: bool,
    /// Whether writes fail.
    pub writes: bool,
    /// How long the drive retries before it reports an error, in ns.
    pub retry_ns: u64,
}

/// Commands that never complete; the host times out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostCommands {
    /// Start time in ns.
    pub from_ns: u64,
    /// Number of commands.
    pub commands: u32,
    /// The host's timeout in ns.
    pub timeout_ns: u64,
}

/// A period during which the drive limits its throughput.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttling {
    /// Start and end in ns.
    pub times_ns: Range<u64>,
    /// Throughput limit in bytes per second, at least 1.
    pub bytes_per_second: u64,
}

/// Why a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The flash could not be read or written.
    Media,
    /// The command timed out.
    Timeout,
    /// The drive was removed.
    Removed,
    /// The drive has no power.
    Power,
}

/// A failed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Why it failed.
    pub cause: Cause,
    /// True for a read, false for a write.
    pub read: bool,
    /// First byte of the command.
    pub offset_bytes: u64,
    /// Length of the command in bytes.
    pub length_bytes: u32,
    /// When the host learned of the failure, in ns.
    pub at_ns: u64,
}

/// The injected faults and their state.
#[derive(Default)]
pub(crate) struct InjectedFaults {
    faults: Faults,
    /// Commands in flight that will fail, by event leaf.
    failing: BTreeMap<u32, Cause>,
}

impl InjectedFaults {
    /// The throttles that are active at `now_ns`.
    fn slow_at(&self, now_ns: u64) -> impl Iterator<Item = &Throttling> {
        self.faults.slow.iter().filter(move |slow| slow.times_ns.contains(&now_ns))
    }
}

impl Ssd {
    /// Replaces the injected faults by `faults`; [`Faults::default`] removes them all. If one of them will cut the
    /// power of a volatile buffer, the buffer is flushed first.
    pub fn inject_faults(&mut self, faults: Faults) {
        let goes_off = faults.removed_at_ns.is_some() || !faults.power_lost_at_ns.is_empty();
        let loses = self.plan.volatile_buffer && goes_off;
        if loses && self.buffer_used > 0 {
            self.empty_buffer();
        }
        self.unwritten = loses.then(|| Box::new(UnprogrammedSlots::new(self.plan.dies)));
        self.faults = (faults != Faults::default())
            .then(|| Box::new(InjectedFaults { faults, failing: BTreeMap::new() }));
        self.attend();
    }

    /// Enables or disables all faults without discarding them.
    pub fn set_faulty(&mut self, faulty: bool) {
        self.faulty = faulty;
        self.attend();
    }

    /// When and why the drive will disappear next, if it will.
    fn outage(&self) -> Option<(u64, Cause)> {
        let faults = &self.laid()?.faults;
        let removal = faults.removed_at_ns.map(|at| (at, Cause::Removed));
        let losses = faults.power_lost_at_ns.iter().map(|&at| (at, Cause::Power));
        removal.into_iter().chain(losses).min_by_key(|&(at, _)| at)
    }

    /// When the drive is removed or loses its power next, if it will.
    pub(crate) fn gone_ns(&self) -> Option<u64> {
        self.outage().map(|(at, _)| at)
    }

    /// Why commands fail while the drive is gone.
    pub(crate) fn gone_cause(&self) -> Cause {
        self.outage().map_or(Cause::Removed, |(_, cause)| cause)
    }

    fn laid(&self) -> Option<&InjectedFaults> {
        self.faults.as_deref().filter(|_| self.faulty)
    }

    /// Restores the power. True if the drive was gone.
    pub(crate) fn restore_power(&mut self) -> bool {
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

    /// Forgets the failing commands in flight.
    pub(crate) fn forget_failing(&mut self) {
        if let Some(laid) = self.faults.as_deref_mut() {
            laid.failing.clear();
        }
    }

    /// Injects a fault into a command, if one applies. Returns the time at which the host learns of the failure.
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

    /// Why the command that just completed failed, if it did.
    #[inline]
    pub(crate) fn struck(&mut self, leaf: usize) -> Option<Cause> {
        self.faults.as_deref_mut()?.failing.remove(&(leaf as u32))
    }

    /// Whether an injected throttle is active now.
    pub(crate) fn is_held_back(&self) -> bool {
        self.laid().is_some_and(|laid| laid.slow_at(self.now_ns).next().is_some())
    }

    /// Controller time in ns that the active throttles add per 64 KiB; 0 if there is none.
    pub(crate) fn slowness_ns_per_64k(&self) -> u64 {
        let slow = |laid: &InjectedFaults| {
            let now = laid.slow_at(self.now_ns);
            now.map(|slow| (65_536 * 1_000_000_000) / slow.bytes_per_second.max(1)).max().unwrap_or(0)
        };
        let own = if self.thermal.throttled() { self.thermal.slow_ns_per_64k() } else { 0 };
        self.laid().map_or(0, slow).max(own)
    }
}
