//! Evidence that a drive was purged, and reasons why better methods were not used.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::WhyNot;

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PurgeEvidence {
    /// NVMe Format NVM completed successfully.
    Formatted {
        /// Namespace number.
        namespace: u32,
        /// Secure Erase Settings in the command.
        secure_erase: u8,
    },
    /// The NVMe sanitize log reports success.
    SanitizeLog {
        /// Dword 10 of the command, as recorded in the log.
        command: u32,
    },
    /// ATA SANITIZE STATUS EXT reports completion without an error.
    SanitizeStatus {
        /// Feature in the command.
        feature: u16,
    },
    /// The drive removed its ATA password, which happens only after an erase.
    PasswordRemoved,
    /// The drive became ready after SCSI FORMAT UNIT.
    FormatUnitCompleted,
    /// The drive became ready after SCSI SANITIZE.
    SanitizeCompleted {
        /// Service action in the command.
        action: u8,
    },
    /// No sample written before the purge survived it.
    SamplesErased {
        /// Number of samples that were written.
        samples: u32,
        /// Number of samples that read as zeroes afterwards.
        zeroes: u32,
        /// Number of samples that read as other data.
        other: u32,
        /// Number of samples that could not be read.
        unreadable: u32,
    },
    /// A better method was skipped.
    NotUsed {
        /// The method as shown to the user.
        method: String,
        /// The reason.
        why: WhyNot,
    },
    /// Map units in use on a simulated drive.
    MapUnits {
        /// Before the purge.
        before: u64,
        /// After the purge.
        after: u64,
        /// Number of erased superblocks; `None` if erasing is left to garbage collection.
        erased_superblocks: Option<u64>,
    },
    /// A member of an array was purged.
    Member {
        /// Model of the member, if it is known.
        model: Option<String>,
        /// Identity of the member.
        identity: String,
        /// The method as shown to the user.
        method: String,
        /// Duration in ns.
        duration_ns: u64,
        /// Evidence of the member's purge; a member is never an array.
        evidence: Vec<PurgeEvidence>,
    },
    /// The array was created from the purged members.
    ArrayCreated {
        /// Name of the array.
        name: String,
        /// The program that created it, with its version.
        program: String,
    },
    /// The members of the new array are in sync.
    ArrayInSync {
        /// The operation, in the program's own terms.
        operation: String,
        /// Duration in ns.
        duration_ns: u64,
    },
    /// A RAID controller reported an erase as complete, which cannot be verified.
    ControllerErased {
        /// Whether the erase replaced the encryption key instead of overwriting the data.
        cryptographic: bool,
    },
    /// A drive behind a RAID controller was not purged, because its description requests this.
    ContentKept,
}

impl fmt::Display for PurgeEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ns: u64| ns as f64 / 1e9;
        match self {
            Self::Formatted { namespace, secure_erase } => {
                write!(
                    f,
                    "Format NVM with SES {secure_erase} of namespace {namespace} completed successfully"
                )
            }
            Self::SanitizeLog { command } => {
                write!(f, "the sanitize log reports success for CDW10 {command:08x}h")
            }
            Self::SanitizeStatus { feature } => {
                write!(f, "SANITIZE STATUS EXT: completed without error after feature {feature:04x}h")
            }
            Self::PasswordRemoved => {
                f.write_str("the drive removed the password, which it does only after an erase")
            }
            Self::FormatUnitCompleted => {
                f.write_str("the drive became ready after FORMAT UNIT without an error")
            }
            Self::SanitizeCompleted { action } => {
                write!(f, "the drive became ready after SANITIZE, action {action}, without an error")
            }
            Self::SamplesErased { samples, zeroes, other, unreadable } => write!(
                f,
                "verified: of {samples} samples {zeroes} read as zeroes, {other} as other data, {unreadable} were \
                 unreadable"
            ),
            Self::NotUsed { method, why } => write!(f, "not {method}: {why}"),
            Self::MapUnits { before, after, erased_superblocks } => {
                write!(f, "map units in use: {before} before, {after} after; ")?;
                match erased_superblocks {
                    Some(erased) => write!(f, "{erased} superblocks erased"),
                    None => f.write_str("erasing is left to garbage collection"),
                }
            }
            Self::Member { model, identity, method, duration_ns, evidence } => {
                model.iter().try_for_each(|model| write!(f, "{model}, "))?;
                write!(f, "{identity}: {method} in {:.1} s", seconds(*duration_ns))?;
                let marks = std::iter::once(": ").chain(std::iter::repeat("; "));
                marks.zip(evidence).try_for_each(|(mark, evidence)| write!(f, "{mark}{evidence}"))
            }
            Self::ArrayCreated { name, program } => write!(f, "the array was created as {name} by {program}"),
            Self::ArrayInSync { operation, duration_ns } => {
                write!(f, "first {operation} ended after {:.1} s", seconds(*duration_ns))
            }
            Self::ControllerErased { cryptographic } => {
                let way = if *cryptographic { "crypto" } else { "simple" };
                write!(f, "the controller reported its erase ({way}) as complete; this cannot be verified")
            }
            Self::ContentKept => f.write_str("not purged: the content is unchanged"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_evidence_of_a_member_is_one_line() {
        let member = |evidence| PurgeEvidence::Member {
            model: Some("SN720".into()),
            identity: "1924E4".into(),
            method: "discard".into(),
            duration_ns: 1_500_000_000,
            evidence,
        };
        assert_eq!(member(Vec::new()).to_string(), "SN720, 1924E4: discard in 1.5 s");
        let two = vec![
            PurgeEvidence::SanitizeLog { command: 2 },
            PurgeEvidence::NotUsed { method: "Format".into(), why: WhyNot::NotReported },
        ];
        assert_eq!(
            member(two).to_string(),
            "SN720, 1924E4: discard in 1.5 s: the sanitize log reports success for CDW10 00000002h; not Format: the drive does not \
             report support for this"
        );
    }
}
