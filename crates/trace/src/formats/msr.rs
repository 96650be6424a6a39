//! Microsoft Research Cambridge (SNIA IOTTA 388): `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, with
//! times in units of 100 ns and sizes in bytes.

use super::fields::{comma, io, number};
use super::format::{Bad, Format, Parse};
use crate::sink::Sink;
use crate::{Io, Op};

/// The format.
pub const FORMAT: Format = Format {
    name: "msr",
    about: "Microsoft Research Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    resolution_ns: 100,
    recognizes: |line| {
        comma::<7>(line).is_some_and(|fields| fields[0] == b"Timestamp" || op(fields[3]).is_some())
    },
    parser: || Box::new(Msr { volume: Vec::new() }),
};

/// One hour: lines may precede the first one by up to this time, because files are not sorted.
const MARGIN: u64 = 36_000_000_000;

struct Msr {
    /// Name of the volume of a line, as in the names of the files: `usr_0`. Each host has a disk 0.
    volume: Vec<u8>,
}

fn op(word: &[u8]) -> Option<Op> {
    match word {
        b"Read" => Some(Op::Read),
        b"Write" => Some(Op::Write),
        _ => None,
    }
}

impl Parse for Msr {
    #[inline]
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let [time, host, disk, kind, offset, size, response] = comma(line).ok_or(Bad::Fields)?;
        if time == b"Timestamp" {
            return Ok(());
        }
        let ticks = |field, name| number(field, name)?.checked_mul(100).ok_or(Bad::Field(name));
        // Times count units of 100 ns since 1601; converted to nanoseconds, they fit into 64 bits only with a
        // later origin.
        let time = number(time, "Timestamp")?;
        let time = time.checked_sub(sink.origin(time, MARGIN)).ok_or(Bad::Field("Timestamp"))?;
        let time = time.checked_mul(100).ok_or(Bad::Field("Timestamp"))?;
        let offset = number(offset, "Offset")?;
        let op = op(kind).ok_or(Bad::Operation)?;
        let io = io(op, time, Some(offset), Some(number(size, "Size")?))?;
        let io = Io { response_ns: Some(ticks(response, "ResponseTime")?), ..io };
        self.volume.clear();
        for part in [host, b"_", disk] {
            self.volume.extend_from_slice(part);
        }
        sink.abbreviated(disk, &self.volume);
        sink.io(io, &self.volume);
        Ok(())
    }
}
