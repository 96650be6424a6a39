//! Why a target does not support the atomic writes of a workload.

use std::io;

/// Why a target does not support the atomic writes of a workload.
#[derive(Debug, thiserror::Error)]
pub enum NotAtomic {
    /// The file system does not support direct I/O.
    #[error("they need direct I/O, which the file system does not support")]
    Buffered,
    /// The kernel cannot be asked.
    #[error("the kernel does not report the limits: {}", record::errno::reason(.0))]
    Unknown(#[source] io::Error),
    /// The kernel, the file system or the device does not support any.
    #[error("the kernel, the file system or the device has none")]
    None,
    /// A size is outside of the limits.
    #[error("a write of {block_bytes} B is not a power of two from {least_bytes} to {most_bytes} B")]
    Size {
        /// The size.
        block_bytes: u32,
        /// The smallest size.
        least_bytes: u32,
        /// The largest size.
        most_bytes: u32,
    },
    /// Offsets are not multiples of the size.
    #[error("offsets must be multiples of the size: use one size, blockalign, and an aligned offset")]
    Unaligned,
}
