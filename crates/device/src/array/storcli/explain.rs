//! Explains a controller's error messages and abbreviations.

use admin::storcli::Answer;

/// Parts of messages, with their usual causes.
const CAUSES: &[(&str, &str)] = &[
    (
        "does not have appropriate attributes",
        "a member is spun down, or its kind, interface or sector size differs from the others",
    ),
    (
        "VD has OS/FS",
        "there is a file system on the volume, and Plateau does not force its deletion; inspect the \
                      volume manually",
    ),
    ("device state doesn't support", "the drive is in a state that does not allow this"),
    ("Controller", "no such controller, or no permission; run as root, and list the controllers with `show`"),
    ("not found", "there is nothing at that address; list the drives with `/call/eall/sall show`"),
    ("Un-supported", "the controller's firmware does not support this command"),
    ("not supported", "the controller or the drive does not support this command"),
    ("Operation not allowed", "the controller does not allow this now; another operation may be in progress"),
    ("in progress", "another operation is in progress; wait until it completes"),
    (
        "preserved cache",
        "the controller's cache still holds data for a lost volume; see `show preservedcache`",
    ),
];

/// Abbreviated states of drives and volumes.
const STATES: &[(&str, &str)] = &[
    ("Onln", "part of a volume of the controller (online)"),
    ("UBad", "bad (unconfigured)"),
    ("UGUnsp", "not supported by the controller"),
    ("GHS", "a global hot spare"),
    ("DHS", "a dedicated hot spare"),
    ("JBOD", "passed through to the host (JBOD); use it as a block device, or set it to good"),
    ("Offln", "offline"),
    ("OfLn", "offline"),
    ("Failed", "failed"),
    ("Msng", "missing"),
    ("Rbld", "being rebuilt"),
    ("Cpybck", "being copied back"),
    ("Dgrd", "degraded"),
    ("Pdgd", "partially degraded"),
    ("Rec", "recovering"),
    ("Optl", "optimal"),
];

/// Returns a state with its meaning, such as `Dgrd: degraded`.
pub(super) fn state(word: &str) -> String {
    match STATES.iter().find(|(short, _)| *short == word) {
        Some((short, meaning)) => format!("{short}: {meaning}"),
        None if word.is_empty() => "in an unreported state".into(),
        None => format!("in the state {word}"),
    }
}

/// Returns the controller's report of a failed command, with its usual cause.
pub(super) fn failure(answer: &Answer) -> (String, Option<&'static str>) {
    let mut said: Vec<String> = Vec::new();
    if !answer.description.is_empty() && answer.description != "None" {
        said.push(answer.description.trim_end_matches('.').to_owned());
    }
    for detail in &answer.details {
        let code = detail.code.map(|code| format!(" (code {code})")).unwrap_or_default();
        let of = if detail.of.is_empty() { String::new() } else { format!("{}: ", detail.of) };
        said.push(format!("{of}{}{code}", detail.message.trim_end_matches('.')));
    }
    let said = if said.is_empty() { "it gave no reason".to_owned() } else { said.join("; ") };
    let cause = CAUSES.iter().find(|(part, _)| said.contains(part)).map(|(_, cause)| *cause);
    (said, cause)
}
