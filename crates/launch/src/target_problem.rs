//! Why the target of a plan cannot be used, as reported by `plateau --json plan`.

use serde::Deserialize;
use serde_json::Value;

/// Why a target cannot be used, if another value of the request would help. Each front end names the value as its users know
/// it: as an option, or as a field of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TargetProblem {
    /// The block device does not exist.
    NoDevice,
    /// The file does not exist, and no size was given.
    NoFile,
    /// The file is empty, and no size was given.
    EmptyFile,
    /// The size is smaller than the smallest target.
    SizeTooSmall {
        /// The size.
        bytes: u64,
        /// Size of the smallest target.
        least_bytes: u64,
    },
    /// A size was given for a drive.
    SizeOfDrive,
    /// A size was given for a simulated drive.
    SizeOfSimulated,
    /// A scale was given for a file or a drive.
    ScaleOfReal,
}

impl TargetProblem {
    /// Returns what is wrong with the target according to the document of a failed command; `None` if the command failed for
    /// another reason.
    #[must_use]
    pub fn of(document: &Value) -> Option<Self> {
        serde_json::from_value(document.get("target_problem")?.clone()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_problems_are_left_to_the_text() {
        let of = |text: &str| TargetProblem::of(&serde_json::from_str(text).expect("JSON"));
        let missing = r#"{"error":"x","target_problem":{"target":"/x","kind":"no_file"}}"#;
        assert_eq!(of(missing), Some(TargetProblem::NoFile));
        let small = r#"{"target_problem":{"target":"/x","kind":"size_too_small","bytes":2,"least_bytes":5}}"#;
        assert_eq!(of(small), Some(TargetProblem::SizeTooSmall { bytes: 2, least_bytes: 5 }));
        assert_eq!(of(r#"{"error":"x"}"#), None);
        assert_eq!(of(r#"{"target_problem":{"target":"/x","kind":"of_a_later_version"}}"#), None);
    }
}
