//! Why a server cannot be started, or its users cannot be changed.

use std::net::SocketAddr;
use std::path::PathBuf;

use stdx::files::ReadError;

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
    /// A certificate or its key cannot be used.
    #[error("cannot use {} for TLS", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        why: Unusable,
    },
    /// The self-signed certificate cannot be read or written.
    #[error("cannot use {}, the certificate of this server, which must be owned by you and writable only by you", path.display())]
    KeepCertificate {
        /// The file.
        path: PathBuf,
        /// System error.
        #[source]
        source: std::io::Error,
    },
    /// A certificate cannot be issued for this name.
    #[error("no certificate can be issued for '{name}', which is neither a host name nor an IP address")]
    HostName {
        /// The name.
        name: String,
    },
    /// No key could be generated.
    #[error("no key for TLS can be generated")]
    KeyGeneration,
    /// TLS cannot be configured.
    #[error("TLS cannot be configured")]
    Tls(#[source] rustls::Error),
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
    #[error("a password must have {least} to {most} bytes")]
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

/// Why a certificate or its key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The file cannot be read, or is not a regular file.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// Other users can read or change the key.
    #[error("other users can read this key or change it: it belongs to uid {owner} and has mode {mode:04o}")]
    Exposed {
        /// Owner of the file.
        owner: u32,
        /// Its mode.
        mode: u32,
    },
    /// Other users can change an authority's certificate.
    #[error("other users can change this file: it belongs to uid {owner} and has mode {mode:04o}")]
    Changeable {
        /// Owner of the file.
        owner: u32,
        /// Its mode.
        mode: u32,
    },
    /// The file contains no certificate.
    #[error("it contains no certificate in PEM format")]
    NoCertificate,
    /// The file contains no key.
    #[error("it contains no unencrypted private key in PEM format")]
    NoKey,
    /// The key does not match the certificate, or is of a type that cannot be used.
    #[error(
        "it is not the key of the certificate, or not an RSA (2048 bits or more), ECDSA (P-256, P-384) or Ed25519 key"
    )]
    NotTheKey,
    /// The certificate cannot be parsed.
    #[error("the certificate is not valid: {0}")]
    Rejected(rustls::Error),
}
