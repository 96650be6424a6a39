//! The configuration and the secrets to which it refers, each in a file that no other user could have written.

use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use stdx::files::{Links, ReadError, open};

/// Size limit of a configuration.
const MOST_CONFIG_BYTES: u64 = 1 << 20;
/// Size limit of a secret.
const MOST_SECRET_BYTES: u64 = 4 << 10;
const OTHERS_MAY_WRITE: u32 = 0o022;
const OTHERS_MAY_READ: u32 = 0o044;
const ALL_MAY_READ: u32 = 0o004;
const ROOT: u32 = 0;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: ReadError,
    },
    /// The file belongs to another user.
    #[error("{} belongs to user {owner}; it must belong to user {acting} or to root", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// User id of the file's owner.
        owner: u32,
        /// Effective user id.
        acting: u32,
    },
    /// Other users can write to it.
    #[error("{0} can be changed by other users; `chmod go-w {0}` fixes this", path.display())]
    Writable {
        /// The file.
        path: PathBuf,
    },
    /// Other users can read a secret.
    #[error("{0} contains a secret and can be read by other users; `chmod {1} {0}` fixes this", path.display(), chmod)]
    Readable {
        /// The file.
        path: PathBuf,
        /// The `chmod` argument that fixes this.
        chmod: &'static str,
    },
    /// A secret's file does not exist.
    #[error(
        "the file of this secret does not exist; its option must contain the path of the file, not the secret itself"
    )]
    NoSecret,
    /// A secret is not one line of printable text.
    #[error("{} must contain one line of text without control characters", path.display())]
    NotOneLine {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a configuration, which names programs that are started with this process's privileges.
///
/// # Errors
/// Returns an error if the file cannot be read, or if another user could have written it.
pub fn read_config(path: &Path) -> Result<String, FileError> {
    read(path, MOST_CONFIG_BYTES, false)
}

/// Reads a secret: one line.
///
/// # Errors
/// Returns an error if the file cannot be read, if another user can read or write it, or if it is not one line.
pub fn read_secret(path: &Path) -> Result<String, FileError> {
    let text = read(path, MOST_SECRET_BYTES, true)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.is_empty() || line.chars().any(char::is_control) {
        return Err(FileError::NotOneLine { path: path.into() });
    }
    Ok(line.to_owned())
}

/// Checks a file with a secret that another program reads, such as a private key.
///
/// # Errors
/// Returns an error if the file cannot be read, or if another user can read or write it.
pub fn check_secret(path: &Path) -> Result<(), FileError> {
    read(path, MOST_CONFIG_BYTES, true).map(drop)
}

fn read(path: &Path, limit_bytes: u64, is_secret: bool) -> Result<String, FileError> {
    let failed = |source: ReadError| FileError::Read { path: path.into(), source };
    let opened = open(path, Links::Followed);
    if is_secret && matches!(&opened, Err(ReadError::System(error)) if is_absent(error)) {
        // The path may be the secret itself, which must not be printed.
        return Err(FileError::NoSecret);
    }
    let file = opened.map_err(failed)?;
    let found = file.metadata().map_err(|error| failed(error.into()))?;
    judge(path, found.uid(), found.mode(), rustix::process::geteuid().as_raw(), is_secret)?;
    let mut bytes = Vec::new();
    file.take(limit_bytes + 1).read_to_end(&mut bytes).map_err(|error| failed(error.into()))?;
    if bytes.len() as u64 > limit_bytes {
        return Err(failed(ReadError::TooLarge { limit_bytes }));
    }
    String::from_utf8(bytes).map_err(|_| failed(ReadError::NotText))
}

/// Returns whether no file has, or can have, this path.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
}

/// Decides whether a process of the user `acting` may use a file. Pure.
fn judge(path: &Path, owner: u32, mode: u32, acting: u32, is_secret: bool) -> Result<(), FileError> {
    if owner != acting && owner != ROOT {
        return Err(FileError::Foreign { path: path.into(), owner, acting });
    }
    if mode & OTHERS_MAY_WRITE != 0 {
        return Err(FileError::Writable { path: path.into() });
    }
    // Root gives a service access to a secret through the service's group or an access control list. The mask of such a
    // list appears as the group's mode. The rule depends only on the owner, so that root can test such a file.
    let (readers, chmod) = if owner == ROOT { (ALL_MAY_READ, "o=") } else { (OTHERS_MAY_READ, "go=") };
    if is_secret && mode & readers != 0 {
        return Err(FileError::Readable { path: path.into(), chmod });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    fn file(dir: &Path, text: &str, mode: u32) -> PathBuf {
        let path = dir.join("file");
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("our own");
        path
    }

    #[test]
    fn a_secret_is_one_line_that_only_its_owner_can_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let secret = |text: &str, mode| read_secret(&file(dir.path(), text, mode));
        assert_eq!(secret("pass word\n", 0o600).expect("a secret"), "pass word");
        assert_eq!(secret("p\r\n", 0o400).expect("a secret"), "p");
        for mode in [0o604, 0o644] {
            assert!(matches!(secret("p", mode), Err(FileError::Readable { .. })), "{mode:o}");
        }
        assert!(matches!(secret("p", 0o620), Err(FileError::Writable { .. })));
        for text in ["", "\n", "a\nb\n", "a\0"] {
            assert!(matches!(secret(text, 0o600), Err(FileError::NotOneLine { .. })), "{text:?}");
        }
        let long = "x".repeat(5000);
        assert!(matches!(
            secret(&long, 0o600),
            Err(FileError::Read { source: ReadError::TooLarge { .. }, .. })
        ));
    }

    #[test]
    fn a_secret_of_root_may_be_readable_by_a_group_whoever_reads_it() {
        let judged = |owner, mode, acting| judge(Path::new("/s"), owner, mode, acting, true);
        for acting in [ROOT, 7] {
            assert!(judged(ROOT, 0o640, acting).is_ok(), "user {acting}");
            let refused = judged(ROOT, 0o604, acting).expect_err("all can read it").to_string();
            assert!(refused.contains("`chmod o= /s`"), "{refused}");
            assert!(matches!(judged(ROOT, 0o660, acting), Err(FileError::Writable { .. })));
        }
        assert!(judged(7, 0o600, 7).is_ok());
        let refused = judged(7, 0o640, 7).expect_err("a user has no group alone").to_string();
        assert!(refused.contains("`chmod go= /s`"), "{refused}");
        assert!(matches!(judged(7, 0o600, 8), Err(FileError::Foreign { .. })));
        assert!(judge(Path::new("/c"), 7, 0o644, 7, false).is_ok(), "a configuration is not secret");
    }

    #[test]
    fn a_secret_in_place_of_a_path_is_not_printed() {
        let long = format!("/{}", "abc123/".repeat(1000));
        for secret in ["/abc123", "/etc/passwd/abc123", &long, &format!("/{}", "abc123".repeat(100))] {
            let error = read_secret(Path::new(secret)).expect_err("no file");
            let text = stdx::text::with_causes(&error);
            assert!(!text.contains("abc123") && text.contains("not the secret itself"), "{text}");
            assert!(!format!("{error:?}").contains("abc123"));
        }
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        check_secret(&file(dir.path(), "several\nlines\n", 0o600)).expect("private");
        for mode in [0o640, 0o604] {
            let found = check_secret(&file(dir.path(), "a", mode));
            // A file that belongs to root may be readable by a service's group.
            let is_granted = mode == 0o640 && rustix::process::geteuid().is_root();
            assert_eq!(matches!(found, Err(FileError::Readable { .. })), !is_granted, "{found:?}");
        }
    }

    #[test]
    fn a_configuration_that_others_can_write_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(read_config(&file(dir.path(), "a", 0o644)).expect("readable"), "a");
        for mode in [0o664, 0o646] {
            assert!(matches!(read_config(&file(dir.path(), "a", mode)), Err(FileError::Writable { .. })));
        }
        assert!(matches!(read_config(dir.path()), Err(FileError::Read { .. })));
    }
}
