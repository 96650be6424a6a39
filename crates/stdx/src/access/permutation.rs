//! A pseudo-random order without a table.

/// A pseudo-random order of all blocks: a Feistel network over the smallest even number of bits that can number
/// all blocks, applied again to results beyond the last block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permutation {
    blocks: u64,
    half_bits: u32,
    key: u64,
}

impl Permutation {
    const ROUNDS: u64 = 4;

    pub(super) fn new(blocks: u64, key: u64) -> Self {
        let bits = u64::BITS - blocks.saturating_sub(1).leading_zeros();
        Self { blocks, half_bits: bits.div_ceil(2).max(1), key }
    }

    pub(super) fn of(self, rank: u64) -> u64 {
        let mut place = rank;
        loop {
            place = self.once(place);
            if place < self.blocks {
                return place;
            }
        }
    }

    fn once(self, place: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (place >> self.half_bits & mask, place & mask);
        for round in 0..Self::ROUNDS {
            (left, right) =
                (right, left ^ mixed(right ^ self.key.rotate_left(16 * round as u32) ^ round << 60) & mask);
        }
        left << self.half_bits | right
    }
}

/// Applies the finalizer of splitmix64.
fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
