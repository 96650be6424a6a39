//! A block device of this host as an [`Admin`].

use std::fmt::{self, Debug};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use admin::{Admin, AdminError, Data, Fault, NvmeCommand, ScsiAnswer};
use engine::Clock;

use crate::error::DriveError;
use crate::ioctl;

/// Alignment of memory for direct I/O.
const PAGE_BYTES: usize = 4096;
/// Interval at which the progress of a long command is checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Verifies that the device is still the one that may be erased. If the argument is `true`, also verifies
/// that the other namespaces of its NVMe subsystem are not in use.
type Recheck<'a> = Box<dyn Fn(bool) -> Result<(), DriveError> + 'a>;

/// An open block device; opened exclusively for commands that change it.
pub(crate) struct Kernel<'a> {
    fd: &'a OwnedFd,
    capacity_bytes: u64,
    clock: Clock,
    recheck: Recheck<'a>,
    log: QueryLog,
}

impl<'a> Kernel<'a> {
    pub(crate) fn new(fd: &'a OwnedFd, capacity_bytes: u64, clock: Clock, recheck: Recheck<'a>) -> Self {
        Self { fd, capacity_bytes, clock, recheck, log: QueryLog::default() }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    fn file(&self) -> io::Result<File> {
        self.fd.try_clone().map(File::from)
    }
}

/// Logs a command and its result.
fn logged<T, E: Debug>(what: fmt::Arguments<'_>, answer: Result<T, E>) -> Result<T, E> {
    log::info!("{}", outcome(what, &answer));
    answer
}

fn outcome<T, E: Debug>(what: fmt::Arguments<'_>, answer: &Result<T, E>) -> String {
    match answer {
        Ok(_) => format!("{what}: done"),
        Err(error) => format!("{what}: {error:?}"),
    }
}

/// A repeated query with the same result is logged once: a busy drive is queried about every second. All other
/// commands are logged each time.
#[derive(Debug, Default)]
struct QueryLog {
    last: String,
}

impl QueryLog {
    fn log(&mut self, line: String, is_query: bool) {
        if self.is_logged(&line, is_query) {
            log::info!("{line}");
            self.last = line;
        }
    }

    fn is_logged(&self, line: &str, is_query: bool) -> bool {
        !is_query || self.last != line
    }
}

/// Sends a command; returns the response and its log line.
fn sent(fd: BorrowedFd<'_>, command: &NvmeCommand, data: Data<'_>) -> (Result<u32, Fault>, String) {
    let answer = match ioctl::nvme_admin(fd, command, data) {
        Ok((0, result)) => Ok(result),
        Ok((status, _)) => Err(Fault::Nvme(status)),
        Err(error) => Err(Fault::Kernel(error)),
    };
    let NvmeCommand { opcode, namespace, cdw10_to_15, .. } = command;
    let what = format_args!("NVMe admin command {opcode:#04x} nsid {namespace} cdw10-15 {cdw10_to_15:x?}");
    let line = outcome(what, &answer);
    (answer, line)
}

impl Admin for Kernel<'_> {
    fn nvme(&mut self, command: &NvmeCommand, data: Data<'_>) -> Result<u32, Fault> {
        let is_query = matches!(data, Data::In(_));
        let (answer, line) = sent(self.fd(), command, data);
        self.log.log(line, is_query);
        answer
    }

    fn nvme_long(
        &mut self,
        command: &NvmeCommand,
        meanwhile: &mut dyn FnMut(&mut dyn Admin),
    ) -> Result<u32, Fault> {
        let fd: &OwnedFd = self.fd;
        let fd = fd.as_fd();
        std::thread::scope(|scope| {
            let (done, completed) = mpsc::channel();
            // Sending cannot fail: the receiver outlives the thread.
            scope.spawn(move || drop(done.send(sent(fd, command, Data::None))));
            loop {
                match completed.recv_timeout(LOOK_EVERY) {
                    Ok((answer, line)) => {
                        self.log.log(line, false);
                        return answer;
                    }
                    Err(RecvTimeoutError::Timeout) => meanwhile(self),
                    Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends before it ends"),
                }
            }
        })
    }

    fn scsi(&mut self, command: &[u8], data: Data<'_>, timeout: Duration) -> Result<ScsiAnswer, Fault> {
        let is_query = matches!(data, Data::In(_));
        let answer = ioctl::scsi(self.fd(), command, data, timeout).map_err(Fault::Kernel);
        let status = answer.as_ref().map_or(0, |answer| answer.status);
        let line = outcome(format_args!("SCSI command {command:02x?}, status {status:#04x}"), &answer);
        self.log.log(line, is_query);
        answer
    }

    fn discard(&mut self) -> Result<(), Fault> {
        let length_bytes = self.capacity_bytes;
        let answer = ioctl::discard(self.fd(), length_bytes).map_err(Fault::Kernel);
        logged(format_args!("discard of {length_bytes} B from 0"), answer)
    }

    fn write_zeroes(&mut self, start_bytes: u64, length_bytes: u64) -> Result<(), Fault> {
        let answer = ioctl::write_zeroes(self.fd(), start_bytes, length_bytes).map_err(Fault::Kernel);
        logged(format_args!("write zeroes of {length_bytes} B from {start_bytes}"), answer)
    }

    fn write(&mut self, at_bytes: u64, content: &[u8]) -> Result<(), Fault> {
        let mut memory = vec![0; content.len() + PAGE_BYTES];
        let aligned = aligned(&mut memory, content.len());
        aligned.copy_from_slice(content);
        self.file().and_then(|file| file.write_all_at(aligned, at_bytes)).map_err(Fault::Kernel)
    }

    fn read(&mut self, at_bytes: u64, content: &mut [u8]) -> Result<(), Fault> {
        let mut memory = vec![0; content.len() + PAGE_BYTES];
        let aligned = aligned(&mut memory, content.len());
        self.file().and_then(|file| file.read_exact_at(aligned, at_bytes)).map_err(Fault::Kernel)?;
        content.copy_from_slice(aligned);
        Ok(())
    }

    fn recheck(&mut self, all_namespaces: bool) -> Result<(), AdminError> {
        (self.recheck)(all_namespaces).map_err(|error| AdminError::Recheck(error.into()))
    }

    fn pause(&mut self, length: Duration) {
        std::thread::sleep(length);
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}

/// Returns `length` bytes of `memory`, starting at a page boundary.
fn aligned(memory: &mut [u8], length: usize) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(PAGE_BYTES);
    &mut memory[start..start + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_is_repeated_has_one_line() {
        let mut log = QueryLog::default();
        let commands = [("a: done", true), ("a: done", true), ("b: done", true), ("a: done", true)];
        let erasures = [("c: done", false), ("c: done", false)];
        let logged: Vec<bool> = commands
            .into_iter()
            .chain(erasures)
            .map(|(line, is_query)| {
                let is_logged = log.is_logged(line, is_query);
                log.log(line.to_owned(), is_query);
                is_logged
            })
            .collect();
        assert_eq!(logged, [true, false, true, true, true, true]);
    }
}
