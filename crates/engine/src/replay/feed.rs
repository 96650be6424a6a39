//! Passes I/Os to the playing thread in batches over a bounded channel, reusing their memory.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, TrySendError, channel, sync_channel};

use super::terms::{Due, Source};

/// Number of batches prepared in advance; an I/O is late if its batch is not ready in time.
const READY: usize = 16;

/// The receiving end.
pub struct Feed {
    receiver: Receiver<Vec<Due>>,
    returned: Sender<Vec<Due>>,
    batch: Vec<Due>,
    next: usize,
    at_end: bool,
}

/// The sending end.
pub struct Outlet {
    sender: SyncSender<Vec<Due>>,
    spare: Receiver<Vec<Due>>,
}

impl Feed {
    pub fn channels() -> (Outlet, Receiver<Vec<Due>>, Sender<Vec<Due>>) {
        let (sender, receiver) = sync_channel(READY);
        let (returned, spare) = channel();
        (Outlet { sender, spare }, receiver, returned)
    }

    pub fn new(receiver: Receiver<Vec<Due>>, returned: Sender<Vec<Due>>) -> Self {
        Self { receiver, returned, batch: Vec::new(), next: 0, at_end: false }
    }

    /// Waits for the first batch.
    pub fn begin(&mut self) {
        match self.receiver.recv() {
            Ok(batch) => self.batch = batch,
            Err(_) => self.at_end = true,
        }
    }

    /// Returns the next I/O; `None` if none is ready.
    #[inline]
    pub fn peek(&mut self) -> Option<Due> {
        if self.next == self.batch.len() && !self.at_end {
            self.refill();
        }
        self.batch.get(self.next).copied()
    }

    /// Removes the next I/O.
    #[inline]
    pub fn advance(&mut self) {
        self.next += 1;
    }

    /// Returns whether there are no more I/Os.
    pub fn is_over(&self) -> bool {
        self.at_end && self.next == self.batch.len()
    }

    #[cold]
    fn refill(&mut self) {
        match self.receiver.try_recv() {
            Ok(batch) => {
                // If the receiver no longer exists, the memory is freed here.
                let _ = self.returned.send(std::mem::replace(&mut self.batch, batch));
                self.next = 0;
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.at_end = true,
        }
    }
}

/// Sends all I/Os. Calls `goes_on` before each batch and, with `true` as its argument, while waiting for
/// room; `goes_on` returns whether to continue.
pub fn feed(source: &mut Source<'_>, outlet: Outlet, mut goes_on: impl FnMut(bool) -> bool) {
    loop {
        let mut batch = outlet.spare.try_recv().unwrap_or_default();
        batch.clear();
        source(&mut batch);
        if batch.is_empty() || !goes_on(false) {
            return;
        }
        loop {
            match outlet.sender.try_send(batch) {
                Ok(()) => break,
                Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(back)) => batch = back,
            }
            if !goes_on(true) {
                return;
            }
        }
    }
}
