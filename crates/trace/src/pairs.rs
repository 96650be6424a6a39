//! Pairs the events of a tracer: an I/O starts with its issue and ends with its completion.

use std::collections::{HashMap, VecDeque};

use crate::{Io, Op};

/// Maximum number of I/Os that wait for their completion. When it is exceeded, the oldest I/O is passed on without
/// a completion.
const WINDOW: usize = 1 << 16;

/// State of an I/O that was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outstanding,
    Completed,
    /// It was put back into the queue, and is not part of the trace; it will be issued again.
    Requeued,
}

/// I/Os in issue order, starting with the oldest one that has not been passed on.
#[derive(Default)]
pub struct Pairs {
    waiting: VecDeque<(Io, State)>,
    /// Number of the first waiting I/O, counted over the whole trace.
    first: u64,
    outstanding: HashMap<(u64, Op), VecDeque<u64>>,
    /// Completions without a matching issue, for example because the I/O was issued before the trace began.
    pub unmatched: u64,
}

impl Pairs {
    /// Adds an issued I/O. Returns the oldest one if too many are waiting.
    pub fn issue(&mut self, io: Io) -> Option<Io> {
        let number = self.first + self.waiting.len() as u64;
        self.outstanding.entry((io.offset_bytes, io.op)).or_default().push_back(number);
        self.waiting.push_back((io, State::Outstanding));
        if self.waiting.len() <= WINDOW {
            return None;
        }
        self.pop()
    }

    /// Completes the oldest outstanding I/O with this offset and operation.
    pub fn complete(&mut self, at_ns: u64, offset_bytes: u64, op: Op) {
        let Some(number) = self.take(offset_bytes, op, VecDeque::pop_front) else {
            self.unmatched += 1;
            return;
        };
        if let Some((io, state)) = self.numbered(number) {
            io.response_ns = Some(at_ns.saturating_sub(io.issue_ns));
            *state = State::Completed;
        }
    }

    /// Removes the most recent outstanding I/O with this offset and operation: a driver that is busy puts back what it was
    /// just given.
    pub fn requeue(&mut self, offset_bytes: u64, op: Op) {
        let number = self.take(offset_bytes, op, VecDeque::pop_back);
        if let Some((_, state)) = number.and_then(|number| self.numbered(number)) {
            *state = State::Requeued;
        }
    }

    /// Takes the number of one of the outstanding I/Os with this offset and operation.
    fn take(
        &mut self,
        offset_bytes: u64,
        op: Op,
        which: fn(&mut VecDeque<u64>) -> Option<u64>,
    ) -> Option<u64> {
        let queue = self.outstanding.get_mut(&(offset_bytes, op))?;
        let number = which(queue);
        if queue.is_empty() {
            self.outstanding.remove(&(offset_bytes, op));
        }
        number
    }

    fn numbered(&mut self, number: u64) -> Option<&mut (Io, State)> {
        self.waiting.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Returns the oldest I/O if it is complete.
    pub fn ready(&mut self) -> Option<Io> {
        self.skip_requeued();
        self.waiting.front().filter(|(_, state)| *state == State::Completed)?;
        self.pop()
    }

    /// Returns the oldest I/O, complete or not.
    pub fn pop(&mut self) -> Option<Io> {
        self.skip_requeued();
        let (io, state) = self.waiting.pop_front()?;
        if state == State::Outstanding
            && let Some(queue) = self.outstanding.get_mut(&(io.offset_bytes, io.op))
        {
            queue.retain(|number| *number != self.first);
            if queue.is_empty() {
                self.outstanding.remove(&(io.offset_bytes, io.op));
            }
        }
        self.first += 1;
        Some(io)
    }

    fn skip_requeued(&mut self) {
        while self.waiting.front().is_some_and(|(_, state)| *state == State::Requeued) {
            self.waiting.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(issue_ns: u64, offset_bytes: u64) -> Io {
        Io { issue_ns, response_ns: None, offset_bytes, length_bytes: 512, op: Op::Read }
    }

    #[test]
    fn each_completion_ends_the_oldest_io_of_its_offset() {
        let mut pairs = Pairs::default();
        for (at, offset) in [(10, 0), (11, 512), (12, 0)] {
            assert_eq!(pairs.issue(io(at, offset)), None);
        }
        pairs.complete(100, 512, Op::Read);
        assert_eq!(pairs.ready(), None);
        pairs.complete(105, 0, Op::Read);
        let responses: Vec<_> =
            std::iter::from_fn(|| pairs.ready()).map(|io| (io.issue_ns, io.response_ns)).collect();
        assert_eq!(responses, [(10, Some(95)), (11, Some(89))]);
        pairs.complete(106, 512, Op::Write);
        assert_eq!((pairs.unmatched, pairs.pop().map(|io| io.response_ns)), (1, Some(None)));
        assert!(pairs.outstanding.is_empty());
    }

    #[test]
    fn an_io_that_was_put_back_begins_with_its_last_issue() {
        let mut pairs = Pairs::default();
        pairs.requeue(0, Op::Read);
        for (at, offset) in [(10, 0), (11, 512), (12, 0)] {
            pairs.issue(io(at, offset));
        }
        // The newest of the two at offset 0, then the one at 512.
        pairs.requeue(0, Op::Read);
        pairs.requeue(512, Op::Read);
        pairs.issue(io(20, 512));
        pairs.complete(100, 0, Op::Read);
        pairs.complete(105, 512, Op::Read);
        let responses: Vec<_> =
            std::iter::from_fn(|| pairs.ready()).map(|io| (io.issue_ns, io.response_ns)).collect();
        assert_eq!(responses, [(10, Some(90)), (20, Some(85))]);
        assert_eq!((pairs.unmatched, pairs.pop(), pairs.outstanding.len()), (0, None, 0));
    }
}
