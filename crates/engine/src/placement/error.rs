//! Why threads cannot be placed.

/// A list of CPUs is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// This part is neither a number nor a range.
    #[error("'{0}' is not a number or a range such as 0-3")]
    Part(String),
    /// A range ends before it starts.
    #[error("'{0}' is reversed")]
    Reversed(String),
}

/// Threads cannot be placed as requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// The list is not valid.
    #[error("{option} '{text}': {source}")]
    List {
        /// Name of the setting.
        option: &'static str,
        /// The list as specified.
        text: String,
        /// Description of the problem.
        source: CpuListError,
    },
    /// This process cannot use a CPU or node in the list.
    #[error("{option} '{text}': this process cannot use {number}; available: {available}")]
    Unavailable {
        /// Name of the setting.
        option: &'static str,
        /// The list as specified.
        text: String,
        /// Number of the CPU or node.
        number: u32,
        /// The available CPUs or nodes.
        available: String,
    },
}
