//! A setting in `/sys` that is changed for a run and put back after it.

use std::path::{Path, PathBuf};

use crate::error::{DriveError, reason};

/// A setting of the host with what it was and what it shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// In words: `scheduler of nvme0n1`.
    pub setting: String,
    /// The attribute in `/sys`.
    pub path: PathBuf,
    /// What it was when it was looked at.
    pub was: String,
    /// What it shall be for a run.
    pub to: String,
    /// It belongs to the host; otherwise to the device, and is gone with it.
    pub of_host: bool,
}

impl Tuning {
    /// Sets it and makes sure that it is set.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unusable`] when the kernel does not take it.
    pub fn apply(&self) -> Result<(), DriveError> {
        self.set(&self.to)
    }

    /// Puts back what it was and makes sure of that.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn undo(&self) -> Result<(), DriveError> {
        self.set(&self.was)
    }

    fn set(&self, value: &str) -> Result<(), DriveError> {
        let failed = |why: String| {
            DriveError::Unusable(format!(
                "setting the {} to {value} ({}) failed: {why}; run as root, or without --tune",
                self.setting,
                self.path.display()
            ))
        };
        std::fs::write(&self.path, value).map_err(|error| failed(reason(&error)))?;
        let now = std::fs::read_to_string(&self.path).map_err(|error| failed(reason(&error)))?;
        if active(now.trim()) == value {
            return Ok(());
        }
        Err(failed(format!("the kernel took it and shows {} all the same", now.trim())))
    }
}

/// The choice in brackets where there are several: `mq-deadline [none]` gives `none`.
pub(super) fn active(text: &str) -> &str {
    let choice = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    choice.map_or(text, |(choice, _)| choice)
}

/// The path under which people know it.
pub(super) fn short(path: &Path, kname: &str, attribute: &str) -> String {
    if path.ends_with(format!("{kname}/queue/{attribute}")) {
        format!("/sys/block/{kname}/queue/{attribute}")
    } else {
        path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_set_looked_at_and_put_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("scheduler");
        std::fs::write(&path, "none [bfq]\n").expect("an attribute");
        let tuning = Tuning {
            setting: "scheduler of sdb".into(),
            path: path.clone(),
            was: "bfq".into(),
            to: "none".into(),
            of_host: false,
        };
        tuning.apply().expect("a file takes everything");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "none");
        tuning.undo().expect("a file takes everything");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "bfq");
        let gone = Tuning { path: dir.path().join("no/such"), ..tuning };
        let error = gone.apply().expect_err("no such setting");
        assert!(
            error.to_string().contains("scheduler of sdb") && error.to_string().contains("--tune"),
            "{error}"
        );
    }

    #[test]
    fn the_active_choice_is_in_brackets() {
        assert_eq!((active("mq-deadline [none] bfq"), active("2")), ("none", "2"));
    }
}
