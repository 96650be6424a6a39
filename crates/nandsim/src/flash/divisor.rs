//! Exact division of 32-bit integers by a constant, using multiplication.

/// A divisor that is known when the drive is created.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    by: u32,
    reciprocal: u64,
    /// Mask for the remainder if the divisor is a power of two.
    mask: Option<u32>,
}

impl Divisor {
    pub(super) fn new(by: u32) -> Self {
        assert!(by > 0, "a division by zero");
        let mask = by.is_power_of_two().then(|| by - 1);
        Self { by, reciprocal: (u64::MAX / u64::from(by)).wrapping_add(1), mask }
    }

    #[inline]
    pub(super) fn quotient(self, n: u32) -> u32 {
        if self.by == 1 {
            return n;
        }
        ((u128::from(n) * u128::from(self.reciprocal)) >> 64) as u32
    }

    #[inline]
    pub(super) fn remainder(self, n: u32) -> u32 {
        self.mask.map_or_else(|| n - self.quotient(n) * self.by, |mask| n & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn division_is_exact(n: u32, by in 1u32..) {
            let divisor = Divisor::new(by);
            prop_assert_eq!((divisor.quotient(n), divisor.remainder(n)), (n / by, n % by));
        }
    }
}
