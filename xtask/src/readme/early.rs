//! The release build that the first command in the documents needs, started early: at the lowest priority, it uses
//! the time that tests spend waiting for timers and devices.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context as _, bail};

use super::{Fresh, User, clone_folder, programs_folder};

/// A build in progress. Dropping it stops it.
pub struct Early {
    child: Child,
    log: PathBuf,
    /// Locks the clone.
    _fresh: Fresh,
}

impl Early {
    /// Starts the build in a fresh clone at the path that the documents' commands use later.
    pub fn start(root: &Path) -> anyhow::Result<Self> {
        let fresh = Fresh::new(root, &clone_folder(root))?;
        let log = programs_folder(root).join("early.log");
        let output = File::create(&log).with_context(|| log.display().to_string())?;
        // The same selection of packages and features as in the README.
        let mut command = User::new(root, &fresh.folder).command(
            &["nice", "-n", "19", "cargo", "run", "--release", "--locked", "--", "--version"],
            &fresh.folder,
        );
        command.stdout(output.try_clone()?).stderr(output).stdin(Stdio::null());
        let child = command.spawn().context("cannot start nice")?;
        Ok(Self { child, log, _fresh: fresh })
    }

    /// Waits for the end of the build.
    pub fn finish(mut self) -> anyhow::Result<()> {
        let status = self.child.wait().context("cannot wait for the release build")?;
        if status.success() {
            return Ok(());
        }
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        bail!("the release build ended with {status}")
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        // It has ended unless a test failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
