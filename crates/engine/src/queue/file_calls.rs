//! Operations on the files of a folder, without data: one system call in the load thread for each file.
//!
//! Names are resolved in a folder that stays open, so that a folder that takes its place is not affected.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode, OFlags};
use stdx::access::Access;

use super::buffers::Buffers;
use super::stamps::Stamps;
use super::{Completion, Queue, Shape, Slot, Sync};
use crate::options::FileOperation;

/// One worker's queue.
pub(crate) struct FileCalls<'a> {
    operation: FileOperation,
    folder: BorrowedFd<'a>,
    names: &'a [CString],
    /// The I/O at `n` times this offset is the operation on file `n`.
    block_bytes: u32,
    stamps: Stamps,
    buffers: Buffers,
    pushed: VecDeque<(Slot, u64)>,
    finished: VecDeque<Completion>,
}

impl<'a> FileCalls<'a> {
    pub(crate) fn new(
        shape: Shape,
        operation: FileOperation,
        folder: BorrowedFd<'a>,
        names: &'a [CString],
    ) -> io::Result<Self> {
        let slots = usize::from(shape.slots());
        Ok(Self {
            operation,
            folder,
            names,
            block_bytes: shape.block_bytes,
            stamps: Stamps::of(shape.clock),
            buffers: Buffers::new(shape.slots(), shape.block_bytes)?,
            pushed: VecDeque::with_capacity(slots),
            finished: VecDeque::with_capacity(slots),
        })
    }

    fn perform(&mut self, slot: Slot, offset_bytes: u64) -> Completion {
        let number = (offset_bytes / u64::from(self.block_bytes)) as usize;
        let started_ns = self.stamps.start_ns();
        let answer = match self.names.get(number) {
            Some(name) => self.operation.perform(self.folder, name),
            None => Err(rustix::io::Errno::NOENT),
        };
        let done_ns = self.stamps.now_ns();
        let result = match answer {
            // The new file is closed after the time stamp, as in fio.
            Ok(_file) => self.block_bytes.cast_signed(),
            Err(errno) => -errno.raw_os_error(),
        };
        Completion { slot, result, started_ns, done_ns }
    }
}

impl FileOperation {
    /// Performs the operation. Returns the file, if it opened one.
    fn perform(
        self,
        folder: BorrowedFd<'_>,
        name: &CStr,
    ) -> rustix::io::Result<Option<std::os::fd::OwnedFd>> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match self {
            Self::Create => rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR).map(Some),
            Self::Stat | Self::StatFolder => rustix::fs::statat(folder, name, AtFlags::empty()).map(|_| None),
            Self::Delete => rustix::fs::unlinkat(folder, name, AtFlags::empty()).map(|()| None),
            Self::CreateFolder => rustix::fs::mkdirat(folder, name, Mode::RWXU).map(|()| None),
            Self::DeleteFolder => rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR).map(|()| None),
        }
    }
}

impl Queue for FileCalls<'_> {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        // SAFETY: the slice is `block_bytes` long and initialised (mmap returns zeros), nothing else has its
        // address, and the reference borrows `self`.
        unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) }
    }

    fn push(&mut self, slot: Slot, access: Access) {
        self.pushed.push_back((slot, access.offset_bytes));
    }

    /// Nothing is written, so nothing has to become durable. Workloads with syncs are rejected before.
    fn push_sync(&mut self, slot: Slot, _: Sync) {
        let now_ns = self.stamps.now_ns();
        self.finished.push_back(Completion { slot, result: 0, started_ns: now_ns, done_ns: now_ns });
    }

    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    /// Nothing to do here: `wait` performs everything.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        while let Some((slot, offset_bytes)) = self.pushed.pop_front() {
            let completion = self.perform(slot, offset_bytes);
            self.finished.push_back(completion);
        }
        Ok(())
    }

    fn wait_until(&mut self, until_ns: u64) -> io::Result<()> {
        if until_ns == u64::MAX || !self.pushed.is_empty() || !self.finished.is_empty() {
            return self.wait();
        }
        super::rest_until(&self.stamps, until_ns);
        Ok(())
    }

    fn reap(&mut self) -> Option<Completion> {
        self.finished.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn nothing_that_exists_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let fd = std::fs::File::open(folder.path()).expect("a folder");
        let perform = |operation: FileOperation, name: &CStr| operation.perform(fd.as_fd(), name).map(drop);
        perform(FileOperation::Create, c"a").expect("a new file");
        std::fs::write(folder.path().join("a"), b"kept").expect("a file");
        for operation in [FileOperation::Create, FileOperation::CreateFolder] {
            assert_eq!(perform(operation, c"a"), Err(rustix::io::Errno::EXIST));
        }
        assert_eq!(perform(FileOperation::DeleteFolder, c"a"), Err(rustix::io::Errno::NOTDIR));
        assert_eq!(perform(FileOperation::Stat, c"b"), Err(rustix::io::Errno::NOENT));
        assert_eq!(std::fs::read(folder.path().join("a")).expect("a file"), b"kept");
        perform(FileOperation::Delete, c"a").expect("deleted");
        perform(FileOperation::CreateFolder, c"b").expect("a new folder");
        perform(FileOperation::Stat, c"b").expect("a folder");
        perform(FileOperation::DeleteFolder, c"b").expect("deleted");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
