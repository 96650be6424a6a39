//! Variable-length numbers: seven bits per byte, the lowest first.

/// Bytes of an encoded I/O: its flags, three numbers of up to ten bytes and one of up to five.
const MOST_BYTES: usize = 1 + 3 * 10 + 5;

/// An encoded I/O. It is collected here because appending single bytes to a vector takes longer.
pub struct Encoded {
    bytes: [u8; MOST_BYTES],
    length: usize,
}

impl Encoded {
    #[inline]
    pub const fn new(flags: u8) -> Self {
        let mut bytes = [0; MOST_BYTES];
        bytes[0] = flags;
        Self { bytes, length: 1 }
    }

    #[inline]
    pub fn put(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes[self.length] = value as u8 | 0x80;
            self.length += 1;
            value >>= 7;
        }
        self.bytes[self.length] = value as u8;
        self.length += 1;
    }

    #[inline]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.length;
        // Copying a fixed number of bytes takes less time than a call that copies only those in use.
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }
}

/// Takes a number from the front of `bytes`; None if it is incomplete or too large.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Maps numbers that are close to zero, modulo 2^64, to small numbers.
#[inline]
pub const fn folded(difference: u64) -> u64 {
    let signed = difference.cast_signed();
    (signed << 1 ^ signed >> 63).cast_unsigned()
}

#[inline]
pub const fn unfolded(value: u64) -> u64 {
    value >> 1 ^ (value & 1).wrapping_neg()
}
