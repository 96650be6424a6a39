//! Atomic writes (`RWF_ATOMIC`): whether a target supports those of a workload.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use record::Workload;

use super::not_atomic::NotAtomic;
use super::target::Target;
use crate::error::EngineError;

/// `STATX_WRITE_ATOMIC` (linux/stat.h), known since Linux 6.11.
const STATX_WRITE_ATOMIC: u32 = 0x0001_0000;
/// Length of `struct statx`.
const STATX_BYTES: usize = 256;
/// Offsets of `stx_mask`, `stx_atomic_write_unit_min` and `stx_atomic_write_unit_max` in it.
const MASK_AT: usize = 0;
const LEAST_AT: usize = 0xa8;
const MOST_AT: usize = 0xac;

/// The smallest and the largest atomic write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Limits {
    least_bytes: u32,
    most_bytes: u32,
}

impl Limits {
    /// Reads the limits from a `struct statx`; `None` if there are no atomic writes.
    fn of(statx: &[u8; STATX_BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_ne_bytes(statx[at..at + 4].try_into().expect("four bytes"));
        let limits = Self { least_bytes: word(LEAST_AT), most_bytes: word(MOST_AT) };
        let is_known = word(MASK_AT) & STATX_WRITE_ATOMIC != 0;
        Some(limits).filter(|limits| is_known && limits.most_bytes > 0)
    }

    /// Asks the kernel for the limits of a file or a block device.
    fn read(file: BorrowedFd<'_>) -> io::Result<Option<Self>> {
        let mut statx = [0; STATX_BYTES];
        // SAFETY: the kernel reads an empty path and writes at most one `struct statx`, for which there is room.
        let answer = unsafe {
            let (path, room) = (c"".as_ptr(), statx.as_mut_ptr());
            libc::syscall(
                libc::SYS_statx,
                file.as_raw_fd(),
                path,
                libc::AT_EMPTY_PATH,
                STATX_WRITE_ATOMIC,
                room,
            )
        };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(Self::of(&statx)) }
    }

    /// Checks the sizes and offsets of a workload.
    fn check(self, workload: &Workload) -> Result<(), NotAtomic> {
        let Self { least_bytes, most_bytes } = self;
        let writes =
            workload.kinds.iter().filter(|kind| kind.read_percent < 100).map(|kind| kind.block_bytes);
        let only = workload.kinds.is_empty().then_some(workload.block_bytes);
        let align = match workload.align_bytes {
            0 => workload.pattern().granule_bytes(),
            bytes => bytes.into(),
        };
        for block_bytes in writes.chain(only) {
            if !block_bytes.is_power_of_two() || !(least_bytes..=most_bytes).contains(&block_bytes) {
                return Err(NotAtomic::Size { block_bytes, least_bytes, most_bytes });
            }
            let is_aligned = |bytes: u64| bytes.is_multiple_of(block_bytes.into());
            let starts = [workload.range.start_bytes, workload.range.stride_bytes, align];
            let is_single = workload.range.segments == 1;
            if !(is_aligned(starts[0]) && (is_single || is_aligned(starts[1])) && is_aligned(starts[2])) {
                return Err(NotAtomic::Unaligned);
            }
        }
        Ok(())
    }
}

/// Checks that a target supports the atomic writes of a workload, if it has any. Changes nothing.
pub(crate) fn check_atomic(target: &Target<'_>, workload: &Workload) -> Result<(), EngineError> {
    let is_atomic = workload.commands.as_ref().is_some_and(|commands| commands.atomic);
    let Some(file) = target.fd.filter(|_| is_atomic && workload.writes()) else { return Ok(()) };
    let limits = || {
        if target.is_buffered {
            return Err(NotAtomic::Buffered);
        }
        Limits::read(file).map_err(NotAtomic::Unknown)?.ok_or(NotAtomic::None)
    };
    let checked = limits().and_then(|limits| limits.check(workload));
    checked.map_err(|why| EngineError::NotAtomic { target: target.name.to_owned(), why })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use record::{Commands, Range};

    use super::*;

    fn statx(mask: u32, least: u32, most: u32) -> [u8; STATX_BYTES] {
        let mut bytes = [0; STATX_BYTES];
        for (at, word) in [(MASK_AT, mask), (LEAST_AT, least), (MOST_AT, most)] {
            bytes[at..at + 4].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn limits_are_those_that_the_kernel_reports() {
        let limits = Limits { least_bytes: 512, most_bytes: 65536 };
        assert_eq!(Limits::of(&statx(STATX_WRITE_ATOMIC | 0x7ff, 512, 65536)), Some(limits));
        assert_eq!(Limits::of(&statx(0x7ff, 512, 65536)), None, "an older kernel");
        assert_eq!(Limits::of(&statx(STATX_WRITE_ATOMIC, 0, 0)), None, "no support");
        // procfs has no atomic writes on any kernel.
        let file = std::fs::File::open("/proc/self/stat").expect("a file");
        assert_eq!(Limits::read(file.as_fd()).expect("an answer"), None);
    }

    #[test]
    fn sizes_and_offsets_are_within_the_limits() {
        let limits = Limits { least_bytes: 4096, most_bytes: 65536 };
        let plain = Workload { read_percent: 0, ..crate::ceiling::workload(1, 1) };
        let commands = Some(Box::new(Commands { atomic: true, ..Commands::default() }));
        let of = |block_bytes, start_bytes, align_bytes| Workload {
            block_bytes,
            align_bytes,
            range: Range { start_bytes, ..Range::first(1 << 20) },
            commands: commands.clone(),
            ..plain.clone()
        };
        assert!(limits.check(&of(4096, 0, 0)).is_ok() && limits.check(&of(65536, 65536, 0)).is_ok());
        for block_bytes in [512, 12288, 131_072] {
            assert!(
                matches!(limits.check(&of(block_bytes, 0, 0)), Err(NotAtomic::Size { .. })),
                "{block_bytes}"
            );
        }
        for (start_bytes, align_bytes) in [(4096, 0), (0, 4096)] {
            let checked = limits.check(&of(8192, start_bytes, align_bytes));
            assert!(matches!(checked, Err(NotAtomic::Unaligned)), "{start_bytes} {align_bytes}");
        }
    }
}
