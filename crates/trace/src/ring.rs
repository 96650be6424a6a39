//! Block layer events in pages of the kernel's trace ring buffer (`trace_pipe_raw`). Their times are in
//! nanoseconds, and the kernel does not format them.
//!
//! `events/header_page` and `events/header_event` define the layout of a page; an event's `format` file defines the
//! layout of the event.

use crate::formats::op_of_letters;
use crate::{Io, Op};

const SECTOR: u64 = 512;
/// Header of a page: its time and the length of its events.
const PAGE_HEAD: usize = 16;
const LENGTH_MASK: u64 = (1 << 27) - 1;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Number of bits of the time in the first word of an event.
const DELTA_BITS: u32 = 27;

/// The meaning of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An I/O starts.
    Issue,
    /// An I/O ends.
    Complete,
    /// An issued I/O is put back into the queue, and will be issued again.
    Requeue,
}

/// The positions of an event's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventLayout {
    role: Role,
    id: u16,
    sector: usize,
    sectors: usize,
    letters: (usize, usize),
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When the event occurred.
    pub at_ns: u64,
    /// What the event means.
    pub role: Role,
    /// The I/O; its response time is unknown.
    pub io: Io,
}

impl EventLayout {
    /// Reads an event's `format` file; None if it lacks a field.
    #[must_use]
    pub fn of_format(text: &str, role: Role) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let field = |name: &str| {
            let line = text.lines().find(|line| {
                let declaration =
                    line.trim_start().strip_prefix("field:").and_then(|rest| rest.split(';').next());
                declaration.is_some_and(|declaration| {
                    let last = declaration.rsplit(' ').next().unwrap_or_default();
                    last.split('[').next() == Some(name)
                })
            })?;
            let number = |key: &str| {
                let part = line.split(';').find_map(|part| part.trim().strip_prefix(key))?;
                part.parse::<usize>().ok()
            };
            Some((number("offset:")?, number("size:")?))
        };
        let sized =
            |name: &str, size: usize| field(name).filter(|(_, found)| *found == size).map(|(at, _)| at);
        Some(Self {
            role,
            id,
            sector: sized("sector", 8)?,
            sectors: sized("nr_sector", 4)?,
            letters: field("rwbs")?,
        })
    }

    fn event(&self, at_ns: u64, data: &[u8]) -> Option<Event> {
        let (from, length) = self.letters;
        let letters = data.get(from..from.checked_add(length)?)?;
        let letters = letters.split(|byte| *byte == 0).next().unwrap_or_default();
        let op = op_of_letters(letters)?;
        let sector = u64::from_ne_bytes(data.get(self.sector..)?.first_chunk().copied()?);
        let sectors = u32::from_ne_bytes(data.get(self.sectors..)?.first_chunk().copied()?);
        // The sector of a flush is meaningless.
        let offset_bytes = if op == Op::Flush && sectors == 0 { 0 } else { sector.checked_mul(SECTOR)? };
        let length_bytes = sectors.checked_mul(SECTOR as u32)?;
        offset_bytes.checked_add(length_bytes.into())?;
        if self.role == Role::Issue && length_bytes == 0 && op != Op::Flush {
            return None;
        }
        let io = Io { issue_ns: at_ns, response_ns: None, offset_bytes, length_bytes, op };
        Some(Event { at_ns, role: self.role, io })
    }
}

/// Adds the events of a page to `out`. Events with other layouts, or without data, are skipped; reading a
/// damaged page ends at the damage.
pub fn events_of_page(page: &[u8], layouts: &[EventLayout], out: &mut Vec<Event>) {
    let word = |at: usize| Some(u32::from_ne_bytes(page.get(at..)?.first_chunk().copied()?));
    let long = |at: usize| Some(u64::from_ne_bytes(page.get(at..)?.first_chunk().copied()?));
    let (Some(mut now_ns), Some(commit)) = (long(0), long(8)) else { return };
    let end = page.len().min(PAGE_HEAD + (commit & LENGTH_MASK) as usize);
    let mut at = PAGE_HEAD;
    while at + 4 <= end {
        let Some(head) = word(at) else { return };
        let (kind, delta) = (head & 0x1f, u64::from(head >> 5));
        let next = word(at + 4);
        let (data, length) = match kind {
            TIME_EXTEND | TIME_STAMP => {
                let Some(high) = next else { return };
                let time = u64::from(high) << DELTA_BITS | delta;
                now_ns = if kind == TIME_STAMP { time } else { now_ns.wrapping_add(time) };
                at += 8;
                continue;
            }
            PADDING if delta == 0 => return,
            PADDING | 0 => {
                let Some(length) = next else { return };
                (at + 8, (length as usize).saturating_sub(4))
            }
            words => (at + 4, words as usize * 4),
        };
        now_ns = now_ns.wrapping_add(delta);
        let data_end = data.saturating_add(length);
        if data_end > end {
            return;
        }
        let bytes = &page[data..data_end];
        let id = bytes.first_chunk().map(|id| u16::from_ne_bytes(*id));
        if kind != PADDING
            && let Some(layout) = layouts.iter().find(|layout| Some(layout.id) == id)
        {
            out.extend(layout.event(now_ns, bytes));
        }
        at = data_end.next_multiple_of(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;\n";

    fn data(id: u16, sector: u64, sectors: u32, letters: &str) -> Vec<u8> {
        let mut data = vec![0; 40];
        data[..2].copy_from_slice(&id.to_ne_bytes());
        data[16..24].copy_from_slice(&sector.to_ne_bytes());
        data[24..28].copy_from_slice(&sectors.to_ne_bytes());
        data[28..28 + letters.len()].copy_from_slice(letters.as_bytes());
        data
    }

    fn page(start_ns: u64, parts: &[(u32, u32, &[u8])]) -> Vec<u8> {
        let mut events = Vec::new();
        for (kind, delta, data) in parts {
            events.extend((kind | delta << 5).to_ne_bytes());
            events.extend(*data);
        }
        let mut page = start_ns.to_ne_bytes().to_vec();
        page.extend((events.len() as u64 | 1 << 31).to_ne_bytes());
        page.extend(events);
        page.resize(4096, 0);
        page
    }

    #[test]
    fn events_are_read_with_their_times() {
        let layout = EventLayout::of_format(FORMAT, Role::Issue).expect("all fields");
        let (first, second, other) = (data(2104, 8, 8, "WS"), data(2104, 64, 16, "R"), data(7, 0, 8, "W"));
        let mut long = 44u32.to_ne_bytes().to_vec();
        long.extend(&second);
        let page = page(
            1000,
            &[
                (10, 5, &first),
                (10, 5, &other),
                (TIME_EXTEND, 3, &1u32.to_ne_bytes()),
                (0, 7, &long),
                (PADDING, 0, &[]),
            ],
        );
        let mut events = Vec::new();
        events_of_page(&page, &[layout], &mut events);
        let found: Vec<_> =
            events.iter().map(|event| (event.at_ns, event.io.op, event.io.offset_bytes)).collect();
        assert_eq!(found, [(1005, Op::Write, 4096), (1020 + (1 << 27), Op::Read, 32_768)]);
        assert_eq!(events[1].io.length_bytes, 8192);
    }

    #[test]
    fn no_page_causes_a_panic() {
        let layout = EventLayout::of_format(FORMAT, Role::Issue).expect("all fields");
        let whole =
            page(0, &[(10, 5, &data(2104, u64::MAX, u32::MAX, "W")), (28, 1, &data(2104, 1, 1, "R"))]);
        let mut rng = stdx::Rng::from_seed(1);
        for _ in 0..20_000 {
            let mut changed = whole[..rng.below(128) as usize].to_vec();
            for _ in 0..4 {
                if !changed.is_empty() {
                    let place = rng.below(changed.len() as u64) as usize;
                    changed[place] = rng.next_u64() as u8;
                }
            }
            events_of_page(&changed, &[layout], &mut Vec::new());
        }
        assert_eq!(EventLayout::of_format("ID: 1\n", Role::Issue), None);
    }
}
