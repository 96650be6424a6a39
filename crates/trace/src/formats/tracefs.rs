//! Text of the kernel's tracefs (`trace`, `trace_pipe`, `trace-cmd report`) with the events `block_rq_issue`,
//! `block_rq_complete` and, if drivers put requests back into the queue, `block_rq_requeue`:
//! `kworker/1:2-99 [001] d..1. 12.345678: block_rq_issue: 252,0 W 4096 () 2048 + 8 be,0,4 [fio]`.

use super::fields::{SECTOR, io, number, spaced};
use super::format::{Bad, Format, Parse};
use super::rwbs;
use crate::Op;
use crate::numbers::{seconds, whole};
use crate::ring::Role;
use crate::sink::Sink;

const ISSUE: &[u8] = b"block_rq_issue:";
const COMPLETE: &[u8] = b"block_rq_complete:";
const REQUEUE: &[u8] = b"block_rq_requeue:";

/// The format.
pub const FORMAT: Format = Format {
    name: "tracefs",
    about: "text from the kernel's trace file, with block_rq_issue and block_rq_complete",
    resolution_ns: 1000,
    recognizes: |line| line.starts_with(b"# tracer:") || event(line).is_some(),
    parser: || Box::new(TraceFs),
};

struct TraceFs;

/// Returns the parts of a line before and after the event name, and what the event means.
fn event(line: &[u8]) -> Option<(&[u8], &[u8], Role)> {
    for (name, role) in [(ISSUE, Role::Issue), (COMPLETE, Role::Complete), (REQUEUE, Role::Requeue)] {
        if let Some(at) = memchr::memmem::find(line, name) {
            return Some((&line[..at], &line[at + name.len()..], role));
        }
    }
    None
}

/// Parses seconds with decimals, or the nanoseconds that clocks such as `mono` show with the `raw` option.
fn time(field: &[u8]) -> Option<u64> {
    let field = field.strip_suffix(b":")?;
    if field.contains(&b'.') { seconds(field) } else { whole(field) }
}

impl Parse for TraceFs {
    #[inline]
    fn line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        if let Some(count) = lost(line) {
            sink.lost(count);
            return Ok(());
        }
        let Some((before, after, role)) = event(line) else { return Ok(()) };
        let time_ns = spaced(before).last().and_then(time).ok_or(Bad::Field("time"))?;
        let mut fields = spaced(after);
        let device = fields.next().ok_or(Bad::Fields)?;
        let Some(op) = rwbs::op(fields.next().ok_or(Bad::Fields)?) else { return Ok(()) };
        if role == Role::Issue {
            number(fields.next().ok_or(Bad::Fields)?, "bytes")?;
        }
        // The bytes of a command in parentheses may contain spaces; the address is before the plus sign.
        let mut sector = fields.next().ok_or(Bad::Fields)?;
        let mut next = fields.next().ok_or(Bad::Fields)?;
        while next != b"+" {
            (sector, next) = (next, fields.next().ok_or(Bad::Fields)?);
        }
        let count = number(fields.next().ok_or(Bad::Fields)?, "sectors")?;
        if op == Op::Flush && count == 0 {
            // The sector of a flush is meaningless.
            sector = b"0";
        }
        let offset = number(sector, "sector")?.checked_mul(SECTOR);
        match role {
            Role::Complete => sink.completed(time_ns, offset.ok_or(Bad::Address)?, op, device),
            Role::Requeue => sink.requeued(offset.ok_or(Bad::Address)?, op, device),
            Role::Issue if count > 0 || op == Op::Flush => {
                sink.issued(io(op, time_ns, offset, count.checked_mul(SECTOR))?, device);
            }
            Role::Issue => {}
        }
        Ok(())
    }
}

/// Parses `CPU:1 [LOST 1234 EVENTS]`.
fn lost(line: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(line, b"[LOST ")?;
    let mut fields = spaced(&line[at + 6..]);
    let count = whole(fields.next()?)?;
    (fields.next()? == b"EVENTS]").then_some(count)
}
