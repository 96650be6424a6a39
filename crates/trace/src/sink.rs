//! Receives the I/Os read from lines and puts them in order.

use std::collections::BTreeMap;

use crate::order::Order;
use crate::pairs::Pairs;
use crate::{Io, Op};

/// Number of volumes whose I/Os are counted by name; all others are counted together.
const COUNTED_VOLUMES: usize = 1000;

/// Receives the I/Os and events that the lines contain.
pub struct Sink<'a> {
    pub state: &'a mut State,
}

/// I/Os that were read but are not yet part of the trace.
pub struct State {
    pub order: Order,
    pub pairs: Pairs,
    pub volumes: Volumes,
    /// I/Os whose position in the trace is known.
    pub ready: Vec<Io>,
    pub lost_events: u64,
    pub first_time: Option<u64>,
}

impl Sink<'_> {
    /// Returns the time of the first line minus a margin, for formats whose times do not fit into 64 bits as
    /// nanoseconds.
    pub fn origin(&mut self, time: u64, margin: u64) -> u64 {
        *self.state.first_time.get_or_insert(time.saturating_sub(margin))
    }

    /// If a volume was chosen by this abbreviation, chooses the first volume that has it.
    #[inline]
    pub fn abbreviated(&mut self, short: &[u8], volume: &[u8]) {
        let chosen = &mut self.state.volumes.chosen;
        if chosen.as_deref() == Some(short) {
            *chosen = Some(volume.to_vec());
        }
    }

    /// Adds a complete I/O.
    #[inline]
    pub fn io(&mut self, io: Io, volume: &[u8]) {
        let State { order, volumes, ready, .. } = self.state;
        if volumes.is_chosen(volume) {
            ready.extend(order.push(io));
        }
    }

    /// Adds the issue of an I/O.
    #[inline]
    pub fn issued(&mut self, io: Io, volume: &[u8]) {
        let State { order, pairs, volumes, ready, .. } = self.state;
        if volumes.is_chosen(volume) {
            let evicted = pairs.issue(io);
            ready.extend(evicted.and_then(|io| order.push(io)));
        }
    }

    /// Adds the completion of an I/O.
    #[inline]
    pub fn completed(&mut self, at_ns: u64, offset_bytes: u64, op: Op, volume: &[u8]) {
        let State { order, pairs, volumes, ready, .. } = self.state;
        if volumes.is_known(volume) {
            pairs.complete(at_ns, offset_bytes, op);
            while let Some(io) = pairs.ready() {
                ready.extend(order.push(io));
            }
        }
    }

    /// Removes the most recent issue of an I/O, which was put back into the queue and will be issued again.
    pub fn requeued(&mut self, offset_bytes: u64, op: Op, volume: &[u8]) {
        let State { order, pairs, volumes, ready, .. } = self.state;
        if volumes.is_known(volume) {
            pairs.requeue(offset_bytes, op);
            while let Some(io) = pairs.ready() {
                ready.extend(order.push(io));
            }
        }
    }

    /// Adds events that the tracer dropped.
    pub fn lost(&mut self, events: u64) {
        self.state.lost_events = self.state.lost_events.saturating_add(events);
    }
}

/// The chosen volume, and the others.
pub struct Volumes {
    pub chosen: Option<Vec<u8>>,
    pub skipped: u64,
    pub others: BTreeMap<Vec<u8>, u64>,
}

impl Volumes {
    #[inline]
    fn is_known(&self, volume: &[u8]) -> bool {
        self.chosen.as_deref() == Some(volume)
    }

    #[inline]
    fn is_chosen(&mut self, volume: &[u8]) -> bool {
        if self.is_known(volume) {
            return true;
        }
        if self.chosen.is_none() {
            self.chosen = Some(volume.to_vec());
            return true;
        }
        self.skipped += 1;
        if let Some(count) = self.others.get_mut(volume) {
            *count += 1;
        } else if self.others.len() < COUNTED_VOLUMES {
            self.others.insert(volume.to_vec(), 1);
        }
        false
    }
}
