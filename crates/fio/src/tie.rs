//! The options of a job that make it depend on other jobs.

/// The jobs that end with a job if any job sets `exitall`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExitWhat {
    /// The jobs of the same group.
    #[default]
    Group,
    /// All running jobs.
    Stonewall,
    /// All jobs, also those that have not yet started.
    All,
}

/// The options of a job that make it depend on others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tie {
    pub(crate) exit_all: bool,
    pub(crate) exit_what: ExitWhat,
    /// Weight of each clone's I/Os; 0 if they are independent of other jobs.
    pub(crate) weight: u32,
    /// Jobs with the same number keep their ratio.
    pub(crate) flow_id: u32,
    pub(crate) sleep_ns: u64,
}
