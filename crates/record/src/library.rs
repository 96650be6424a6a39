//! A folder of runs.

mod nascent;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::journal::read_journal_on;
use crate::plain::plain;
use crate::storage::{self, Storage};
use crate::{Digest, Event, JOURNAL_MAGIC, Journal, JournalError, Loaded, RUN_FILE_VERSION, RunFile};
use nascent::Nascent;

const RUN_FILE: &str = "run.json";
const JOURNAL: &str = "journal";
/// Command line and plan included; what is larger is not a run file.
const MOST_RUN_FILE_BYTES: u64 = 16 << 20;
/// Far more than an id has, and what any file system takes with an extension.
const MOST_ID_BYTES: usize = 200;
/// A thousand times what the largest array has; sums of such amounts do not overflow.
const MOST_CAPACITY_BYTES: u64 = 1 << 60;

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
    #[error("no run '{wanted}' in {}; `plateau runs` lists the runs", library.display())]
    NoSuchRun {
        /// What was asked for.
        wanted: String,
        /// Where.
        library: PathBuf,
    },
    /// Nothing was asked for, as where a variable of a script is empty.
    #[error(
        "no run is given; specify one by its id, the start of its id, or `latest` (`plateau runs` lists \
         them)"
    )]
    Unnamed,
    /// `latest~N` goes back further than there are runs.
    #[error("no run '{wanted}' in {}, which contains {count}; `plateau runs` lists the runs", library.display())]
    TooFewRuns {
        /// What was asked for.
        wanted: String,
        /// The runs there are.
        count: usize,
        /// Where.
        library: PathBuf,
    },
    /// Several runs begin like that, or have that name.
    #[error("'{wanted}' is ambiguous, it matches {}; type more of the id", candidates.join(", "))]
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
    #[error("{} was changed after the run started: the journal contains a different digest of it", path.display())]
    ChangedRunFile {
        /// Where.
        path: PathBuf,
    },
    /// A run that goes on cannot be removed.
    #[error("{id} is in progress; stop it first")]
    InProgress {
        /// The run.
        id: String,
    },
    /// The directory of a run holds something that is not a regular file.
    #[error("{} is not a file of the run, so {id} was not removed; remove that first", path.display())]
    Foreign {
        /// The run.
        id: String,
        /// What is in the way.
        path: PathBuf,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl LibraryError {
    /// Whether it says why the run of this id, or one that begins like it, cannot be read.
    fn is_about(&self, wanted: &str) -> bool {
        let (Self::Io { path, .. } | Self::BadRunFile { path, .. }) = self else { return false };
        let id = path.parent().and_then(Path::file_name);
        id.is_some_and(|id| id.to_string_lossy().starts_with(wanted))
    }
}

/// A folder of runs; created on the first run.
#[derive(Debug, Clone)]
pub struct Library {
    root: PathBuf,
    storage: Arc<dyn Storage>,
}

/// One run on disk.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its directory.
    pub dir: PathBuf,
    /// What was asked.
    pub file: RunFile,
    /// Volume and number of the directory that `file` was read from.
    identity: (u64, u64),
    storage: Arc<dyn Storage>,
}

/// How many runs before the newest one `wanted` means, where it counts back from there.
fn runs_back(wanted: &str) -> Option<usize> {
    let rest = wanted.strip_prefix("latest").or_else(|| wanted.strip_prefix("last"))?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('~')?.parse().ok() }
}

fn io(action: &'static str, path: &Path, source: std::io::Error) -> LibraryError {
    LibraryError::Io { action, path: path.into(), source }
}

/// Reads a `run.json` from its bytes. Strings in it are safe to show.
///
/// # Errors
/// With what is wrong with it: no JSON, newer than this build, not a run file.
pub fn parse_run_file(bytes: &[u8]) -> Result<RunFile, String> {
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version.is_none_or(|v| v > u64::from(RUN_FILE_VERSION)) {
        let found = version.map_or("none".to_owned(), |v| v.to_string());
        return Err(format!("its version is {found}, this Plateau reads up to {RUN_FILE_VERSION}"));
    }
    let file: RunFile = serde_json::from_value(plain(value)).map_err(|e| e.to_string())?;
    if !is_id(&file.id) {
        return Err(format!("{:?} is not the id of a run", file.id));
    }
    if file.target.capacity_bytes > MOST_CAPACITY_BYTES {
        return Err(format!("no target has {} B", file.target.capacity_bytes));
    }
    Ok(file)
}

/// Whether something that begins with these bytes is a `run.json` or the journal of a run, whatever its name.
#[must_use]
pub fn begins_as_file_of_run(bytes: &[u8]) -> bool {
    bytes.starts_with(JOURNAL_MAGIC.as_bytes()) || begins_as_run_file(bytes)
}

fn begins_as_run_file(bytes: &[u8]) -> bool {
    let mut words = bytes.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or_default();
    let version = [next(), next(), next()];
    let is_number =
        |word: &[u8]| word.strip_suffix(b",").is_some_and(|digits| digits.iter().all(u8::is_ascii_digit));
    version[0] == b"{" && version[1] == b"\"version\":" && is_number(version[2]) && next() == b"\"id\":"
}

/// Whether it can be the name of a directory in the library and nothing else: files are named after it.
fn is_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty() && id.len() <= MOST_ID_BYTES && !id.starts_with(['.', '-']) && id.chars().all(is_plain)
}

impl Library {
    /// The library at `root`, which need not exist yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self::on(storage::real(), root)
    }

    /// The same on another storage.
    #[must_use]
    pub fn on(storage: Arc<dyn Storage>, root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), storage }
    }

    /// What it is kept on.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates a run with its `run.json` and a journal that has begun. Its directory appears whole or not at all.
    ///
    /// # Errors
    /// If the run exists or cannot be written.
    pub fn create(&self, file: RunFile) -> Result<(Run, Journal), LibraryError> {
        self.create_with(file, &[])
    }

    /// The same with more files in the directory of the run, by name.
    ///
    /// # Errors
    /// Same as [`create`](Self::create).
    pub fn create_with(&self, file: RunFile, more: &[(&str, &[u8])]) -> Result<(Run, Journal), LibraryError> {
        storage::create_folders(&*self.storage, &self.root).map_err(|e| io("create", &self.root, e))?;
        self.sweep()?;
        let dir = self.root.join(&file.id);
        if self.storage.look(&dir).is_ok() {
            return Err(io("create", &dir, ErrorKind::AlreadyExists.into()));
        }
        let mut nascent = Nascent::create(&self.storage, &self.root, &file.id)?;
        let begun = self.fill(&mut nascent, &file, more).and_then(|journal| {
            nascent.publish(&dir)?;
            Ok((journal.moved_to(dir.join(JOURNAL)), nascent.identity()?))
        });
        match begun {
            Ok((journal, identity)) => {
                Ok((Run { dir, file, identity, storage: Arc::clone(&self.storage) }, journal))
            }
            Err(error) => {
                // Half a run is of no use. What cannot be removed now is swept away at a later start.
                nascent.discard();
                Err(error)
            }
        }
    }

    fn fill(
        &self,
        nascent: &mut Nascent,
        file: &RunFile,
        more: &[(&str, &[u8])],
    ) -> Result<Journal, LibraryError> {
        let json =
            serde_json::to_vec_pretty(file).map_err(|e| io("encode", Path::new(RUN_FILE), e.into()))?;
        for (name, bytes) in more.iter().chain([&(RUN_FILE, &json[..])]) {
            let (mut file, path) = nascent.create_file(name)?;
            file.append(bytes).and_then(|()| file.sync_all()).map_err(|e| io("write", &path, e))?;
        }
        let (stored, path) = nascent.create_file(JOURNAL)?;
        let mut journal = Journal::begin(Arc::clone(&self.storage), stored, &path)?;
        journal.append(Event::Opened { run_sha256: Digest::of(&json).to_string() })?;
        Ok(journal)
    }

    /// Removes what is left of runs whose process ended before they were whole. What another process is working on
    /// stays, and so does what cannot be removed.
    ///
    /// # Errors
    /// If the library cannot be read.
    pub fn sweep(&self) -> Result<(), LibraryError> {
        for dir in self.dirs()?.into_iter().filter(|dir| nascent::is_nascent(dir)) {
            nascent::remove_left_over(&*self.storage, &self.root, &dir);
        }
        Ok(())
    }

    /// Everything in the library; nothing where it does not exist.
    fn dirs(&self) -> Result<Vec<PathBuf>, LibraryError> {
        match self.storage.list(&self.root) {
            Ok(names) => Ok(names.into_iter().map(|name| self.root.join(name)).collect()),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(io("list", &self.root, e)),
        }
    }

    /// All runs, newest first, and the directories that could not be read as one.
    ///
    /// # Errors
    /// If the folder itself cannot be read; a missing folder is an empty library.
    pub fn list(&self) -> Result<(Vec<Run>, Vec<LibraryError>), LibraryError> {
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for dir in self.dirs()? {
            if nascent::is_nascent(&dir) {
                continue;
            }
            match Run::open_on(Arc::clone(&self.storage), &dir) {
                Ok(run) => runs.push(run),
                // A file, or a folder of something else. What has a journal was a run.
                Err(LibraryError::Io { source, .. })
                    if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
                        && self.storage.look(&dir.join(JOURNAL)).is_err() => {}
                Err(error) => unreadable.push(error),
            }
        }
        runs.sort_by(|a, b| b.file.created.cmp(&a.file.created).then_with(|| a.file.id.cmp(&b.file.id)));
        Ok((runs, unreadable))
    }

    /// The run that `wanted` names: an id, a path, `latest` (also `last`) for the newest run and `latest~1` for the one
    /// before it, the operator's name for it, or a unique beginning of an id.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find(&self, wanted: &str) -> Result<Run, LibraryError> {
        if wanted.is_empty() {
            return Err(LibraryError::Unnamed);
        }
        let holds_run =
            |dir: &Path| !nascent::is_nascent(dir) && self.storage.look(&dir.join(RUN_FILE)).is_ok();
        let by_id = self.root.join(wanted);
        let by_path = Path::new(wanted);
        if !wanted.contains('/') && holds_run(&by_id) {
            return Run::open_on(Arc::clone(&self.storage), &by_id);
        }
        if holds_run(by_path) {
            return Run::open_on(Arc::clone(&self.storage), by_path);
        }
        let (mut runs, unreadable) = self.list()?;
        if let Some(back) = runs_back(wanted) {
            // A newer one that cannot be read would have been meant.
            return match unreadable.into_iter().next() {
                Some(error) => Err(error),
                None if back < runs.len() => Ok(runs.swap_remove(back)),
                None => Err(LibraryError::TooFewRuns {
                    wanted: wanted.into(),
                    count: runs.len(),
                    library: self.root.clone(),
                }),
            };
        }
        let has_name = |run: &Run| run.file.labels.name.as_deref() == Some(wanted);
        let by_name = runs.iter().any(has_name);
        let is_meant = |run: &Run| if by_name { has_name(run) } else { run.file.id.starts_with(wanted) };
        let mut matching: Vec<Run> = runs.into_iter().filter(is_meant).collect();
        match matching.len() {
            1 => Ok(matching.remove(0)),
            // What is there and cannot be read is not missing.
            0 if let Some(error) = unreadable.into_iter().find(|error| error.is_about(wanted)) => Err(error),
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
    /// If its `run.json` is missing, newer than this build, or not one.
    pub fn open(dir: &Path) -> Result<Self, LibraryError> {
        Self::open_on(storage::real(), dir)
    }

    fn open_on(storage: Arc<dyn Storage>, dir: &Path) -> Result<Self, LibraryError> {
        let path = dir.join(RUN_FILE);
        let read = || {
            let held = storage.open_folder(dir)?;
            let bytes = held.open_file(OsStr::new(RUN_FILE))?.read(MOST_RUN_FILE_BYTES)?;
            Ok((bytes, held.found()?.identity))
        };
        let (bytes, identity) = read().map_err(|e| io("read", &path, e))?;
        let file = parse_run_file(&bytes).map_err(|problem| LibraryError::BadRunFile { path, problem })?;
        Ok(Self { dir: dir.into(), file, identity, storage })
    }

    /// Volume and number of its directory: another directory that takes its name has others.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Path of the journal.
    #[must_use]
    pub fn journal_path(&self) -> PathBuf {
        self.dir.join(JOURNAL)
    }

    /// Reads the journal and checks that it belongs to this `run.json`.
    ///
    /// # Errors
    /// Same as [`read_journal`](crate::read_journal), and if `run.json` was changed.
    pub fn load(&self) -> Result<Loaded, LibraryError> {
        let loaded = read_journal_on(&*self.storage, &self.journal_path())?;
        self.check_digest(&loaded)?;
        Ok(loaded)
    }

    /// Whether a process is working on it right now.
    ///
    /// # Errors
    /// If the journal cannot be opened, or the file system has no locks.
    pub fn is_in_progress(&self) -> Result<bool, LibraryError> {
        let path = self.journal_path();
        self.storage.open(&path).and_then(|journal| journal.is_locked()).map_err(|e| io("lock", &path, e))
    }

    /// Removes it from its library for good: at once under its name, and its files one by one after that. Left-overs of a
    /// removal that was cut off are removed when the next run starts.
    ///
    /// # Errors
    /// If it is in progress, or its directory is a link or holds anything but regular files; then it is still there.
    /// When the system call fails.
    pub fn remove(self) -> Result<(), LibraryError> {
        let journal = self.journal_path();
        let held = self.storage.open(&journal).map_err(|e| io("open", &journal, e))?;
        match held.try_lock() {
            Ok(true) => nascent::remove_run(&*self.storage, &self.dir),
            Ok(false) => Err(LibraryError::InProgress { id: self.file.id }),
            Err(error) => Err(io("lock", &journal, error)),
        }
    }

    /// Opens the journal to go on with it.
    ///
    /// # Errors
    /// Same as [`Journal::reopen`], and if `run.json` was changed.
    pub fn reopen(&self) -> Result<(Journal, Loaded), LibraryError> {
        // Its creator may have been killed before it synced them.
        storage::sync_above(&*self.storage, &self.journal_path()).map_err(|e| io("sync", &self.dir, e))?;
        let (journal, loaded) = Journal::reopen_on(Arc::clone(&self.storage), &self.journal_path())?;
        self.check_digest(&loaded)?;
        Ok((journal, loaded))
    }

    fn check_digest(&self, loaded: &Loaded) -> Result<(), LibraryError> {
        let path = self.dir.join(RUN_FILE);
        let bytes = self
            .storage
            .open(&path)
            .and_then(|mut f| f.read(MOST_RUN_FILE_BYTES))
            .map_err(|e| io("read", &path, e))?;
        match loaded.entries.first().map(|entry| &entry.event) {
            Some(Event::Opened { run_sha256 }) if *run_sha256 != Digest::of(&bytes).to_string() => {
                Err(LibraryError::ChangedRunFile { path })
            }
            Some(Event::Opened { .. }) => Ok(()),
            // Without it, nothing says that this journal belongs to this file.
            _ => Err(JournalError::Damaged {
                path: self.journal_path(),
                seq: 0,
                problem: "the first record is not `opened`".into(),
            }
            .into()),
        }
    }
}
