//! A run's `live` file: it replaces a file left by an earlier process, is never created through a link, and is
//! removed at the end.

use std::path::Path;

use live::{LIVE, Live, LiveError, LiveFile};
use record::{Library, Run, RunFile};

fn run(library: &Path, id: &str) -> Run {
    let file = serde_json::json!({
        "version": 1, "id": id, "created": "2026-11-22T12:00:00Z", "plateau_version": "0.1.0",
        "command": ["plateau", "run", "iops", "disk"], "tests": ["iops"], "profile": "pts-e-2.0",
        "settings": null,
        "target": {
            "kind": "file", "path": "disk", "identity": "disk", "attachment": null, "vendor": null, "model": null,
            "serial": null, "firmware": null, "interface": null, "nand": null, "capacity_bytes": 1 << 30,
            "logical_block_bytes": 512, "physical_block_bytes": 4096, "rotational": null, "simulated": null,
        },
        "host": {
            "cpu": null, "cpus": null, "board": null, "memory_bytes": null, "os": null, "kernel": null,
            "governor": null, "scheduler": null, "pcie_link": null,
        },
    });
    let file: RunFile = serde_json::from_str(&file.to_string()).expect("a run file");
    Library::at(library).create(file).expect("created").0
}

fn state(run: &Run) -> Live {
    serde_json::from_str(&serde_json::json!({
        "run": run.file.id, "time": "2026-11-22T12:00:01Z", "left_is_estimate": false, "host_limited": false, "seconds": [],
    }).to_string())
    .expect("a state")
}

#[test]
fn the_file_lives_as_long_as_its_writer() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = run(dir.path(), "one");
    assert!(Live::of(&run).expect("no file").is_none());
    let file = LiveFile::create(&run).expect("created");
    assert!(matches!(Live::of(&run), Err(LiveError::Incomplete)), "nothing is written yet");
    file.write(&state(&run)).expect("written");
    assert_eq!(Live::of(&run).expect("readable"), Some(state(&run)));
    drop(file);
    assert!(!run.dir.join(LIVE).exists());
}

#[test]
fn a_later_process_replaces_the_file_and_keeps_its_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = run(dir.path(), "one");
    let killed = LiveFile::create(&run).expect("created");
    let later = LiveFile::create(&run).expect("created");
    later.write(&state(&run)).expect("written");
    drop(killed);
    assert_eq!(Live::of(&run).expect("readable"), Some(state(&run)));
}

#[test]
fn links_and_other_directories_are_not_followed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, other) = (run(&dir.path().join("runs"), "one"), dir.path().join("other"));
    std::fs::write(&other, "mine").expect("a file");
    std::os::unix::fs::symlink(&other, run.dir.join(LIVE)).expect("a link");
    assert!(matches!(Live::of(&run), Err(LiveError::Read(_))));
    LiveFile::create(&run).expect("created").write(&state(&run)).expect("written");
    assert_eq!(std::fs::read_to_string(&other).expect("a file"), "mine");
    std::fs::rename(&run.dir, dir.path().join("away")).expect("renamed");
    std::fs::create_dir(&run.dir).expect("a folder");
    assert!(LiveFile::create(&run).is_err());
}

#[test]
fn the_file_of_another_run_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let (one, two) = (run(dir.path(), "one"), run(dir.path(), "two"));
    let file = LiveFile::create(&one).expect("created");
    file.write(&state(&two)).expect("written");
    assert!(matches!(Live::of(&one), Err(LiveError::Invalid { .. })));
}
