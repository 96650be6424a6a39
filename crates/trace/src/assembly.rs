//! Writes a trace from issue and completion events while its I/Os are executed.

use std::io::Write;

use crate::file::{Origin, Summary, Writer};
use crate::order::Order;
use crate::pairs::Pairs;
use crate::ring::{Event, Role};
use crate::{Io, TraceError};

/// Writes I/Os with times relative to the first I/O.
pub struct Timed<W> {
    pub writer: Writer<W>,
    pub first_ns: Option<u64>,
}

impl<W: Write> Timed<W> {
    #[inline]
    pub fn push(&mut self, io: Io) -> Result<(), TraceError> {
        let first_ns = *self.first_ns.get_or_insert(io.issue_ns);
        self.writer.push(Io { issue_ns: io.issue_ns - first_ns, ..io })
    }
}

/// A trace being written.
pub struct Assembly<W> {
    pairs: Pairs,
    order: Order,
    timed: Timed<W>,
    issued: u64,
}

impl<W: Write> Assembly<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn new(output: W, origin: &Origin) -> Result<Self, TraceError> {
        let timed = Timed { writer: Writer::new(output, origin)?, first_ns: None };
        Ok(Self { pairs: Pairs::default(), order: Order::default(), timed, issued: 0 })
    }

    /// Returns the number of I/Os that were issued.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Adds an event. Events must arrive in chronological order.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn add(&mut self, event: &Event) -> Result<(), TraceError> {
        match event.role {
            Role::Issue => {
                self.issued += 1;
                let evicted = self.pairs.issue(event.io);
                self.pass(evicted)
            }
            Role::Complete => {
                self.pairs.complete(event.at_ns, event.io.offset_bytes, event.io.op);
                self.pass_ready()
            }
            Role::Requeue => {
                self.issued = self.issued.saturating_sub(1);
                self.pairs.requeue(event.io.offset_bytes, event.io.op);
                self.pass_ready()
            }
        }
    }

    fn pass_ready(&mut self) -> Result<(), TraceError> {
        while let Some(io) = self.pairs.ready() {
            self.pass(Some(io))?;
        }
        Ok(())
    }

    fn pass(&mut self, io: Option<Io>) -> Result<(), TraceError> {
        io.and_then(|io| self.order.push(io)).map_or(Ok(()), |io| self.timed.push(io))
    }

    /// Writes the remaining I/Os. Returns the output, the summary, and the number of completions without an issue
    /// event, such as those of I/Os that were issued before the first event.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(mut self, lost_events: u64) -> Result<(W, Summary, u64), TraceError> {
        while let Some(io) = self.pairs.pop() {
            self.pass(Some(io))?;
        }
        while let Some(io) = self.order.pop() {
            self.timed.push(io)?;
        }
        let (output, summary) = self.timed.writer.finish(lost_events, self.order.moved)?;
        Ok((output, summary, self.pairs.unmatched))
    }
}
