//! Information about the run in Plateau's own exports: its id, its profile, the simulated drive, the marks.

use record::{IMPORTED_FROM, MarkKind, StatedMark};
use serde::Deserialize;

use crate::imported::Provenance;

/// Limit on the total number of explanations for all marks.
const MOST_DETAILS: usize = 10_000;

/// The `plateau` object in other tools' formats.
#[derive(Debug, Deserialize)]
pub(crate) struct Stated {
    run: Option<String>,
    version: Option<String>,
    profile: Option<String>,
    simulated: Option<String>,
    #[serde(default)]
    marks: Vec<StatedMark>,
}

impl Stated {
    /// Returns the name and version of the measuring tool.
    pub fn tool(&self) -> String {
        format!("Plateau {}", self.version.as_deref().unwrap_or("of unknown version"))
    }

    /// Returns the provenance of the exported run.
    pub fn provenance(self) -> Result<Provenance, String> {
        let details: usize = self.marks.iter().map(|mark| mark.details.len()).sum();
        if details > MOST_DETAILS {
            return Err(format!(
                "its marks have {details} explanations; at most {MOST_DETAILS} are supported"
            ));
        }
        Ok(Provenance {
            run: self.run,
            profile: self.profile,
            simulated: self.simulated,
            marks: self.marks,
            ..Provenance::default()
        })
    }
}

/// Returns the measuring tool named in the label of an imported run.
pub(crate) fn tool_of(label: String) -> String {
    label.strip_prefix(IMPORTED_FROM).map(str::to_owned).unwrap_or(label)
}

/// Reads the names of marks, separated as in data files: `simulated;modified`.
pub(crate) fn marks(keys: &str) -> Result<Vec<StatedMark>, String> {
    let known = |key: &str| MarkKind::ALL.into_iter().find(|kind| kind.key() == key);
    let keys = keys.split(';').filter(|key| !key.is_empty());
    keys.map(|key| {
        let mark = known(key).ok_or_else(|| format!("'{key}' is not a mark"))?;
        Ok(StatedMark { mark, details: Vec::new() })
    })
    .collect()
}
