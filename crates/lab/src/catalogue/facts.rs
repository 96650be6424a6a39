//! What lists and statistics need of a `run.json`. The rest, above all the settings and the facts about the host, takes
//! several times as much memory, which a library of ten thousand runs would need all the time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use record::{Digest, Labels, RunFile, TargetFacts};
use serde::{Deserialize, Serialize};

/// Facts about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    pub id: String,
    pub created: Timestamp,
    pub tests: Vec<String>,
    pub profile: String,
    /// TC and QD; None if an imported file does not contain them.
    pub demand: Option<(u16, u16)>,
    pub target: Arc<TargetFacts>,
    target_line: Arc<str>,
    /// Whether Plateau did not measure the run.
    pub imported: bool,
    pub labels: Labels,
    /// Hash of the whole file.
    pub sha256: Digest,
}

impl Facts {
    /// Formats the kind, path, model, identity and capacity of the target.
    pub fn target_line(&self) -> &str {
        &self.target_line
    }

    /// Returns the divisor of the capacity and the durations of a simulated drive; 1 for other drives.
    pub fn scale_divisor(&self) -> u32 {
        self.target.simulated.as_ref().map_or(1, |simulated| simulated.scale_divisor)
    }
}

/// Facts about a run in a file, without its target, which many runs share.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedFacts {
    id: String,
    created: Timestamp,
    tests: Vec<String>,
    profile: String,
    demand: Option<(u16, u16)>,
    target_line: String,
    imported: bool,
    labels: Labels,
    sha256: String,
}

impl From<&Facts> for SavedFacts {
    fn from(facts: &Facts) -> Self {
        Self {
            id: facts.id.clone(),
            created: facts.created,
            tests: facts.tests.clone(),
            profile: facts.profile.clone(),
            demand: facts.demand,
            target_line: facts.target_line().to_owned(),
            imported: facts.imported,
            labels: facts.labels.clone(),
            sha256: facts.sha256.to_string(),
        }
    }
}

/// What many runs have in common, in memory once: at most one target per drive, and every distinct text.
#[derive(Debug, Default)]
pub struct Shared(Mutex<Content>);

#[derive(Debug, Default)]
struct Content {
    targets: BTreeMap<String, Arc<TargetFacts>>,
    texts: BTreeSet<Arc<str>>,
}

impl Shared {
    /// Returns the facts about a run.
    pub fn facts(&self, file: &RunFile) -> Facts {
        Facts {
            id: file.id.clone(),
            created: file.created,
            tests: file.tests.clone(),
            profile: file.profile.clone(),
            demand: file.settings.as_ref().map(|settings| (settings.threads, settings.queue_depth)),
            target: self.target(&file.target),
            target_line: self.text(&file.target_line()),
            imported: file.origin.is_some(),
            labels: file.labels.clone(),
            sha256: Digest::of(serde_json::to_string(file).unwrap_or_default().as_bytes()),
        }
    }

    /// Returns the facts about a run that were saved; None if they are damaged.
    pub fn restored(&self, saved: SavedFacts, target: &Arc<TargetFacts>) -> Option<Facts> {
        Some(Facts {
            id: saved.id,
            created: saved.created,
            tests: saved.tests,
            profile: saved.profile,
            demand: saved.demand,
            target: Arc::clone(target),
            target_line: self.text(&saved.target_line),
            imported: saved.imported,
            labels: saved.labels,
            sha256: Digest::of_hex(&saved.sha256)?,
        })
    }

    /// Returns a target.
    pub fn target(&self, target: &TargetFacts) -> Arc<TargetFacts> {
        let mut content = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let drive = target.drive();
        if let Some(known) = content.targets.get(&drive).filter(|known| ***known == *target) {
            return Arc::clone(known);
        }
        let new = Arc::new(target.clone());
        content.targets.insert(drive, Arc::clone(&new));
        new
    }

    /// Returns a text.
    pub fn text(&self, text: &str) -> Arc<str> {
        let mut content = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = content.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        content.texts.insert(Arc::clone(&new));
        new
    }
}
