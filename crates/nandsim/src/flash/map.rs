//! The mapping of map units to physical slots: both directions, a validity bit per slot and a count per
//! superblock.

use std::ops::Range;

use super::divisor::Divisor;

/// Stands for no map unit or no slot.
pub(crate) const NONE: u32 = u32::MAX;

/// Superblocks per entry of [`Map::fewest`].
const GROUP: usize = 128;

/// The mapping table.
pub(crate) struct Map {
    /// Physical slot of each map unit.
    l2p: Vec<u32>,
    /// The map unit last written to each slot; meaningful only if the slot is valid.
    p2l: Vec<u32>,
    bits: Vec<u64>,
    /// Number of valid slots in each superblock.
    valid: Vec<u32>,
    /// A lower bound for each group: no eligible superblock in the group has fewer valid slots. Sealing a
    /// superblock may reduce the bound of its group.
    fewest: Vec<u32>,
    /// Number of mapped units.
    mapped: u32,
    superblock: Divisor,
    fetch: Option<fn(*const u8)>,
}

/// Memory hooks for the large mapping tables.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Called with each table's memory before it is initialized, to advise the kernel how the table will be
    /// used.
    pub advise: fn(Range<*const u8>),
    /// Prefetches the cache line at an address without waiting. Without this hook, several entries are
    /// prefetched at once, to the same effect.
    pub fetch: Option<fn(*const u8)>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { advise: |_| (), fetch: None }
    }
}

fn table<T: Copy>(length: usize, value: T, advise: fn(Range<*const u8>)) -> Vec<T> {
    let mut table = Vec::with_capacity(length);
    let memory = table.spare_capacity_mut().as_ptr_range();
    advise(memory.start.cast()..memory.end.cast());
    table.resize(length, value);
    table
}

impl Map {
    pub(crate) fn new(
        map_units: u32,
        superblocks: u32,
        slots_per_superblock: u32,
        Memory { advise, fetch }: Memory,
    ) -> Self {
        let slots = superblocks as usize * slots_per_superblock as usize;
        Self {
            l2p: table(map_units as usize, NONE, advise),
            p2l: table(slots, NONE, advise),
            bits: table(slots.div_ceil(64), 0, advise),
            valid: vec![0; superblocks as usize],
            fewest: vec![0; (superblocks as usize).div_ceil(GROUP)],
            mapped: 0,
            superblock: Divisor::new(slots_per_superblock),
            fetch,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.l2p.fill(NONE);
        self.p2l.fill(NONE);
        self.bits.fill(0);
        self.valid.fill(0);
        self.fewest.fill(0);
        self.mapped = 0;
    }

    /// Returns the slot that contains `unit`, or [`NONE`].
    #[inline]
    pub(crate) fn slot_of(&self, unit: u32) -> u32 {
        self.l2p[unit as usize]
    }

    /// Returns the map unit last written to `slot`; meaningful only if the slot is valid.
    #[inline]
    pub(crate) fn unit_in(&self, slot: u32) -> u32 {
        self.p2l[slot as usize]
    }

    /// Returns the number of valid slots in a superblock.
    #[inline]
    pub(crate) fn valid_slots(&self, superblock: u32) -> u32 {
        self.valid[superblock as usize]
    }

    /// Returns the number of mapped units.
    #[inline]
    pub(crate) fn mapped(&self) -> u32 {
        self.mapped
    }

    #[inline]
    pub(crate) fn is_valid(&self, slot: u32) -> bool {
        self.bits[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    #[inline]
    fn invalidate(&mut self, slot: u32) {
        self.bits[slot as usize / 64] &= !(1 << (slot % 64));
        let superblock = self.superblock.quotient(slot) as usize;
        self.valid[superblock] -= 1;
        self.fewest[superblock / GROUP] = self.fewest[superblock / GROUP].min(self.valid[superblock]);
    }

    /// Returns the first eligible superblock with the fewest valid slots, and the number of its valid slots.
    /// Groups that cannot contain this superblock are skipped.
    pub(crate) fn fewest_valid(&mut self, counts: impl Fn(usize) -> bool) -> Option<(usize, u32)> {
        loop {
            let (mut group, mut least) = (0, u32::MAX);
            for (at, &fewest) in self.fewest.iter().enumerate() {
                if fewest < least {
                    (group, least) = (at, fewest);
                }
            }
            if least == u32::MAX {
                return None;
            }
            let (mut found, mut fewest) = (0, u32::MAX);
            for superblock in group * GROUP..((group + 1) * GROUP).min(self.valid.len()) {
                if self.valid[superblock] < fewest && counts(superblock) {
                    (found, fewest) = (superblock, self.valid[superblock]);
                }
            }
            self.fewest[group] = fewest;
            if fewest == least && least < u32::MAX {
                return Some((found, fewest));
            }
        }
    }

    /// Returns whether the lower bound of the superblock's group holds for it. The superblock must be eligible.
    pub(crate) fn is_bounded(&self, superblock: u32) -> bool {
        let superblock = superblock as usize;
        self.fewest[superblock / GROUP] <= self.valid[superblock]
    }

    /// Returns all entries in the mapping table, and the number of valid slots in each superblock, for a
    /// fingerprint.
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> {
        self.l2p.iter().chain(&self.valid).copied()
    }

    /// Checks that both directions of the mapping, the validity bits and the counts agree.
    pub(crate) fn check(&self, slots_per_superblock: u32) -> Result<(), String> {
        let mut mapped = 0u64;
        for (unit, &slot) in self.l2p.iter().enumerate().filter(|&(_, &slot)| slot != NONE) {
            mapped += 1;
            let back = self.p2l[slot as usize];
            if back as usize != unit {
                return Err(format!("map unit {unit} is in slot {slot}, which holds {back}"));
            }
            if !self.is_valid(slot) {
                return Err(format!("map unit {unit} is in slot {slot}, which is garbage"));
            }
        }
        let counted: u64 = self.valid.iter().map(|&n| u64::from(n)).sum();
        if mapped != u64::from(self.mapped) {
            return Err(format!("{mapped} map units are mapped, but {} are counted", self.mapped));
        }
        if mapped != counted {
            return Err(format!("{mapped} map units are mapped, but {counted} slots count as valid"));
        }
        for (superblock, &count) in self.valid.iter().enumerate() {
            let first = superblock as u32 * slots_per_superblock;
            let bits = (first..first + slots_per_superblock).filter(|&slot| self.is_valid(slot)).count();
            if bits != count as usize {
                return Err(format!("superblock {superblock} counts {count} valid slots, but has {bits}"));
            }
        }
        Ok(())
    }

    /// Must be called when a superblock becomes eligible.
    pub(crate) fn counts_now(&mut self, superblock: u32) {
        let superblock = superblock as usize;
        self.fewest[superblock / GROUP] = self.fewest[superblock / GROUP].min(self.valid[superblock]);
    }

    /// Prefetches the entries of these map units. The cache misses overlap, and later accesses do not stall.
    #[inline]
    pub(crate) fn fetch_units(&self, units: impl Iterator<Item = u32>) {
        let seen = units.fold(0, |seen, unit| seen ^ self.glance(&self.l2p, unit));
        std::hint::black_box(seen);
    }

    /// Prefetches the validity bits of the slots that hold these map units.
    #[inline]
    pub(crate) fn fetch_bits(&self, units: impl Iterator<Item = u32>) {
        let bits = |unit: u32| self.glance(&self.bits, self.l2p[unit as usize] / 64);
        std::hint::black_box(units.fold(0, |seen, unit| seen ^ bits(unit)));
    }

    /// Prefetches the entries of the map units in these slots, given as a bitmap that starts at `first`.
    #[inline]
    pub(crate) fn fetch_slots(&self, first: u32, mut slots: u64) {
        let mut seen = 0;
        while slots != 0 {
            seen ^= self.glance(&self.l2p, self.p2l[(first + slots.trailing_zeros()) as usize]);
            slots &= slots - 1;
        }
        std::hint::black_box(seen);
    }

    /// Loads the entry at `at`, if it exists. If there is a prefetch hook, prefetches the entry and returns the
    /// default value.
    #[inline]
    fn glance<T: Copy + Default>(&self, table: &[T], at: u32) -> T {
        let at = at as usize;
        match self.fetch {
            Some(fetch) => {
                fetch(table.as_ptr().wrapping_add(at).cast());
                T::default()
            }
            None => table.get(at).copied().unwrap_or_default(),
        }
    }

    /// Maps `unit` to the unused `slot`; its previous slot becomes garbage.
    #[inline]
    pub(crate) fn map(&mut self, unit: u32, slot: u32) {
        let old = std::mem::replace(&mut self.l2p[unit as usize], slot);
        if old == NONE {
            self.mapped += 1;
        } else {
            self.invalidate(old);
        }
        self.mark_valid(unit, slot);
    }

    /// Moves the contents of the valid slot `from` to the unused slot `to`. Because the previous slot is known,
    /// the map unit's entry is written without being read first, which would stall.
    #[inline]
    pub(crate) fn relocate(&mut self, from: u32, to: u32) {
        let unit = self.p2l[from as usize];
        debug_assert_eq!(self.l2p[unit as usize], from, "a valid slot that nothing maps to");
        self.invalidate(from);
        self.l2p[unit as usize] = to;
        self.mark_valid(unit, to);
    }

    /// Same as [`relocate`](Self::relocate), but leaves the bits and counts to
    /// [`commit_moves`](Self::commit_moves), which updates them for many slots at once.
    #[inline]
    pub(crate) fn move_entry(&mut self, from: u32, to: u32) {
        let unit = self.p2l[from as usize];
        debug_assert_eq!(self.l2p[unit as usize], from, "a valid slot that nothing maps to");
        self.l2p[unit as usize] = to;
        self.p2l[to as usize] = unit;
    }

    /// Updates the bits and counts after [`move_entry`](Self::move_entry). The slots in the bitmap `moved`, which
    /// starts at `first`, are in the superblock `from`; those from `to` to `end` are in another superblock.
    #[inline]
    pub(crate) fn commit_moves(&mut self, (from, first, moved): (u32, u32, u64), (to, end): (u32, u32)) {
        self.bits[first as usize / 64] &= !moved;
        let from = from as usize;
        self.valid[from] -= end - to;
        self.fewest[from / GROUP] = self.fewest[from / GROUP].min(self.valid[from]);
        self.valid[self.superblock.quotient(to) as usize] += end - to;
        let mut at = to;
        while at < end {
            let length = (end - at).min(64 - at % 64);
            self.bits[at as usize / 64] |= (u64::MAX >> (64 - length)) << (at % 64);
            at += length;
        }
    }

    #[inline]
    fn mark_valid(&mut self, unit: u32, slot: u32) {
        self.p2l[slot as usize] = unit;
        self.bits[slot as usize / 64] |= 1 << (slot % 64);
        self.valid[self.superblock.quotient(slot) as usize] += 1;
    }

    /// Removes the entry of `unit` but leaves its slot valid: a defect for testing the checks.
    #[inline]
    pub(crate) fn lose_entry(&mut self, unit: u32) {
        self.l2p[unit as usize] = NONE;
    }

    pub(crate) fn unmap(&mut self, unit: u32) {
        let old = std::mem::replace(&mut self.l2p[unit as usize], NONE);
        if old != NONE {
            self.mapped -= 1;
            self.invalidate(old);
        }
    }

    /// Returns the first bitmap word with valid slots between `from` and `end`: the word's first slot, and the
    /// bits of these valid slots.
    #[inline]
    pub(crate) fn next_valid(&self, from: u32, end: u32) -> Option<(u32, u64)> {
        let mut word = from as usize / 64;
        let mut bits = *self.bits.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 && (word + 1) * 64 < end as usize {
            word += 1;
            bits = self.bits[word];
        }
        let first = word as u32 * 64;
        let inside = end.saturating_sub(first);
        if inside < 64 {
            bits &= (1 << inside) - 1;
        }
        (bits != 0).then_some((first, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn next_valid_finds_what_a_scan_finds(set in prop::collection::btree_set(0u32..300, 0..20), from in 0u32..300, length in 0u32..300) {
            let mut map = Map::new(300, 3, 100, Memory::default());
            for &slot in &set {
                map.map(slot, slot);
            }
            let end = (from + length).min(300);
            let expected = set.range(from..end.max(from));
            let first = expected.clone().next().map_or(0, |slot| slot / 64 * 64);
            let bits = expected.filter(|&slot| slot / 64 == first / 64).fold(0u64, |bits, slot| bits | 1 << (slot % 64));
            prop_assert_eq!(map.next_valid(from, end), (bits != 0).then_some((first, bits)));
        }
    }
}
