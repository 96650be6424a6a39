use std::sync::mpsc::channel;

use record::{Event, Journal, Library};

use super::*;
use crate::config::{Entry, Means};
use crate::run_of_tests as run;

fn config(channels: Vec<Entry>) -> Config {
    let text = "look-every = \"10 ms\"\ninterrupted-after = \"0 s\"\n[[program]]\nname = \"p\"\nrun = [\"/bin/true\"]\n";
    Config { channels, ..Config::read("n.toml", text).expect("valid") }
}

fn program(name: &str, run: &[&str]) -> Entry {
    let run = run.iter().map(|&word| word.into()).collect();
    let (events, timeout) = (crate::Event::SELECTABLE.to_vec(), Duration::from_secs(60));
    Entry { name: name.into(), events, timeout, means: Means::Program { run } }
}

/// No scheduler.
fn no_jobs() -> ReadJobs {
    std::sync::Arc::new(crate::decide::Jobs::default)
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    fn library(&self) -> PathBuf {
        self.dir.path().join("runs")
    }

    /// Begins a run, which is in progress until its journal is dropped.
    fn run(&self, id: &str) -> Journal {
        Library::at(self.library()).create(run::run_file(id)).expect("a run").1
    }

    /// An interrupted run.
    fn interrupted(&self, id: &str) {
        let mut journal = self.run(id);
        journal.append(Event::Interrupted { reason: "Ctrl-C".into() }).expect("written");
    }

    fn service(&self, channels: Vec<Entry>) -> Service {
        let folder = self.dir.path().join("state");
        Service::open(config(channels), &self.library(), &folder, "host", no_jobs()).expect("a service")
    }

    /// Observes the library once and delivers; returns the delivered notices, the undelivered notices and the
    /// printed lines.
    fn once(&self, channels: Vec<Entry>) -> (Vec<Delivered>, Vec<Undelivered>, String) {
        let lines = Mutex::new(String::new());
        let report = |line: &str| *lock(&lines) += &format!("{line}\n");
        let mut service = self.service(channels);
        let once = service.once(record::wall_now(), &AtomicBool::new(false), &report);
        let (delivered, undelivered) = once.expect("a look");
        (delivered, undelivered, lock(&lines).clone())
    }
}

/// Finding out that a lock is held takes a quarter of a second, so this observation takes a quarter of a
/// minute.
#[test]
fn a_stop_does_not_wait_for_the_end_of_a_look() {
    let place = Place::new();
    let _held: Vec<Journal> = (0..60).map(|number| place.run(&format!("r{number}"))).collect();
    let mut service = place.service(vec![program("p", &["/bin/true"])]);
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| service.run(&stop, &|_: &str| {}));
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
    });
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    drop(service);
    let once = place.service(Vec::new()).once(record::wall_now(), &AtomicBool::new(true), &|_: &str| {});
    assert!(matches!(once, Err(ServiceError::Stopped)), "{once:?}");
}

#[test]
fn only_changes_after_the_first_look_are_notices() {
    let place = Place::new();
    place.interrupted("old");
    place.interrupted("damaged");
    std::fs::write(place.library().join("damaged/run.json"), "{").expect("writable");
    let channels = || vec![program("p", &["/bin/true"])];
    let (delivered, _, lines) = place.once(channels());
    assert!(delivered.is_empty(), "{delivered:?}");
    assert!(lines.contains("2 runs that had already ended"), "{lines}");
    assert!(lines.contains("run damaged is damaged, which is not reported: "), "{lines}");
    // The damaged run causes a notice as soon as something happens to it.
    let journal = place.library().join("damaged/journal");
    let mut bytes = std::fs::read(&journal).expect("readable");
    bytes.push(b'x');
    std::fs::write(&journal, bytes).expect("writable");
    place.interrupted("new");
    let runs = |delivered: &[Delivered]| -> Vec<String> {
        delivered.iter().map(|one| one.notice.run.id.clone()).collect()
    };
    let mut found = runs(&place.once(channels()).0);
    found.sort();
    assert_eq!(found, ["damaged", "new"]);
    assert!(place.once(channels()).0.is_empty());
}

/// With `--once`, each call is a process of its own.
#[test]
fn attempts_add_up_over_processes_and_end_at_the_first_failure() {
    let place = Place::new();
    let channels = || vec![program("bad", &["/bin/false"])];
    assert!(place.once(channels()).0.is_empty());
    place.interrupted("a");
    place.interrupted("b");
    let mut gave_up = Vec::new();
    for call in 1..=20 {
        let (delivered, undelivered, lines) = place.once(channels());
        assert_eq!((delivered.len(), undelivered.len()), (0, 1), "{call}: one attempt: {undelivered:?}");
        if lines.contains("gave up") {
            gave_up.push((call, undelivered[0].notice.run.id.clone()));
        }
    }
    assert_eq!(gave_up, [(10, "a".to_owned()), (20, "b".to_owned())]);
    let (delivered, undelivered, _) = place.once(channels());
    assert!(delivered.is_empty() && undelivered.is_empty());
}

#[test]
fn a_run_that_was_archived_before_a_look_is_reported_once() {
    let place = Place::new();
    let archive = |id: &str| {
        let run = Library::at(place.library()).open(id).expect("a run");
        run.archive(|_| Ok::<(), record::LibraryError>(())).expect("archived");
    };
    let channels = || vec![program("p", &["/bin/true"])];
    place.interrupted("old");
    place.interrupted("older");
    archive("older");
    assert!(place.once(channels()).0.is_empty());
    // Archiving a run changes nothing about it.
    archive("old");
    place.interrupted("new");
    archive("new");
    let (delivered, _, lines) = place.once(channels());
    assert_eq!(delivered.len(), 1, "{delivered:?} {lines}");
    let notice = &delivered[0].notice;
    assert_eq!((notice.run.id.as_str(), notice.event()), ("new", crate::Event::Interrupted));
    assert!(place.once(channels()).0.is_empty(), "once");
    // Neither does restoring it.
    let new = Library::at(place.library()).open("new").expect("a run");
    new.unarchive(|_| Ok::<(), record::LibraryError>(())).expect("restored");
    assert!(place.once(channels()).0.is_empty());
    std::fs::write(place.library().join("broken.tar.zst"), "x").expect("writable");
    let (_, _, lines) = place.once(channels());
    assert!(lines.contains("run broken is not observed: "), "{lines}");
}

#[test]
fn a_channel_that_panics_is_reported_and_delays_no_other() {
    let place = Place::new();
    assert!(place.once(Vec::new()).0.is_empty());
    place.interrupted("r");
    // Causes a panic; a program without a path cannot come from a configuration file.
    let (delivered, undelivered, _) = place.once(vec![program("bad", &[]), program("good", &["/bin/true"])]);
    assert_eq!(delivered.iter().map(|one| one.channel.as_str()).collect::<Vec<_>>(), ["good"]);
    assert_eq!((undelivered.len(), undelivered[0].channel.as_str()), (1, "bad"));
    assert!(undelivered[0].problem.starts_with("internal error: index out of bounds"), "{undelivered:?}");
    // The service continues as after any failure, and counts the one before.
    let (sender, lines) = channel();
    let sender = Mutex::new(sender);
    let report = |line: &str| drop(lock(&sender).send(line.to_owned()));
    let config = Config { attempts: 2, ..config(vec![program("bad", &[])]) };
    let folder = place.dir.path().join("state");
    let mut service = Service::open(config, &place.library(), &folder, "host", no_jobs()).expect("a service");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| service.run(&stop, &report));
        while !lines.recv().expect("a line").contains("attempt 2 of 2 failed: internal error: ") {}
        stop.store(true, Ordering::Relaxed);
    });
}
