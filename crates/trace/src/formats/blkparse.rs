//! Text output of blkparse, such as `8,0 3 1 0.000000000 697 D W 223490 + 8 [kjournald]`. I/Os begin with `D` (issued
//! to the driver) and end with `C`; after `R` (put back into the queue), they begin again. Other actions are skipped.

use super::fields::{SECTOR, io, number, spaced};
use super::format::{Bad, Format, Parse};
use super::rwbs;
use crate::Op;
use crate::numbers::seconds;
use crate::sink::Sink;

/// The format.
pub const FORMAT: Format = Format {
    name: "blkparse",
    about: "text output of blkparse: lines with actions D, R and C",
    resolution_ns: 1,
    recognizes: |line| {
        let mut fields = spaced(line);
        let (device, time) = (fields.next().unwrap_or_default(), fields.nth(2).unwrap_or_default());
        let is_digit_or_comma = |byte: &u8| byte.is_ascii_digit() || *byte == b',';
        device.contains(&b',')
            && device.iter().all(is_digit_or_comma)
            && time.contains(&b'.')
            && seconds(time).is_some()
    },
    parser: || Box::new(BlkParse),
};

struct BlkParse;

impl Parse for BlkParse {
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        let mut fields = spaced(line);
        let Some(device) = fields.next().filter(|field| field.first().is_some_and(u8::is_ascii_digit)) else {
            // The statistics at the end of the output.
            return Ok(());
        };
        let time = fields.nth(2).ok_or(Bad::Fields)?;
        let (action, letters) = match (fields.nth(1), fields.next()) {
            (Some(action), Some(letters)) => (action, letters),
            _ => return Err(Bad::Fields),
        };
        if !matches!(action, b"D" | b"C" | b"R") {
            return Ok(());
        }
        let time_ns = seconds(time).ok_or(Bad::Field("time"))?;
        let Some(op) = rwbs::op(letters) else { return Ok(()) };
        let Some(sector) = fields.next().filter(|field| field.first().is_some_and(u8::is_ascii_digit)) else {
            // A flush has no address; a command has bytes in brackets instead of an address.
            return Ok(());
        };
        let offset = number(sector, "sector")?.checked_mul(SECTOR);
        let count = match fields.next() {
            Some(b"+") => number(fields.next().ok_or(Bad::Fields)?, "sectors")?,
            _ => 0,
        };
        if action == b"C" {
            sink.completed(time_ns, offset.ok_or(Bad::Address)?, op, device);
        } else if action == b"R" {
            sink.requeued(offset.ok_or(Bad::Address)?, op, device);
        } else if count > 0 || op == Op::Flush {
            sink.issued(io(op, time_ns, offset, count.checked_mul(SECTOR))?, device);
        }
        Ok(())
    }
}
