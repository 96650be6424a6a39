//! Names of run states in the store.

use pts::Standing;

/// All states. A journal does not record whether a process is working on an incomplete run, so neither does the
/// store.
const NAMES: [(Standing, &str); 4] = [
    (Standing::Steady, "steady"),
    (Standing::Unsteady, "unsteady"),
    (Standing::Complete, "complete"),
    (Standing::Incomplete, "incomplete"),
];

/// Returns the name of a state in the store.
pub(crate) fn name(standing: Standing) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == standing).map_or("incomplete", |(_, name)| name)
}

/// Returns the state with this name.
pub(crate) fn named(name: &str) -> Option<Standing> {
    NAMES.iter().find(|(_, known)| *known == name).map(|(standing, _)| *standing)
}
