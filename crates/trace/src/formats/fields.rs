//! Fields of a line, separated by commas or white space.

use super::format::Bad;
use crate::numbers::whole;
use crate::{Io, Op};

/// Size of a sector in formats that count sectors.
pub const SECTOR: u64 = 512;

/// Returns the first `N` fields of a comma-separated line; further fields are ignored.
#[inline]
pub fn comma<const N: usize>(line: &[u8]) -> Option<[&[u8]; N]> {
    let mut fields = [&b""[..]; N];
    let (mut start, mut place) = (0, 0);
    // Fields have only a few bytes, so a call of `memchr` for each would take longer than the search.
    let (words, rest) = line.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let mut found = commas(u64::from_le_bytes(*word));
        while found != 0 {
            let at = 8 * index + found.trailing_zeros() as usize / 8;
            fields[place] = line[start..at].trim_ascii();
            (start, place) = (at + 1, place + 1);
            if place == N {
                return Some(fields);
            }
            found &= found - 1;
        }
    }
    for (at, _) in (8 * words.len()..).zip(rest).filter(|(_, byte)| **byte == b',') {
        fields[place] = line[start..at].trim_ascii();
        (start, place) = (at + 1, place + 1);
        if place == N {
            return Some(fields);
        }
    }
    fields[place] = line[start..].trim_ascii();
    (place == N - 1).then_some(fields)
}

/// Returns a word with the highest bit of each byte that is a comma.
const fn commas(word: u64) -> u64 {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let different = word ^ 0x2c2c_2c2c_2c2c_2c2c;
    !(((different & LOW_BITS) + LOW_BITS) | different | LOW_BITS)
}

/// Returns the fields of a line, separated by white space.
pub fn spaced(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

#[inline]
pub fn number(field: &[u8], name: &'static str) -> Result<u64, Bad> {
    whole(field).ok_or(Bad::Field(name))
}

/// Returns an I/O, unless its length or address is impossible.
#[inline]
pub fn io(op: Op, issue_ns: u64, offset_bytes: Option<u64>, length_bytes: Option<u64>) -> Result<Io, Bad> {
    let length = length_bytes.and_then(|bytes| u32::try_from(bytes).ok()).ok_or(Bad::Length)?;
    if length == 0 && op != Op::Flush {
        return Err(Bad::Length);
    }
    let offset_bytes =
        offset_bytes.filter(|offset| offset.checked_add(length.into()).is_some()).ok_or(Bad::Address)?;
    Ok(Io { issue_ns, response_ns: None, offset_bytes, length_bytes: length, op })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_are_those_between_the_commas(line in "[0-9,. \u{2c}\u{ac}x]{0,40}") {
            let expected: Vec<&[u8]> = line.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
            prop_assert_eq!(comma::<1>(line.as_bytes()).map(Vec::from), expected.get(..1).map(Vec::from));
            prop_assert_eq!(comma::<3>(line.as_bytes()).map(Vec::from), expected.get(..3).map(Vec::from));
        }
    }
}
