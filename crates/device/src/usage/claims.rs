//! Exclusive claims on the devices below a target. Loop devices make no claims, so the kernel would allow a second user
//! of a device below a loop device. For example, the device that holds the external log of a mounted XFS is claimed,
//! although no mount table lists it.

use rustix::fs::OFlags;

use super::facts::{By, Facts, Kind, Layer};
use super::thing::{Thing, opened};
use sysfs::{DeviceNumber, Roots, SysDevice};

/// A device below a target that a user outside the target's own stack may have claimed.
#[derive(Debug, PartialEq, Eq)]
struct Claimable {
    device: DeviceNumber,
    /// Whether a partition of the device is known to be claimed. If so, the disk itself is not claimed, because the
    /// kernel never grants claims on a disk and on one of its partitions at the same time.
    has_claimed_partition: bool,
}

impl Facts {
    fn claimable_below(&self, target: Thing) -> Vec<Claimable> {
        let Some(place) = self.place_of(target) else { return Vec::new() };
        let below = self.below(place);
        // Device mapper, md and similar drivers claim the devices below them; so do mounts and swap.
        let is_claimed_by_own = |node: usize| {
            let own = |layer: &&Layer| layer.kind == Kind::Stacked && below.contains_key(&layer.upper);
            self.layers.iter().filter(own).any(|layer| layer.lower == node)
        };
        let is_claimed = |node: usize| {
            let claims = |by: &By| matches!(by, By::Mount { .. } | By::Swap);
            self.layers.iter().any(|layer| layer.lower == node && layer.kind == Kind::Stacked)
                || self.uses.iter().any(|(used, by)| *used == node && claims(by))
        };
        let partitions = || self.layers.iter().filter(|layer| layer.kind == Kind::Partition);
        let open = below.keys().copied().filter(|&node| {
            let mut disks = partitions().filter(|layer| layer.upper == node).map(|layer| layer.lower);
            node != place && !is_claimed_by_own(node) && !disks.any(is_claimed_by_own)
        });
        let claimable = |node: usize| {
            let Some(Thing::Device(device)) = self.nodes[node].thing else { return None };
            let mut of_disk = partitions().filter(|layer| layer.lower == node).map(|layer| layer.upper);
            Some(Claimable { device, has_claimed_partition: of_disk.any(is_claimed) })
        };
        open.filter_map(claimable).collect()
    }
}

/// Returns whether a device below the target is claimed by another user. A claimed partition that contains bytes of
/// the target is not detected here, because every such partition is refused anyway.
pub(super) fn any_below(roots: &Roots, facts: &Facts, target: Thing) -> bool {
    let is_claimed = |number: DeviceNumber| {
        let Ok(device) = SysDevice::find(roots, number) else { return false };
        // Claiming a device for reading has no side effects.
        let claimed = opened(&device, OFlags::RDONLY | OFlags::EXCL);
        claimed.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    };
    let claimable = facts.claimable_below(target).into_iter();
    claimable.filter(|found| !found.has_claimed_partition).any(|found| is_claimed(found.device))
}

#[cfg(test)]
mod tests {
    use super::super::facts::Span;
    use super::*;

    fn device(minor: u32) -> Thing {
        Thing::Device(DeviceNumber { major: 7, minor })
    }

    fn put(facts: &mut Facts, upper: u32, lower: u32, kind: Kind) {
        let (upper, lower) = (facts.node(device(upper), "upper"), facts.node(device(lower), "lower"));
        facts.layer(upper, lower, Span::ALL, kind);
    }

    /// Returns the minor numbers of the devices that can be claimed and whether a partition of each is claimed.
    fn claimable(facts: &Facts, target: u32) -> Vec<(u32, bool)> {
        let found = facts.claimable_below(device(target)).into_iter();
        let mut found: Vec<_> =
            found.map(|found| (found.device.minor, found.has_claimed_partition)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn claims_count_below_loop_devices_and_partitions_at_any_depth() {
        let mut facts = Facts::default();
        put(&mut facts, 1, 0, Kind::Loop);
        put(&mut facts, 2, 1, Kind::Partition);
        put(&mut facts, 3, 2, Kind::Loop);
        assert_eq!(claimable(&facts, 3), [(0, false), (1, false), (2, false)]);
        assert_eq!(claimable(&facts, 0), [], "its own claim is made by opening it");
    }

    #[test]
    fn claims_by_the_targets_own_stack_do_not_count() {
        let mut facts = Facts::default();
        // Mapping (3) of a disk (1) and a loop device (2) over its partition (4); the disk is over a device (0).
        put(&mut facts, 3, 1, Kind::Stacked);
        put(&mut facts, 3, 2, Kind::Stacked);
        put(&mut facts, 2, 4, Kind::Loop);
        put(&mut facts, 4, 1, Kind::Partition);
        put(&mut facts, 1, 0, Kind::Loop);
        assert_eq!(claimable(&facts, 3), [(0, false)]);
        assert_eq!(claimable(&facts, 2), [(0, false), (1, false), (4, false)], "without the mapping");
    }

    #[test]
    fn claimed_partitions_do_not_claim_their_disk() {
        for is_mounted in [true, false] {
            let mut facts = Facts::default();
            put(&mut facts, 2, 0, Kind::Loop);
            put(&mut facts, 1, 0, Kind::Partition);
            if is_mounted {
                facts.used(device(1), "", By::Mount { at: "/mnt".into(), namespace_of: None });
            } else {
                put(&mut facts, 3, 1, Kind::Stacked);
            }
            assert_eq!(claimable(&facts, 2), [(0, true)]);
        }
    }
}
