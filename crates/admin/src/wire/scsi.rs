//! SCSI structures. Table numbers refer to SCSI Primary Commands 4 (SPC-4) and SCSI Block Commands 3 (SBC-3).
//! Responses may be shorter than their tables; missing bytes are treated as zero.

use super::{Page, hexadecimal, text};

/// Allocation length for all pages defined here.
pub(crate) const PAGE_BYTES: usize = 255;
/// Size of READ CAPACITY (16) data.
pub(crate) const CAPACITY_BYTES: usize = 32;

/// Standard INQUIRY data (SPC-4, table 175).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inquiry {
    /// Peripheral device type: 0 for a disk.
    pub(crate) device_type: u8,
    pub(crate) vendor: Option<String>,
    pub(crate) product: Option<String>,
    pub(crate) revision: Option<String>,
}

impl Inquiry {
    pub(crate) fn decode(bytes: &[u8; PAGE_BYTES]) -> Self {
        let page = Page(bytes);
        Self {
            device_type: page.byte::<0>() & 0x1f,
            vendor: page.text::<8, 8>(),
            product: page.text::<16, 16>(),
            revision: page.text::<32, 4>(),
        }
    }
}

/// Returns the content after the four-byte header of a vital product data page (SPC-4, 7.8.1); `None` if it
/// is a different page.
fn vital(bytes: &[u8; PAGE_BYTES], code: u8) -> Option<&[u8]> {
    let length = usize::from(u16::from_be_bytes([bytes[2], bytes[3]])).min(PAGE_BYTES - 4);
    (bytes[1] == code).then(|| &bytes[4..4 + length])
}

/// Returns the serial number from the Unit Serial Number page, 80h (SPC-4, table 627).
pub(crate) fn serial(bytes: &[u8; PAGE_BYTES]) -> Option<String> {
    text(vital(bytes, 0x80)?)
}

/// Returns the world-wide name of the logical unit, NAA or EUI-64, from the Device Identification page, 83h
/// (SPC-4, tables 601 to 605).
pub(crate) fn world_wide_name(bytes: &[u8; PAGE_BYTES]) -> Option<String> {
    let mut rest = vital(bytes, 0x83)?;
    while let Some(&[_, kind, _, length]) = rest.first_chunk::<4>() {
        let (designator, others) = rest[4..].split_at_checked(usize::from(length))?;
        let of_the_unit = kind & 0x30 == 0;
        if of_the_unit && matches!(kind & 0xf, 2 | 3) {
            return hexadecimal(designator);
        }
        rest = others;
    }
    None
}

/// Medium rotation rate from the Block Device Characteristics page, B1h (SBC-3, table 217).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rotation {
    SolidState,
    PerMinute(u16),
}

pub(crate) fn rotation(bytes: &[u8; PAGE_BYTES]) -> Option<Rotation> {
    let rate = vital(bytes, 0xb1)?.first_chunk::<2>()?;
    match u16::from_be_bytes(*rate) {
        1 => Some(Rotation::SolidState),
        rate @ 0x0401..=0xfffe => Some(Rotation::PerMinute(rate)),
        _ => None,
    }
}

/// Caching mode page, 08h (SBC-3, table 185), which follows the header and block descriptors of MODE SENSE
/// (10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CachingPage {
    /// WCE.
    pub(crate) write_cache_on: bool,
    /// The page as received, starting with its page code.
    bytes: Vec<u8>,
}

impl CachingPage {
    pub(crate) fn decode(bytes: &[u8; PAGE_BYTES]) -> Option<Self> {
        let page_bytes = usize::from(u16::from_be_bytes([bytes[0], bytes[1]])) + 2;
        let start = 8 + usize::from(u16::from_be_bytes([bytes[6], bytes[7]]));
        let page = bytes.get(start..page_bytes.min(PAGE_BYTES))?;
        let length = usize::from(*page.get(1)?) + 2;
        let page = page.get(..length)?;
        let known = page[0] & 0x7f == 0x08 && length >= 3;
        known.then(|| Self { write_cache_on: page[2] & 1 << 2 != 0, bytes: page.to_vec() })
    }

    /// Returns the parameter list of MODE SELECT (10) that turns the write cache on or off without other changes.
    pub(crate) fn selecting(&self, write_cache_on: bool) -> Vec<u8> {
        let mut list = vec![0; 8];
        list.extend(&self.bytes);
        // The PS bit is reserved in MODE SELECT.
        list[8] &= 0x3f;
        list[10] = list[10] & !(1 << 2) | u8::from(write_cache_on) << 2;
        list
    }
}

/// READ CAPACITY (16) data (SBC-3, table 96).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Number of blocks; the device reports the address of the last block.
    pub(crate) blocks: u128,
    pub(crate) block_bytes: u32,
    pub(crate) physical_block_bytes: u64,
    /// LBPME: supports unmapping.
    pub(crate) unmaps: bool,
    /// LBPRZ: unmapped blocks read as zeroes.
    pub(crate) unmapped_read_zero: bool,
}

impl Capacity {
    pub(crate) fn decode(bytes: &[u8; CAPACITY_BYTES]) -> Self {
        let page = Page(bytes);
        let block_bytes = page.be32::<8>();
        Self {
            blocks: u128::from(page.be64::<0>()) + 1,
            block_bytes,
            physical_block_bytes: u64::from(block_bytes) << (page.byte::<13>() & 0xf),
            unmaps: page.bit::<14, 7>(),
            unmapped_read_zero: page.bit::<14, 6>(),
        }
    }
}

/// Returns whether the device supports the command, from its REPORT SUPPORTED OPERATION CODES data (SPC-4,
/// table 294); `None` if the device does not report this.
pub(crate) fn supports(bytes: &[u8; PAGE_BYTES]) -> Option<bool> {
    match bytes[1] & 0b111 {
        0b001 => Some(false),
        0b011 | 0b101 => Some(true),
        _ => None,
    }
}

/// Returns the temperature in degrees Celsius from log page 0Dh (SPC-4, table 405).
pub(crate) fn temperature(bytes: &[u8; PAGE_BYTES]) -> Option<i16> {
    // The last byte of parameter 0000h is the current temperature; 255 means unknown.
    let current = bytes[0] & 0x3f == 0x0d && bytes[4..6] == [0, 0] && bytes[7] >= 2;
    (current && bytes[9] != 0xff).then(|| i16::from(bytes[9]))
}

/// Returns the value of a parameter in log page `code` (SPC-4, 7.3.2).
fn parameter(bytes: &[u8; PAGE_BYTES], code: u8, number: u16) -> Option<&[u8]> {
    if bytes[0] & 0x3f != code {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
    let mut rest = bytes.get(4..(4 + length).min(PAGE_BYTES))?;
    loop {
        let (head, values) = rest.split_at_checked(4)?;
        let (value, after) = values.split_at_checked(usize::from(head[3]))?;
        if u16::from_be_bytes([head[0], head[1]]) == number {
            return Some(value);
        }
        rest = after;
    }
}

/// Returns the used endurance in percent from log page 11h (SBC-4, table 190).
pub(crate) fn endurance_used(bytes: &[u8; PAGE_BYTES]) -> Option<u8> {
    parameter(bytes, 0x11, 1)?.last().copied()
}

/// Returns the total number of uncorrected errors from an error counter page (SPC-4, table 366).
pub(crate) fn total_uncorrected(bytes: &[u8; PAGE_BYTES], code: u8) -> Option<u64> {
    let value = parameter(bytes, code, 6)?;
    let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    (1..=8).contains(&value.len()).then(|| value.iter().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(content: &[u8]) -> [u8; PAGE_BYTES] {
        std::array::from_fn(|i| content.get(i).copied().unwrap_or(0))
    }

    #[test]
    fn inquiry_and_serial() {
        let inquiry = Inquiry::decode(&page(b"\0\0\x05\x02\x1f\0\0\0QEMU    QEMU HARDDISK   2.5+"));
        assert_eq!((inquiry.device_type, inquiry.vendor.as_deref()), (0, Some("QEMU")));
        assert_eq!(
            (inquiry.product.as_deref(), inquiry.revision.as_deref()),
            (Some("QEMU HARDDISK"), Some("2.5+"))
        );
        assert_eq!(serial(&page(b"\0\x80\0\x08SCSI0001")).as_deref(), Some("SCSI0001"));
        assert_eq!(serial(&page(b"\0\x81\0\x08SCSI0001")), None);
        assert!(serial(&page(b"\0\x80\xff\xffX")).is_some(), "a length beyond the page is truncated");
    }

    #[test]
    fn the_unit_is_used_instead_of_the_port() {
        let port = [1, 0x93, 0, 8, 9, 9, 9, 9, 9, 9, 9, 9];
        let unit = [1, 3, 0, 8, 0x50, 0, 0, 0, 0, 0, 0, 1];
        let list = [&[0, 0x83, 0, 24][..], &port, &unit].concat();
        assert_eq!(world_wide_name(&page(&list)).as_deref(), Some("5000000000000001"));
        assert_eq!(world_wide_name(&page(&[0, 0x83, 0, 4, 1, 3, 0, 200])), None);
    }

    #[test]
    fn rotation_and_capacity() {
        assert_eq!(rotation(&page(&[0, 0xb1, 0, 60, 0, 1])), Some(Rotation::SolidState));
        assert_eq!(rotation(&page(&[0, 0xb1, 0, 60, 0x1c, 0x20])), Some(Rotation::PerMinute(7200)));
        let mut bytes = [0; CAPACITY_BYTES];
        (bytes[7], bytes[10], bytes[13], bytes[14]) = (0xff, 2, 3, 0xc0);
        let capacity = Capacity::decode(&bytes);
        assert_eq!((capacity.blocks, capacity.block_bytes), (256, 512), "the last block is block 255");
        assert_eq!((capacity.physical_block_bytes, capacity.unmaps), (4096, true));
        assert_eq!(Capacity::decode(&[0xff; CAPACITY_BYTES]).blocks, 1 << 64);
    }

    #[test]
    fn only_one_bit_of_the_caching_page_is_changed() {
        let mut sense = page(&[0, 34, 0, 0, 0, 0, 0, 8]);
        sense[16..36].copy_from_slice(&[0x88, 18, 0b101, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
        let caching = CachingPage::decode(&sense).expect("a caching page");
        assert!(caching.write_cache_on);
        let list = caching.selecting(false);
        assert_eq!(&list[..12], [0, 0, 0, 0, 0, 0, 0, 0, 0x08, 18, 0b001, 7]);
        assert_eq!((list.len(), list[27]), (28, 9));
        assert_eq!(caching.selecting(true)[10], 0b101);
        assert_eq!(CachingPage::decode(&page(&[0, 6, 0, 0, 0, 0, 0, 0])), None);
    }

    #[test]
    fn supported_commands_and_temperature() {
        assert_eq!(supports(&page(&[0, 3])), Some(true));
        assert_eq!(supports(&page(&[0, 1])), Some(false));
        assert_eq!(supports(&page(&[0, 0])), None);
        assert_eq!(temperature(&page(&[0x0d, 0, 0, 12, 0, 0, 3, 2, 0, 38])), Some(38));
        assert_eq!(temperature(&page(&[0x0d, 0, 0, 12, 0, 0, 3, 2, 0, 255])), None);
    }

    proptest! {
        #[test]
        fn arbitrary_responses_cause_no_panic(bytes in proptest::collection::vec(any::<u8>(), PAGE_BYTES), code in 0usize..4) {
            let mut page: [u8; PAGE_BYTES] = bytes[..].try_into().expect("that many");
            page[1] = [0x80, 0x83, 0xb1, page[1]][code];
            let _ = (Inquiry::decode(&page), serial(&page), world_wide_name(&page), rotation(&page));
            let _ = (supports(&page), temperature(&page));
            page[0] = [0x02, 0x03, 0x11, page[0]][code];
            let _ = (endurance_used(&page), total_uncorrected(&page, page[0] & 0x3f));
            if let Some(caching) = CachingPage::decode(&page) {
                prop_assert!(caching.selecting(true).len() <= PAGE_BYTES + 8);
            }
            let capacity: [u8; CAPACITY_BYTES] = page[..CAPACITY_BYTES].try_into().expect("that many");
            prop_assert!(Capacity::decode(&capacity).blocks >= 1);
        }
    }
}
