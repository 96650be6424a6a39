//! Trims of several ranges with one NVMe command (Dataset Management).

use std::io;

use record::PathRemark;
use stdx::access::Access;

use super::buffers::Buffers;
use super::entry::BigEntry;
use super::operation::Operation;
use super::passthrough::{Command, Namespace, with_data};
use super::ring::Ring;
use super::{Shape, Slot, Sync};

/// NVM Command Set 1.0c, figure 21.
const DATASET_MANAGEMENT: u8 = 0x09;
/// Attribute of the command: deallocate (figure 42).
const DEALLOCATE: u32 = 1 << 2;
/// Length of a range (figure 43).
pub(crate) const RANGE_BYTES: usize = 16;

/// Deallocates ranges of a namespace.
pub(crate) struct Deallocate {
    command: Command,
    namespace: Namespace,
    /// Number of ranges, by slot.
    ranges: Box<[u16]>,
}

impl Operation for Deallocate {
    type Submission = BigEntry;
    type Target = Namespace;
    const REACHES_TARGET: bool = true;
    const NEEDS_A_TRIAL: bool = true;
    const MAY_BE_MERGED: bool = false;
    const FILLS_BUFFER: bool = false;

    fn new(
        ring: &Ring<BigEntry>,
        shape: &Shape,
        buffers: &Buffers,
        namespace: Namespace,
    ) -> io::Result<(Self, Vec<PathRemark>)> {
        let (command, remarks) = Command::new(ring, shape, buffers, namespace)?;
        Ok((Self { command, namespace, ranges: vec![0; shape.slots().into()].into() }, remarks))
    }

    fn put_range(&mut self, slot: Slot, index: u16, access: Access, buffer: &mut [u8]) {
        let at = usize::from(index) * RANGE_BYTES;
        buffer[at..at + RANGE_BYTES].copy_from_slice(&range(&self.namespace, access));
        self.ranges[usize::from(slot)] = index + 1;
    }

    fn entry(&self, slot: Slot, buffer: *mut u8, access: Access) -> BigEntry {
        if access.read {
            return self.command.entry(slot, buffer, access);
        }
        let ranges = self.ranges[usize::from(slot)];
        with_data(slot, deallocation(&self.namespace, buffer as u64, ranges))
    }

    fn sync_entry(&self, slot: Slot, sync: Sync) -> BigEntry {
        self.command.sync_entry(slot, sync)
    }

    fn result(result: i32, length_bytes: u32) -> i32 {
        Command::result(result, length_bytes)
    }
}

/// Returns a range of the command: attributes, number of blocks, and first block.
fn range(namespace: &Namespace, access: Access) -> [u8; RANGE_BYTES] {
    let mut bytes = [0; RANGE_BYTES];
    bytes[4..8].copy_from_slice(&(access.block_bytes >> namespace.block_shift).to_le_bytes());
    bytes[8..16].copy_from_slice(&(access.offset_bytes >> namespace.block_shift).to_le_bytes());
    bytes
}

/// Returns the command for the ranges at `address`, as a `struct nvme_uring_cmd`.
fn deallocation(namespace: &Namespace, address: u64, ranges: u16) -> [u8; 80] {
    assert!(namespace.writable, "the target was opened for reading only");
    assert!(ranges > 0, "there is a range");
    let mut bytes = [0; 80];
    bytes[0] = DATASET_MANAGEMENT;
    bytes[4..8].copy_from_slice(&namespace.number.to_ne_bytes());
    bytes[24..32].copy_from_slice(&address.to_ne_bytes());
    bytes[36..40].copy_from_slice(&(u32::from(ranges) * RANGE_BYTES as u32).to_ne_bytes());
    // The number of ranges is a 0's based value.
    bytes[40..44].copy_from_slice(&(u32::from(ranges) - 1).to_ne_bytes());
    bytes[44..48].copy_from_slice(&DEALLOCATE.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMESPACE: Namespace =
        Namespace { number: 3, block_shift: 9, writable: true, optional_commands: u16::MAX };

    #[test]
    fn a_range_counts_its_blocks_from_one() {
        let access = Access { read: false, block_bytes: 4096, offset_bytes: 0x1_0000_0200 * 512 };
        let expected = [0, 0, 0, 0, 8, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0];
        assert_eq!(range(&NAMESPACE, access), expected);
    }

    #[test]
    fn the_command_counts_its_ranges_from_zero() {
        let mut expected = [0; 80];
        expected[0] = 0x09;
        expected[4] = 3;
        expected[24..32].copy_from_slice(&0x1122_3344_5566_7788_u64.to_ne_bytes());
        expected[36..40].copy_from_slice(&128u32.to_ne_bytes());
        expected[40..44].copy_from_slice(&7u32.to_ne_bytes());
        expected[44..48].copy_from_slice(&4u32.to_ne_bytes());
        assert_eq!(deallocation(&NAMESPACE, 0x1122_3344_5566_7788, 8), expected);
    }

    #[test]
    #[should_panic(expected = "for reading only")]
    fn nothing_is_deallocated_through_a_target_that_was_opened_for_reading() {
        deallocation(&Namespace { writable: false, ..NAMESPACE }, 0, 1);
    }
}
