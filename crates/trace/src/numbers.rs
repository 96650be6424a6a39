//! Numbers in lines of text, without allocation.

/// Parses a decimal number without a sign.
#[inline]
pub fn whole(text: &[u8]) -> Option<u64> {
    match text.len() {
        0 => None,
        1..=3 => text.iter().try_fold(0, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit <= 9).then(|| value * 10 + u64::from(digit))
        }),
        4..=8 => eight(padded(text)?),
        9..=20 => {
            let (high, low) = text.split_at(text.len() - 8);
            let low = eight(u64::from_le_bytes(*low.first_chunk()?))?;
            whole(high)?.checked_mul(100_000_000)?.checked_add(low)
        }
        _ => None,
    }
}

/// Returns four to eight characters with zeros in front of them, as the bytes of a word.
fn padded(text: &[u8]) -> Option<u64> {
    const ZEROS: u64 = u64::from_le_bytes(*b"00000000");
    let (first, last) = (u32::from_le_bytes(*text.first_chunk()?), u32::from_le_bytes(*text.last_chunk()?));
    let missing = 8 * (8 - text.len() as u32);
    let zeros = ZEROS & !(u64::MAX << missing);
    // The two halves overlap where their bytes are the same.
    Some(u64::from(last) << 32 | u64::from(first) << missing | zeros)
}

/// Returns the value of eight digits, the first in the lowest byte; None if a byte is not a digit.
const fn eight(word: u64) -> Option<u64> {
    let digits = word ^ 0x3030_3030_3030_3030;
    // The highest bit of each byte that is not a digit.
    if (((digits & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    // Joins neighbours: eight digits to four pairs, then to two groups of four, then to one number.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Parses seconds such as `12`, `0.000012` or `1538323200.123456789` into nanoseconds; additional decimals are ignored.
pub fn seconds(text: &[u8]) -> Option<u64> {
    let (before, after) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &b""[..]),
    };
    let mut nanoseconds = 0;
    for place in 0..9 {
        let digit = match after.get(place) {
            Some(byte) if byte.is_ascii_digit() => byte - b'0',
            Some(_) => return None,
            None => 0,
        };
        nanoseconds = nanoseconds * 10 + u64::from(digit);
    }
    whole(before)?.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_of_every_length_are_those_of_the_standard_library(number in any::<u64>(), shift in 0..64u32) {
            let number = number >> shift;
            prop_assert_eq!(whole(number.to_string().as_bytes()), Some(number));
        }

        #[test]
        fn a_number_has_only_digits(text in "[0-9]{0,20}[ -~\u{b0}][0-9]{0,20}") {
            let expected = text.parse::<u64>().ok().filter(|_| text.len() <= 20 && !text.starts_with('+'));
            prop_assert_eq!(whole(text.as_bytes()), expected);
        }
    }

    #[test]
    fn numbers_are_parsed_exactly_or_rejected() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!((whole(b"0"), whole(b"00000000000000000007")), (Some(0), Some(7)));
        for wrong in [&b""[..], b"-1", b"18446744073709551616", b"1x", b"000000000000000000001"] {
            assert_eq!(whole(wrong), None);
        }
        assert_eq!(seconds(b"1.5"), Some(1_500_000_000));
        assert_eq!(seconds(b"0.0000000019"), Some(1));
        assert_eq!(seconds(b"7"), Some(7_000_000_000));
        assert_eq!((seconds(b".5"), seconds(b"1.x"), seconds(b"20000000000")), (None, None, None));
    }
}
