//! The order of a list of runs, with the keys of `plateau runs --sort`.

use std::sync::Arc;

use crate::catalogue::{Row, State};

/// Order of a list of runs. Runs that are equal in this respect are listed newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    #[default]
    Newest,
    Oldest,
    Target,
    Test,
    Profile,
    State,
}

impl Order {
    pub const ALL: [Self; 6] =
        [Self::Newest, Self::Oldest, Self::Target, Self::Test, Self::Profile, Self::State];

    /// Returns the order that a link names; the usual order if it names none.
    pub fn named(word: &str) -> Self {
        Self::ALL.into_iter().find(|order| order.word() == word).unwrap_or_default()
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Target => "target",
            Self::Test => "test",
            Self::Profile => "profile",
            Self::State => "state",
        }
    }

    /// Sorts rows, which are passed newest first.
    pub fn sort(self, rows: &mut [&Arc<Row>]) {
        match self {
            Self::Newest => {}
            Self::Oldest => rows.reverse(),
            Self::Target => rows.sort_by(|a, b| a.file.target_line().cmp(b.file.target_line())),
            Self::Test => rows.sort_by_cached_key(|row| row.file.tests.join(",")),
            Self::Profile => rows.sort_by_cached_key(|row| row.file.profile.clone()),
            Self::State => {
                rows.sort_by_key(|row| State::WORDS.iter().position(|word| *word == row.state.word()))
            }
        }
    }
}
