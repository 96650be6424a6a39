//! Annotations of runs in a library: tags, notes, names, archived runs and baselines.
//!
//! A run's own files never change after the run, so annotations are appended to the library's journal instead.
//! [`Annotations`] is the result of folding that journal's records.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Digest, Labels};

/// One record in a library's journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// Position, from 0.
    pub seq: u64,
    /// Wall-clock time.
    pub wall: Timestamp,
    /// The author of the change, as far as the host knows.
    pub who: String,
    /// The change.
    pub change: Change,
}

/// A change by a user. Runs are identified by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// A tag was added.
    Tagged {
        /// Id of the run.
        run: String,
        /// The tag.
        tag: String,
    },
    /// A tag was removed, whether it dates from the start of the run or was added later.
    Untagged {
        /// Id of the run.
        run: String,
        /// The tag.
        tag: String,
    },
    /// A note was added.
    Noted {
        /// Id of the run.
        run: String,
        /// The note, on one line.
        text: String,
    },
    /// The run was named, or its name was removed.
    Named {
        /// Id of the run.
        run: String,
        /// The name; `None` removes the name.
        name: Option<String>,
    },
    /// The run was archived.
    Archived {
        /// Id of the run.
        run: String,
    },
    /// The run was unarchived.
    Unarchived {
        /// Id of the run.
        run: String,
    },
    /// A run became a baseline, replacing any earlier baseline with the same name.
    BaselineSet {
        /// Name of the baseline.
        baseline: String,
        /// Id of the run.
        run: String,
    },
    /// A baseline was removed.
    BaselineRemoved {
        /// Name of the baseline.
        baseline: String,
    },
}

impl Change {
    /// Returns all strings in the change.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let texts: [Option<&str>; 2] = match self {
            Self::Tagged { run, tag } | Self::Untagged { run, tag } => [Some(run), Some(tag)],
            Self::Noted { run, text } => [Some(run), Some(text)],
            Self::Named { run, name } => [Some(run), name.as_deref()],
            Self::Archived { run } | Self::Unarchived { run } => [Some(run), None],
            Self::BaselineSet { baseline, run } => [Some(baseline), Some(run)],
            Self::BaselineRemoved { baseline } => [Some(baseline), None],
        };
        texts.into_iter().flatten()
    }
}

/// The author and time of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Who.
    pub who: String,
    /// When.
    pub wall: Timestamp,
}

/// A named run that other runs are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// Id of the run.
    pub run: String,
    /// Who set it, and when.
    pub set: Stamp,
}

/// The state after all records in a library's journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    of_runs: BTreeMap<String, OfRun>,
    baselines: BTreeMap<String, Baseline>,
}

/// The annotations of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OfRun {
    name: Option<Option<String>>,
    tags: BTreeMap<String, Stamp>,
    untagged: BTreeSet<String>,
    notes: Vec<(String, Stamp)>,
    archived: Option<Stamp>,
    /// Link of the last record about the run.
    digest: Option<Digest>,
}

impl Annotations {
    /// Adds the next record, whose link in the hash chain is `digest`.
    pub(crate) fn add(&mut self, annotation: Annotation, digest: Digest) {
        let Annotation { wall, who, change, .. } = annotation;
        let stamp = Stamp { who, wall };
        match change {
            Change::Tagged { run, tag } => {
                let of = self.touched(run, digest);
                of.untagged.remove(&tag);
                of.tags.entry(tag).or_insert(stamp);
            }
            Change::Untagged { run, tag } => {
                let of = self.touched(run, digest);
                of.tags.remove(&tag);
                of.untagged.insert(tag);
            }
            Change::Noted { run, text } => self.touched(run, digest).notes.push((text, stamp)),
            Change::Named { run, name } => self.touched(run, digest).name = Some(name),
            Change::Archived { run } => self.touched(run, digest).archived = Some(stamp),
            Change::Unarchived { run } => self.touched(run, digest).archived = None,
            Change::BaselineSet { baseline, run } => {
                self.touched(run.clone(), digest);
                if let Some(earlier) = self.baselines.insert(baseline, Baseline { run, set: stamp }) {
                    self.touched(earlier.run, digest);
                }
            }
            Change::BaselineRemoved { baseline } => {
                if let Some(earlier) = self.baselines.remove(&baseline) {
                    self.touched(earlier.run, digest);
                }
            }
        }
    }

    fn touched(&mut self, run: String, digest: Digest) -> &mut OfRun {
        let of = self.of_runs.entry(run).or_default();
        of.digest = Some(digest);
        of
    }

    /// Returns the labels of a run: its initial labels `own`, with all later changes applied.
    #[must_use]
    pub fn labels(&self, run: &str, own: &Labels) -> Labels {
        let name = match self.of_runs.get(run).and_then(|of| of.name.as_ref()) {
            Some(changed) => changed.clone(),
            None => own.name.clone(),
        };
        Labels {
            name,
            tags: self.tags(run, own).into_iter().map(|(tag, _)| tag.to_owned()).collect(),
            notes: self.notes(run, own).into_iter().map(|(note, _)| note.to_owned()).collect(),
        }
    }

    /// Returns the tags of a run in alphabetical order, each with the user who added it later; `None` for an initial
    /// tag.
    #[must_use]
    pub fn tags<'a>(&'a self, run: &str, own: &'a Labels) -> Vec<(&'a str, Option<&'a Stamp>)> {
        let Some(of) = self.of_runs.get(run) else {
            return own.tags.iter().map(|tag| (&**tag, None)).collect();
        };
        let mut tags: BTreeMap<&str, Option<&Stamp>> =
            of.tags.iter().map(|(tag, stamp)| (&**tag, Some(stamp))).collect();
        tags.extend(own.tags.iter().filter(|tag| !of.untagged.contains(*tag)).map(|tag| (&**tag, None)));
        tags.into_iter().collect()
    }

    /// Returns the notes about a run, oldest first, each with the user who added it later; `None` for an initial note.
    #[must_use]
    pub fn notes<'a>(&'a self, run: &str, own: &'a Labels) -> Vec<(&'a str, Option<&'a Stamp>)> {
        let later = self.of_runs.get(run).into_iter().flat_map(|of| &of.notes);
        let own = own.notes.iter().map(|note| (&**note, None));
        own.chain(later.map(|(note, stamp)| (&**note, Some(stamp)))).collect()
    }

    /// Returns who archived a run and when; `None` if it is not archived.
    #[must_use]
    pub fn archived(&self, run: &str) -> Option<&Stamp> {
        self.of_runs.get(run)?.archived.as_ref()
    }

    /// Returns the baseline with this name.
    #[must_use]
    pub fn baseline(&self, name: &str) -> Option<&Baseline> {
        self.baselines.get(name)
    }

    /// Returns all baselines sorted by name.
    pub fn baselines(&self) -> impl Iterator<Item = (&str, &Baseline)> {
        self.baselines.iter().map(|(name, baseline)| (&**name, baseline))
    }

    /// Returns the ids of all annotated runs, sorted.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.of_runs.keys().map(String::as_str)
    }

    /// Returns the hash of the last record about a run, which changes with every annotation; `None` if the run has
    /// no annotations.
    #[must_use]
    pub fn digest(&self, run: &str) -> Option<Digest> {
        self.of_runs.get(run)?.digest
    }
}
