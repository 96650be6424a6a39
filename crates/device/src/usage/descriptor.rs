//! Facts about a regular file that the kernel reveals only through an open descriptor: whether it is open or locked
//! elsewhere, by any process or the kernel itself, in any namespace and under any name.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;

/// Sets the signal for a lease break (asm-generic/fcntl.h); the libc crate does not define it.
const F_SETSIG: libc::c_int = 10;

/// Whether an open file is also open elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    No,
    /// Opened by another process, or by the kernel for a loop device, a mount or an export.
    Open,
    /// The file system does not support leases, or this user lacks the permission.
    Unknown,
}

/// Requests a write lease, which the kernel grants only if the file is not open elsewhere, and releases it at once.
/// `file` must be this process's only descriptor for the file, and must not have been opened with `O_PATH`.
pub(crate) fn open_elsewhere(file: impl AsFd) -> Elsewhere {
    let fd = file.as_fd().as_raw_fd();
    // If the file were opened during the lease, SIGIO would kill this process; SIGURG is ignored by default.
    // SAFETY: F_SETSIG and F_SETLEASE take an int and do not access the memory of this process.
    let (signal, lease) = unsafe {
        (libc::fcntl(fd, F_SETSIG, libc::SIGURG), libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK))
    };
    if lease == 0 {
        // SAFETY: as above.
        let returned = unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK) };
        debug_assert!(signal == 0 && returned == 0, "a granted lease can be released");
        return Elsewhere::No;
    }
    match io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => Elsewhere::Open,
        _ => Elsewhere::Unknown,
    }
}

/// Returns whether other processes have a POSIX or OFD lock on any byte; `false` on file systems without locks.
pub(crate) fn locked_by_others(file: impl AsFd) -> bool {
    // SAFETY: `flock` is a plain structure of integers, for which all zeroes are valid.
    let mut lock: libc::flock64 = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: F_OFD_GETLK reads and writes one `flock64`, which is valid for it during the call.
    let result = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    result == 0 && lock.l_type != libc::F_UNLCK as libc::c_short
}

/// Returns whether the file is active swap space, on which the kernel refuses even an empty write.
pub(crate) fn is_swap(file: impl AsFd) -> bool {
    rustix::io::pwrite(file, &[], 0) == Err(Errno::TXTBSY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};

    #[test]
    fn another_descriptor_is_noticed_even_one_for_reading() {
        let named = tempfile::NamedTempFile::new().expect("a file");
        let path = named.path().to_owned();
        let _kept = named.into_temp_path();
        let open = || OpenOptions::new().read(true).write(true).open(&path).expect("a file");
        let own = open();
        if open_elsewhere(&own) == Elsewhere::Unknown {
            skips::skip!("the file system of {} knows no leases", path.display());
            return;
        }
        assert_eq!(open_elsewhere(&own), Elsewhere::No);
        let reader = File::open(&path).expect("a file");
        assert_eq!(open_elsewhere(&own), Elsewhere::Open);
        drop(reader);
        assert_eq!(open_elsewhere(&own), Elsewhere::No, "the lease was given back");
        let writer = open();
        assert_eq!(open_elsewhere(&own), Elsewhere::Open);
        drop(writer);
    }

    #[test]
    fn locks_of_others_are_noticed_and_own_ones_are_not() {
        let named = tempfile::NamedTempFile::new().expect("a file");
        let other = OpenOptions::new().read(true).write(true).open(named.path()).expect("a file");
        assert!(!locked_by_others(named.as_file()));
        // SAFETY: a structure of integers.
        let mut range: libc::flock64 = unsafe { std::mem::zeroed() };
        range.l_type = libc::F_RDLCK as libc::c_short;
        (range.l_start, range.l_len) = (100, 1);
        // SAFETY: F_OFD_SETLK reads one `flock64`.
        let locked = unsafe { libc::fcntl(other.as_raw_fd(), libc::F_OFD_SETLK, &raw const range) };
        assert_eq!(locked, 0, "{}", io::Error::last_os_error());
        assert!(locked_by_others(named.as_file()));
        assert!(!locked_by_others(&other));
        drop(other);
        // A process that another test is starting has a copy of the descriptor until it calls exec.
        let is_free = || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            !locked_by_others(named.as_file())
        };
        assert!((0..100).any(|_| is_free()));
    }
}
