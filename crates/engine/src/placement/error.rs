//! Why threads cannot be placed.

/// A list of CPUs cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// This part is neither a number nor a range.
    #[error("'{0}' is not a number or a range such as 0-3")]
    Part(String),
    /// The end of this range precedes its start.
    #[error("'{0}' is reversed")]
    Reversed(String),
}

/// Threads cannot be placed as requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// The list cannot be read.
    #[error("{option} '{text}': {source}")]
    List {
        /// Name of the setting.
        option: &'static str,
        /// Its value.
        text: String,
        /// What is wrong with the list.
        source: CpuListError,
    },
    /// This process cannot use a CPU or node of the list.
    #[error("{option} '{text}': this process cannot use {number}; available: {available}")]
    Unavailable {
        /// Name of the setting.
        option: &'static str,
        /// Its value.
        text: String,
        /// Number of the CPU or node.
        number: u32,
        /// The available ones.
        available: String,
    },
}
