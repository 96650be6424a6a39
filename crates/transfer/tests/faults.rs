//! Transfers over a link that loses, repeats, delays, cuts and corrupts requests and responses: the journals at both
//! ends become identical, and only data that can be verified is accepted.

use std::ops::ControlFlow;
use std::path::Path;

use record::{Event, Journal, Library, LibraryError, Run, RunFile};
use stdx::rng::split_mix;
use transfer::{Destination, First, Received, Receiver, Source, SourceState, TransferError, mark_of, send};

fn run_file(id: &str) -> RunFile {
    let json = serde_json::json!({
        "version": 1, "id": id, "created": "2026-11-25T08:00:00Z", "plateau_version": "0", "command": ["plateau"],
        "tests": ["iops"], "profile": "pts-e-2.0", "settings": null, "host": {},
        "target": {
            "kind": "simulated", "path": "sim:x", "identity": "x", "capacity_bytes": 4096,
            "logical_block_bytes": 512, "physical_block_bytes": 4096
        }
    });
    serde_json::from_str(&json.to_string()).expect("a run file")
}

fn library(root: &Path) -> Library {
    Library::at(root)
}

fn begun(root: &Path, id: &str) -> (Run, Journal) {
    let (run, mut journal) = library(root).create(run_file(id)).expect("a run");
    journal.append(Event::TestStarted { test: "iops".into() }).expect("appended");
    (run, journal)
}

fn append(journal: &mut Journal, count: u64) {
    (0..count).for_each(|length_ns| drop(journal.append(Event::Idled { length_ns }).expect("appended")));
}

fn whole(source: &mut Source, destination: &mut dyn Destination) -> Result<transfer::Sent, TransferError> {
    send(source, destination, &mut |_| ControlFlow::Continue(()))
}

fn bytes(root: &Path, id: &str, name: &str) -> Vec<u8> {
    std::fs::read(root.join(id).join(name)).expect("a file")
}

fn copy(run: &Run, to: &Path) -> Result<transfer::Sent, TransferError> {
    whole(&mut Source::of(run.clone()), &mut Receiver::of(library(to), "host:/runs"))
}

/// A destination that stores nothing and states wrong lengths: their differences from what it was sent first and later.
struct Boaster {
    first: i64,
    later: i64,
}

impl Destination for Boaster {
    fn received(&mut self, _: &str) -> Result<Option<Received>, TransferError> {
        Ok(None)
    }

    fn begin(&mut self, first: &First<'_>, _: SourceState) -> Result<Received, TransferError> {
        Ok(Received {
            bytes: (first.journal.len() as u64).saturating_add_signed(self.first),
            digest: String::new(),
        })
    }

    fn append(&mut self, _: &str, at: u64, records: &[u8]) -> Result<Received, TransferError> {
        Ok(Received {
            bytes: (at + records.len() as u64).saturating_add_signed(self.later),
            digest: String::new(),
        })
    }

    fn settle(&mut self, _: &str, _: SourceState) -> Result<(), TransferError> {
        panic!("nothing is complete");
    }
}

#[test]
fn a_destination_that_claims_more_than_the_source_has_is_not_believed() {
    let here = tempfile::tempdir().expect("a folder");
    let (run, _journal) = begun(here.path(), "a");
    // One byte more than the whole journal, at once or after the last byte was sent.
    for mut destination in [Boaster { first: 1, later: 0 }, Boaster { first: -1, later: 1 }] {
        let sent = whole(&mut Source::of(run.clone()), &mut destination);
        assert!(matches!(sent, Err(TransferError::OtherRun { .. })), "{sent:?}");
    }
}

/// A link to a receiver that fails at random in every possible way.
struct Link {
    receiver: Receiver,
    state: u64,
    /// An earlier request that is still under way.
    delayed: Option<(String, u64, Vec<u8>)>,
    faults: u32,
}

impl Link {
    fn chance(&mut self, of: u64) -> u64 {
        split_mix(&mut self.state) % of
    }

    fn lost() -> TransferError {
        TransferError::Unreachable { text: "lost".into() }
    }

    /// Loses the request, the response, or neither.
    fn ask<T>(
        &mut self,
        request: impl Fn(&mut Receiver) -> Result<T, TransferError>,
    ) -> Result<T, TransferError> {
        if let Some((id, at, records)) = self.delayed.take() {
            drop(self.receiver.append(&id, at, &records));
        }
        match self.chance(6) {
            0 => {
                self.faults += 1;
                Err(Self::lost())
            }
            1 => {
                self.faults += 1;
                drop(request(&mut self.receiver));
                Err(Self::lost())
            }
            2 => {
                self.faults += 1;
                drop(request(&mut self.receiver));
                request(&mut self.receiver)
            }
            _ => request(&mut self.receiver),
        }
    }
}

impl Destination for Link {
    fn received(&mut self, id: &str) -> Result<Option<Received>, TransferError> {
        self.ask(|receiver| receiver.received(id))
    }

    fn begin(&mut self, first: &First<'_>, state: SourceState) -> Result<Received, TransferError> {
        self.ask(|receiver| receiver.begin(first, state))
    }

    fn append(&mut self, id: &str, at: u64, records: &[u8]) -> Result<Received, TransferError> {
        let mut sent = records.to_vec();
        match self.chance(4) {
            // Cut it anywhere, even within a record.
            0 => {
                self.faults += 1;
                let length = self.chance(sent.len() as u64 + 1);
                sent.truncate(usize::try_from(length).expect("small"));
            }
            1 => {
                self.faults += 1;
                let place = usize::try_from(self.chance(sent.len() as u64)).expect("small");
                sent[place] ^= 1 << self.chance(8);
            }
            2 => {
                self.faults += 1;
                self.delayed = Some((id.into(), at, sent.clone()));
                return Err(Self::lost());
            }
            _ => {}
        }
        self.ask(|receiver| receiver.append(id, at, &sent))
    }

    fn settle(&mut self, id: &str, state: SourceState) -> Result<(), TransferError> {
        self.ask(|receiver| receiver.settle(id, state))
    }
}

#[test]
fn journals_at_both_ends_are_identical_after_two_hundred_faults() {
    let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut faults = 0;
    for seed in 0..20 {
        let id = format!("r{seed}");
        let (run, journal) = begun(from.path(), &id);
        drop(journal);
        let receiver = Receiver::of(library(to.path()), "host:/runs");
        let mut link = Link { receiver, state: seed, delayed: None, faults: 0 };
        let mut source = Source::of(run.clone());
        // The run continues while it is sent.
        for piece in 1..=10 {
            // The writer releases its lock first, because detecting a held lock takes time.
            let (mut journal, _) = run.reopen().expect("intact");
            append(&mut journal, piece);
            drop(journal);
            let mut attempts = 0;
            while !whole(&mut source, &mut link).is_ok_and(|sent| sent.has_all) {
                attempts += 1;
                assert!(attempts < 1_000, "the transfer with seed {seed} never completes");
                let (there, here) = (to.path().join(&id), bytes(from.path(), &id, "journal"));
                if there.exists() {
                    let there = bytes(to.path(), &id, "journal");
                    assert!(
                        here.starts_with(&there),
                        "seed {seed}: the copy must always be a prefix of the source"
                    );
                }
            }
            assert_eq!(bytes(from.path(), &id, "journal"), bytes(to.path(), &id, "journal"), "seed {seed}");
        }
        faults += link.faults;
        assert_eq!(bytes(from.path(), &id, "run.json"), bytes(to.path(), &id, "run.json"));
        assert!(library(to.path()).find(&id).expect("a run").load().is_ok());
    }
    assert!(faults >= 200, "{faults} faults");
}

#[test]
fn copies_are_marked_at_every_stage() {
    let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (run, mut journal) = begun(from.path(), "a");
    append(&mut journal, 3);
    let mut receiver = Receiver::of(library(to.path()), "host:/runs");
    // The transfer is stopped after its first piece.
    let sent =
        send(&mut Source::of(run.clone()), &mut receiver, &mut |_| ControlFlow::Break(())).expect("begun");
    assert!(!sent.has_all);
    let copied = || library(to.path()).find("a").expect("a run");
    let mark = || mark_of(&copied()).expect("readable").expect("a mark");
    assert!(mark().words().contains("missing"), "{}", mark().words());
    // The copy is complete so far, but the run is still in progress.
    assert!(copy(&run, to.path()).expect("copied").was_in_progress);
    assert!(mark().words().contains("was in progress"), "{}", mark().words());
    append(&mut journal, 1);
    journal.append(Event::TestEnded { test: "iops".into(), converged: None }).expect("appended");
    journal.append(Event::Closed).expect("appended");
    drop(journal);
    assert!(copy(&run, to.path()).expect("copied").new_bytes > 0);
    assert_eq!(mark().words(), "copy of host:/runs");
    let unchanged = bytes(to.path(), "a", "copied.json");
    assert_eq!(copy(&run, to.path()).expect("copied").new_bytes, 0, "it is there");
    assert_eq!(bytes(to.path(), "a", "copied.json"), unchanged);
}

#[test]
fn another_run_with_the_same_id_is_never_changed() {
    let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (run, mut journal) = begun(from.path(), "a");
    append(&mut journal, 3);
    // A different run, the run itself with fewer records, and a copy with a different end.
    let (_, mut other) = begun(to.path(), "a");
    append(&mut other, 5);
    let before = bytes(to.path(), "a", "journal");
    assert!(matches!(copy(&run, to.path()), Err(TransferError::OtherRun { .. })));
    assert_eq!(bytes(to.path(), "a", "journal"), before);

    let moved = tempfile::tempdir().expect("a folder");
    let dir = moved.path().join("a");
    std::fs::create_dir(&dir).expect("a folder");
    std::fs::write(dir.join("run.json"), bytes(from.path(), "a", "run.json")).expect("written");
    std::fs::write(dir.join("journal"), bytes(from.path(), "a", "journal")).expect("written");
    assert_eq!(copy(&run, moved.path()).expect("the same").new_bytes, 0);
    append(&mut journal, 1);
    assert!(matches!(copy(&run, moved.path()), Err(TransferError::Original { .. })), "it is not a copy");
}

#[test]
fn remains_of_an_interrupted_append_are_removed() {
    let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (run, mut journal) = begun(from.path(), "a");
    append(&mut journal, 2);
    copy(&run, to.path()).expect("copied");
    let path = to.path().join("a").join("journal");
    let mut torn = std::fs::read(&path).expect("readable");
    append(&mut journal, 1);
    let next = bytes(from.path(), "a", "journal");
    torn.extend_from_slice(&next[torn.len()..torn.len() + 40]);
    std::fs::write(&path, torn).expect("written");
    copy(&run, to.path()).expect("copied");
    assert_eq!(std::fs::read(&path).expect("readable"), next);
}

#[test]
fn invalid_ids_are_refused() {
    let to = tempfile::tempdir().expect("a folder");
    let mut receiver = Receiver::of(library(&to.path().join("runs")), "host:/runs");
    let long = "x".repeat(300);
    for id in ["", "..", ".", "../x", "a/b", "/etc", "a\0b", "a\nb", &long] {
        assert!(matches!(receiver.received(id), Err(TransferError::Unknown { .. })), "{id}");
        assert!(matches!(receiver.append(id, 0, b""), Err(TransferError::Unknown { .. })), "{id}");
    }
}

#[test]
fn ids_with_another_meaning_in_a_library_are_refused() {
    let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (root, there) = (from.path(), to.path().join("runs"));
    for id in ["latest", "library.journal", "index.sqlite", "a.tar.zst"] {
        drop(begun(root, id));
        let run = library(root).open(id).expect("a run");
        let refused = copy(&run, &there);
        assert!(matches!(refused, Err(TransferError::Refused { .. })), "{id}: {refused:?}");
    }
    assert!(!there.exists(), "nothing was stored");
}

/// Archives the run `a` of a library; returns the path of the archive.
fn archive(root: &Path) -> std::path::PathBuf {
    let run = library(root).find("a").expect("a run");
    run.archive(|_| Ok::<_, LibraryError>(())).expect("archived").path
}

#[test]
fn a_run_that_is_archived_at_the_destination_is_already_there() {
    let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (run, mut journal) = begun(from.path(), "a");
    append(&mut journal, 3);
    drop(journal);
    copy(&run, to.path()).expect("copied");
    let path = archive(to.path());
    let archived = std::fs::read(&path).expect("a file");
    let sent = copy(&run, to.path()).expect("it is there");
    assert!(sent.has_all && sent.new_bytes == 0);
    // A request whose response was lost is repeated after the run has been archived.
    let whole = bytes(from.path(), "a", "journal");
    let mut receiver = Receiver::of(library(to.path()), "host:/runs");
    assert_eq!(receiver.append("a", 0, &whole).expect("the same").bytes, whole.len() as u64);
    let mut changed = whole.clone();
    changed[50] ^= 1;
    let refused = receiver.append("a", 0, &changed);
    assert!(matches!(refused, Err(TransferError::OtherRun { .. })), "{refused:?}");
    let gap = receiver.append("a", whole.len() as u64 + 1, b"x");
    assert!(matches!(gap, Err(TransferError::Gap { .. })), "{gap:?}");
    // Nothing can be added to an archive.
    let (mut journal, _) = run.reopen().expect("intact");
    append(&mut journal, 1);
    let error = copy(&run, to.path()).expect_err("one record is missing");
    assert!(matches!(error, TransferError::Archived { .. }), "{error}");
    assert!(error.to_string().contains("plateau unarchive a"), "{error}");
    assert_eq!(std::fs::read(&path).expect("a file"), archived);
    assert!(!to.path().join("a").exists());
    // The mark of a copy of a run in progress would have to be changed.
    let third = tempfile::tempdir().expect("a folder");
    assert!(copy(&run, third.path()).expect("copied").was_in_progress);
    archive(third.path());
    assert!(copy(&run, third.path()).is_ok(), "nothing has changed");
    drop(journal);
    assert!(matches!(copy(&run, third.path()), Err(TransferError::Archived { .. })));
    // Another run.
    let other = tempfile::tempdir().expect("a folder");
    append(&mut begun(other.path(), "a").1, 1);
    let path = archive(other.path());
    let archived = std::fs::read(&path).expect("a file");
    assert!(matches!(copy(&run, other.path()), Err(TransferError::OtherRun { .. })));
    assert_eq!(std::fs::read(&path).expect("a file"), archived);
}

/// Stops a transfer after its first piece and `most` further pieces.
fn stopping_after(most: u32) -> impl FnMut(u64) -> ControlFlow<()> {
    let mut pieces = 0;
    move |_| {
        pieces += 1;
        if pieces > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_archived_run_is_sent_in_pieces() {
    let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (_, mut journal) = begun(from.path(), "a");
    // Six megabytes: more than a few pieces.
    for number in 0..60 {
        let reason = format!("{number} ").repeat(30_000);
        journal.append(Event::Interrupted { reason }).expect("appended");
    }
    drop(journal);
    let whole_journal = bytes(from.path(), "a", "journal");
    archive(from.path());
    let run = library(from.path()).find("a").expect("a run");
    let mut receiver = Receiver::of(library(to.path()), "host:/runs");
    let mut source = Source::of(run.clone());
    // Stopped after two pieces, continued, stopped again, and continued by another process.
    assert!(!send(&mut source, &mut receiver, &mut stopping_after(1)).expect("begun").has_all);
    assert!(!send(&mut source, &mut receiver, &mut stopping_after(2)).expect("continued").has_all);
    let there = bytes(to.path(), "a", "journal");
    assert!(there.len() > 2 << 20 && there.len() < whole_journal.len(), "{}", there.len());
    assert!(whole_journal.starts_with(&there));
    let sent = whole(&mut Source::of(run.clone()), &mut receiver).expect("continued");
    assert!(sent.has_all && sent.new_bytes < whole_journal.len() as u64);
    assert_eq!(bytes(to.path(), "a", "journal"), whole_journal);
    assert_eq!(whole(&mut source, &mut receiver).expect("it is there").new_bytes, 0);
}
