//! The seeded random number generator: one printed seed reproduces every offset and every read/write mix.

/// xoshiro256++ (Blackman, Vigna 2019): 256 bits of state, period 2^256 - 1.
///
/// The algorithm never changes: the seed in a journal must produce the same offsets in every version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

/// Advances SplitMix64 by one step. It is used to expand seeds: similar seeds produce unrelated states.
#[must_use]
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Rng {
    /// Creates a generator whose state is derived from `seed` alone.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut spread = seed;
        Self { state: std::array::from_fn(|_| split_mix(&mut spread)) }
    }

    /// Creates the generator for one part of the work, such as a thread or a cell.
    #[must_use]
    pub fn from_seed_and_stream(seed: u64, stream: u64) -> Self {
        let mut spread = seed;
        let base = split_mix(&mut spread);
        let mut other = stream ^ 0xA076_1D64_78BD_642F;
        Self::from_seed(base ^ split_mix(&mut other))
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Returns a number in `0..bound`, by multiply-shift; its bias is below `bound / 2^64`.
    ///
    /// # Panics
    /// Debug builds panic if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "no number is below zero");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns true with a probability of `percent` %.
    #[inline]
    pub fn percent(&mut self, percent: u8) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// Fills `bytes` with random data.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        let mut chunks = bytes.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes());
        }
        let rest = chunks.into_remainder();
        let last = self.next_u64().to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs for the state {1, 2, 3, 4}, as printed by the authors' reference program.
    #[test]
    fn agrees_with_the_reference_stream() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn below_is_uniform_over_1024_bins() {
        let mut rng = Rng::from_seed(7);
        let mut bins = [0u32; 1024];
        let draws = 1 << 20;
        for _ in 0..draws {
            bins[rng.below(1024) as usize] += 1;
        }
        let expected = f64::from(draws) / 1024.0;
        let chi2: f64 = bins.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        // 1023 degrees of freedom: mean 1023, standard deviation 45; the limits are five standard deviations
        // from the mean.
        assert!((797.0..1249.0).contains(&chi2), "chi-square {chi2}");
    }

    #[test]
    fn streams_of_one_seed_differ() {
        let mut a = Rng::from_seed_and_stream(1, 0);
        let mut b = Rng::from_seed_and_stream(1, 1);
        assert!((0..8).all(|_| a.next_u64() != b.next_u64()));
    }

    #[test]
    fn percent_meets_its_share() {
        let mut rng = Rng::from_seed(3);
        let hits = (0..1_000_000).filter(|_| rng.percent(65)).count();
        assert!((648_000..652_000).contains(&hits), "{hits}");
    }
}
