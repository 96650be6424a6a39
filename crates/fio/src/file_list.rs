//! The options of a job that name its files.

/// The files of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The values of `filename`.
    pub(crate) names: Vec<String>,
    pub(crate) folders: Vec<String>,
    /// Number of files per clone if no names are given.
    pub(crate) count: u16,
    /// Size of each file.
    pub(crate) size_bytes: Option<u64>,
    pub(crate) format: Option<String>,
}

impl Default for Files {
    fn default() -> Self {
        Self { names: Vec::new(), folders: Vec::new(), count: 1, size_bytes: None, format: None }
    }
}
