//! The payload of a block. Each I/O is a byte with flags, followed by the values that the flags do not imply:
//! the time since the previous I/O, the distance from the end of that I/O, the length and the response time.

use super::varint::{Encoded, folded, take, unfolded};
use crate::{Io, Op};

/// Largest number of I/Os in a block.
pub const BLOCK_IOS: usize = 16_384;

const OP: u8 = 0b11;
/// The I/O starts where the previous one ended.
const CONTINUES: u8 = 1 << 2;
/// The I/O has the same length as the previous I/O.
const SAME_LENGTH: u8 = 1 << 3;
const HAS_RESPONSE: u8 = 1 << 4;
const KNOWN: u8 = OP | CONTINUES | SAME_LENGTH | HAS_RESPONSE;

/// Each block can be decoded on its own: its first I/O is encoded relative to an I/O at time zero and offset
/// zero.
const START: Io = Io { issue_ns: 0, response_ns: None, offset_bytes: 0, length_bytes: 0, op: Op::Read };

pub fn encode(ios: &[Io], out: &mut Vec<u8>) {
    let mut previous = START;
    for io in ios {
        let distance = io.offset_bytes.wrapping_sub(end_of(&previous));
        let mut flags = io.op as u8;
        if distance == 0 {
            flags |= CONTINUES;
        }
        if io.length_bytes == previous.length_bytes {
            flags |= SAME_LENGTH;
        }
        if io.response_ns.is_some() {
            flags |= HAS_RESPONSE;
        }
        let mut one = Encoded::new(flags);
        one.put(io.issue_ns - previous.issue_ns);
        if distance != 0 {
            one.put(folded(distance));
        }
        if io.length_bytes != previous.length_bytes {
            one.put(io.length_bytes.into());
        }
        io.response_ns.iter().for_each(|response| one.put(*response));
        one.append_to(out);
        previous = *io;
    }
}

/// Decodes a block whose first I/O must not be issued before `from_ns`; None if the bytes are not a valid block.
pub fn decode(mut bytes: &[u8], count: usize, from_ns: u64, out: &mut Vec<Io>) -> Option<()> {
    out.clear();
    let mut previous = START;
    for _ in 0..count {
        let (&flags, rest) = bytes.split_first()?;
        bytes = rest;
        if flags & !KNOWN != 0 {
            return None;
        }
        let issue_ns = previous.issue_ns.checked_add(take(&mut bytes)?)?;
        let distance = if flags & CONTINUES != 0 { 0 } else { unfolded(take(&mut bytes)?) };
        let length_bytes = match flags & SAME_LENGTH {
            0 => u32::try_from(take(&mut bytes)?).ok()?,
            _ => previous.length_bytes,
        };
        let response_ns = if flags & HAS_RESPONSE == 0 { None } else { Some(take(&mut bytes)?) };
        previous = Io {
            issue_ns,
            response_ns,
            offset_bytes: end_of(&previous).wrapping_add(distance),
            length_bytes,
            op: Op::ALL[usize::from(flags & OP)],
        };
        out.push(previous);
    }
    let is_sorted = out.first().is_none_or(|first| first.issue_ns >= from_ns);
    (bytes.is_empty() && is_sorted).then_some(())
}

const fn end_of(io: &Io) -> u64 {
    io.offset_bytes.wrapping_add(io.length_bytes as u64)
}
