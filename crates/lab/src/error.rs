//! Why a server cannot be started.

use std::net::SocketAddr;

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
        /// Error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The kernel returned no random bytes.
    #[error("cannot get random bytes from the kernel")]
    Random(#[source] rustix::io::Errno),
    /// The server failed while it was running.
    #[error("the server failed")]
    Io(#[from] std::io::Error),
}
