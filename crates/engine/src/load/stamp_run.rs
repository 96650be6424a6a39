//! The number that distinguishes the stamps of one process from those of all others.
//!
//! Everything else in a stamp follows from the workload and its seed. Without this number, a repeated load would
//! write the same bytes again, and a drive that dropped all of its writes would pass.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::num::NonZeroU64;
use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of low bits in a stamp that count the loads of a process, because one process may also repeat a load.
const LOAD_BITS: u32 = 16;
/// Number of hexadecimal digits of a [`StampRun`].
const DIGITS: usize = (u64::BITS - LOAD_BITS) as usize / 4;

/// The run of which a stamp is part: a number of 48 bits that each process draws, written as 12 hexadecimal
/// digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampRun(NonZeroU64);

impl StampRun {
    /// Returns the number of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        static DRAWN: LazyLock<NonZeroU64> = LazyLock::new(|| {
            let drawn = RandomState::new().build_hasher().finish() >> LOAD_BITS;
            NonZeroU64::new(drawn).unwrap_or(NonZeroU64::MIN)
        });
        Self(*DRAWN)
    }

    /// Returns the number in the stamps of the next load of this process.
    pub(super) fn of_next_load() -> u64 {
        static LOADS: AtomicU64 = AtomicU64::new(0);
        let load = LOADS.fetch_add(1, Ordering::Relaxed) & ((1 << LOAD_BITS) - 1);
        Self::of_this_process().0.get() << LOAD_BITS | load
    }

    /// Returns whether a stamp with this number is part of the run, and of the load with the number `first` or a later
    /// one.
    pub(super) const fn wrote_since(self, first: u64, stamped: u64) -> bool {
        // The numbers of loads wrap around.
        let distance = stamped.wrapping_sub(first) & ((1 << LOAD_BITS) - 1);
        self.wrote(stamped) && distance < 1 << (LOAD_BITS - 1)
    }

    /// Returns whether a stamp with this number is part of the run.
    pub(super) const fn wrote(self, stamped: u64) -> bool {
        stamped >> LOAD_BITS == self.0.get()
    }
}

impl fmt::Display for StampRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0DIGITS$x}", self.0)
    }
}

impl FromStr for StampRun {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_hex = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| is_hex);
        number
            .and_then(NonZeroU64::new)
            .map(Self)
            .ok_or_else(|| format!("use the {DIGITS} hexadecimal digits that the load printed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_a_process_differ_but_belong_to_one_run() {
        let (one, other) = (StampRun::of_next_load(), StampRun::of_next_load());
        assert_ne!(one, other);
        let run = StampRun::of_this_process();
        assert!(run.wrote(one) && run.wrote(other) && !run.wrote(1));
    }

    #[test]
    fn loads_follow_each_other_even_if_their_numbers_wrap_around() {
        let run = StampRun(NonZeroU64::new(7).expect("a number"));
        let load = |number: u64| 7 << LOAD_BITS | number;
        assert!(run.wrote_since(load(4), load(4)) && run.wrote_since(load(4), load(5)));
        assert!(!run.wrote_since(load(4), load(3)) && !run.wrote_since(load(4), 8 << LOAD_BITS | 5));
        assert!(run.wrote_since(load(0xffff), load(0)) && !run.wrote_since(load(0), load(0xffff)));
    }

    #[test]
    fn runs_are_read_as_they_are_printed() {
        let run = StampRun(NonZeroU64::new(0x00ab_cdef_0123).expect("a number"));
        assert_eq!(run.to_string(), "00abcdef0123");
        assert_eq!("00ABcdef0123".parse(), Ok(run));
        for wrong in ["", "abcdef0123", "+0abcdef0123", "0x00abcdef01", "00abcdef01234", "000000000000"] {
            assert!(wrong.parse::<StampRun>().is_err(), "{wrong}");
        }
    }
}
