//! A file that belongs to a process that may be killed at any of its calls.

use std::ffi::{OsStr, OsString};
use std::io;

use record::storage::{Extent, Found, Stored};

use super::world::Process;

/// A file that belongs to a process that may have been killed.
#[derive(Debug)]
pub(super) struct Mortal {
    pub(super) inner: Box<dyn Stored>,
    pub(super) process: Process,
}

impl Stored for Mortal {
    fn read(&mut self, limit_bytes: u64) -> io::Result<Vec<u8>> {
        self.process.call()?;
        self.inner.read(limit_bytes)
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.process.call()?;
        self.inner.append(bytes)
    }
    fn rewrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.process.call()?;
        self.inner.rewrite(at, bytes)
    }
    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.process.call()?;
        self.inner.set_len(bytes)
    }
    fn sync_data(&mut self) -> io::Result<()> {
        self.process.call()?;
        self.inner.sync_data()
    }
    fn sync_all(&mut self) -> io::Result<()> {
        if self.process.call()?.syncs { self.inner.sync_all() } else { Ok(()) }
    }
    fn try_lock(&self) -> io::Result<bool> {
        self.process.call()?;
        self.inner.try_lock()
    }
    fn is_locked(&self) -> io::Result<bool> {
        self.inner.is_locked()
    }
    fn found(&self) -> io::Result<Found> {
        self.inner.found()
    }
    fn extent(&self) -> io::Result<Extent> {
        self.inner.extent()
    }
    fn names(&self) -> io::Result<Vec<OsString>> {
        self.inner.names()
    }
    fn look(&self, name: &OsStr) -> io::Result<Found> {
        self.inner.look(name)
    }
    fn create_file(&mut self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        self.process.call()?;
        self.inner.create_file(name)
    }
    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        self.process.call()?;
        self.inner.open_file(name)
    }
    fn remove_file(&mut self, name: &OsStr) -> io::Result<()> {
        self.process.call()?;
        self.inner.remove_file(name)
    }
}
