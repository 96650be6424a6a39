//! Reads and places map units, for any translation layer.

use super::block_manager::BlockManager;
use super::layer::Ftl;
use crate::Defects;
use crate::events::NEVER;
use crate::flash::NONE;

/// Places one map unit in the host's open superblock.
#[inline]
pub(super) fn place<D: Defects, L: Ftl<D>>(
    layer: &mut L,
    blocks: &mut BlockManager<D>,
    unit: u32,
    ready_ns: u64,
) {
    // A full unit is kept until the next slot is needed, so that small sequential writes can be merged into
    // it.
    if blocks.host.filled >> blocks.layout.unit_shift() != 0 {
        blocks.send_host_unit();
    }
    if blocks.host.next == blocks.host.end {
        layer.open_host_superblock(blocks);
    }
    blocks.fill_host_slot(unit, ready_ns);
    if blocks.host.next <= blocks.layout.cache_start() {
        blocks.pace_collector();
    }
}

/// Frees superblocks until more than one is free. The last free superblock is reserved for the collector, which could
/// not free any others without it.
pub(super) fn make_room<D: Defects, L: Ftl<D>>(layer: &mut L, blocks: &mut BlockManager<D>) {
    // A ring may make one full turn without finding garbage, and another before the copies fill a superblock.
    for _ in 0..4 * blocks.layout.superblocks() {
        if blocks.superblocks.free.len() >= 2 {
            return;
        }
        blocks.owed = 0;
        if blocks.may_collect() {
            blocks.collect_superblock();
        } else {
            assert!(layer.reclaim(blocks), "space is short, but nothing can be reclaimed");
        }
    }
    panic!("space is short although garbage is left");
}

/// Reads the map units from `first` to `last`, starting at `start_ns`. Returns the times at which the first of
/// them and all of them are available.
#[inline]
pub(super) fn read<D, L: Ftl<D>>(
    layer: &L,
    blocks: &mut BlockManager<D>,
    (first, last): (u32, u32),
    start_ns: u64,
) -> (u64, u64) {
    if first == last {
        read_unit(layer, blocks, first, start_ns)
    } else {
        read_units(layer, blocks, (first, last), start_ns)
    }
}

/// Reads one map unit. Returns the time at which the unit's data is available, twice, like the result of
/// [`read_units`].
#[inline(always)]
fn read_unit<D, L: Ftl<D>>(layer: &L, blocks: &mut BlockManager<D>, unit: u32, start_ns: u64) -> (u64, u64) {
    let slot = blocks.map.slot_of(unit);
    // Data that was never written or is still in the buffer needs no flash read.
    if slot == NONE || layer.is_buffered(blocks, slot) {
        return (start_ns, start_ns);
    }
    let end = read_slots(blocks, slot, 1, start_ns);
    (end, end)
}

fn read_units<D, L: Ftl<D>>(
    layer: &L,
    blocks: &mut BlockManager<D>,
    (first, last): (u32, u32),
    start_ns: u64,
) -> (u64, u64) {
    let (mut first_ns, mut last_ns) = (NEVER, start_ns);
    let mut unit = first;
    while unit <= last {
        let slot = blocks.map.slot_of(unit);
        unit += 1;
        if slot == NONE || layer.is_buffered(blocks, slot) {
            first_ns = start_ns;
            continue;
        }
        // Adjacent slots in one program unit are sensed together.
        let unit_shift = blocks.layout.unit_shift();
        let mut slots = 1;
        while unit <= last
            && blocks.map.slot_of(unit) == slot + slots
            && (slot + slots) >> unit_shift == slot >> unit_shift
        {
            slots += 1;
            unit += 1;
        }
        let end = read_slots(blocks, slot, slots, start_ns);
        first_ns = first_ns.min(end);
        last_ns = last_ns.max(end);
    }
    (first_ns, last_ns)
}

/// Reads `slots` slots in one program unit, starting at `slot`.
#[inline(always)]
fn read_slots<D>(blocks: &mut BlockManager<D>, slot: u32, slots: u32, start_ns: u64) -> u64 {
    let range = blocks.flash.range(slot, slots);
    blocks.flash.read_first(blocks.layout.die_of(slot), start_ns, range)
}
