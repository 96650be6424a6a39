//! SPC trace format (UMass Financial and WebSearch): `ASU,LBA,Size,Opcode,Timestamp`, with an LBA in sectors, a size
//! in bytes and a time in seconds.

use super::fields::{SECTOR, comma, io, number};
use super::format::{Bad, Format, Parse};
use crate::Op;
use crate::numbers::seconds;
use crate::sink::Sink;

/// The format.
pub const FORMAT: Format = Format {
    name: "spc",
    about: "SPC: ASU,LBA,Size,Opcode,Timestamp, as in the UMass repository",
    resolution_ns: 1000,
    recognizes: |line| {
        comma::<5>(line).is_some_and(|fields| op(fields[3]).is_some() && seconds(fields[4]).is_some())
    },
    parser: || Box::new(Spc),
};

struct Spc;

fn op(word: &[u8]) -> Option<Op> {
    match word {
        b"R" | b"r" => Some(Op::Read),
        b"W" | b"w" => Some(Op::Write),
        _ => None,
    }
}

impl Parse for Spc {
    #[inline]
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [unit, lba, size, opcode, time] = comma(line).ok_or(Bad::Fields)?;
        let time = seconds(time).ok_or(Bad::Field("Timestamp"))?;
        let offset = number(lba, "LBA")?.checked_mul(SECTOR);
        let io = io(op(opcode).ok_or(Bad::Operation)?, time, offset, Some(number(size, "Size")?))?;
        sink.io(io, unit);
        Ok(())
    }
}
