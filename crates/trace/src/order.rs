//! Sorts I/Os by issue time. Sources are almost sorted, so a window of fixed length suffices.

use std::collections::VecDeque;

use crate::Io;

/// Number of I/Os that are held back.
const WINDOW: usize = 4096;

/// I/Os that are held back until no earlier I/O can be expected.
#[derive(Default)]
pub struct Order {
    waiting: VecDeque<Io>,
    last_ns: u64,
    /// Number of I/Os that arrived after a later I/O had left the window. They get the time of that later I/O.
    pub moved: u64,
}

impl Order {
    /// Adds an I/O, and returns the I/O that leaves the window.
    #[inline]
    pub fn push(&mut self, io: Io) -> Option<Io> {
        if self.waiting.back().is_none_or(|last| last.issue_ns <= io.issue_ns) {
            self.waiting.push_back(io);
        } else {
            let place = self.waiting.partition_point(|other| other.issue_ns <= io.issue_ns);
            self.waiting.insert(place, io);
        }
        if self.waiting.len() > WINDOW { self.pop() } else { None }
    }

    /// Returns the earliest I/O.
    #[inline]
    pub fn pop(&mut self) -> Option<Io> {
        let mut io = self.waiting.pop_front()?;
        if io.issue_ns < self.last_ns {
            self.moved += 1;
            io.issue_ns = self.last_ns;
        }
        self.last_ns = io.issue_ns;
        Some(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;

    #[test]
    fn times_never_decrease() {
        let io =
            |issue_ns| Io { issue_ns, response_ns: None, offset_bytes: 0, length_bytes: 512, op: Op::Read };
        let mut order = Order::default();
        let mut out: Vec<u64> = Vec::new();
        for time in [30, 10, 20].into_iter().chain(31..6000).chain([5]) {
            out.extend(order.push(io(time)).map(|io| io.issue_ns));
        }
        out.extend(std::iter::from_fn(|| order.pop()).map(|io| io.issue_ns));
        assert_eq!((&out[..3], out.len(), order.moved), (&[10, 20, 30][..], 5973, 1));
        assert!(out.is_sorted());
    }
}
