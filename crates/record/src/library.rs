//! A folder of runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Digest, Event, Journal, JournalError, Loaded, RUN_FILE_VERSION, RunFile, read_journal};

const RUN_FILE: &str = "run.json";
const JOURNAL: &str = "journal";

/// What can go wrong with a library or a run in it.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// No such run.
    #[error("no run '{wanted}' in {}; `plateau runs` lists what is there", library.display())]
    NoSuchRun {
        /// What was asked for.
        wanted: String,
        /// Where.
        library: PathBuf,
    },
    /// Several runs begin like that.
    #[error("'{wanted}' is the beginning of several runs: {}; type more of the id", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The runs.
        candidates: Vec<String>,
    },
    /// `run.json` cannot be understood.
    #[error("{} is not a run file: {problem}", path.display())]
    BadRunFile {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// `run.json` is not the one the journal was begun with.
    #[error("{} was changed after the run began: the journal holds another digest of it", path.display())]
    ChangedRunFile {
        /// Where.
        path: PathBuf,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A folder of runs; created on the first run.
#[derive(Debug, Clone)]
pub struct Library {
    root: PathBuf,
}

/// One run on disk.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its directory.
    pub dir: PathBuf,
    /// What was asked.
    pub file: RunFile,
}

fn io(action: &'static str, path: &Path, source: std::io::Error) -> LibraryError {
    LibraryError::Io { action, path: path.into(), source }
}

impl Library {
    /// The library at `root`, which need not exist yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates the run's directory, writes `run.json`, begins the journal.
    ///
    /// # Errors
    /// When the directory exists or cannot be written.
    pub fn create(&self, file: RunFile) -> Result<(Run, Journal), LibraryError> {
        fs::create_dir_all(&self.root).map_err(|e| io("create", &self.root, e))?;
        let dir = self.root.join(&file.id);
        fs::create_dir(&dir).map_err(|e| io("create", &dir, e))?;
        let begun = self.begin(dir.clone(), file);
        if begun.is_err() {
            // Half a run is of no use, and would be listed as damaged. What is left is told by the first error.
            let _ = [RUN_FILE, JOURNAL].map(|name| fs::remove_file(dir.join(name)));
            let _ = fs::remove_dir(&dir);
        }
        begun
    }

    fn begin(&self, dir: PathBuf, file: RunFile) -> Result<(Run, Journal), LibraryError> {
        let path = dir.join(RUN_FILE);
        let json = serde_json::to_vec_pretty(&file).map_err(|e| io("encode", &path, e.into()))?;
        write_durably(&path, &json).map_err(|e| io("write", &path, e))?;
        let mut journal = Journal::create(&dir.join(JOURNAL))?;
        journal.append(Event::Opened { run_sha256: Digest::of(&json).to_string() })?;
        fs::File::open(&self.root).and_then(|f| f.sync_all()).map_err(|e| io("sync", &self.root, e))?;
        Ok((Run { dir, file }, journal))
    }

    /// All runs, newest first, and the directories that could not be read as one.
    ///
    /// # Errors
    /// When the folder itself cannot be read; a missing folder is an empty library.
    pub fn list(&self) -> Result<(Vec<Run>, Vec<LibraryError>), LibraryError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
            Err(e) => return Err(io("list", &self.root, e)),
        };
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for entry in entries {
            let dir = entry.map_err(|e| io("list", &self.root, e))?.path();
            if dir.join(RUN_FILE).exists() {
                match Run::open(&dir) {
                    Ok(run) => runs.push(run),
                    Err(error) => unreadable.push(error),
                }
            }
        }
        runs.sort_by(|a, b| b.file.created.cmp(&a.file.created).then_with(|| a.file.id.cmp(&b.file.id)));
        Ok((runs, unreadable))
    }

    /// The run that `wanted` names: an id, a unique beginning of one, or a path.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, wanted: &str) -> Result<Run, LibraryError> {
        let by_id = self.root.join(wanted);
        if !wanted.is_empty() && !wanted.contains('/') && by_id.join(RUN_FILE).exists() {
            return Run::open(&by_id);
        }
        if Path::new(wanted).join(RUN_FILE).exists() {
            return Run::open(Path::new(wanted));
        }
        let (runs, _) = self.list()?;
        let mut matching: Vec<Run> =
            runs.into_iter().filter(|run| !wanted.is_empty() && run.file.id.starts_with(wanted)).collect();
        match matching.len() {
            1 => Ok(matching.remove(0)),
            0 => Err(LibraryError::NoSuchRun { wanted: wanted.into(), library: self.root.clone() }),
            _ => Err(LibraryError::Ambiguous {
                wanted: wanted.into(),
                candidates: matching.into_iter().map(|run| run.file.id).collect(),
            }),
        }
    }
}

impl Run {
    /// Opens the run in `dir`.
    ///
    /// # Errors
    /// When its `run.json` is missing, newer than this build, or not one.
    pub fn open(dir: &Path) -> Result<Self, LibraryError> {
        let path = dir.join(RUN_FILE);
        let bytes = fs::read(&path).map_err(|e| io("read", &path, e))?;
        let bad = |problem: String| LibraryError::BadRunFile { path: path.clone(), problem };
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
        let version = value.get("version").and_then(serde_json::Value::as_u64);
        if version.is_none_or(|v| v > u64::from(RUN_FILE_VERSION)) {
            let found = version.map_or("none".to_owned(), |v| v.to_string());
            return Err(bad(format!("its version is {found}, this Plateau reads up to {RUN_FILE_VERSION}")));
        }
        let file = serde_json::from_value(value).map_err(|e| bad(e.to_string()))?;
        Ok(Self { dir: dir.into(), file })
    }

    /// Path of the journal.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        self.dir.join(JOURNAL)
    }

    /// Reads the journal and checks that it belongs to this `run.json`.
    ///
    /// # Errors
    /// As [`read_journal`], and when `run.json` was changed.
    pub fn load(&self) -> Result<Loaded, LibraryError> {
        let loaded = read_journal(&self.journal_path())?;
        self.check_digest(&loaded)?;
        Ok(loaded)
    }

    /// Opens the journal to go on with it.
    ///
    /// # Errors
    /// As [`Journal::reopen`], and when `run.json` was changed.
    pub fn reopen(&self) -> Result<(Journal, Loaded), LibraryError> {
        let (journal, loaded) = Journal::reopen(&self.journal_path())?;
        self.check_digest(&loaded)?;
        Ok((journal, loaded))
    }

    fn check_digest(&self, loaded: &Loaded) -> Result<(), LibraryError> {
        let path = self.dir.join(RUN_FILE);
        let bytes = fs::read(&path).map_err(|e| io("read", &path, e))?;
        match loaded.entries.first().map(|entry| &entry.event) {
            Some(Event::Opened { run_sha256 }) if *run_sha256 != Digest::of(&bytes).to_string() => {
                Err(LibraryError::ChangedRunFile { path })
            }
            _ => Ok(()),
        }
    }
}

fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
