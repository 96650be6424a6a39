//! The next step after a refusal.

use device::Refusal;

/// Returns the text of a refusal, with the next step.
pub fn of_refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Locked { tried: None } => format!(
            "{refusal}; if a Plateau purge was interrupted, type its identity with --erase and the password of that \
             purge is tried"
        ),
        Refusal::NoSpace { .. } => format!("{refusal}; free some space or choose a smaller --size"),
        Refusal::Member { path, refusal } => format!("{path}: {}", of_refusal(refusal)),
        _ => refusal.to_string(),
    }
}
