//! Fault injection as a layer above the drive: if there are no faults, the drive behaves exactly as if this
//! file did not exist.

use std::collections::BTreeMap;

use crate::faults::DataWatch;
use crate::{Cause, Faults, FoundData, MediaFault, Throttling};

/// The injected faults and their state.
#[derive(Default)]
struct Injected {
    faults: Faults,
    /// Commands in flight that will fail, by event leaf.
    failing: BTreeMap<u32, Cause>,
    data: DataWatch,
}

/// Determines which commands fail, when the drive disappears, and how slow it is.
pub(super) struct FaultInjector {
    injected: Option<Box<Injected>>,
    enabled: bool,
}

impl FaultInjector {
    pub(super) fn new() -> Self {
        Self { injected: None, enabled: true }
    }

    /// Replaces all faults.
    pub(super) fn inject(&mut self, faults: Faults) {
        let some = faults != Faults::default();
        self.injected = some.then(|| Box::new(Injected { faults, ..Injected::default() }));
    }

    /// Enables or disables all faults without discarding them.
    pub(super) fn enable(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    fn active(&self) -> Option<&Injected> {
        self.injected.as_deref().filter(|_| self.enabled)
    }

    /// Returns whether faults may affect any command.
    pub(super) fn is_active(&self) -> bool {
        self.active().is_some()
    }

    /// Returns when and why the drive will next disappear, if ever.
    fn outage(&self) -> Option<(u64, Cause)> {
        let faults = &self.active()?.faults;
        let removal = faults.removed_at_ns.map(|at| (at, Cause::Removed));
        let losses = faults.power_lost_at_ns.iter().map(|&at| (at, Cause::Power));
        removal.into_iter().chain(losses).min_by_key(|&(at, _)| at)
    }

    /// Returns when the drive will next be removed or lose power, if ever.
    pub(super) fn gone_ns(&self) -> Option<u64> {
        self.outage().map(|(at, _)| at)
    }

    /// Returns whether the drive has been removed or has lost power.
    pub(super) fn is_gone(&self, now_ns: u64) -> bool {
        self.gone_ns().is_some_and(|at| at <= now_ns)
    }

    /// Returns why commands fail while the drive is unavailable.
    pub(super) fn gone_cause(&self) -> Cause {
        self.outage().map_or(Cause::Removed, |(_, cause)| cause)
    }

    /// Restores power. Returns whether the drive was unavailable.
    pub(super) fn restore_power(&mut self, now_ns: u64) -> bool {
        let gone = self.is_gone(now_ns);
        if gone && let Some(injected) = self.injected.as_deref_mut() {
            let faults = &mut injected.faults;
            faults.removed_at_ns = faults.removed_at_ns.filter(|&at| at > now_ns);
            faults.power_lost_at_ns.retain(|&at| at > now_ns);
        }
        gone
    }

    /// Returns whether any command in flight will fail.
    pub(super) fn has_failing(&self) -> bool {
        self.injected.as_deref().is_some_and(|injected| !injected.failing.is_empty())
    }

    /// Discards the list of failing commands in flight.
    pub(super) fn forget_failing(&mut self) {
        if let Some(injected) = self.injected.as_deref_mut() {
            injected.failing.clear();
        }
    }

    /// Injects a fault into the command on `leaf`, if one applies. Returns the cause, and the time at which the
    /// host learns of the failure.
    pub(super) fn strike(
        &mut self,
        (leaf, now_ns): (usize, u64),
        read: bool,
        offset: u64,
        bytes: u32,
    ) -> Option<(Cause, u64)> {
        let injected = self.injected.as_deref_mut().filter(|_| self.enabled)?;
        let end = offset + u64::from(bytes);
        if !injected.faults.data.is_empty() {
            injected.data.see(&injected.faults.data, now_ns, read, offset..end);
        }
        let lost = injected.faults.lost.iter_mut().find(|lost| lost.commands > 0 && lost.from_ns <= now_ns);
        let (cause, wait_ns) = if let Some(lost) = lost {
            lost.commands -= 1;
            (Cause::Timeout, lost.timeout_ns)
        } else {
            let hit = |fault: &&MediaFault| {
                let meant = if read { fault.reads } else { fault.writes };
                meant && fault.bytes.start < end && offset < fault.bytes.end
            };
            (Cause::Media, injected.faults.media.iter().find(hit)?.retry_ns)
        };
        injected.failing.insert(leaf as u32, cause);
        Some((cause, now_ns + wait_ns))
    }

    /// Resets the record of written data; from now on, reads are checked against the data that is written.
    pub(super) fn expect_data(&mut self) {
        if let Some(injected) = self.injected.as_deref_mut() {
            injected.data.renew();
        }
    }

    /// Returns the results of reads while data is checked.
    pub(super) fn found_data(&mut self) -> FoundData {
        self.injected.as_deref_mut().map(|injected| injected.data.take_found()).unwrap_or_default()
    }

    /// Returns why the command on `leaf` failed; `None` if it succeeded. Must be called right after the command
    /// has completed.
    #[inline]
    pub(super) fn failure_of(&mut self, leaf: usize) -> Option<Cause> {
        self.injected.as_deref_mut()?.failing.remove(&(leaf as u32))
    }

    /// Returns the throttles that are active at `now_ns`.
    fn throttles(&self, now_ns: u64) -> impl Iterator<Item = &Throttling> {
        let all = self.active().into_iter().flat_map(|injected| &injected.faults.slow);
        all.filter(move |slow| slow.times_ns.contains(&now_ns))
    }

    /// Returns whether an injected throttle is active.
    pub(super) fn is_throttled(&self, now_ns: u64) -> bool {
        self.throttles(now_ns).next().is_some()
    }

    /// Returns the controller time in ns that the active throttles add per 64 KiB; 0 if there are none.
    pub(super) fn slow_ns_per_64k(&self, now_ns: u64) -> u64 {
        let each = self.throttles(now_ns).map(|slow| (65_536 * 1_000_000_000) / slow.bytes_per_second.max(1));
        each.max().unwrap_or(0)
    }
}
