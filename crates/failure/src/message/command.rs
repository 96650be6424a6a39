//! The next step after an administrative command has failed or is not possible.

use device::{AdminError, DriveFault, LbaFormatError, Step};
use record::WhyNot;

use super::next::{erase, then};

const CHOOSE_ANOTHER: &str = "choose another method with --method";
const LOOK_OR_CHOOSE: &str = "check the drive with plateau info, or choose another method with --method";
const KEEP_WRITE_CACHE: &str = "run with --write-cache keep to leave it unchanged";
const POWER_CYCLE: &str = "power-cycle the drive";
const KERNEL_LOG: &str = "see the kernel log";
const WAIT: &str = "wait until it completes";
const DO_NOT_TRUST: &str = "do not rely on this method, and choose another one with --method";
const AGAIN: &str = "run plateau purge again; if that fails too, replace the drive";
const THAW: &str = "suspend and resume the computer, or hot-plug the drive, then try again";
const RESCUE: &str = "if the drive stays locked, unlock it with `hdparm --user-master u --security-disable PLATEAU \
                      DEVICE`, or run plateau purge again with --method ata-security-erase";

pub(super) fn text(error: &AdminError) -> String {
    match error {
        AdminError::UnknownMethod { meant, .. } => {
            format!("{error}; {}`plateau info TARGET` lists the methods of a target", did_you_mean(meant))
        }
        AdminError::NoMethod { passed_over } => {
            let reasons: Vec<String> = passed_over
                .iter()
                .map(|over| format!("not {}: {}", over.method, why_not(&over.why)))
                .collect();
            format!("{error} ({}); purge it with its vendor's tool", reasons.join("; "))
        }
        AdminError::Unavailable { method, why } => format!(
            "no purge available: {method}: {}; see plateau info for the available methods",
            why_not(why)
        ),
        AdminError::AlsoErased { others, .. } => {
            let all = erase(others.iter().map(|other| &other.identity));
            format!("{error}; if all of that may be lost, add {all}")
        }
        AdminError::LbaFormat(LbaFormatError::NotNvme) => then(error, Some("omit --lba-format")),
        AdminError::Command { step, .. } => then(error, Some(after(*step))),
        AdminError::StoppedWaiting(_) => format!(
            "{error}; it accepts no other command until that completes, and plateau purge reports whether it is still \
             running"
        ),
        AdminError::Drive(fault) => of_drive_fault(fault),
        AdminError::Recheck(_) | AdminError::LbaFormat(_) | AdminError::StoppedWriting { .. } => {
            error.to_string()
        }
    }
}

/// Returns why a purge method is not used, with a remedy.
pub fn why_not(why: &WhyNot) -> String {
    let next = match why {
        WhyNot::Locked => Some(RESCUE),
        WhyNot::Frozen => Some(THAW),
        WhyNot::TooManyPasswords => Some("power-cycle it, then try again"),
        WhyNot::NotReported
        | WhyNot::Unreported
        | WhyNot::OtherInterface
        | WhyNot::NoDiscard
        | WhyNot::NoWriteZeroes
        | WhyNot::PasswordSet
        | WhyNot::Unqueried(_)
        | WhyNot::ErasesOthers(_) => None,
    };
    then(why, next)
}

fn did_you_mean(meant: &[&str]) -> String {
    match meant {
        [] => String::new(),
        [only] => format!("did you mean {only}? "),
        [first @ .., last] => format!("did you mean {} or {last}? ", first.join(", ")),
    }
}

/// Returns what to do after a step failed.
const fn after(step: Step) -> &'static str {
    match step {
        Step::Format | Step::Sanitize | Step::FormatUnit | Step::ScsiSanitize | Step::TestUnitReady => {
            LOOK_OR_CHOOSE
        }
        Step::ChangeFormat => "check the drive with plateau info, or omit --lba-format",
        Step::IdentifyAfterFormat | Step::SanitizeLog => POWER_CYCLE,
        Step::AtaIdentify | Step::SecuritySetPassword | Step::SecurityErase => RESCUE,
        Step::SecurityUnlock => "the password was not set by Plateau; remove it with the program that set it",
        Step::AtaSanitize | Step::Discard => CHOOSE_ANOTHER,
        Step::AtaSanitizeStatus => {
            "the sanitize operation failed or the drive was removed; run plateau purge again"
        }
        Step::WriteZeroes(_) | Step::WriteSample(_) | Step::ReadSample(_) | Step::GetWriteCache => KERNEL_LOG,
        Step::SetWriteCache(_) => KEEP_WRITE_CACHE,
    }
}

fn of_drive_fault(fault: &DriveFault) -> String {
    let next = match fault {
        DriveFault::LbaFormatKept { .. } => "omit --lba-format",
        DriveFault::NamespaceChanged { .. } => "check it with plateau info",
        DriveFault::WriteCacheKept { .. } => "run with --write-cache keep to leave it unchanged",
        DriveFault::CannotErase(why) => {
            return format!("SECURITY ERASE UNIT cannot start: {}", why_not(why));
        }
        DriveFault::PasswordNotSet => CHOOSE_ANOTHER,
        DriveFault::PasswordLeft => RESCUE,
        DriveFault::SanitizeFrozen => THAW,
        DriveFault::SanitizeRunning => WAIT,
        DriveFault::AtaSanitizeFailed | DriveFault::SanitizeFailed | DriveFault::ScsiFailed(_) => {
            return format!("{fault}: {AGAIN}");
        }
        DriveFault::NoSanitize(_) | DriveFault::OtherSanitize { .. } => DO_NOT_TRUST,
        DriveFault::Hangs { .. } => "power-cycle it and check it with plateau info",
        DriveFault::SampleLost(_) => "replace it",
        DriveFault::SampleSurvived(_) => "do not rely on this method, and choose another one with --method",
    };
    then(fault, Some(next))
}
