//! Tencent CBS (SNIA IOTTA): `Timestamp,Offset,Size,IOType,VolumeID`, in seconds and sectors; 0 is a read, 1 a write.

use super::fields::{SECTOR, comma, io, number};
use super::format::{Bad, Format, Parse};
use crate::Op;
use crate::sink::Sink;

/// The format.
pub const FORMAT: Format = Format {
    name: "tencent",
    about: "Tencent CBS: Timestamp,Offset,Size,IOType,VolumeID, with times in whole seconds",
    resolution_ns: 1_000_000_000,
    recognizes: |line| {
        let is_number = |field: &[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
        comma::<5>(line).is_some_and(|fields| {
            fields[0] == b"Timestamp"
                || (fields[..3].iter().all(|field| is_number(field)) && op(fields[3]).is_some())
        })
    },
    parser: || Box::new(Tencent),
};

struct Tencent;

fn op(word: &[u8]) -> Option<Op> {
    match word {
        b"0" => Some(Op::Read),
        b"1" => Some(Op::Write),
        _ => None,
    }
}

impl Parse for Tencent {
    #[inline]
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, offset, size, kind, volume] = comma(line).ok_or(Bad::Fields)?;
        if time == b"Timestamp" {
            return Ok(());
        }
        let time = number(time, "Timestamp")?.checked_mul(1_000_000_000).ok_or(Bad::Field("Timestamp"))?;
        let offset = number(offset, "Offset")?.checked_mul(SECTOR);
        let size = number(size, "Size")?.checked_mul(SECTOR);
        sink.io(io(op(kind).ok_or(Bad::Operation)?, time, offset, size)?, volume);
        Ok(())
    }
}
