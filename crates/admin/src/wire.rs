//! Decodes device responses into facts. Performs no I/O and never panics, regardless of the input.
//!
//! Each size and offset is taken from the cited figure or table and checked at compile time. Values that are
//! 0's based in the standards are converted only in this module.

pub(crate) mod ata;
pub(crate) mod nvme;
pub(crate) mod scsi;
pub(crate) mod sense;

/// A structure of `N` bytes as returned by a device.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a, const N: usize>(pub(crate) &'a [u8; N]);

impl<const N: usize> Page<'_, N> {
    /// Returns `LENGTH` bytes at offset `AT`.
    pub(crate) fn bytes<const AT: usize, const LENGTH: usize>(&self) -> [u8; LENGTH] {
        const { assert!(AT + LENGTH <= N, "the field lies inside the structure") };
        std::array::from_fn(|i| self.0[AT + i])
    }

    pub(crate) fn byte<const AT: usize>(&self) -> u8 {
        self.bytes::<AT, 1>()[0]
    }

    pub(crate) fn bit<const AT: usize, const BIT: u8>(&self) -> bool {
        const { assert!(BIT < 8) };
        self.byte::<AT>() & (1 << BIT) != 0
    }

    pub(crate) fn le16<const AT: usize>(&self) -> u16 {
        u16::from_le_bytes(self.bytes::<AT, 2>())
    }

    pub(crate) fn le32<const AT: usize>(&self) -> u32 {
        u32::from_le_bytes(self.bytes::<AT, 4>())
    }

    pub(crate) fn le64<const AT: usize>(&self) -> u64 {
        u64::from_le_bytes(self.bytes::<AT, 8>())
    }

    pub(crate) fn le128<const AT: usize>(&self) -> u128 {
        u128::from_le_bytes(self.bytes::<AT, 16>())
    }

    pub(crate) fn be32<const AT: usize>(&self) -> u32 {
        u32::from_be_bytes(self.bytes::<AT, 4>())
    }

    pub(crate) fn be64<const AT: usize>(&self) -> u64 {
        u64::from_be_bytes(self.bytes::<AT, 8>())
    }

    /// Returns fixed-length text, padded with spaces; `None` if it has no printable characters.
    pub(crate) fn text<const AT: usize, const LENGTH: usize>(&self) -> Option<String> {
        text(&self.bytes::<AT, LENGTH>())
    }
}

/// Returns printable ASCII without leading and trailing spaces; other bytes become spaces.
pub(crate) fn text(bytes: &[u8]) -> Option<String> {
    let plain = |&byte: &u8| if byte.is_ascii_graphic() { char::from(byte) } else { ' ' };
    let text: String = bytes.iter().map(plain).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns bytes as hexadecimal digits; `None` if all are zero, which means that the value is absent.
pub(crate) fn hexadecimal(bytes: &[u8]) -> Option<String> {
    let digits = || bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.iter().any(|&byte| byte != 0).then(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_both_byte_orders() {
        let bytes: [u8; 16] = std::array::from_fn(|i| i as u8);
        let page = Page(&bytes);
        assert_eq!(page.le16::<1>(), 0x0201);
        assert_eq!((page.le32::<4>(), page.be32::<4>()), (0x0706_0504, 0x0405_0607));
        assert_eq!(page.le64::<0>(), 0x0706_0504_0302_0100);
        assert_eq!(page.be64::<8>(), 0x0809_0a0b_0c0d_0e0f);
        assert!(page.bit::<1, 0>() && !page.bit::<1, 1>());
    }

    #[test]
    fn text_is_trimmed_and_never_binary() {
        assert_eq!(text(b"  SSD 9000 \0\0").as_deref(), Some("SSD 9000"));
        assert_eq!(text(b"A\x1b[2JB").as_deref(), Some("A [2JB"));
        assert_eq!(text(&[0; 20]), None);
        assert_eq!(hexadecimal(&[0, 0xab]).as_deref(), Some("00ab"));
        assert_eq!(hexadecimal(&[0; 8]), None);
    }
}
