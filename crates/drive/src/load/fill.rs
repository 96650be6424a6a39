//! What is written: data that no drive can compress, and that it has not seen before.
//!
//! A worker keeps 256 KiB of random numbers. Every 4 KiB of a write are a slice of them from a random
//! position, combined (exclusive or) with a fresh random 64-bit number. Each slice is as incompressible as
//! random data, and two slices are equal only if position and number are, so no 4 KiB repeat within
//! any de-duplication window. That costs about as much as copying. All follows from seed and thread.

use record::DataPattern;
use stdx::Rng;

const ARENA_WORDS: usize = (256 << 10) / 8;
const SLICE_BYTES: usize = 4096;
/// Keeps these streams apart from those of the offsets, which are numbered by thread from 0.
const DATA_STREAM: u64 = 1 << 32;

/// The write data of one worker.
pub(crate) struct Fill {
    /// Empty for zeros.
    arena: Vec<u64>,
    rng: Rng,
}

impl Fill {
    pub(crate) fn new(pattern: DataPattern, seed: u64, thread: u16) -> Self {
        let mut rng = Rng::from_seed_and_stream(seed, DATA_STREAM + u64::from(thread));
        let words = match pattern {
            DataPattern::Random => ARENA_WORDS,
            DataPattern::Zero => 0,
        };
        Self { arena: (0..words).map(|_| rng.next_u64()).collect(), rng }
    }

    /// Fills one write.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        if self.arena.is_empty() {
            buffer.fill(0);
            return;
        }
        for slice in buffer.chunks_mut(SLICE_BYTES) {
            let from = self.rng.below((ARENA_WORDS - SLICE_BYTES / 8) as u64) as usize;
            let key = self.rng.next_u64();
            for (bytes, word) in slice.chunks_exact_mut(8).zip(&self.arena[from..]) {
                bytes.copy_from_slice(&(word ^ key).to_ne_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_512_bytes_repeat() {
        let mut fill = Fill::new(DataPattern::Random, 1, 0);
        let mut seen = HashSet::new();
        let mut buffer = vec![0; 64 << 10];
        for _ in 0..100 {
            fill.fill(&mut buffer);
            assert!(buffer.chunks(512).all(|sector| seen.insert(sector.to_vec())));
        }
    }

    #[test]
    fn bytes_are_evenly_distributed() {
        let mut fill = Fill::new(DataPattern::Random, 2, 3);
        let mut buffer = vec![0; 1 << 20];
        fill.fill(&mut buffer);
        let mut counts = [0u32; 256];
        buffer.iter().for_each(|&b| counts[usize::from(b)] += 1);
        // 4096 each on average with a standard deviation of 64; the reuse of the arena widens it.
        assert!(counts.iter().all(|&n| (3400..4800).contains(&n)), "{counts:?}");
    }

    #[test]
    fn zero_is_zero_even_after_a_read_left_something() {
        let mut buffer = vec![9; 512];
        Fill::new(DataPattern::Zero, 1, 0).fill(&mut buffer);
        assert_eq!(buffer, [0; 512]);
    }
}
