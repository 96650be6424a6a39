//! Problems with `library.journal` are found, and nothing is changed.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;

use doctor::{AddedProblem, Caller, Diagnosed, Diagnosis, Problem, Severity, examine};
use record::{Change, LIBRARY_JOURNAL, Library, LibraryJournalError};

/// A library with a `kept` folder, and a journal that tags the runs `kept` and `lost`.
struct Bench {
    folder: tempfile::TempDir,
    library: Library,
    journal: PathBuf,
    uid: u32,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let library = Library::at(folder.path());
        let journal = folder.path().join(LIBRARY_JOURNAL);
        fs::create_dir(folder.path().join("kept")).expect("a folder");
        let tagged = |run: &str| Change::Tagged { run: run.into(), tag: "rack-4".into() };
        let added =
            library.annotate::<LibraryJournalError>("alice", |_| Ok(vec![tagged("kept"), tagged("lost")]));
        added.expect("written");
        fs::set_permissions(&journal, fs::Permissions::from_mode(0o644)).expect("our file");
        let uid = fs::metadata(&journal).expect("a file").uid();
        Self { folder, library, journal, uid }
    }

    /// Returns the journal's problems, as found by user `uid`.
    fn found_by(&self, uid: u32) -> Vec<AddedProblem> {
        let before = fs::read(&self.journal).ok();
        let caller = Caller { uid, imported_file: "imported", most_imported_bytes: 1 };
        let examined = examine(&self.library, caller).expect("a library");
        assert_eq!(fs::read(&self.journal).ok(), before, "nothing is changed");
        let of_journal = examined.findings.into_iter().map(|finding| {
            assert_eq!((&finding.path, &finding.run), (&self.journal, &None));
            match finding.problem {
                Problem::Added(problem) => problem,
                other => panic!("{other}"),
            }
        });
        of_journal.collect()
    }

    fn found(&self) -> Vec<AddedProblem> {
        self.found_by(self.uid)
    }

    /// Returns the only finding, as printed.
    fn diagnosed(&self) -> Diagnosed {
        fs::create_dir_all(self.folder.path().join("lost")).expect("a folder");
        let caller = Caller { uid: self.uid, imported_file: "imported", most_imported_bytes: 1 };
        let examined = examine(&self.library, caller).expect("a library");
        let mut findings = Diagnosis::of(self.folder.path(), &examined, "").findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        findings.remove(0)
    }
}

fn no_such_runs() -> AddedProblem {
    AddedProblem::NoSuchRuns { runs: vec!["lost".into()] }
}

#[test]
fn records_about_runs_that_do_not_exist_are_a_note() {
    let bench = Bench::new();
    assert_eq!(bench.found(), [no_such_runs()]);
    assert_eq!(no_such_runs().severity(), Severity::Note);
    assert_eq!(no_such_runs().to_string(), "refers to 1 run that is not in the library: lost");
    let many =
        AddedProblem::NoSuchRuns { runs: ["a", "b", "c", "d", "e", "f", "g"].map(Into::into).to_vec() };
    assert!(
        many.to_string().ends_with("7 runs that are not in the library: a, b, c, d, e and 2 more"),
        "{many}"
    );
    fs::create_dir(bench.folder.path().join("lost")).expect("a folder");
    assert_eq!(bench.found(), []);
    fs::remove_file(&bench.journal).expect("our file");
    assert_eq!(bench.found(), [], "a library without a journal");
}

#[test]
fn an_incomplete_last_record_is_found_at_every_length() {
    let bench = Bench::new();
    let whole = fs::read_to_string(&bench.journal).expect("text");
    let last = whole.lines().last().expect("a record").len() + 1;
    for length in 1..last {
        fs::write(&bench.journal, &whole[..whole.len() - last + length]).expect("cut");
        assert_eq!(bench.found(), [AddedProblem::Torn { bytes: length as u64 }]);
    }
    let found = bench.diagnosed();
    assert_eq!((found.severity, found.kind), (Severity::Warning, "library_journal_torn"));
    // The remedy is correct: the next writer removes the incomplete record.
    let tagged = Change::Tagged { run: "kept".into(), tag: "fw1".into() };
    bench.library.annotate::<LibraryJournalError>("alice", |_| Ok(vec![tagged])).expect("written");
    assert_eq!(bench.found(), []);
}

#[test]
fn a_journal_that_is_damaged_newer_or_a_link_is_an_error() {
    let bench = Bench::new();
    let good = fs::read_to_string(&bench.journal).expect("text");
    for bad in [good.replacen("rack-4", "rack-5", 1), "plateau-journal 1\n".into(), "\n".into()] {
        fs::write(&bench.journal, &bad).expect("damage");
        let found = bench.found();
        assert!(matches!(found[..], [AddedProblem::Unreadable { .. }]), "{bad}: {found:?}");
    }
    let found = bench.diagnosed();
    assert_eq!((found.severity, found.kind), (Severity::Error, "library_journal_unreadable"));
    assert!(found.advice.contains(&format!("mv {} ELSEWHERE", bench.journal.display())), "{}", found.advice);
    fs::write(&bench.journal, good.replacen("journal 1", "journal 2", 1)).expect("written");
    assert_eq!(bench.found(), [AddedProblem::Newer]);
    let elsewhere = bench.folder.path().join("elsewhere");
    fs::write(&elsewhere, &good).expect("written");
    fs::remove_file(&bench.journal).expect("our file");
    symlink(&elsewhere, &bench.journal).expect("a link");
    let found = bench.found();
    assert!(matches!(found[..], [AddedProblem::Unreadable { .. }]), "{found:?}");
}

#[test]
fn a_journal_that_others_can_change_is_found_by_owner_and_by_mode() {
    let bench = Bench::new();
    fs::create_dir(bench.folder.path().join("lost")).expect("a folder");
    assert_eq!(bench.found_by(bench.uid + 1), [AddedProblem::OtherOwner { uid: bench.uid }]);
    for mode in [0o664, 0o646, 0o666] {
        fs::set_permissions(&bench.journal, fs::Permissions::from_mode(mode)).expect("our file");
        assert_eq!(bench.found(), [AddedProblem::OthersCanWrite { mode }]);
    }
    let found = bench.diagnosed();
    assert_eq!((found.severity, found.kind), (Severity::Warning, "library_journal_others_can_write"));
    assert_eq!(found.advice, format!("chmod go-w {}", bench.journal.display()));
}
