use super::*;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicI32, AtomicUsize};

use launch::{Launched, Process};
use record::Library;

use super::means::Perform;
use super::order::MOST_ENTRIES;

fn launcher() -> Launcher {
    Launcher { program: "/nonexistent".into(), library: "/nonexistent".into(), folder: "/nonexistent".into() }
}

struct Place {
    dir: tempfile::TempDir,
    starts: Arc<Starts>,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let catalogue = Arc::new(Catalogue::of(Library::at(dir.path().join("runs"))));
        let queue = Queue::open(&dir.path().join("lab")).expect("a new folder");
        let starts = Starts::of(catalogue, "/nonexistent/program".into(), queue, None);
        Self { dir, starts: starts.expect("no queue") }
    }

    /// Creates a place whose runs are started by the given means.
    fn with(means: Means) -> Self {
        let Self { dir, starts } = Self::new();
        let starts = Arc::into_inner(starts).expect("no thread uses it");
        Self { dir, starts: Arc::new(Starts { means, ..starts }) }
    }

    /// Waits until a start has failed, and returns the reason.
    fn failure(&self, name: &str) -> String {
        loop {
            if let Stage::Failed(why) = self.stage(name) {
                return why;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Adds an entry that no thread watches.
    fn waiting(&self, name: &str) {
        self.add(Entry {
            name: name.into(),
            user: "ann".into(),
            at: record::wall_now(),
            request: Request::Resume { run: name.into(), identity: None },
            document: Value::Null,
            checks: Value::Null,
            drive: Some("S1".into()),
            stage: Stage::Waiting,
            waits_for: None,
            warnings: Vec::new(),
        });
    }

    /// Adds a plan for drive S1 that has not been confirmed yet.
    fn planned(&self, name: &str) {
        self.waiting(name);
        let mut entries = self.starts.entries();
        let entry = entries.last_mut().expect("an entry");
        let target = Target { path: "/dev/nvme0n1".into(), scale: None, size: None };
        let plan = Plan::Preset("quick".into());
        entry.request = Request::Start(Start { plan, target, identity: String::new() });
        entry.document = json!({ "target": { "path": "/dev/nvme0n1", "identity": "S1" } });
        entry.stage = Stage::Planned;
    }

    fn add(&self, entry: Entry) {
        add(&mut self.starts.entries(), entry).expect("room");
    }

    /// Returns the names of all entries with their stages, oldest first.
    fn stages(&self) -> Vec<(String, Stage)> {
        self.starts.entries().iter().map(|entry| (entry.name.clone(), entry.stage.clone())).collect()
    }

    fn stage(&self, name: &str) -> Stage {
        self.starts.one(name).expect("an entry").stage
    }

    /// Makes writing the queue fail or succeed.
    fn block(&self, is_blocked: bool) {
        let path = self.dir.path().join("lab/queue.json.next");
        if is_blocked {
            std::fs::create_dir_all(path).expect("a folder in the way");
        } else {
            std::fs::remove_dir(path).expect("removed");
        }
    }

    /// Returns the names of the entries that would wait if the server were restarted.
    fn stored(&self) -> Vec<String> {
        let read = queue::read(&self.dir.path().join("lab")).expect("readable");
        read.into_iter().map(|entry| entry.name).collect()
    }
}

/// The next change would overwrite the file with an empty queue.
#[test]
fn a_queue_that_cannot_be_read_is_not_an_empty_one() {
    let place = Place::new();
    place.waiting("a");
    place.starts.queue.write(&place.starts.entries()).expect("written");
    let Place { dir, starts } = place;
    drop(starts);
    let file = dir.path().join("lab/queue.json");
    let whole = std::fs::read(&file).expect("readable");
    let start = || {
        let catalogue = Arc::new(Catalogue::of(Library::at(dir.path().join("runs"))));
        let queue = Queue::open(&dir.path().join("lab")).expect("no other server");
        Starts::of(catalogue, "/nonexistent/program".into(), queue, None)
    };
    let refused = |what: &str| {
        let why = start().err().map(|error| with_causes(&error)).unwrap_or_default();
        assert!(why.contains("queue.json") && why.contains("list of waiting runs"), "{what}: {why}");
    };
    for (what, bytes) in [("nothing", &b""[..]), ("cut off", &whole[..whole.len() / 2]), ("other", b"{}")] {
        std::fs::write(&file, bytes).expect("writable");
        refused(what);
        assert_eq!(std::fs::read(&file).expect("readable"), bytes, "unchanged");
    }
    let large = std::fs::File::options().write(true).open(&file).expect("a file");
    large.set_len(65 << 20).expect("sparse");
    refused("too large");
    std::fs::remove_file(&file).expect("removed");
    std::fs::create_dir(&file).expect("a folder");
    refused("a folder");
    std::fs::remove_dir(&file).expect("removed");
    std::os::unix::fs::symlink("other.json", &file).expect("a link");
    refused("a link");
    std::fs::remove_file(&file).expect("removed");
    std::fs::write(&file, &whole).expect("writable");
    std::fs::set_permissions(&file, Permissions::from_mode(0o666)).expect("permissions");
    refused("others may have written to it");
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("permissions");
    let starts = start().expect("readable");
    assert_eq!(starts.all().len(), 1);
    starts.stop();
    // The thread that watches the entry also ends.
    while Arc::strong_count(&starts) > 1 {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(starts);
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(start().expect("no file is an empty queue").all().len(), 0);
}

/// Two servers would overwrite each other's queue, and each would start runs again after a restart.
#[test]
fn one_server_at_a_time_uses_a_queue() {
    let place = Place::new();
    let folder = place.dir.path().join("lab");
    let second = || Queue::open(&folder).err();
    assert!(matches!(second(), Some(ServeError::InUse { path }) if path.ends_with("lab/lock")));
    place.waiting("a");
    place.starts.queue.write(&place.starts.entries()).expect("written");
    let beside = Queue::beside(place.starts.queue.folder());
    assert!(beside.read().expect("empty").is_empty(), "it does not start the runs of the other server");
    assert!(beside.write(&[]).is_err());
    assert_eq!(place.stored(), ["a"]);
    drop(place.starts);
    assert!(second().is_none(), "the lock ends with the server");
}

#[test]
fn a_start_without_a_thread_fails_and_leaves_the_queue() {
    let spawn = |_: Box<dyn FnOnce() + Send>| Err(std::io::Error::from_raw_os_error(11));
    let perform: Box<Perform> = Box::new(|_, _| panic!("there is no thread"));
    let place = Place::with(Means { spawn, perform, ..Means::of(launcher(), None) });
    place.planned("p");
    place.starts.confirm("bob", "p", "S1").expect("stored");
    let why = place.failure("p");
    assert!(why.contains("cannot start another thread") && why.contains("temporarily unavailable"), "{why}");
    assert_eq!(place.stored(), Vec::<String>::new(), "it would start with the next server");
    // The next run on the drive does not wait for the failed one.
    place.waiting("a");
    assert!(place.starts.take_if_free("a"));
    place.block(true);
    place.waiting("b");
    place.starts.fail("b", "no thread");
    let why = place.failure("b");
    assert!(why.contains("no thread; ") && why.contains("may start when the server is restarted"), "{why}");
}

#[test]
fn a_start_that_panics_fails_and_leaves_the_queue() {
    let place =
        Place::with(Means { perform: Box::new(|_, _| panic!("a mistake")), ..Means::of(launcher(), None) });
    place.waiting("a");
    place.waiting("b");
    place.starts.queue.write(&place.starts.entries()).expect("written");
    place.starts.follow("a".into());
    let why = place.failure("a");
    assert!(why.contains("internal error: a mistake") && why.contains("start it again"), "{why}");
    assert_eq!(place.stored(), ["b"]);
    assert!(place.starts.take_if_free("b"), "it does not wait for the failed one");
    place.starts.set("a", Stage::Begun("r".into()));
    place.starts.fail("a", "late");
    assert_eq!(place.stage("a"), Stage::Begun("r".into()), "a run that has begun is not given up");
}

#[test]
fn a_plan_is_kept_if_its_start_cannot_be_stored() {
    let place = Place::new();
    place.planned("p");
    place.waiting("a");
    let before = place.stages();
    place.block(true);
    let why = place.starts.confirm("bob", "p", "S1").expect_err("the queue cannot be written");
    assert!(matches!(&why, Unchanged::Unstored(text) if text.contains("queue.json")), "{why:?}");
    assert_eq!((why.status(), place.stages()), (503, before));
    let kept = place.starts.one("p").expect("an entry");
    assert!(matches!(&kept.request, Request::Start(start) if start.identity.is_empty()), "{kept:?}");
    assert_eq!((kept.user.as_str(), place.stored()), ("ann", vec![]));
    place.block(false);
    place.starts.confirm("bob", "p", "S1").expect("stored");
    let waiting = |name: &str| (name.to_owned(), Stage::Waiting);
    assert_eq!(place.stages(), [waiting("a"), waiting("p")], "it was started after the other run");
    assert_eq!(
        (place.stored(), place.starts.one("p").expect("an entry").user),
        (vec!["a".to_owned(), "p".to_owned()], "bob".to_owned())
    );
    place.starts.stop();
}

#[test]
fn a_run_is_withdrawn_only_if_the_queue_can_be_written() {
    let place = Place::new();
    place.waiting("a");
    place.starts.queue.write(&place.starts.entries()).expect("written");
    place.block(true);
    let why = place.starts.withdraw("ann", "a").expect_err("the queue cannot be written");
    let text = why.text();
    assert!(text.contains("still waiting") && text.contains("queue.json"), "{text}");
    assert_eq!(why.status(), 503);
    assert_eq!((place.stage("a"), place.stored()), (Stage::Waiting, vec!["a".to_owned()]));
    place.block(false);
    place.starts.withdraw("ann", "a").expect("withdrawn");
    assert_eq!((place.stage("a"), place.stored()), (Stage::Failed("withdrawn by ann".into()), vec![]));
    assert!(place.starts.withdraw("ann", "a").is_err());
}

#[test]
fn a_run_starts_only_if_the_queue_can_be_written() {
    let place = Place::new();
    place.waiting("a");
    place.starts.queue.write(&place.starts.entries()).expect("written");
    place.block(true);
    assert!(!place.starts.take_if_free("a"));
    assert_eq!((place.stage("a"), place.stored()), (Stage::Waiting, vec!["a".to_owned()]));
    let waits_for = place.starts.one("a").and_then(|entry| entry.waits_for);
    assert!(waits_for.is_some_and(|why| why.contains("queue.json")));
    place.block(false);
    assert!(place.starts.take_if_free("a"));
    assert_eq!((place.stage("a"), place.stored()), (Stage::Starting, vec![]));
}

#[test]
fn a_library_that_cannot_be_read_frees_no_drive() {
    let place = Place::new();
    place.waiting("a");
    let library = place.dir.path().join("runs");
    std::fs::write(&library, "not a folder").expect("a file");
    assert!(!place.starts.take_if_free("a"));
    let why = place.starts.one("a").and_then(|entry| entry.waits_for).expect("a reason");
    assert!(why.contains("cannot list"), "{why}");
}

/// A run that cannot be read may have any drive as its target, so only its lock matters.
#[test]
fn a_folder_that_cannot_be_read_uses_a_drive_only_if_its_journal_is_locked() {
    let place = Place::new();
    place.waiting("a");
    let library = place.dir.path().join("runs");
    let folder = |name: &str| {
        let dir = library.join(name);
        std::fs::create_dir_all(&dir).expect("folders");
        std::fs::write(dir.join("run.json"), "{").expect("a file");
        dir
    };
    let journal = std::fs::File::create(folder("broken").join("journal")).expect("a file");
    journal.lock().expect("a lock");
    assert!(!place.starts.take_if_free("a"), "a process is working on the run");
    let why = place.starts.one("a").and_then(|entry| entry.waits_for).expect("a reason");
    assert!(why.contains("broken") && why.contains("in progress"), "{why}");
    journal.unlock().expect("unlocked");
    // The lock state of these folders cannot be determined, not even by root.
    std::fs::create_dir(folder("folder").join("journal")).expect("a folder");
    symlink("elsewhere", folder("link").join("journal")).expect("a link");
    symlink("loop", library.join("loop")).expect("a link to itself");
    std::fs::set_permissions(folder("private"), Permissions::from_mode(0o0)).expect("permissions");
    // These entries are not runs.
    std::fs::create_dir(folder("lost+found").join("journal")).expect("a folder");
    std::fs::create_dir(library.join("notes")).expect("a folder");
    std::fs::write(library.join("library.journal"), "").expect("a file");
    assert!(place.starts.take_if_free("a"), "no lock shows that a process is working on one of them");
    let warnings = place.starts.one("a").expect("an entry").warnings.join("\n");
    for name in ["broken", "folder", "link", "loop"] {
        assert!(warnings.contains(&format!("/{name}/run.json")), "{name}: {warnings}");
    }
    let listed = place.starts.catalogue.listing().expect("readable");
    assert!(listed.rows.is_empty() && listed.warnings.len() >= 4, "{:?}", listed.warnings);
    for name in ["lost+found", "notes", "library.journal"] {
        assert!(!warnings.contains(name), "{name}: {warnings}");
    }
    std::fs::set_permissions(library.join("private"), Permissions::from_mode(0o700)).expect("permissions");
}

#[test]
fn runs_of_a_drive_start_in_their_order() {
    let place = Place::new();
    place.waiting("a");
    place.waiting("b");
    assert!(!place.starts.take_if_free("b"));
    let why = place.starts.one("b").and_then(|entry| entry.waits_for).expect("a reason");
    assert!(why.contains("comes first"), "{why}");
    assert!(place.starts.take_if_free("a") && !place.starts.take_if_free("b"), "a is starting");
    place.starts.set("a", Stage::Failed("refused".into()));
    assert!(place.starts.take_if_free("b"));
}

#[test]
fn the_number_of_runs_that_wait_is_bounded() {
    let place = Place::new();
    (0..MOST_ENTRIES).for_each(|number| place.waiting(&number.to_string()));
    let entry = place.starts.one("0").expect("an entry");
    assert!(add(&mut place.starts.entries(), entry.clone()).is_err());
    place.starts.set("7", Stage::Failed("withdrawn".into()));
    add(&mut place.starts.entries(), entry).expect("room");
    assert!(place.starts.one("7").is_none());
}

/// A second signal would abort a run instead of ending it after the current cell.
#[test]
fn each_process_of_a_run_is_sent_the_stop_signal_once() {
    let (pid, signals) = (Arc::new(AtomicI32::new(11)), Arc::new(AtomicUsize::new(0)));
    let (sent, working) = (Arc::clone(&signals), Arc::clone(&pid));
    let place = Place::with(Means {
        perform: Box::new(move |request, _| {
            sent.fetch_add(1, Ordering::Relaxed);
            Ok(Launched { run: request.run().unwrap_or_default().into(), child: None })
        }),
        process: Box::new(move |_| match working.load(Ordering::Relaxed) {
            0 => None,
            pid => Some(Process { pid, started_ticks: 1 }),
        }),
        ..Means::of(launcher(), None)
    });
    let (_run, _journal) = crate::followed::example(&place.dir.path().join("runs"));
    let signals_after = |process: i32, resumed: usize| {
        pid.store(process, Ordering::Relaxed);
        place.starts.stop_run("ann", "example", resumed).expect("sent, now or before");
        signals.load(Ordering::Relaxed)
    };
    assert_eq!((signals_after(11, 0), signals_after(11, 0)), (1, 1));
    // The journal does not yet show that the run has been resumed.
    assert_eq!((signals_after(12, 0), signals_after(12, 1)), (2, 2));
    assert_eq!((signals_after(0, 1), signals_after(0, 2)), (2, 3), "without a process, the journal decides");
}
