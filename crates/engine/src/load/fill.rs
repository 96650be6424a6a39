//! Write data that a drive can neither compress nor deduplicate.
//!
//! Each write gets new output from interleaved xoshiro256+ generators, one per lane of a vector register, so that
//! generating data costs about as much as copying it. The lowest bits of this generator are its weakest, but they
//! are as incompressible as the others. The data depends only on the seed and the thread, not on the CPU: the code
//! is compiled for several instruction sets, and the best one is selected at run time.
//!
//! Reducible data is made from the same output: part of each sector is zero, and some writes repeat the
//! previous data by restoring the state of the generator that produced it.

use record::{DataPattern, Reducible, WorkingSet};
use stdx::Rng;

/// Number of interleaved generators: two vectors of 512 bits, or four of 256.
const LANES: usize = 16;
/// Number of bytes per step of all lanes.
const STEP_BYTES: usize = LANES * 8;
/// Separates these random streams from the streams for offsets, which are numbered by thread from 0.
const DATA_STREAM: u64 = 1 << 32;
/// Separates the random streams of individual blocks, which are numbered by thread and block, from all others.
const BLOCK_STREAM: u64 = 1 << 63;
/// Number of bits of a block's number.
const BLOCK_BITS: u32 = 44;

/// State of all lanes; each of its four words is one vector.
type State = [[u64; LANES]; 4];

/// Granularity of compressible data. As in fio, each chunk starts with random data.
const COMPRESSED_CHUNK_BYTES: usize = 512;

/// One worker's write data.
pub(crate) struct Fill {
    pattern: DataPattern,
    state: State,
    /// Generator state at the start of the latest data that was not a copy.
    before: State,
    /// Determines which writes are copies.
    lots: Rng,
    /// The blocks that are copied, if they are not the latest.
    set: Option<Pool>,
    steps: fn(&mut State, &mut [u8]),
}

impl Fill {
    pub(crate) fn new(pattern: DataPattern, seed: u64, thread: u16) -> Self {
        let mut rng = Rng::from_seed_and_stream(seed, DATA_STREAM + u64::from(thread));
        let state = std::array::from_fn(|_| std::array::from_fn(|_| rng.next_u64()));
        let set = match pattern {
            DataPattern::Reducible(Reducible { working_set: Some(set), .. }) => {
                Some(Pool { set, seed, thread, written: 0 })
            }
            _ => None,
        };
        Self { pattern, state, before: state, lots: rng, set, steps: best_steps() }
    }

    /// Fills the buffer of one write.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        match self.pattern {
            DataPattern::Zero => buffer.fill(0),
            DataPattern::Byte(byte) => buffer.fill(byte),
            DataPattern::Random => (self.steps)(&mut self.state, buffer),
            DataPattern::Reducible(reducible) => self.reduced(reducible, buffer),
        }
    }

    fn reduced(&mut self, reducible: Reducible, buffer: &mut [u8]) {
        let is_copy = self.lots.percent(reducible.dedupable_percent);
        match &mut self.set {
            Some(pool) => self.state = pool.next(is_copy, &mut self.lots),
            None if is_copy => self.state = self.before,
            None => self.before = self.state,
        }
        let zeros = |bytes: usize| bytes * usize::from(reducible.compressible_percent) / 100;
        for chunk in buffer.chunks_mut(COMPRESSED_CHUNK_BYTES) {
            let (random, rest) = chunk.split_at_mut(chunk.len() - zeros(chunk.len()));
            (self.steps)(&mut self.state, random);
            rest.fill(0);
        }
    }
}

/// The blocks of a thread, each with a state of its own, and a working set of them.
struct Pool {
    set: WorkingSet,
    seed: u64,
    thread: u16,
    /// Number of blocks that were not copies.
    written: u64,
}

impl Pool {
    /// Returns the state that generates the next block.
    fn next(&mut self, is_copy: bool, lots: &mut Rng) -> State {
        if is_copy {
            return self.of_set(lots.below(self.set.blocks));
        }
        self.written += 1;
        self.state(self.thread_number(), self.written - 1)
    }

    /// Returns the number of the thread among those that share the working set.
    fn thread_number(&self) -> u16 {
        self.set.shared.map_or(0, |shared| shared.first) + self.thread
    }

    /// Returns the state of a block of the working set. As in fio, each thread's set begins with its own part.
    fn of_set(&self, index: u64) -> State {
        let Some(shared) = self.set.shared else { return self.state(self.thread, index) };
        let part = (self.set.blocks / u64::from(shared.threads)).max(1);
        let owner = (u64::from(self.thread_number()) + index / part) % u64::from(shared.threads);
        self.state(owner as u16, index % part)
    }

    fn state(&self, thread: u16, block: u64) -> State {
        let seed = self.set.shared.map_or(self.seed, |shared| shared.seed);
        let stream = BLOCK_STREAM | u64::from(thread) << BLOCK_BITS | block & ((1 << BLOCK_BITS) - 1);
        let mut rng = Rng::from_seed_and_stream(seed, stream);
        std::array::from_fn(|_| std::array::from_fn(|_| rng.next_u64()))
    }
}

/// Fills a buffer with new output.
#[inline(always)]
fn steps(state: &mut State, buffer: &mut [u8]) {
    let mut lanes = *state;
    let mut chunks = buffer.chunks_exact_mut(STEP_BYTES);
    for chunk in &mut chunks {
        let words = step(&mut lanes);
        for (bytes, word) in chunk.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
    let rest = chunks.into_remainder();
    if !rest.is_empty() {
        let words = step(&mut lanes);
        for (bytes, word) in rest.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
    }
    *state = lanes;
}

/// One step of xoshiro256+ (Blackman, Vigna 2019) in every lane.
#[inline(always)]
fn step([s0, s1, s2, s3]: &mut State) -> [u64; LANES] {
    let mut output = [0; LANES];
    for lane in 0..LANES {
        output[lane] = s0[lane].wrapping_add(s3[lane]);
        let shifted = s1[lane] << 17;
        s2[lane] ^= s0[lane];
        s3[lane] ^= s1[lane];
        s1[lane] ^= s2[lane];
        s0[lane] ^= s3[lane];
        s2[lane] ^= shifted;
        s3[lane] = s3[lane].rotate_left(45);
    }
    output
}

fn portable(state: &mut State, buffer: &mut [u8]) {
    steps(state, buffer);
}

#[cfg(target_arch = "x86_64")]
fn best_steps() -> fn(&mut State, &mut [u8]) {
    #[target_feature(enable = "avx512f")]
    fn with_512_bits(state: &mut State, buffer: &mut [u8]) {
        steps(state, buffer);
    }
    #[target_feature(enable = "avx2")]
    fn with_256_bits(state: &mut State, buffer: &mut [u8]) {
        steps(state, buffer);
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the CPU supports the instruction set of the function, as checked above.
        return |state, buffer| unsafe { with_512_bits(state, buffer) };
    }
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU supports the instruction set of the function, as checked above.
        return |state, buffer| unsafe { with_256_bits(state, buffer) };
    }
    portable
}

#[cfg(not(target_arch = "x86_64"))]
fn best_steps() -> fn(&mut State, &mut [u8]) {
    portable
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::SharedSet;
    use std::collections::{HashMap, HashSet};

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
        // The mean is 4096, with a standard deviation of 64.
        assert!(counts.iter().all(|&n| (3750..4450).contains(&n)), "{counts:?}");
    }

    fn reducible(compressible_percent: u8, dedupable_percent: u8) -> Fill {
        let reducible = Reducible { compressible_percent, dedupable_percent, working_set: None };
        Fill::new(DataPattern::Reducible(reducible), 9, 0)
    }

    /// Returns how often each block was written by `threads` threads, 4,000 times each.
    fn written(shared: bool, threads: u16, blocks: u64) -> Vec<HashMap<Vec<u8>, u32>> {
        let of_thread = |thread: u16| {
            // Two workloads: the first thread, and all others.
            let (first, index) = if thread == 0 { (0, 0) } else { (1, thread - 1) };
            let shared = shared.then_some(SharedSet { seed: 4, threads, first });
            let working_set = Some(WorkingSet { blocks, shared });
            let reducible = Reducible { compressible_percent: 50, dedupable_percent: 40, working_set };
            let mut fill = Fill::new(DataPattern::Reducible(reducible), 9 + u64::from(first), index);
            let (mut seen, mut block) = (HashMap::new(), vec![0; 512]);
            for _ in 0..4_000 {
                fill.fill(&mut block);
                *seen.entry(block.clone()).or_default() += 1;
            }
            seen
        };
        (0..threads).map(of_thread).collect()
    }

    #[test]
    fn copies_are_from_the_working_set() {
        for seen in written(false, 2, 100) {
            let (repeated, single): (Vec<u32>, Vec<u32>) = seen.values().partition(|count| **count > 1);
            assert_eq!((repeated.len(), single.len() + 100), (100, seen.len()));
            // 1,600 copies of 100 blocks; the standard deviation of their number is 31.
            let copies = repeated.iter().sum::<u32>() - 100;
            assert!((1450..1750).contains(&copies), "{copies}");
        }
        let own = written(false, 2, 100);
        assert!(own[0].keys().all(|block| !own[1].contains_key(block)));
    }

    #[test]
    fn threads_share_a_working_set() {
        let seen = written(true, 3, 300);
        let all: HashSet<&Vec<u8>> = seen.iter().flat_map(HashMap::keys).collect();
        // Each of the 300 blocks is among the first 100 unique blocks of its thread, so it is counted once.
        let unique: usize = seen.iter().map(|blocks| blocks.len()).sum();
        let foreign = unique - all.len();
        // A thread has on average five copies of each block of the others, but of one in 200, none.
        assert!((580..=2 * 300).contains(&foreign), "{foreign}");
        assert!(seen.iter().all(|blocks| blocks.len() > 2_000));
    }

    /// Returns the fraction of 1 MiB of writes that remains after compression.
    fn kept(fill: &mut Fill, block_bytes: usize) -> f64 {
        let mut buffer = vec![1; 1 << 20];
        buffer.chunks_mut(block_bytes).for_each(|block| fill.fill(block));
        let packed: usize = buffer.chunks(4096).map(|block| lz4_flex::block::compress(block).len()).sum();
        packed as f64 / buffer.len() as f64
    }

    #[test]
    fn data_compresses_as_requested() {
        for percent in [0, 10, 25, 50, 75, 90, 100] {
            for block_bytes in [4096, 65536] {
                let kept = kept(&mut reducible(percent, 0), block_bytes);
                let requested = 1.0 - f64::from(percent) / 100.0;
                // A run of zeros also takes some bytes after compression.
                assert!((-0.005..0.03).contains(&(kept - requested)), "{kept} of the data for {percent} %");
            }
        }
    }

    #[test]
    fn the_requested_percentage_of_blocks_are_copies() {
        for percent in [0, 20, 50, 95] {
            for compressible_percent in [0, 50] {
                let mut fill = reducible(compressible_percent, percent);
                let (mut seen, mut block) = (HashSet::new(), vec![0; 4096]);
                for _ in 0..4_000 {
                    fill.fill(&mut block);
                    seen.insert(block.clone());
                }
                let copies = 100.0 - seen.len() as f64 / 40.0;
                // A binomial proportion of 4,000 samples has a standard deviation of at most 0.8 percentage
                // points.
                assert!((copies - f64::from(percent)).abs() < 3.0, "{copies} % for {percent} %");
                assert!(block.chunks(512).collect::<HashSet<_>>().len() == 8);
            }
        }
    }

    #[test]
    fn zeros_are_written_even_from_a_buffer_that_a_read_used() {
        let mut buffer = vec![9; 512];
        Fill::new(DataPattern::Byte(3), 1, 0).fill(&mut buffer);
        assert!(buffer.iter().all(|byte| *byte == 3));
        Fill::new(DataPattern::Zero, 1, 0).fill(&mut buffer);
        assert_eq!(buffer, [0; 512]);
    }

    #[test]
    fn the_processor_does_not_change_the_data() {
        for length in [512, 4096, 4096 + 8, 100] {
            let mut best = Fill::new(DataPattern::Random, 5, 1);
            let mut plain = Fill { steps: portable, ..Fill::new(DataPattern::Random, 5, 1) };
            for _ in 0..3 {
                let (mut a, mut b) = (vec![0; length], vec![0; length]);
                best.fill(&mut a);
                plain.fill(&mut b);
                assert_eq!(a, b);
            }
        }
    }

    /// Each lane produces the output of the published generator. The expected output for the state {1, 2, 3, 4}
    /// was computed by hand.
    #[test]
    fn a_lane_is_xoshiro256_plus() {
        let mut state: State = std::array::from_fn(|word| [word as u64 + 1; LANES]);
        assert_eq!(step(&mut state), [5; LANES]);
        // 1^(4^2), 2^(3^1), 3^1^(2<<17), rotl(4^2, 45).
        assert_eq!(state.map(|words| words[0]), [7, 0, 2 ^ (2 << 17), 6 << 45]);
    }

    /// Checks the entropy of byte pairs, and that no eight bytes repeat: every compressor relies on at least
    /// one of these.
    #[test]
    fn random_data_cannot_be_compressed() {
        let mut fill = Fill::new(DataPattern::Random, 7, 0);
        let mut buffer = vec![0; 8 << 20];
        buffer.chunks_mut(4096).for_each(|block| fill.fill(block));
        let mut pairs = vec![0u32; 1 << 16];
        buffer.chunks_exact(2).for_each(|p| pairs[usize::from(u16::from_le_bytes([p[0], p[1]]))] += 1);
        let all = (buffer.len() / 2) as f64;
        let bits: f64 = pairs
            .iter()
            .filter(|n| **n > 0)
            .map(|&n| -f64::from(n) / all * (f64::from(n) / all).log2())
            .sum();
        assert!(bits > 15.98, "{bits} bits in 16");
        let mut seen = HashSet::new();
        assert!(buffer.chunks_exact(8).all(|word| seen.insert(word.to_vec())), "eight bytes occurred twice");
    }
}
