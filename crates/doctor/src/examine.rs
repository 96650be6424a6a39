//! Reads and verifies every run in a library.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use record::storage::real;
use record::{Digest, LIBRARY_JOURNAL, Library, Loaded, RESCUED_JOURNAL, Run, check_order};
use stdx::text::with_causes;

use crate::added;
use crate::problem::{Finding, Problem};

/// Prefix of a run folder being created or removed.
const NASCENT: &str = ".new-";
/// Name of a file being written: `.plateau-RANDOM.tmp`.
const UNFINISHED: (&str, &str) = (".plateau-", ".tmp");

/// The result of an examination.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// Number of runs found.
    pub runs: usize,
    /// Number of runs verified: those that can be read and are not in progress.
    pub verified: usize,
    /// Number of runs that a process is working on.
    pub in_progress: usize,
    /// All problems, sorted by the name of the library entry.
    pub findings: Vec<Finding>,
}

/// Facts about the caller that the examination needs.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// Effective user of the caller.
    pub uid: u32,
    /// Name of the file that a run was imported from, in the run's directory.
    pub imported_file: &'a str,
    /// Maximum size of the imported file.
    pub most_imported_bytes: u64,
}

/// Examines every entry in a library. A library that does not exist is empty.
///
/// # Errors
/// Returns an error if the library cannot be listed.
pub fn examine(library: &Library, caller: Caller<'_>) -> io::Result<Examined> {
    let mut names: Vec<OsString> = match std::fs::read_dir(library.root()) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    names.sort();
    let runs = library.entries()?;
    let mut examination = Examination { caller, examined: Examined::default(), folders: BTreeMap::new() };
    for name in &names {
        examination.entry(&library.root().join(name), &name.to_string_lossy());
    }
    for (name, path) in &runs {
        if library.root().join(name) != *path {
            examination.archive(path);
        } else if library.has_archive(name) {
            examination.report(path, Problem::HalfArchived);
        }
    }
    names.extend(runs.into_keys());
    examination.added(library, &names);
    Ok(examination.finish(library))
}

struct Examination<'a> {
    caller: Caller<'a>,
    examined: Examined,
    /// For each run id, the names of the folders and archives that contain a run with that id.
    folders: BTreeMap<String, Vec<String>>,
}

impl Examination<'_> {
    fn report(&mut self, path: &Path, problem: Problem) {
        self.examined.findings.push(Finding::elsewhere(path, problem));
    }

    /// Reports a problem with a run.
    fn report_of(&mut self, run: &Run, path: &Path, problem: Problem) {
        let archive = run.is_archived().then(|| (run.dir.clone(), run.folder()));
        let run = Some(run.file.id.clone());
        self.examined.findings.push(Finding { run, path: path.into(), problem, archive });
    }

    fn entry(&mut self, path: &Path, name: &str) {
        let Ok(found) = std::fs::symlink_metadata(path) else { return };
        if name.starts_with(NASCENT) {
            // A locked folder is currently being created or removed.
            let held = real().open_folder(path).or_else(|_| real().open(path));
            let is_locked = held.and_then(|held| held.is_locked()).unwrap_or(false);
            if !is_locked {
                self.report(path, Problem::LeftOverRun);
            }
        } else if is_unfinished(name) {
            self.report(path, Problem::LeftOverFile);
        } else if found.is_symlink() && has_file_of_run(path) {
            self.report(path, Problem::Link);
        } else if found.is_dir() {
            self.folder(path);
        }
    }

    fn folder(&mut self, path: &Path) {
        let has = |file: &str| std::fs::symlink_metadata(path.join(file)).is_ok();
        match (has("run.json"), has("journal")) {
            (false, false) => {}
            (true, false) => self.report(path, Problem::NoJournal),
            (false, true) => self.report(path, Problem::NoRunFile),
            (true, true) => match Run::open(path) {
                Ok(run) => self.run(&run),
                Err(error) => self.report(path, Problem::Unreadable { why: with_causes(&error) }),
            },
        }
    }

    fn archive(&mut self, path: &Path) {
        match Run::open(path) {
            Ok(run) => self.run(&run),
            Err(error) => self.report(path, Problem::Unreadable { why: with_causes(&error) }),
        }
    }

    fn run(&mut self, run: &Run) {
        self.examined.runs += 1;
        let name = run.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.folders.entry(run.file.id.clone()).or_default().push(name.clone());
        if !run.has_own_name() {
            self.report_of(run, &run.dir, Problem::Renamed { name, own: run.own_path() });
        }
        self.owner(run);
        self.other_files(run);
        if run.is_in_progress().unwrap_or(false) {
            self.examined.in_progress += 1;
            return;
        }
        match run.load() {
            Ok(loaded) => {
                self.examined.verified += 1;
                self.verify(run, &loaded);
            }
            Err(error) => self.report_of(run, &run.dir, Problem::Unreadable { why: with_causes(&error) }),
        }
    }

    fn owner(&mut self, run: &Run) {
        let owner = std::fs::symlink_metadata(run.journal_path()).map(|found| found.uid());
        if let Ok(uid) = owner
            && uid != self.caller.uid
        {
            self.report_of(run, &run.dir, Problem::OtherOwner { uid });
        }
    }

    fn other_files(&mut self, run: &Run) {
        for name in run.file_names().unwrap_or_default() {
            let text = name.to_string_lossy();
            if is_unfinished(&text) {
                self.report_of(run, &run.dir.join(&name), Problem::LeftOverFile);
            } else if text.starts_with(RESCUED_JOURNAL) {
                self.report_of(run, &run.dir.join(&name), Problem::Rescued);
            }
        }
    }

    fn verify(&mut self, run: &Run, loaded: &Loaded) {
        if let Some(torn) = loaded.torn {
            self.report_of(run, &run.dir, Problem::Torn { bytes: torn.bytes });
        }
        if let Err(misplaced) = check_order(&run.file.tests, &loaded.entries) {
            let problem =
                Problem::Disordered { record: misplaced.record, why: misplaced.problem.to_string() };
            return self.report_of(run, &run.dir, problem);
        }
        if let Some(origin) = &run.file.origin {
            let path = run.dir.join(self.caller.imported_file);
            let kept = run.read_file(self.caller.imported_file, self.caller.most_imported_bytes);
            if !matches!(&kept, Ok(bytes) if Digest::of(bytes).is(&origin.sha256)) {
                self.report_of(run, &path, Problem::ImportedFileChanged);
            }
            return;
        }
        match pts::verify::verify(&run.file, &loaded.entries) {
            Ok(tests) => {
                let places: usize = tests.iter().map(|test| test.differences.len()).sum();
                if places > 0 {
                    self.report_of(run, &run.dir, Problem::JudgedDifferently { places });
                }
            }
            Err(why) => self.report_of(run, &run.dir, Problem::Unjudged { why }),
        }
    }

    /// Examines the annotations of runs. A run that cannot be read is identified by its folder's name.
    fn added(&mut self, library: &Library, names: &[OsString]) {
        let entries = names.iter().filter_map(|name| name.to_str());
        let known: BTreeSet<&str> = self.folders.keys().map(String::as_str).chain(entries).collect();
        let path = library.root().join(LIBRARY_JOURNAL);
        for problem in added::problems(library, &path, &known, self.caller.uid) {
            self.report(&path, problem.into());
        }
    }

    fn finish(mut self, library: &Library) -> Examined {
        let duplicates: Vec<(String, Vec<String>)> = self
            .folders
            .iter()
            .filter(|(_, all)| all.len() > 1)
            .map(|(id, all)| (id.clone(), all.clone()))
            .collect();
        for (id, names) in duplicates {
            let problem = Problem::DuplicateId { count: names.len(), names };
            let finding = Finding { run: Some(id), ..Finding::elsewhere(library.root(), problem) };
            self.examined.findings.push(finding);
        }
        self.examined
    }
}

fn is_unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1)
}

fn has_file_of_run(path: &Path) -> bool {
    ["run.json", "journal"].iter().any(|file| path.join(file).exists())
}
