//! A process that uses a file or device until it is ended: `stacks hold HOW PATH [FOLDER]`. It prints `ready`
//! as soon as it uses the file or device.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use super::kernel;

/// Ways in which another process uses a file or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    Flock,
    Posix,
    OpenFileDescription,
    Writing,
    Mapped,
    Claimed,
    /// Open for reading, because that conflicts with nothing.
    Reading,
    /// Mounted in a private mount namespace.
    Mounted,
}

pub const HOLDS: &[(Hold, &str)] = &[
    (Hold::Flock, "flock"),
    (Hold::Posix, "posix"),
    (Hold::OpenFileDescription, "ofd"),
    (Hold::Writing, "writing"),
    (Hold::Mapped, "mapped"),
    (Hold::Claimed, "claimed"),
    (Hold::Reading, "reading"),
    (Hold::Mounted, "mounted"),
];

/// The process; ended on drop.
pub struct Holder(Child);

impl Holder {
    pub fn start(hold: Hold, path: &Path, folder: Option<&Path>) -> io::Result<Self> {
        let name = HOLDS.iter().find(|(known, _)| *known == hold).expect("every hold has a name").1;
        let mut child = Command::new("/proc/self/exe")
            .args(["hold", name])
            .arg(path)
            .args(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        let holder = Self(child);
        BufReader::new(stdout).read_line(&mut line)?;
        if line.trim() == "ready" { Ok(holder) } else { Err(io::Error::other(line.trim().to_owned())) }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The process exits at the end of its input.
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

/// The main function of the process.
pub fn run(arguments: &[String]) -> ExitCode {
    let held = match arguments {
        [name, path, rest @ ..] => hold(name, Path::new(path), rest.first().map(Path::new)),
        _ => Err(io::Error::other("usage: hold HOW PATH [FOLDER]")),
    };
    match held {
        Ok(_held) => {
            println!("ready");
            drop(io::stdout().flush());
            drop(io::stdin().read_to_end(&mut Vec::new()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn hold(name: &str, path: &Path, folder: Option<&Path>) -> io::Result<Option<File>> {
    let hold = HOLDS.iter().find(|(_, known)| *known == name).ok_or(io::ErrorKind::InvalidInput)?.0;
    let open = || File::options().read(true).write(true).open(path);
    match hold {
        Hold::Reading => File::open(path).map(Some),
        Hold::Writing => open().map(Some),
        Hold::Claimed => File::options().read(true).custom_flags(libc::O_EXCL).open(path).map(Some),
        Hold::Mounted => {
            kernel::own_namespace()?;
            let at = folder.ok_or(io::ErrorKind::InvalidInput)?;
            kernel::mount(path, at, "ext4", libc::MS_RDONLY | libc::MS_NOATIME, "noload").map(|()| None)
        }
        Hold::Flock => {
            let file = File::open(path)?;
            rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockShared)?;
            Ok(Some(file))
        }
        Hold::Posix => locked(open()?, libc::F_SETLK),
        Hold::OpenFileDescription => locked(open()?, libc::F_OFD_SETLK),
        Hold::Mapped => {
            let file = open()?;
            // SAFETY: a new mapping of one page, to which no reference is created; it exists until the
            // process exits.
            let mapped = unsafe {
                let rights = libc::PROT_READ | libc::PROT_WRITE;
                libc::mmap(std::ptr::null_mut(), 4096, rights, libc::MAP_SHARED, file.as_raw_fd(), 0)
            };
            // The descriptor is closed; the mapping remains.
            if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(None) }
        }
    }
}

/// Locks one byte.
fn locked(file: File, how: libc::c_int) -> io::Result<Option<File>> {
    // SAFETY: a plain struct of integers, for which all zeros are a valid value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    (lock.l_type, lock.l_start, lock.l_len) = (libc::F_WRLCK as libc::c_short, 4096, 1);
    // SAFETY: both commands read one `struct flock`, which is valid during the call.
    match unsafe { libc::fcntl(file.as_raw_fd(), how, &raw const lock) } {
        0 => Ok(Some(file)),
        _ => Err(io::Error::last_os_error()),
    }
}
