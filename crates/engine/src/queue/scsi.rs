//! SCSI commands (`SG_IO`), which bypass the block layer: one command at a time in the load thread, as fio's sg engine does
//! on block devices.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use record::ScsiCommands;
use rustix::fs::OFlags;
use stdx::access::Access;

use super::buffers::Buffers;
use super::scsi_command::{Block, Transfer, result};
use super::stamps::Stamps;
use super::{Completion, Queue, Shape, Slot, Sync};
use crate::sg_io::{SgData, sg_io};

/// As in fio.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A command with the length of its access, and whether it reads.
#[derive(Debug, Clone, Copy)]
struct Request {
    slot: Slot,
    block: Block,
    length_bytes: u32,
    read: bool,
}

/// One worker's queue.
pub(crate) struct Scsi<'a> {
    device: BorrowedFd<'a>,
    /// Whether the device was opened for writing. Checked here, because the kernel allows root to send any command
    /// through a file opened for reading.
    writable: bool,
    sector_bytes: u32,
    commands: ScsiCommands,
    stamps: Stamps,
    buffers: Buffers,
    block_bytes: u32,
    sense: [u8; 64],
    pushed: VecDeque<Request>,
    finished: VecDeque<Completion>,
}

impl<'a> Scsi<'a> {
    pub(crate) fn new(shape: Shape, device: BorrowedFd<'a>, commands: ScsiCommands) -> io::Result<Self> {
        let slots = usize::from(shape.slots());
        let flags = rustix::fs::fcntl_getfl(device)?;
        Ok(Self {
            device,
            writable: flags.intersects(OFlags::WRONLY | OFlags::RDWR),
            sector_bytes: rustix::fs::ioctl_blksszget(device)?,
            commands,
            stamps: Stamps::of(shape.clock),
            buffers: Buffers::new(shape.slots(), shape.block_bytes)?,
            block_bytes: shape.block_bytes,
            sense: [0; 64],
            pushed: VecDeque::with_capacity(slots),
            finished: VecDeque::with_capacity(slots),
        })
    }

    fn perform(&mut self, request: Request) -> Completion {
        let Request { slot, block, length_bytes, read } = request;
        let address = self.buffers.at(slot);
        let data = match block.transfer {
            Transfer::None => SgData::None,
            Transfer::Whole if read => SgData::In(address, length_bytes as usize),
            Transfer::Whole => SgData::Out(address, length_bytes as usize),
            Transfer::OneBlock => SgData::Out(address, self.sector_bytes as usize),
        };
        let started_ns = self.stamps.start_ns();
        // SAFETY: the buffer has room for the length, which `push` has checked and of which a sector is a part. The call
        // ends before anything else uses the buffer.
        let answer = unsafe { sg_io(self.device, block.bytes(), data, &mut self.sense, TIMEOUT) };
        let done_ns = self.stamps.now_ns();
        let result = match answer {
            Ok(answer) => result(answer, &self.sense, &block, length_bytes),
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        };
        Completion { slot, result, started_ns, done_ns }
    }
}

impl Queue for Scsi<'_> {
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        // SAFETY: the slice is `block_bytes` long and initialised (mmap returns zeros), nothing else has its
        // address, and the reference borrows `self`.
        unsafe { std::slice::from_raw_parts_mut(self.buffers.at(slot), self.buffers.block_bytes()) }
    }

    fn push(&mut self, slot: Slot, access: Access) {
        assert!(access.block_bytes <= self.block_bytes, "the buffer would overflow");
        assert!(access.read || self.writable, "the target was opened for reading only");
        let block = Block::of(access, self.sector_bytes, self.commands);
        let (length_bytes, read) = (access.block_bytes, access.read);
        self.pushed.push_back(Request { slot, block, length_bytes, read });
    }

    fn push_sync(&mut self, slot: Slot, _: Sync) {
        self.pushed.push_back(Request { slot, block: Block::sync(), length_bytes: 0, read: false });
    }

    fn stamps(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    /// Nothing to do here: `wait` performs everything.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        while let Some(request) = self.pushed.pop_front() {
            let completion = self.perform(request);
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
