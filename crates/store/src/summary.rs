//! What an update of the store did, for people and for programs.

use serde_json::{Value as Json, json};
use stdx::units::{amount_base10, count_of};

/// What an update of the store did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Number of runs whose rows were written.
    pub indexed: usize,
    /// Number of runs whose rows were removed, because the runs no longer exist.
    pub removed: usize,
    /// Number of runs in the store.
    pub runs: usize,
    /// Length of the journals that were read.
    pub journal_bytes: u64,
    /// Runs that cannot be read or evaluated, each with the reason. They have no rows.
    pub unreadable: Vec<(String, String)>,
}

/// Where the rows of a library are in a shared store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The store.
    pub store: String,
    /// Name of the library.
    pub library: String,
}

impl Updated {
    /// Returns a document; `place` is None for the library's own index.
    #[must_use]
    pub fn document(&self, place: Option<&Place>) -> Json {
        let mut document = json!({
            "runs": self.runs,
            "indexed": self.indexed,
            "removed": self.removed,
            "journal_bytes": self.journal_bytes,
            "unreadable": self.unreadable.iter().map(|(folder, _)| folder).collect::<Vec<_>>(),
        });
        if let Some(Place { store, library }) = place {
            document["store"] = Json::from(&**store);
            document["library"] = Json::from(&**library);
        }
        document
    }

    /// Returns a sentence; `place` is None for the library's own index.
    #[must_use]
    pub fn text(&self, place: Option<&Place>) -> String {
        let runs = |count: usize| count_of(count, "run");
        let read = match self.indexed {
            0 => "no journal had to be read".to_owned(),
            read => format!("{} read ({})", runs(read), amount_base10(self.journal_bytes)),
        };
        let removed = match self.removed {
            0 => String::new(),
            removed => format!(", {} removed", runs(removed)),
        };
        let place = match place {
            Some(Place { store, library }) => format!("the store {store} as library {library}"),
            None => "the index".to_owned(),
        };
        format!("{} in {place}: {read}{removed}", runs(self.runs))
    }
}
