//! The state of a run, as listed by `plateau runs` and selected with `--state`.

use std::sync::LazyLock;

use clap::ValueEnum;
use pts::Standing;

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A process is working on it
    #[value(aliases = ["in-progress"])]
    Running,
    /// Complete; every test that requires steady state reached it
    Steady,
    /// Complete; a test did not reach steady state
    #[value(aliases = ["not-steady", "no-steady-state"])]
    Unsteady,
    /// Complete; no test requires steady state
    Complete,
    /// Interrupted, or a drive failed; `resume` continues it
    #[value(aliases = ["not-complete", "interrupted"])]
    Incomplete,
    /// The journal cannot be read
    #[value(aliases = ["damaged"])]
    Unreadable,
}

impl State {
    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        // Lists of ten thousand runs ask for it often.
        static NAMES: LazyLock<Vec<(State, String)>> = LazyLock::new(|| {
            let named = |state: &State| Some((*state, state.to_possible_value()?.get_name().to_owned()));
            State::value_variants().iter().filter_map(named).collect()
        });
        NAMES.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Standing> for State {
    fn from(standing: Standing) -> Self {
        match standing {
            Standing::Running => Self::Running,
            Standing::Steady => Self::Steady,
            Standing::Unsteady => Self::Unsteady,
            Standing::Complete => Self::Complete,
            Standing::Incomplete => Self::Incomplete,
        }
    }
}
