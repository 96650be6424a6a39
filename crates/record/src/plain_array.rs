//! Arrays of integers, which make up almost all of a journal: the parser of plain JSON passes their text to the
//! types that store them, which is faster than passing the integers one by one.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{Deserialize as _, Error, Visitor};

/// Name of the newtype that requests an array of integers. Most deserializers ignore the name and pass the array
/// like any other; the parser of plain JSON passes the text between the brackets.
pub(crate) const ARRAY: &str = "$plateau::array";
/// Same as [`ARRAY`], but no conclusion depends on the array ([`Detail::Conclusions`](crate::Detail::Conclusions)).
pub(crate) const DETAIL: &str = "$plateau::detail";
/// Same as [`DETAIL`], but requests an array of such arrays.
pub(crate) const ARRAYS: &str = "$plateau::arrays";

/// Any number of this many digits fits in 64 bits.
const SAFE_DIGITS: usize = 19;
/// Limit on the memory that a thread keeps for the integers of the next array.
const MOST_SPARE: usize = 1 << 17;

thread_local! {
    /// Memory for the integers of an array. Allocating it anew for each array takes longer than reading short arrays.
    static SPARE: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Returns the integer at this position and the position after it; `None` if there is none, or if this program does not
/// write it like this.
#[inline]
pub(crate) fn integer(text: &[u8], begin: usize) -> Option<(u64, usize)> {
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10);
    let first = digit(begin)?;
    let (mut value, mut end) = (u64::from(first), begin + 1);
    while let Some(digit) = digit(end) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    let length = end - begin;
    if length > 1 && (first == 0 || length > SAFE_DIGITS) { None } else { Some((value, end)) }
}

/// Integers separated by commas.
#[derive(Debug, Clone)]
pub(crate) struct Integers<'a> {
    text: &'a [u8],
    /// Position of the next integer's first character; after the last integer, greater than the length of the
    /// text.
    at: usize,
}

impl<'a> Integers<'a> {
    /// Returns the integers in the text between the brackets of an array.
    pub fn of(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: usize::from(text.is_empty()) }
    }

    /// Returns the next integer; `None` at the end, or if this program does not write such text.
    #[inline]
    pub fn next(&mut self) -> Option<u64> {
        let (value, end) = integer(self.text, self.at)?;
        if self.text.get(end).is_some_and(|byte| *byte != b',') {
            return None;
        }
        self.at = end + 1;
        Some(value)
    }

    /// Returns whether all integers have been read.
    pub const fn is_over(&self) -> bool {
        self.at > self.text.len()
    }
}

/// Reads an array of integers, requested by the `name` of one of these newtypes, and returns what `make` makes of them.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    name: &'static str,
    make: impl FnOnce(&[u64]) -> Result<T, &'static str>,
) -> Result<T, D::Error> {
    deserializer.deserialize_newtype_struct(name, All(make))
}

struct All<F>(F);

impl<'de, T, F: FnOnce(&[u64]) -> Result<T, &'static str>> Visitor<'de> for All<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of integers")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<T, E> {
        let (mut integers, mut all) = (Integers::of(text), SPARE.take());
        all.clear();
        while let Some(integer) = integers.next() {
            all.push(integer);
        }
        let made = if integers.is_over() { (self.0)(&all) } else { Err("not plain integers") };
        if all.capacity() <= MOST_SPARE {
            SPARE.set(all);
        }
        made.map_err(E::custom)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        (self.0)(&Vec::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<Vec<u64>> {
        All(|all: &[u64]| Ok(all.to_vec())).visit_borrowed_str::<serde::de::value::Error>(text).ok()
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            ",",
            "1,",
            ",1",
            "1,,2",
            "01",
            "00",
            "-1",
            "1.0",
            "1e3",
            " 1",
            "1 ",
            "a",
            "[1]",
            "18446744073709551616",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!((read(""), read("0,10")), (Some(vec![]), Some(vec![0, 10])));
    }

    proptest! {
        #[test]
        fn integers_are_read_as_by_the_other_parser(
            numbers in prop::collection::vec((any::<u64>(), 0u32..64), 0..20), other in "[0-9,]{0,40}"
        ) {
            let numbers: Vec<u64> = numbers.into_iter().map(|(wide, shift)| wide >> shift).collect();
            let text = serde_json::to_string(&numbers).expect("can be written");
            for text in [&text[1..text.len() - 1], &other] {
                let theirs = serde_json::from_str::<Vec<u64>>(&format!("[{text}]")).ok();
                // Numbers with 20 digits are left to the other parser.
                let is_short = text.split(',').all(|number| number.len() <= SAFE_DIGITS);
                prop_assert_eq!(read(text), theirs.filter(|_| is_short));
            }
        }
    }
}
