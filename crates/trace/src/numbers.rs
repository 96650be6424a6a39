//! Numbers in lines of text, without allocation.

/// Parses a decimal number without a sign.
pub fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value = 0u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(value)
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

    #[test]
    fn numbers_are_parsed_exactly_or_rejected() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        for wrong in [&b""[..], b"-1", b"18446744073709551616", b"1x", b"000000000000000000001"] {
            assert_eq!(whole(wrong), None);
        }
        assert_eq!(seconds(b"1.5"), Some(1_500_000_000));
        assert_eq!(seconds(b"0.0000000019"), Some(1));
        assert_eq!(seconds(b"7"), Some(7_000_000_000));
        assert_eq!((seconds(b".5"), seconds(b"1.x"), seconds(b"20000000000")), (None, None, None));
    }
}
