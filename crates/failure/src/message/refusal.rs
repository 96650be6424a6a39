//! The next step after a refusal.

use device::Refusal;

/// Returns the text for a refusal, with the next step.
pub fn of_refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Locked { tried: None } => format!(
            "{refusal}; if a Plateau purge was interrupted, specify the drive's identity with --erase, and \
             Plateau tries the password of that purge"
        ),
        Refusal::NoSpace { .. } => format!("{refusal}; free some space or choose a smaller --size"),
        Refusal::Member { path, refusal } => format!("{path}: {}", of_refusal(refusal)),
        _ => refusal.to_string(),
    }
}
