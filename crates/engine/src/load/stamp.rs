//! Stamps: a header in each block of a verified load that identifies the block even if it is found in the
//! wrong place.
//!
//! The first 40 bytes of each block: a magic number, the offset of the write, the run, the sequence number of
//! the write to this offset, the length, a CRC32C of all this, and a CRC32C of the whole block except the checksum itself.
//! The rest of the block contains the workload's normal data. With the first checksum, a stamp is recognized even if only
//! a part of its block was read.

use super::stamp_run::StampRun;
use super::verify_report::Wrong;

/// Length of a stamp; a block is at least one sector long, so a stamp always fits.
const STAMP_BYTES: usize = 40;
const MAGIC: u64 = u64::from_le_bytes(*b"PLATEAU\x01");
const HEAD_SUM_AT: usize = 32;
const SUM_AT: usize = 36;
/// A block begins at a multiple of this.
const SECTOR_BYTES: usize = 512;

/// Content of a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) offset_bytes: u64,
    /// Distinguishes blocks from different runs.
    pub(crate) run: u64,
    /// Sequence number of the write to this offset, starting at 1.
    pub(crate) write: u32,
    pub(crate) length_bytes: u32,
}

/// Result of reading a block's stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// A stamp with a matching checksum.
    Whole(Stamp),
    /// An intact stamp of a block of this length, of which only the beginning was read.
    Longer(u32),
    /// A stamp with a wrong checksum or length.
    Broken,
    /// No stamp.
    None,
}

/// Writes a stamp into a block; the block's other bytes are unchanged.
pub(crate) fn put(block: &mut [u8], offset_bytes: u64, run: u64, write: u32) {
    let length_bytes = block.len() as u32;
    block[..8].copy_from_slice(&MAGIC.to_le_bytes());
    block[8..16].copy_from_slice(&offset_bytes.to_le_bytes());
    block[16..24].copy_from_slice(&run.to_le_bytes());
    block[24..28].copy_from_slice(&write.to_le_bytes());
    block[28..32].copy_from_slice(&length_bytes.to_le_bytes());
    let head_sum = crc32c::crc32c(&block[..HEAD_SUM_AT]);
    block[HEAD_SUM_AT..SUM_AT].copy_from_slice(&head_sum.to_le_bytes());
    let sum = sum_of(block);
    block[SUM_AT..STAMP_BYTES].copy_from_slice(&sum.to_le_bytes());
}

fn sum_of(block: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&block[..SUM_AT]), &block[STAMP_BYTES..])
}

fn word(block: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"))
}

fn half(block: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"))
}

/// Reads the stamp at the start of `bytes`, which may be longer than its block.
pub(crate) fn read(bytes: &[u8]) -> Read {
    if bytes.len() < STAMP_BYTES || word(bytes, 0) != MAGIC {
        return Read::None;
    }
    let length = half(bytes, 28) as usize;
    if length > bytes.len() && crc32c::crc32c(&bytes[..HEAD_SUM_AT]) == half(bytes, HEAD_SUM_AT) {
        return Read::Longer(length as u32);
    }
    if length < STAMP_BYTES || length > bytes.len() || sum_of(&bytes[..length]) != half(bytes, SUM_AT) {
        return Read::Broken;
    }
    Read::Whole(Stamp {
        offset_bytes: word(bytes, 8),
        run: word(bytes, 16),
        write: half(bytes, 24),
        length_bytes: length as u32,
    })
}

/// Returns what is wrong with a block, given the stamp of the last write to it.
pub(crate) fn judge(block: &[u8], expected: &Stamp) -> Option<Wrong> {
    let written = expected.write;
    match read(block) {
        Read::Whole(found) if found == *expected => None,
        Read::Whole(found) if found.offset_bytes != expected.offset_bytes => {
            Some(Wrong::Misdirected { of_bytes: found.offset_bytes })
        }
        Read::Whole(found) if found.run != expected.run => Some(Wrong::Lost { found: 0, written }),
        Read::Whole(found) => Some(Wrong::Lost { found: found.write, written }),
        // An earlier run wrote longer blocks.
        Read::Longer(_) => Some(Wrong::Lost { found: 0, written }),
        // Blocks that were never written read as zeros.
        Read::None if block.iter().all(|byte| *byte == 0) => Some(Wrong::Lost { found: 0, written }),
        Read::Broken | Read::None => Some(Wrong::Corrupt),
    }
}

/// Returns whether a block is intact and was written by a workload other than the one with this stamp: by the load
/// `first_run` of this process or a later one.
pub(crate) fn is_of_another(block: &[u8], expected: &Stamp, first_run: u64) -> bool {
    let Read::Whole(found) = read(block) else { return false };
    let is_here = (found.offset_bytes, found.length_bytes) == (expected.offset_bytes, expected.length_bytes);
    // A block that the workload itself wrote must contain its last write.
    is_here && found.run != expected.run && StampRun::of_this_process().wrote_since(first_run, found.run)
}

/// What is known about a block whose writes are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judged {
    /// What is wrong with it, if anything.
    pub(crate) wrong: Option<Wrong>,
    /// Length of the block according to its stamp; `None` without an intact stamp.
    pub(crate) length_bytes: Option<u32>,
    /// Whether only a part of the block was read, so that it cannot be checked.
    pub(crate) is_longer: bool,
}

/// Judges the block at the start of `bytes`, given its offset and the run that must have written it.
pub(crate) fn judge_unknown(bytes: &[u8], offset_bytes: u64, expected: Option<StampRun>) -> Judged {
    let (wrong, length_bytes, is_longer) = match read(bytes) {
        Read::Whole(stamp) => {
            let is_expected = expected.is_none_or(|expected| expected.wrote(stamp.run));
            let wrong = match stamp.offset_bytes == offset_bytes {
                true => (!is_expected).then_some(Wrong::Lost { found: 0, written: 0 }),
                false => Some(Wrong::Misdirected { of_bytes: stamp.offset_bytes }),
            };
            (wrong, Some(stamp.length_bytes), false)
        }
        Read::Longer(length_bytes) => (None, Some(length_bytes), true),
        Read::Broken => (Some(Wrong::Corrupt), None, false),
        Read::None => (Some(Wrong::Unstamped), None, false),
    };
    Judged { wrong, length_bytes, is_longer }
}

/// Returns the length of the part of `bytes` that has no intact stamp: up to the next stamp, but at most `most_bytes`.
pub(crate) fn length_without_stamp(bytes: &[u8], most_bytes: u32) -> u32 {
    let most = bytes.len().min(most_bytes as usize);
    let is_stamp = |at: &usize| bytes[*at..].len() >= STAMP_BYTES && word(&bytes[*at..], 0) == MAGIC;
    (SECTOR_BYTES..most).step_by(SECTOR_BYTES).find(is_stamp).unwrap_or(most) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(length: usize, offset: u64, run: u64, write: u32) -> Vec<u8> {
        let mut block: Vec<u8> = (0..length).map(|i| (i * 31 % 251) as u8).collect();
        put(&mut block, offset, run, write);
        block
    }

    #[test]
    fn every_kind_of_damage_is_distinguished_from_the_others() {
        let expected = Stamp { offset_bytes: 8192, run: 5, write: 3, length_bytes: 4096 };
        let judged = |block: &[u8]| judge(block, &expected);
        assert_eq!(judged(&block(4096, 8192, 5, 3)), None);
        assert_eq!(judged(&block(4096, 8192, 5, 2)), Some(Wrong::Lost { found: 2, written: 3 }));
        assert_eq!(judged(&block(4096, 8192, 4, 3)), Some(Wrong::Lost { found: 0, written: 3 }));
        assert_eq!(judged(&[0; 4096]), Some(Wrong::Lost { found: 0, written: 3 }));
        assert_eq!(judged(&block(4096, 4096, 5, 3)), Some(Wrong::Misdirected { of_bytes: 4096 }));
        assert_eq!(judged(&[7; 4096]), Some(Wrong::Corrupt));
        let intact = |length| Judged { wrong: None, length_bytes: Some(length), is_longer: false };
        assert_eq!(judge_unknown(&block(512, 0, 1, 1), 0, None), intact(512));
        let run = StampRun::of_this_process();
        let ours = block(512, 0, StampRun::of_next_load(), 1);
        assert_eq!(judge_unknown(&ours, 0, Some(run)), intact(512));
        let lost = Judged { wrong: Some(Wrong::Lost { found: 0, written: 0 }), ..intact(512) };
        assert_eq!(judge_unknown(&block(512, 0, 1, 1), 0, Some(run)), lost);
        assert_eq!(judge_unknown(&[0; 512], 0, None).wrong, Some(Wrong::Unstamped));
        let longer = &block(65536, 0, 1, 1)[..4096];
        assert_eq!(judge_unknown(longer, 0, None), Judged { is_longer: true, ..intact(65536) });
        assert_eq!(judged(longer), Some(Wrong::Lost { found: 0, written: 3 }));
        let mut damaged = longer.to_vec();
        damaged[28] ^= 1;
        assert_eq!(judge_unknown(&damaged, 0, None).wrong, Some(Wrong::Corrupt), "the length may be wrong");
    }

    #[test]
    fn shared_blocks_may_be_of_any_workload_that_runs_at_the_same_time() {
        let earlier = StampRun::of_next_load();
        let (first, ours, other) =
            (StampRun::of_next_load(), StampRun::of_next_load(), StampRun::of_next_load());
        let expected = Stamp { offset_bytes: 8192, run: ours, write: 3, length_bytes: 4096 };
        for right in [block(4096, 8192, other, 9), block(4096, 8192, first, 1)] {
            assert!(is_of_another(&right, &expected, first));
        }
        let mut torn = block(4096, 8192, other, 9);
        torn[2048..].fill(1);
        for wrong in [
            torn,
            block(4096, 4096, other, 9),
            block(512, 8192, other, 9),
            block(4096, 8192, 5, 9),
            block(4096, 8192, earlier, 9),
            block(4096, 8192, ours, 2),
        ] {
            assert!(!is_of_another(&wrong, &expected, first));
        }
    }

    /// The check value of CRC32C for "123456789" (RFC 3720).
    #[test]
    fn the_sum_is_crc32c() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
    }

    proptest! {
        #[test]
        fn every_flipped_bit_is_detected(length in prop::sample::select(vec![512usize, 4096]), bit: u32) {
            let expected = Stamp { offset_bytes: 0, run: 1, write: 1, length_bytes: length as u32 };
            let mut damaged = block(length, 0, 1, 1);
            // The four bytes before the checksum are unused, but covered by it.
            let bit = bit as usize % (length * 8);
            damaged[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(judge(&damaged, &expected).is_some());
        }

        #[test]
        fn arbitrary_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), with_magic: bool) {
            let mut bytes = bytes;
            if with_magic && bytes.len() >= 8 {
                bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
            }
            prop_assert!(!matches!(read(&bytes), Read::Whole(_)));
        }
    }
}
