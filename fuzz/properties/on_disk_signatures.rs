//! Signatures on a target: with any bytes at any position of a large device, the search succeeds, and every signature
//! found is within the device.
//!
//! The input consists of a position in eight bytes (relative to the end if negative) and the bytes at that position;
//! all other bytes are zero.

use std::io;
use std::os::unix::fs::FileExt;

/// Capacities for which the labels at the end of a device are at different offsets.
const CAPACITIES_BYTES: [u64; 3] = [16 << 20, (64 << 20) + 512, 1 << 40];

struct Sparse<'a> {
    capacity_bytes: u64,
    parts: Vec<(u64, &'a [u8])>,
}

impl FileExt for Sparse<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.capacity_bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let buffer = &mut buffer[..length];
        buffer.fill(0);
        for &(at, bytes) in &self.parts {
            let (from, to) = (at.max(offset), (at + bytes.len() as u64).min(offset + length as u64));
            if from < to {
                let source = &bytes[(from - at) as usize..(to - at) as usize];
                buffer[(from - offset) as usize..(to - offset) as usize].copy_from_slice(source);
            }
        }
        Ok(length)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

pub fn check(bytes: &[u8]) {
    let Some((place, content)) = bytes.split_first_chunk::<8>() else { return };
    let place = i64::from_le_bytes(*place);
    for capacity_bytes in CAPACITIES_BYTES {
        let most = capacity_bytes.saturating_sub(content.len() as u64);
        // Negative positions count from the end.
        let at = if place < 0 {
            most.saturating_sub(place.unsigned_abs())
        } else {
            most.min(place.unsigned_abs())
        };
        let device = Sparse { capacity_bytes, parts: vec![(at, content)] };
        let found = device::untrusted::signatures(&device, capacity_bytes).expect("all of it can be read");
        for (start, length) in found {
            let end = start.checked_add(length);
            assert!(end.is_some_and(|end| end <= capacity_bytes), "{start} + {length} of {capacity_bytes}");
        }
    }
}
