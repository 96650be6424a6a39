//! The library: a folder of runs.

mod archive;
mod archiving;
mod candidate;
mod error;
mod nascent;
mod reserved;
mod run;
mod run_json;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stdx::files::ReadError;

use crate::library_journal::{self, LIBRARY_JOURNAL, LibraryJournalError};
use crate::storage::{self, Storage};
use crate::{Annotation, Annotations, Change, Digest, Event, Journal, RunFile};
use error::io;
use nascent::Nascent;
use reserved::runs_back;

pub use archive::{JOURNAL, RUN_FILE, is_archive};
pub use archiving::Archived;
pub use candidate::Candidate;
pub use error::LibraryError;
pub use reserved::is_reserved_id;
pub use run::Run;
pub use run_json::{MOST_RUN_FILE_BYTES, begins_as_file_of_run, is_id, parse_run_file};

/// A folder of runs, created with the first run.
#[derive(Debug, Clone)]
pub struct Library {
    root: PathBuf,
    storage: Arc<dyn Storage>,
}

fn write_all<'a>(
    nascent: &mut Nascent,
    files: impl Iterator<Item = &'a (&'a str, &'a [u8])>,
) -> Result<(), LibraryError> {
    for (name, bytes) in files {
        let (mut file, path) = nascent.create_file(name)?;
        file.append(bytes).and_then(|()| file.sync_all()).map_err(|e| io("write", &path, e))?;
    }
    Ok(())
}

impl Library {
    /// Returns the library at `root`, which does not have to exist yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self::on(storage::real(), root)
    }

    /// Same as [`at`](Self::at), but uses `storage`.
    #[must_use]
    pub fn on(storage: Arc<dyn Storage>, root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), storage }
    }

    /// Returns the library's storage.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Returns the library's root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates a run with its `run.json` and the beginning of its journal. The directory appears completely
    /// or not at all.
    ///
    /// # Errors
    /// Returns an error if the run exists or cannot be written.
    pub fn create(&self, file: RunFile) -> Result<(Run, Journal), LibraryError> {
        self.create_with(file, &[])
    }

    /// Same as [`create`](Self::create), but with additional files in the run's directory, as (name, content).
    ///
    /// # Errors
    /// Same as [`create`](Self::create).
    pub fn create_with(&self, file: RunFile, more: &[(&str, &[u8])]) -> Result<(Run, Journal), LibraryError> {
        storage::create_folders(&*self.storage, &self.root).map_err(|e| io("create", &self.root, e))?;
        self.sweep()?;
        let dir = self.root.join(&file.id);
        if self.has(&file.id) {
            return Err(io("create", &dir, ErrorKind::AlreadyExists.into()));
        }
        let mut nascent = Nascent::create(&self.storage, &self.root, &file.id)?;
        let begun = self.fill(&mut nascent, &file, more).and_then(|journal| {
            nascent.publish(&dir)?;
            Ok((journal.moved_to(dir.join(JOURNAL)), nascent.identity()?))
        });
        match begun {
            Ok((journal, identity)) => {
                Ok((Run::new(Arc::clone(&self.storage), dir, file, identity), journal))
            }
            Err(error) => {
                // If this removal fails, a later process tries again.
                nascent.discard();
                Err(error)
            }
        }
    }

    /// Adds a copy of a run: its `run.json` unchanged, additional files as (name, content), and the verified beginning
    /// of its journal. The directory appears completely or not at all.
    ///
    /// # Errors
    /// Returns an error if a run with this id exists, or the copy cannot be written.
    pub fn create_copy(
        &self,
        run_json: &[u8],
        journal: &[u8],
        more: &[(&str, &[u8])],
    ) -> Result<Run, LibraryError> {
        let file = parse_run_file(run_json)
            .map_err(|problem| LibraryError::BadRunFile { path: self.root.join(RUN_FILE), problem })?;
        storage::create_folders(&*self.storage, &self.root).map_err(|e| io("create", &self.root, e))?;
        self.sweep()?;
        let dir = self.root.join(&file.id);
        if self.has(&file.id) {
            return Err(io("create", &dir, ErrorKind::AlreadyExists.into()));
        }
        let mut nascent = Nascent::create(&self.storage, &self.root, &file.id)?;
        let own = [(RUN_FILE, run_json), (JOURNAL, journal)];
        let written = write_all(&mut nascent, more.iter().chain(&own)).and_then(|()| {
            nascent.publish(&dir)?;
            nascent.identity()
        });
        match written {
            Ok(identity) => Ok(Run::new(Arc::clone(&self.storage), dir, file, identity)),
            Err(error) => {
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
        if json.len() as u64 > MOST_RUN_FILE_BYTES {
            // No reader accepts a larger run file.
            let error = ReadError::TooLarge { limit_bytes: MOST_RUN_FILE_BYTES };
            return Err(io("write", Path::new(RUN_FILE), error.into()));
        }
        write_all(nascent, more.iter().chain([&(RUN_FILE, &json[..])]))?;
        let (stored, path) = nascent.create_file(JOURNAL)?;
        let mut journal = Journal::begin(Arc::clone(&self.storage), stored, &path)?;
        journal.append(Event::Opened { run_sha256: Digest::of(&json).to_string() })?;
        Ok(journal)
    }

    /// Removes the remains of runs whose creation was interrupted. Skips remains that another process is
    /// using, and remains that cannot be removed.
    ///
    /// # Errors
    /// Returns an error if the library cannot be read.
    pub fn sweep(&self) -> Result<(), LibraryError> {
        let names = self.names().map_err(|e| io("list", &self.root, e))?;
        for name in names.iter().filter(|name| nascent::is_nascent(Path::new(name))) {
            nascent::remove_left_over(&*self.storage, &self.root, &self.root.join(name));
        }
        Ok(())
    }

    /// Returns the names of all entries in the library; empty if the library does not exist.
    fn names(&self) -> std::io::Result<Vec<OsString>> {
        match self.storage.list(&self.root) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            names => names,
        }
    }

    /// Returns everything that may be a run, sorted by name: folders, archives and other files. Omits runs that are being
    /// created or removed. If a folder and an archive have the same name, omits the archive if the folder contains a run
    /// file or journal, and otherwise the folder. Empty if the library does not exist.
    ///
    /// # Errors
    /// Returns an error if the library cannot be listed.
    pub fn candidates(&self) -> std::io::Result<Vec<Candidate>> {
        let of_name = |name: OsString| {
            let archived = archive::run_in(&name).map(OsStr::to_owned);
            match archived.filter(|_| archive::is_at(&*self.storage, &self.root.join(&name))) {
                Some(run) => Candidate { name: run, is_archive: true },
                None => Candidate { name, is_archive: false },
            }
        };
        let names = self.names()?.into_iter().filter(|name| !nascent::is_nascent(Path::new(name)));
        let mut all: Vec<Candidate> = names.map(of_name).collect();
        all.sort_unstable();
        all.dedup_by(|archive, folder| {
            let is_same = archive.name == folder.name;
            if is_same && !archive::is_folder_of_run(&*self.storage, &folder.path_in(&self.root)) {
                std::mem::swap(archive, folder);
            }
            is_same
        });
        Ok(all)
    }

    /// Returns the paths of all [`candidates`](Self::candidates), by their names.
    ///
    /// # Errors
    /// Same as [`candidates`](Self::candidates).
    pub fn entries(&self) -> std::io::Result<BTreeMap<OsString, PathBuf>> {
        let with_path = |candidate: Candidate| {
            let path = candidate.path_in(&self.root);
            (candidate.name, path)
        };
        Ok(self.candidates()?.into_iter().map(with_path).collect())
    }

    /// Returns the path of the run with this name in the library, which need not exist.
    #[must_use]
    pub fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        let (name, folder) = (name.as_ref(), self.root.join(name.as_ref()));
        let archive = self.root.join(archive::name_of(name));
        match archive::is_at(&*self.storage, &archive) && !archive::is_folder_of_run(&*self.storage, &folder)
        {
            true => archive,
            false => folder,
        }
    }

    /// Returns whether anything in the library has this run's name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.storage.look(&self.path_of(name)).is_ok()
    }

    /// Returns whether the library contains an archive of the run with this name, even if the run's folder also exists.
    #[must_use]
    pub fn has_archive(&self, name: impl AsRef<OsStr>) -> bool {
        archive::is_at(&*self.storage, &self.root.join(archive::name_of(name.as_ref())))
    }

    /// Opens the run with this name in the library, with its initial labels. In contrast to
    /// [`find`](Self::find), only the exact name is accepted.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or its `run.json` is invalid.
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<Run, LibraryError> {
        Run::open_on(Arc::clone(&self.storage), &self.path_of(name))
    }

    /// Returns whether `path` has the name of an archive.
    #[must_use]
    pub fn may_be_archive(path: &Path) -> bool {
        path.file_name().is_some_and(|name| archive::run_in(name).is_some())
    }

    /// Returns the paths of the run file and the journal of the run at `path`. Their lengths and modification times
    /// change with the run.
    #[must_use]
    pub fn files_of(&self, path: &Path) -> [PathBuf; 2] {
        if archive::is_at(&*self.storage, path) {
            return [path.into(), path.into()];
        }
        [path.join(RUN_FILE), path.join(JOURNAL)]
    }

    /// Returns all runs, newest first, and an error for each directory that cannot be read as a run.
    ///
    /// # Errors
    /// Returns an error if the library itself cannot be read. A library that does not exist has no entries.
    pub fn list(&self) -> Result<(Vec<Run>, Vec<LibraryError>), LibraryError> {
        let entries = self.entries().map_err(|e| io("list", &self.root, e))?;
        Ok(self.list_of(entries.into_values()))
    }

    /// Like [`list`](Self::list), but only for these paths, which are some of those that [`entries`](Self::entries)
    /// returned.
    #[must_use]
    pub fn list_of(&self, paths: impl Iterator<Item = PathBuf>) -> (Vec<Run>, Vec<LibraryError>) {
        let (mut runs, unreadable) = self.started(paths);
        // Labels added later are shown once they can be read again.
        let problem = if runs.is_empty() { None } else { self.label(&mut runs).err() };
        (runs, unreadable.into_iter().chain(problem).collect())
    }

    /// Returns the run with its current labels, or with its initial labels if the current ones cannot be read.
    fn labelled(&self, run: Run) -> Run {
        let mut runs = [run];
        if let Err(error) = self.label(&mut runs) {
            log::info!("labels that were added later are not shown: {error}");
        }
        let [run] = runs;
        run
    }

    /// Replaces the initial labels of the runs with their current labels.
    fn label(&self, runs: &mut [Run]) -> Result<(), LibraryError> {
        let annotations = self.annotations()?;
        for run in runs {
            run.file.labels = annotations.labels(&run.file.id, &run.file.labels);
        }
        Ok(())
    }

    /// Returns all annotations of runs in the library.
    ///
    /// # Errors
    /// Returns an error if the library's journal cannot be read or is damaged.
    pub fn annotations(&self) -> Result<Annotations, LibraryJournalError> {
        library_journal::read(&*self.storage, &self.root.join(LIBRARY_JOURNAL))
    }

    /// Returns every change that users have made to the annotations, in the order in which they were made.
    ///
    /// # Errors
    /// Same as [`annotations`](Self::annotations).
    pub fn changes(&self) -> Result<Vec<Annotation>, LibraryJournalError> {
        library_journal::records(&*self.storage, &self.root.join(LIBRARY_JOURNAL))
    }

    /// Same as [`annotations`](Self::annotations), but also returns the length in bytes of a last record that
    /// was left incomplete because its writer died.
    ///
    /// # Errors
    /// Same as [`annotations`](Self::annotations).
    pub fn annotations_with_end(&self) -> Result<(Annotations, u64), LibraryJournalError> {
        library_journal::read_with_end(&*self.storage, &self.root.join(LIBRARY_JOURNAL))
    }

    /// Calls `decide` with the current state and appends the resulting changes to the library's journal, which
    /// no other process can change in the meantime. Returns the new state once the changes are on disk.
    ///
    /// `who` is the author of the changes. The caller checks that the runs exist.
    ///
    /// # Errors
    /// Returns the error of `decide`, and an error if the journal cannot be read or written, or is damaged. In all
    /// these cases, nothing was changed.
    pub fn annotate<E: From<LibraryJournalError>>(
        &self,
        who: &str,
        decide: impl FnOnce(&Annotations) -> Result<Vec<Change>, E>,
    ) -> Result<Annotations, E> {
        library_journal::append(&*self.storage, &self.root.join(LIBRARY_JOURNAL), who, decide)
    }

    /// Returns the runs at these paths with their initial labels, newest first, and an error for each directory that
    /// cannot be read.
    fn started(&self, paths: impl Iterator<Item = PathBuf>) -> (Vec<Run>, Vec<LibraryError>) {
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for dir in paths {
            match Run::open_on(Arc::clone(&self.storage), &dir) {
                Ok(run) => runs.push(run),
                // Skip files and unrelated folders, but report a folder with a journal: it used to be a run.
                Err(LibraryError::Io { source, .. })
                    if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
                        && self.storage.look(&dir.join(JOURNAL)).is_err() => {}
                Err(error) => unreadable.push(error),
            }
        }
        runs.sort_by(|a, b| b.file.created.cmp(&a.file.created).then_with(|| a.file.id.cmp(&b.file.id)));
        (runs, unreadable)
    }

    /// Finds the run that `name` refers to. `name` is an id or a unique prefix of one, a path, the name that
    /// the operator gave the run, `latest` (or `last`) for the newest run, or `latest~1` for the run before it.
    ///
    /// # Errors
    /// Returns an error if no run or several runs match.
    pub fn find(&self, name: &str) -> Result<Run, LibraryError> {
        if name.is_empty() {
            return Err(LibraryError::Unnamed);
        }
        let holds_run = |dir: &Path| {
            let is_run =
                || self.storage.look(&dir.join(RUN_FILE)).is_ok() || archive::is_at(&*self.storage, dir);
            !nascent::is_nascent(dir) && is_run()
        };
        if !name.contains('/') {
            let by_id = self.path_of(name);
            if holds_run(&by_id) {
                let run = Run::open_on(Arc::clone(&self.storage), &by_id)?;
                return Ok(self.labelled(run));
            }
        }
        let by_path = Path::new(name);
        if holds_run(by_path) {
            return Run::open_on(Arc::clone(&self.storage), by_path);
        }
        let entries = self.entries().map_err(|e| io("list", &self.root, e))?;
        let (mut runs, unreadable) = self.started(entries.into_values());
        let unlabelled = self.label(&mut runs).err();
        if let Some(back) = runs_back(name) {
            // Any unreadable run might be the requested one.
            return match unreadable.into_iter().next() {
                Some(error) => Err(error),
                None if back < runs.len() => Ok(runs.swap_remove(back)),
                None => Err(LibraryError::TooFewRuns {
                    name: name.into(),
                    count: runs.len(),
                    library: self.root.clone(),
                }),
            };
        }
        let has_name = |run: &Run| run.file.labels.name.as_deref() == Some(name);
        let by_name = runs.iter().any(has_name);
        let is_meant = |run: &Run| if by_name { has_name(run) } else { run.file.id.starts_with(name) };
        let mut matching: Vec<Run> = runs.into_iter().filter(is_meant).collect();
        match matching.len() {
            1 => Ok(matching.remove(0)),
            // Report an unreadable run as unreadable, not as missing.
            0 if let Some(error) = unreadable.into_iter().find(|error| error.is_about(name)) => Err(error),
            // The name may have been added later.
            0 if let Some(error) = unlabelled => Err(error),
            0 => Err(LibraryError::NoSuchRun { name: name.into(), library: self.root.clone() }),
            _ => {
                let (name, ids) = (name.into(), matching.into_iter().map(|run| run.file.id));
                Err(match by_name {
                    true => LibraryError::Namesakes { name, candidates: ids.collect() },
                    false => LibraryError::Ambiguous { name, candidates: ids.collect() },
                })
            }
        }
    }
}
