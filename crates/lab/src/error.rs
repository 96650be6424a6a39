//! Why a server cannot be started, or its users cannot be changed.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why pages cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is reachable from other hosts, and connections are not encrypted.
    #[error("{address} can be reached from other hosts, but connections are not encrypted")]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// System error.
        #[source]
        source: std::io::Error,
    },
    /// The kernel returned no random bytes.
    #[error("cannot get random bytes from the kernel")]
    Random(#[source] rustix::io::Errno),
    /// The server failed while it was running.
    #[error("the server failed")]
    Io(#[from] std::io::Error),
    /// The user file cannot be read or written.
    #[error("cannot use the list of users {}, which must be owned by you and writable only by you", path.display())]
    Users {
        /// The file.
        path: PathBuf,
        /// System error.
        #[source]
        source: std::io::Error,
    },
    /// The file with waiting runs exists but cannot be read.
    #[error("cannot read {}, the list of waiting runs", path.display())]
    Queue {
        /// The file.
        path: PathBuf,
        /// System error, or the reason why the file is not trusted or not valid.
        #[source]
        source: std::io::Error,
    },
    /// Another server uses the folder of waiting runs.
    #[error("another server uses the same folder (it holds {})", path.display())]
    InUse {
        /// The lock.
        path: PathBuf,
    },
    /// The folder of waiting runs cannot be locked.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// System error, or the reason why the folder is not trusted.
        #[source]
        source: std::io::Error,
    },
    /// A user name is not valid.
    #[error("'{name}' is not a valid user name: use up to 64 letters, digits and -_.@")]
    UserName {
        /// The name.
        name: String,
    },
    /// A password is too short or too long.
    #[error("a password has {least} to {most} bytes")]
    Password {
        /// Minimum length in bytes.
        least: usize,
        /// Maximum length in bytes.
        most: usize,
    },
    /// There are too many users.
    #[error("there are already {most} users")]
    TooManyUsers {
        /// Limit.
        most: usize,
    },
    /// The password could not be hashed.
    #[error("the password cannot be hashed")]
    Hash,
}
