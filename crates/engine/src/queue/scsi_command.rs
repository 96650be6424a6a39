//! SCSI commands for accesses (SBC-4), and the meaning of their responses.

use record::{ScsiCommands, ScsiWrite};
use stdx::access::Access;

use crate::sg_io::SgAnswer;

/// Data of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    None,
    /// From the device, or to it: the whole access.
    Whole,
    /// One block, to the device.
    OneBlock,
}

/// A command descriptor block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    bytes: [u8; 16],
    length: usize,
    pub(super) transfer: Transfer,
}

/// Operation codes of the short and of the long form of a command.
const READ: [u8; 2] = [0x28, 0x88];
const WRITE: [u8; 2] = [0x2a, 0x8a];
const WRITE_AND_VERIFY: [u8; 2] = [0x2e, 0x8e];
const WRITE_SAME: [u8; 2] = [0x41, 0x93];
const VERIFY: [u8; 2] = [0x2f, 0x8f];
const SYNCHRONIZE_CACHE: u8 = 0x35;
/// Force unit access.
const FUA: u8 = 1 << 3;
/// No data-out buffer: the device writes zeros. Only in the long form.
const NDOB: u8 = 1;
/// Compare the data byte by byte, with all blocks or with each block.
const BYTCHK_ALL: u8 = 1 << 1;
const BYTCHK_ONE: u8 = 3 << 1;

impl Block {
    /// Returns the command for an access.
    pub(super) fn of(access: Access, sector_bytes: u32, commands: ScsiCommands) -> Self {
        let first = access.offset_bytes / u64::from(sector_bytes);
        let count = access.block_bytes / sector_bytes;
        // For some commands, a count of zero means all blocks up to the end.
        assert!(count > 0 && access.block_bytes.is_multiple_of(sector_bytes), "a whole number of blocks");
        assert!(access.offset_bytes.is_multiple_of(sector_bytes.into()), "the start of a block");
        let fua = |is_on: bool| if is_on { FUA } else { 0 };
        let (codes, flags, transfer) = match commands.write {
            _ if access.read => (READ, fua(commands.read_fua), Transfer::Whole),
            ScsiWrite::Write => (WRITE, fua(commands.write_fua), Transfer::Whole),
            ScsiWrite::WriteAndVerify => (WRITE_AND_VERIFY, 0, Transfer::Whole),
            ScsiWrite::WriteSame => (WRITE_SAME, 0, Transfer::OneBlock),
            ScsiWrite::WriteSameWithoutData => (WRITE_SAME, NDOB, Transfer::None),
            ScsiWrite::VerifyMedium => (VERIFY, 0, Transfer::None),
            ScsiWrite::VerifyData => (VERIFY, BYTCHK_ALL, Transfer::Whole),
            ScsiWrite::VerifyOneBlock => (VERIFY, BYTCHK_ONE, Transfer::OneBlock),
        };
        let is_short = commands.write != ScsiWrite::WriteSameWithoutData || access.read;
        let mut bytes = [0; 16];
        bytes[1] = flags;
        match (u32::try_from(first), u16::try_from(count)) {
            (Ok(first), Ok(count)) if is_short => {
                bytes[0] = codes[0];
                bytes[2..6].copy_from_slice(&first.to_be_bytes());
                bytes[7..9].copy_from_slice(&count.to_be_bytes());
                Self { bytes, length: 10, transfer }
            }
            _ => {
                bytes[0] = codes[1];
                bytes[2..10].copy_from_slice(&first.to_be_bytes());
                bytes[10..14].copy_from_slice(&count.to_be_bytes());
                Self { bytes, length: 16, transfer }
            }
        }
    }

    /// Returns the command that makes all completed writes durable.
    pub(super) fn sync() -> Self {
        let mut bytes = [0; 16];
        bytes[0] = SYNCHRONIZE_CACHE;
        Self { bytes, length: 10, transfer: Transfer::None }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

const GOOD: u8 = 0x00;
const BUSY: u8 = 0x08;
const RESERVATION_CONFLICT: u8 = 0x18;
const TASK_SET_FULL: u8 = 0x28;
/// Host status of a command without a response in time.
const TIME_OUT: u16 = 3;

/// Returns the number of bytes transferred or a negative error number, as the block layer would return it, so that errors
/// are counted in the same way for every engine.
pub(super) fn result(answer: SgAnswer, sense: &[u8], block: &Block, length_bytes: u32) -> i32 {
    let length_bytes = length_bytes.cast_signed();
    let missing_bytes = match block.transfer {
        Transfer::None => 0,
        Transfer::Whole => answer.residue_bytes.clamp(0, length_bytes),
        // Without the whole block, no block has received its data.
        Transfer::OneBlock if answer.residue_bytes > 0 => length_bytes,
        Transfer::OneBlock => 0,
    };
    let errno = match (answer.host_status, answer.status) {
        (0, GOOD) => return length_bytes - missing_bytes,
        (TIME_OUT, _) => libc::ETIMEDOUT,
        (0, BUSY | TASK_SET_FULL) => libc::EAGAIN,
        (0, RESERVATION_CONFLICT) => libc::EBADE,
        (0, _) => match sense_key(&sense[..answer.sense_bytes.min(sense.len())]) {
            // Recovered error: the data is correct.
            Some((0x1, _)) => return length_bytes - missing_bytes,
            // Medium error.
            Some((0x3, _)) => libc::ENODATA,
            // Illegal request: invalid operation code or field, or any other.
            Some((0x5, 0x20 | 0x24 | 0x26)) => libc::EOPNOTSUPP,
            Some((0x5, _)) => libc::EREMOTEIO,
            // Unit attention: the device was reset, or another host cleared its commands. It has not performed this
            // one. After any other, such as a medium that may have changed, it may not be the device that was checked.
            Some((0x6, 0x29 | 0x2f)) => libc::EAGAIN,
            // Data protect.
            Some((0x7, _)) => libc::EPERM,
            // Miscompare.
            Some((0xe, _)) => libc::EBADMSG,
            _ => libc::EIO,
        },
        _ => libc::EIO,
    };
    -errno
}

/// Returns the sense key and the additional sense code; `None` without sense data about this command. A deferred error
/// (71h, 73h) is one of an earlier command, and this one was not performed.
fn sense_key(sense: &[u8]) -> Option<(u8, u8)> {
    match sense.first()? & 0x7f {
        0x70 => Some((sense.get(2)? & 0xf, sense.get(12).copied().unwrap_or(0))),
        0x72 => Some((sense.get(1)? & 0xf, sense.get(2).copied().unwrap_or(0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(write: ScsiWrite, access: Access) -> Block {
        Block::of(access, 512, ScsiCommands { write, ..ScsiCommands::default() })
    }

    const ACCESS: Access = Access { read: false, block_bytes: 10240, offset_bytes: 0x0102_0304 * 512 };

    #[test]
    fn short_commands_have_their_fields_where_the_standard_puts_them() {
        for (write, code, flags, transfer) in [
            (ScsiWrite::Write, 0x2a, 0, Transfer::Whole),
            (ScsiWrite::WriteAndVerify, 0x2e, 0, Transfer::Whole),
            (ScsiWrite::WriteSame, 0x41, 0, Transfer::OneBlock),
            (ScsiWrite::VerifyMedium, 0x2f, 0, Transfer::None),
            (ScsiWrite::VerifyData, 0x2f, 0x02, Transfer::Whole),
            (ScsiWrite::VerifyOneBlock, 0x2f, 0x06, Transfer::OneBlock),
        ] {
            let block = block(write, ACCESS);
            assert_eq!(block.bytes(), [code, flags, 1, 2, 3, 4, 0, 0, 20, 0], "{write:?}");
            assert_eq!(block.transfer, transfer, "{write:?}");
        }
        let read = block(ScsiWrite::WriteSameWithoutData, Access { read: true, ..ACCESS });
        assert_eq!(read.bytes(), [0x28, 0, 1, 2, 3, 4, 0, 0, 20, 0]);
        assert_eq!(Block::sync().bytes(), [0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn long_commands_reach_every_block() {
        let far = Access { offset_bytes: 0x0102_0304_0506 * 512, ..ACCESS };
        for (write, code, flags) in [
            (ScsiWrite::Write, 0x8a, 0),
            (ScsiWrite::WriteAndVerify, 0x8e, 0),
            (ScsiWrite::WriteSame, 0x93, 0),
            (ScsiWrite::WriteSameWithoutData, 0x93, 0x01),
            (ScsiWrite::VerifyMedium, 0x8f, 0),
            (ScsiWrite::VerifyData, 0x8f, 0x02),
            (ScsiWrite::VerifyOneBlock, 0x8f, 0x06),
        ] {
            let bytes = [code, flags, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 20, 0, 0];
            assert_eq!(block(write, far).bytes(), bytes, "{write:?}");
        }
        // Only the long form has the flag.
        let near = block(ScsiWrite::WriteSameWithoutData, ACCESS);
        assert_eq!(near.bytes(), [0x93, 1, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 20, 0, 0]);
        assert_eq!(near.transfer, Transfer::None);
        // More blocks than the short form can express.
        let large = block(ScsiWrite::Write, Access { block_bytes: 65536 * 512, ..ACCESS });
        assert_eq!(large.bytes(), [0x8a, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn forced_unit_access_is_a_flag_of_reads_and_of_writes() {
        let commands = ScsiCommands { read_fua: true, write_fua: true, ..ScsiCommands::default() };
        for read in [true, false] {
            assert_eq!(Block::of(Access { read, ..ACCESS }, 512, commands).bytes()[1], 0x08);
        }
        let same = ScsiCommands { write: ScsiWrite::WriteSame, ..commands };
        assert_eq!(Block::of(ACCESS, 512, same).bytes()[1], 0);
    }

    #[test]
    #[should_panic(expected = "a whole number of blocks")]
    fn no_command_means_all_blocks() {
        block(ScsiWrite::WriteSame, Access { block_bytes: 0, ..ACCESS });
    }

    #[test]
    #[should_panic(expected = "the start of a block")]
    fn no_command_starts_within_a_block() {
        let access = Access { block_bytes: 4096, offset_bytes: 4096 + 512, ..ACCESS };
        Block::of(access, 4096, ScsiCommands::default());
    }

    #[test]
    fn blocks_have_the_length_of_the_disk() {
        let access = Access { block_bytes: 16384, offset_bytes: 3 * 4096, ..ACCESS };
        let write = Block::of(access, 4096, ScsiCommands::default());
        assert_eq!(write.bytes(), [0x2a, 0, 0, 0, 0, 3, 0, 0, 4, 0]);
        let far = Access { offset_bytes: 0x1_0000_0002 * 4096, ..access };
        let write = Block::of(far, 4096, ScsiCommands::default());
        assert_eq!(write.bytes(), [0x8a, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0]);
    }

    #[test]
    fn responses_become_lengths_and_error_numbers() {
        let whole = block(ScsiWrite::Write, ACCESS);
        let answer = SgAnswer { status: 2, host_status: 0, sense_bytes: 18, residue_bytes: 0 };
        let fixed = |key: u8, code: u8| {
            let mut sense = [0; 64];
            (sense[0], sense[2], sense[12]) = (0x70, key, code);
            result(answer, &sense, &whole, 10240)
        };
        for (key, code, errno) in [
            (0x3, 0x11, libc::ENODATA),
            (0x5, 0x20, libc::EOPNOTSUPP),
            (0x5, 0x21, libc::EREMOTEIO),
            (0x6, 0x29, libc::EAGAIN),
            (0x6, 0x28, libc::EIO),
            (0x6, 0x3f, libc::EIO),
            (0x7, 0x27, libc::EPERM),
            (0xe, 0x1d, libc::EBADMSG),
            (0x4, 0x44, libc::EIO),
        ] {
            assert_eq!(fixed(key, code), -errno, "{key:#x}");
        }
        assert_eq!(fixed(0x1, 0x17), 10240);
        let mut deferred = [0; 64];
        (deferred[0], deferred[2]) = (0x71, 0x1);
        assert_eq!(result(answer, &deferred, &whole, 10240), -libc::EIO);
        let mut descriptor = [0; 64];
        (descriptor[0], descriptor[1]) = (0x72, 0xe);
        assert_eq!(result(answer, &descriptor, &whole, 10240), -libc::EBADMSG);
        assert_eq!(result(answer, &[0; 64], &whole, 10240), -libc::EIO);
        let status = |status, host_status, residue_bytes| {
            let answer = SgAnswer { status, host_status, sense_bytes: 0, residue_bytes };
            result(answer, &[], &whole, 10240)
        };
        assert_eq!((status(0, 0, 0), status(0, 0, 512)), (10240, 9728));
        assert_eq!((status(0, 3, 0), status(0, 7, 0)), (-libc::ETIMEDOUT, -libc::EIO));
        assert_eq!((status(0x18, 0, 0), status(0x28, 0, 0)), (-libc::EBADE, -libc::EAGAIN));
        for (write, residue_bytes, expected) in [
            (ScsiWrite::WriteSame, 0, 10240),
            (ScsiWrite::WriteSame, 512, 0),
            (ScsiWrite::WriteSameWithoutData, 512, 10240),
        ] {
            let answer = SgAnswer { status: 0, host_status: 0, sense_bytes: 0, residue_bytes };
            assert_eq!(result(answer, &[], &block(write, ACCESS), 10240), expected, "{write:?}");
        }
    }
}
