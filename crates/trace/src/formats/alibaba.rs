//! Alibaba block traces: `device_id,opcode,offset,length,timestamp`, in bytes and microseconds.

use super::fields::{comma, io, number};
use super::format::{Bad, Format, Parse};
use crate::Op;
use crate::sink::Sink;

/// The format.
pub const FORMAT: Format = Format {
    name: "alibaba",
    about: "Alibaba block traces: device_id,opcode,offset,length,timestamp",
    resolution_ns: 1000,
    recognizes: |line| {
        comma::<5>(line).is_some_and(|fields| fields[0] == b"device_id" || op(fields[1]).is_some())
    },
    parser: || Box::new(Alibaba),
};

struct Alibaba;

fn op(word: &[u8]) -> Option<Op> {
    match word {
        b"R" => Some(Op::Read),
        b"W" => Some(Op::Write),
        _ => None,
    }
}

impl Parse for Alibaba {
    #[inline]
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [device, opcode, offset, length, time] = comma(line).ok_or(Bad::Fields)?;
        if device == b"device_id" {
            return Ok(());
        }
        let time = number(time, "timestamp")?.checked_mul(1000).ok_or(Bad::Field("timestamp"))?;
        let (offset, length) = (number(offset, "offset")?, number(length, "length")?);
        sink.io(io(op(opcode).ok_or(Bad::Operation)?, time, Some(offset), Some(length))?, device);
        Ok(())
    }
}
