//! The folder that contains everything of a demo.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Number of bytes at the end of a log that are shown after a failure.
const TAIL_BYTES: usize = 2000;

/// The folder.
pub struct DemoFolder(tempfile::TempDir);

impl DemoFolder {
    /// Creates the folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created.
    pub fn new() -> anyhow::Result<Self> {
        let dir = tempfile::Builder::new().prefix("plateau-lab-demo-").tempdir()?;
        // The user `munge` accesses its files below this folder.
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755))?;
        Ok(Self(dir))
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of a file in the folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns this path as text.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        self.file(name).to_string_lossy().into_owned()
    }

    /// Writes a file that only root can read, because some contain passwords.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> anyhow::Result<String> {
        let path = self.file(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        Ok(self.text(name))
    }

    /// Returns the end of each log, for an error message.
    #[must_use]
    pub fn logs(&self) -> String {
        let mut out = String::from("the demo failed; the logs end with:");
        for entry in std::fs::read_dir(self.path()).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "out" || extension == "log") {
                let text = std::fs::read(&path).unwrap_or_default();
                let tail =
                    String::from_utf8_lossy(&text[text.len().saturating_sub(TAIL_BYTES)..]).into_owned();
                out.push_str(&format!("\n--- {}\n{tail}", path.display()));
            }
        }
        out
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// Returns an error if a file cannot be removed.
    pub fn remove(self) -> anyhow::Result<()> {
        let path = self.path().to_owned();
        self.0.close().with_context(|| format!("cannot remove {}", path.display()))
    }
}
