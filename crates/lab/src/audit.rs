//! The journal of changes: who did what, when, and the equivalent command line. One JSON document per line,
//! append-only.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::json;
use stdx::files::OwnedFolder;

/// Name of the file.
pub const FILE: &str = "lab.journal";

/// The journal of changes.
pub struct Audit {
    folder: PathBuf,
    /// Ensures that there is only one writer at a time.
    writing: Mutex<()>,
}

impl Audit {
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.into(), writing: Mutex::new(()) }
    }

    /// Appends a line. A change that cannot be recorded must not be executed.
    pub fn record(&self, user: &str, what: &str, subject: &str, command: &str) -> Result<(), String> {
        let line = json!({
            "wall": record::wall_now().to_string(),
            "user": user,
            "what": what,
            "subject": subject,
            "command": command,
        });
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = || -> std::io::Result<()> {
            let folder = OwnedFolder::make(&self.folder)?;
            let mut file = folder.make_file(FILE)?;
            file.seek(SeekFrom::End(0))?;
            file.write_all(format!("{line}\n").as_bytes())?;
            file.sync_data()
        };
        written().map_err(|error| {
            format!(
                "nothing was changed, because {} cannot be written: {error}",
                self.folder.join(FILE).display()
            )
        })
    }
}
