//! Errors as shown to the user: the chain of causes, the next step, and a documented exit code.
#![forbid(unsafe_code)]

pub mod message;
mod target_problem;

use console::printer::PrintError;
use device::{DriveError, ErrorKind as DriveKind};
use power::PowerError;
use record::{JournalError, LibraryError, TurnError};
use stdx::files::WriteError;
use store::StoreError;
use transfer::TransferError;
use workload::{CaptureError, TraceError, WorkloadError};

/// All exit codes except 0 (success), with their meanings. The manual is generated from this table.
pub const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Internal, "internal error: a bug, or an unexpected failure of a system call"),
    (Exit::Usage, "the command line is wrong, or requests an impossible setting; nothing was touched"),
    (Exit::Refused, "the target is refused for the safety of its data; nothing was written"),
    (Exit::Unusable, "the target cannot be used: missing, no permission, wrong kind, too small, read-only"),
    (
        Exit::Device,
        "the device failed during use, now maps to different blocks, or came into use by others during a run, \
         or (load --verify) does not contain the written data; completed steps are kept",
    ),
    (
        Exit::Run,
        "a run cannot be found, read, written, sent or confirmed, or a report cannot be written: unknown id, damaged or \
         newer journal, no space left; or `serve` cannot read or lock its list of waiting runs",
    ),
    (
        Exit::Regressed,
        "a condition of `compare --fail-if` is met, a run does not pass a `gate`, `check` found settings that would \
         invalidate results, `fleet check` found a drive or host that is not fit for a test, `load --merge` cannot merge the results of several hosts, or a job of `load` does not meet its `rate_min`, `rate_iops_min` or `max_latency`",
    ),
    (Exit::Rejected, "a burn-in rejects the drive: its verdict is FAIL"),
    (Exit::InProgress, "`status` found a run in progress, or `gate` was asked to check one"),
    (
        Exit::Held,
        "`job` or `resume` cannot continue the run without a decision: the interrupted test would purge the drive again, or others \
         have used the drive since; add --restart-test or --continue-timeline",
    ),
    (
        Exit::Busy,
        "`job` found another process working on the run or its target, `resume` one working on the run, `fleet check` a drive or host that is too hot, `notify` another one for the library, or `serve` \
         another server with the same folder; or a shared store (`--store`) cannot be reached; or `notify` could not deliver a notice; or `load --start-at` was not ready in time; try \
         again later",
    ),
    (
        Exit::Interrupted,
        "interrupted by Ctrl-C, SIGTERM or SIGHUP (the terminal was closed), or because the host or the \
         process was suspended during a measurement; `plateau resume` continues the run",
    ),
];

/// Why the program failed; the discriminant is the process's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// A bug in Plateau, or an unexpected failure of a system call.
    Internal = 1,
    /// Wrong command line or impossible setting.
    Usage = 2,
    /// Refused for the safety of data.
    Refused = 3,
    /// The target cannot be used.
    Unusable = 4,
    /// The device failed during use.
    Device = 5,
    /// A run cannot be found, read or written.
    Run = 6,
    /// A condition that the user set is met.
    Regressed = 7,
    /// A run is in progress.
    InProgress = 8,
    /// A burn-in rejects the drive.
    Rejected = 9,
    /// The operator must decide how a run continues.
    Held = 10,
    /// Another process is working on the run or its target.
    Busy = 75,
    /// Interrupted by a signal.
    Interrupted = 130,
}

impl Exit {
    /// Returns the process exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the rank among several failures; the highest one determines the exit code, because a failed
    /// device, for example, matters more than an interruption.
    #[must_use]
    pub const fn gravity(self) -> u8 {
        match self {
            Self::InProgress | Self::Busy | Self::Interrupted => 0,
            Self::Usage => 1,
            Self::Refused | Self::Held => 2,
            Self::Unusable => 3,
            Self::Regressed => 4,
            Self::Run => 5,
            Self::Internal => 6,
            Self::Rejected => 7,
            Self::Device => 8,
        }
    }
}

/// An error with its exit code and, if a run was started, the run that it belongs to.
#[derive(Debug)]
pub struct Failure {
    /// The program's exit code.
    pub exit: Exit,
    /// The run that the error belongs to.
    pub run: Option<String>,
    /// Results obtained before the failure; printed together with the error in one JSON document.
    found: serde_json::Map<String, serde_json::Value>,
    /// Whether the document on standard output already contains the error.
    already_printed: bool,
    /// Prints nothing.
    is_silent: bool,
    error: anyhow::Error,
}

/// The result of a command.
pub type Done<T = ()> = Result<T, Failure>;

impl Failure {
    /// Returns a failure with this error.
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            run: None,
            found: serde_json::Map::new(),
            already_printed: false,
            is_silent: false,
            error: error.into(),
        }
    }

    /// Returns a failure with this text.
    pub fn text(exit: Exit, text: impl Into<String>) -> Self {
        Self::new(exit, anyhow::Error::msg(text.into()))
    }

    /// Names the run that the failure belongs to.
    #[must_use]
    pub fn of_run(mut self, id: &str) -> Self {
        self.run = Some(id.into());
        self
    }

    /// Adds results obtained before the failure.
    #[must_use]
    pub fn with_document(mut self, document: serde_json::Value) -> Self {
        if let serde_json::Value::Object(found) = document {
            self.found = found;
        }
        self
    }

    /// Marks the error as part of the printed document, so that it is written only to standard error.
    #[must_use]
    pub fn already_printed(mut self) -> Self {
        self.already_printed = true;
        self
    }

    /// Sets only the exit code; the result has already been printed.
    #[must_use]
    pub fn silent(exit: Exit) -> Self {
        Self { is_silent: true, ..Self::text(exit, "") }
    }

    /// Returns the chain of causes on one line; system errors appear as text without their numbers.
    #[must_use]
    pub fn message(&self) -> String {
        let text = format!("{:#}", self.error);
        let mut parts = text.split(" (os error ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| {
            let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
            match rest.strip_prefix(')') {
                Some(rest) => all + rest,
                None => all + " (os error " + part,
            }
        })
    }

    /// Returns whether the failure is silent, that is, affects only the exit code.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Returns the error as a document, preceded by the results; `None` if it has already been printed.
    #[must_use]
    pub fn document(&self) -> Option<serde_json::Value> {
        if self.already_printed {
            return None;
        }
        let mut document = self.found.clone();
        document.insert("error".into(), self.message().into());
        document.insert("exit_code".into(), self.exit.code().into());
        document.insert("run".into(), self.run.as_deref().into());
        Some(serde_json::Value::Object(document))
    }
}

impl From<DriveError> for Failure {
    fn from(error: DriveError) -> Self {
        let exit = match error.kind() {
            DriveKind::Refused => Exit::Refused,
            DriveKind::Unusable => Exit::Unusable,
            DriveKind::Device => Exit::Device,
            DriveKind::Disturbed | DriveKind::Stopped => Exit::Interrupted,
            DriveKind::Invalid => Exit::Usage,
        };
        // The text already contains the causes.
        let failure = Self::text(exit, message::of_drive(&error));
        match target_problem::of(&error) {
            Some(problem) => failure.with_document(problem),
            None => failure,
        }
    }
}

impl From<engine::EngineError> for Failure {
    fn from(error: engine::EngineError) -> Self {
        DriveError::from(error).into()
    }
}

impl From<LibraryError> for Failure {
    fn from(error: LibraryError) -> Self {
        let exit = match error {
            LibraryError::Unnamed => Exit::Usage,
            LibraryError::Journal(JournalError::Busy { .. }) => Exit::Busy,
            _ => Exit::Run,
        };
        Self::new(exit, error)
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Self {
        let exit = match error {
            TransferError::NotAdmitted { .. } => Exit::Usage,
            TransferError::Unreachable { .. } | TransferError::Busy { .. } => Exit::Busy,
            _ => Exit::Run,
        };
        Self::new(exit, error)
    }
}

impl From<PowerError> for Failure {
    fn from(error: PowerError) -> Self {
        let exit = match error {
            PowerError::Unknown { .. } | PowerError::Syntax { .. } => Exit::Usage,
            _ => Exit::Unusable,
        };
        Self::text(exit, format!("--power: {error}"))
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        let exit = if matches!(error, TurnError::Busy { .. }) { Exit::Busy } else { Exit::Run };
        Self::new(exit, error)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let exit = if matches!(error, JournalError::Busy { .. }) { Exit::Busy } else { Exit::Run };
        Self::new(exit, error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::TooSlow { .. }
            | StoreError::Query(_)
            | StoreError::TooManyRows { .. }
            | StoreError::TooLarge { .. }
            | StoreError::NoLibrary { .. }
            | StoreError::Address(_) => Exit::Usage,
            StoreError::Unreachable { .. } => Exit::Busy,
            _ => Exit::Run,
        };
        Self::text(exit, message::of_store(&error))
    }
}

impl From<PrintError> for Failure {
    fn from(error: PrintError) -> Self {
        let exit = match error {
            PrintError::Write(_) => Exit::Run,
            PrintError::Serialize(_) => Exit::Internal,
        };
        Self::new(exit, error)
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::System { path, source } => {
                let context = format!("cannot write {}", path.display());
                Self::new(Exit::Run, anyhow::Error::new(source).context(context))
            }
            WriteError::InTheWay { .. } => Self::text(
                Exit::Usage,
                format!("cannot write: {error}; only regular files are replaced, choose another path"),
            ),
            WriteError::Replaced { .. } => Self::text(
                Exit::Run,
                format!(
                    "cannot write: {error} after the run was read; find out what changed the target, then try again"
                ),
            ),
            WriteError::NoName { .. } => Self::text(Exit::Usage, format!("cannot write: {error}")),
        }
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        let error = match error {
            WorkloadError::Drive(error) => return error.into(),
            other => other,
        };
        let exit = match &error {
            WorkloadError::Trace { source: TraceError::Write(_), .. }
            | WorkloadError::Capture { source: CaptureError::Trace(_), .. } => Exit::Run,
            WorkloadError::Trace { source: TraceError::Stopped, .. } | WorkloadError::Interrupted => {
                Exit::Interrupted
            }
            WorkloadError::Capture { .. } | WorkloadError::NothingCaptured { .. } => Exit::Unusable,
            WorkloadError::Seed(_) | WorkloadError::Drive(_) => Exit::Internal,
            WorkloadError::Open { .. }
            | WorkloadError::Trace { .. }
            | WorkloadError::NoPlan { .. }
            | WorkloadError::NoReplay { .. }
            | WorkloadError::Size(_) => Exit::Usage,
        };
        let next = message::of_workload(&error).map_or_else(String::new, |next| format!("; {next}"));
        Self::text(exit, format!("{:#}{next}", anyhow::Error::new(error)))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(Exit::Internal, error)
    }
}
