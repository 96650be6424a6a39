//! fio's I/O logs, versions 2 and 3 (`write_iolog`). In version 3, each line begins with a time in microseconds; in
//! version 2, elapsed time appears only in `wait` lines.

use super::fields::{io, number, spaced};
use super::format::{Bad, Format, Parse};
use crate::Op;
use crate::sink::Sink;

const VERSIONS: [&[u8]; 2] = [b"fio version 2 iolog", b"fio version 3 iolog"];

/// The format.
pub const FORMAT: Format = Format {
    name: "iolog",
    about: "fio's write_iolog, version 2 or 3",
    resolution_ns: 1000,
    recognizes: |line| VERSIONS.contains(&line),
    parser: || Box::new(IoLog { has_times: false, now_us: 0 }),
};

struct IoLog {
    has_times: bool,
    /// Version 2: the sum of the waits so far.
    now_us: u64,
}

impl Parse for IoLog {
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        if let Some(version) = VERSIONS.iter().position(|version| *version == line) {
            self.has_times = version == 1;
            return Ok(());
        }
        let mut fields = spaced(line);
        if self.has_times {
            self.now_us = number(fields.next().ok_or(Bad::Fields)?, "timestamp")?;
        }
        let (file, action) = (fields.next().ok_or(Bad::Fields)?, fields.next().ok_or(Bad::Fields)?);
        let op = match action {
            b"add" | b"open" | b"close" => return Ok(()),
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" => Op::Flush,
            b"wait" if self.has_times => return Err(Bad::Sequence),
            b"wait" => {
                let wait_us = number(fields.next().ok_or(Bad::Fields)?, "wait")?;
                self.now_us = self.now_us.checked_add(wait_us).ok_or(Bad::Field("wait"))?;
                return Ok(());
            }
            _ => return Err(Bad::Operation),
        };
        let time_ns = self.now_us.checked_mul(1000).ok_or(Bad::Field("timestamp"))?;
        let (offset, length) = match op {
            Op::Flush => (0, 0),
            _ => (
                number(fields.next().ok_or(Bad::Fields)?, "offset")?,
                number(fields.next().ok_or(Bad::Fields)?, "length")?,
            ),
        };
        sink.io(io(op, time_ns, Some(offset), Some(length))?, file);
        Ok(())
    }
}
