//! What is wrong with a target, as a fact: programs that run commands for their users name the remedy in their own words.

use device::{DriveError, TargetError};
use serde_json::{Value, json};

/// Returns the part of an error's document that says what is wrong with a target; `None` if no other value of the request
/// would help.
pub fn of(error: &DriveError) -> Option<Value> {
    let DriveError::Target { target, problem } = error else { return None };
    let kind = match problem {
        TargetError::NoDevice => "no_device",
        TargetError::NoFile => "no_file",
        TargetError::EmptyFile => "empty_file",
        TargetError::SizeTooSmall { bytes, least_bytes } => {
            let sizes = json!({
                "target": target,
                "kind": "size_too_small",
                "bytes": bytes,
                "least_bytes": least_bytes,
            });
            return Some(json!({ "target_problem": sizes }));
        }
        TargetError::SizeOfDrive => "size_of_drive",
        TargetError::SizeOfSimulated => "size_of_simulated",
        TargetError::ScaleOfReal => "scale_of_real",
        _ => return None,
    };
    Some(json!({ "target_problem": { "target": target, "kind": kind } }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;

    #[test]
    fn documents_say_as_a_fact_what_is_wrong_with_a_target() {
        let document = |problem: TargetError| {
            let failure = Failure::from(DriveError::Target { target: "/x".into(), problem });
            failure.document().expect("not printed yet")
        };
        let missing = document(TargetError::NoFile);
        assert_eq!(missing["error"], "/x: no such file; to create it, specify its size with --size");
        assert_eq!(missing["target_problem"], json!({ "target": "/x", "kind": "no_file" }));
        let small = document(TargetError::SizeTooSmall { bytes: 2, least_bytes: 5 });
        let expected = json!({ "target": "/x", "kind": "size_too_small", "bytes": 2, "least_bytes": 5 });
        assert_eq!(small["target_problem"], expected);
        assert!(document(TargetError::Replaced).get("target_problem").is_none());
    }
}
