//! Messages for target errors: what happened and why, in the error's own words, and which option to try next.
//!
//! No other module relates errors from lower-level crates to command-line options.

mod array;
mod command;
mod next;
mod refusal;
mod store;
mod target;

use device::{DriveError, PurgeError, TuningError, Unconfirmed, WorkloadProblem};
use engine::{Disturbance, EngineError};

pub use self::store::of_store;
pub use command::why_not;
pub use next::erase;
use next::then;
pub use refusal::of_refusal;
use workload::{CaptureError, NoReplay, TraceError, WorkloadError};

/// Returns the message for an error, including the next step.
pub fn of_drive(error: &DriveError) -> String {
    match error {
        DriveError::Refused { target, refusals } => {
            let refusals: Vec<String> = refusals.iter().map(of_refusal).collect();
            format!("refusing to write to {target}: {}", refusals.join("; and "))
        }
        DriveError::Unconfirmed(error) => of_unconfirmed(error),
        DriveError::Target { target, problem } => format!("{target}: {}", target::text(target, problem)),
        DriveError::Workload { workload, problem: WorkloadProblem::Unverified } => {
            format!("workload {workload}: verify works only with `plateau load`")
        }
        DriveError::Purge(error) => then(error, of_purge(error)),
        DriveError::Array(error) => array::text(error),
        DriveError::NotDismantled { error, dismantling } => {
            format!("{}; dismantling the array also failed: {}", of_drive(error), of_drive(dismantling))
        }
        DriveError::LeftOver { error, note } => format!(
            "an array left by an earlier run cannot be dismantled: {}; it is described in {}",
            of_drive(error),
            note.display()
        ),
        DriveError::Member { path, error } => format!("{path}: {}", of_drive(error)),
        DriveError::CameIntoUse { target, user } => {
            format!("something started to use {target} during the test: {}", of_refusal(user))
        }
        DriveError::Tuning(error) => then(error, of_tuning(error)),
        DriveError::Admin(error) => command::text(error),
        DriveError::Load(error) => then(error, of_load(error)),
        DriveError::Workload { problem: WorkloadProblem::TooManyInFlight { .. }, .. }
        | DriveError::TooManyInFlight { .. }
        | DriveError::Gone { .. }
        | DriveError::System { .. }
        | DriveError::Usage(_)
        | DriveError::Simulated(_) => error.to_string(),
    }
}

fn of_unconfirmed(error: &Unconfirmed) -> String {
    match error {
        Unconfirmed::Target { identity, .. } => format!("{error}; to continue, add {}", erase([identity])),
        Unconfirmed::OneDrive { second, .. } => format!("{error}; omit {}", erase([second])),
        Unconfirmed::Members { missing, .. } if missing.is_empty() => format!("{error} omit that"),
        Unconfirmed::Members { missing, .. } => format!("{error} to continue, add {}", erase(missing)),
        Unconfirmed::LeftOver { members, .. } => format!(
            "{error}; to dismantle it, resume that run, or run a test on the array with {}",
            erase(members)
        ),
    }
}

const fn of_purge(error: &PurgeError) -> Option<&'static str> {
    match error {
        PurgeError::OptionsForFile => Some("omit the purge options"),
        PurgeError::NoHoles { .. } => Some("run without a purge step"),
        PurgeError::SimulatedVerification => Some(
            "omit --verify-purge. A purge selected with --method reports what is left in the drive's map",
        ),
        PurgeError::OptionsForController => Some("omit --purge-method and --verify-purge"),
        PurgeError::Hole { .. } | PurgeError::NotSimulated { .. } | PurgeError::NotRecorded(_) => None,
    }
}

const fn of_tuning(error: &TuningError) -> Option<&'static str> {
    match error {
        TuningError::Write { .. } | TuningError::Ignored { .. } => Some("run as root, or without --tune"),
        TuningError::NotRestored { .. } => None,
    }
}

/// Returns the next step after a trace command has failed.
pub const fn of_workload(error: &WorkloadError) -> Option<&'static str> {
    match error {
        WorkloadError::Trace { source: TraceError::UnknownFormat, .. } => {
            Some("specify its format with --format, see `plateau trace import --help`")
        }
        WorkloadError::Trace { source: TraceError::NotATrace, .. } => {
            Some("`plateau trace import` converts traces of other tools")
        }
        WorkloadError::NoReplay { source: NoReplay::TooLong { .. }, .. } => {
            Some("map its offsets with --offsets wrap or --offsets scale, or choose a larger target")
        }
        WorkloadError::Capture { source: CaptureError::NotPermitted, .. } => Some("run as root"),
        WorkloadError::Capture { source: CaptureError::NotABlockDevice, .. } => {
            Some("for a file, capture the device that stores its file system")
        }
        _ => None,
    }
}

const fn of_load(error: &EngineError) -> Option<&'static str> {
    match error {
        EngineError::Setup { .. } => Some("reduce these numbers, or use another engine"),
        EngineError::Wait { .. } => Some("see the kernel log"),
        EngineError::Disturbed { disturbance, .. } | EngineError::ReplayDisturbed { disturbance, .. } => {
            Some(match disturbance {
                Disturbance::Suspended { .. } => "prevent the host from suspending",
                Disturbance::WrongCounter { .. } => "prevent the guest from migrating",
                Disturbance::Stopped { .. } => "let it run without a break",
                Disturbance::Starved { .. } => "run fewer other programs",
            })
        }
        EngineError::VerifiedRangeShared { .. } => {
            Some("give each its own range, or run them one after another")
        }
        EngineError::TooDeep { .. }
        | EngineError::Unverifiable { .. }
        | EngineError::Misfit { .. }
        | EngineError::SetupWithoutTarget { .. }
        | EngineError::ReadBackMemory(_)
        | EngineError::WorkloadThread(_)
        | EngineError::Io(_)
        | EngineError::Placement(_)
        | EngineError::Workload(_)
        | EngineError::NoInterval
        | EngineError::NoTrim { .. }
        | EngineError::NoCommands { .. }
        | EngineError::NotAtomic { .. }
        | EngineError::NotZoned { .. }
        | EngineError::Priority { .. }
        | EngineError::NothingToVerify => None,
    }
}

#[cfg(test)]
mod tests;
