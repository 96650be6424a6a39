//! A CPU and its place in the host's topology.

/// A CPU that this process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Processor {
    pub(super) number: u32,
    /// The lowest-numbered CPU of its core.
    pub(super) core: u32,
    pub(super) node: u32,
}
