//! Read access for probes: returns the bytes at an offset, or `None`.

use std::io;
use std::os::unix::fs::FileExt;

use stdx::units::KIB;

/// Length cached at the start and at the end, where most signatures are; ZFS stores two labels of 256 KiB at each
/// end.
const EDGE_BYTES: u64 = 512 * KIB;

pub(super) struct View<'a> {
    device: &'a dyn FileExt,
    pub(super) capacity_bytes: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl<'a> View<'a> {
    /// # Errors
    /// Returns an error if either end of the device cannot be read.
    pub(super) fn new(device: &'a dyn FileExt, capacity_bytes: u64) -> io::Result<Self> {
        let length = EDGE_BYTES.min(capacity_bytes) as usize;
        let (mut head, mut tail) = (vec![0; length], vec![0; length]);
        device.read_exact_at(&mut head, 0)?;
        device.read_exact_at(&mut tail, capacity_bytes - length as u64)?;
        Ok(Self { device, capacity_bytes, head, tail })
    }

    /// Returns `None` beyond the end. An unreadable area in the middle is treated as empty, because nothing
    /// can be restored from an unreadable copy.
    pub(super) fn get<const N: usize>(&self, at_bytes: u64) -> Option<[u8; N]> {
        let end = at_bytes.checked_add(N as u64).filter(|&end| end <= self.capacity_bytes)?;
        let tail_start = self.capacity_bytes - self.tail.len() as u64;
        let mut bytes = [0; N];
        if end <= self.head.len() as u64 {
            bytes.copy_from_slice(&self.head[at_bytes as usize..end as usize]);
        } else if at_bytes >= tail_start {
            bytes.copy_from_slice(&self.tail[(at_bytes - tail_start) as usize..][..N]);
        } else {
            self.device.read_exact_at(&mut bytes, at_bytes).ok()?;
        }
        Some(bytes)
    }

    pub(super) fn has(&self, at_bytes: u64, magic: &[u8]) -> bool {
        let byte = |(offset, expected): (usize, &u8)| {
            at_bytes.checked_add(offset as u64).and_then(|at| self.byte(at)) == Some(*expected)
        };
        magic.iter().enumerate().all(byte)
    }

    pub(super) fn le16(&self, at_bytes: u64) -> Option<u16> {
        self.get(at_bytes).map(u16::from_le_bytes)
    }

    pub(super) fn le32(&self, at_bytes: u64) -> Option<u32> {
        self.get(at_bytes).map(u32::from_le_bytes)
    }

    pub(super) fn byte(&self, at_bytes: u64) -> Option<u8> {
        self.get::<1>(at_bytes).map(|[byte]| byte)
    }

    /// Returns the offset that is `bytes` before the end, with the capacity rounded down to whole `unit_bytes`.
    pub(super) fn before_end(&self, bytes: u64, unit_bytes: u64) -> Option<u64> {
        (self.capacity_bytes / unit_bytes * unit_bytes).checked_sub(bytes)
    }
}
