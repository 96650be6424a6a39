use std::path::Path;

use record::{Event, Journal, Library, RunFile};

use super::*;

/// A run of the IOPS test, whose journal has two records and is locked by the returned value.
fn example(library: &Path, id: &str) -> (Run, Journal) {
    let profile = pts::Profile::named("pts-e-2.0").expect("a profile");
    let file: RunFile = serde_json::from_str(&serde_json::json!({
        "version": 1, "id": id, "created": "2026-03-01T09:00:00Z", "plateau_version": "0.1.0",
        "command": ["plateau", "run", "iops", "/dev/nvme0n1"], "tests": ["iops"], "profile": profile.name,
        "settings": profile.settings(1),
        "target": {
            "kind": "block", "path": "/dev/nvme0n1", "identity": "S4EWNX0R", "attachment": null, "vendor": null,
            "model": "EXAMPLE 960", "serial": "S4EWNX0R", "firmware": null, "interface": null, "nand": null,
            "capacity_bytes": 960_000_000_000_u64, "logical_block_bytes": 512, "physical_block_bytes": 4096,
            "rotational": false, "simulated": null,
        },
        "host": {
            "cpu": null, "cpus": null, "board": null, "memory_bytes": null, "os": null, "kernel": null,
            "governor": null, "scheduler": null, "pcie_link": null,
        },
    }).to_string())
    .expect("a run file");
    let (run, mut journal) = Library::at(library).create(file).expect("created");
    journal.append(Event::TestStarted { test: "iops".into() }).expect("appended");
    (run, journal)
}

/// A first read of a long journal takes minutes.
#[test]
fn a_run_that_is_being_read_does_not_delay_the_readers_of_others() {
    let dir = tempfile::tempdir().expect("a folder");
    let ((_long, _one), (short, _two)) = (example(dir.path(), "long"), example(dir.path(), "short"));
    let snapshots = Snapshots::default();
    let slot = snapshots.slot("long");
    let reading = slot.lock().expect("not poisoned");
    let first = snapshots.of(short.clone()).expect("readable");
    assert!(Arc::ptr_eq(&first, &snapshots.of(short).expect("readable")), "it is read once");
    assert!(slot.try_lock().is_err(), "the other one is still being read");
    drop(reading);
}

#[test]
fn an_error_does_not_discard_the_records_that_are_known() {
    let dir = tempfile::tempdir().expect("a folder");
    let (run, journal) = example(dir.path(), "example");
    drop(journal);
    let snapshots = Snapshots::default();
    let before = snapshots.of(run.clone()).expect("readable");
    let path = run.journal_path();
    let whole = std::fs::read(&path).expect("a journal");
    std::fs::write(&path, "nonsense\nnonsense\n").expect("written");
    assert!(snapshots.of(run.clone()).is_err());
    let slot = snapshots.slot("example");
    assert!(slot.lock().expect("not poisoned").as_ref().is_some_and(|kept| Arc::ptr_eq(kept, &before)));
    std::fs::write(&path, whole).expect("written");
    assert_eq!(snapshots.of(run).expect("readable").loaded.entries, before.loaded.entries);
}

#[test]
fn the_number_of_snapshots_is_bounded() {
    let snapshots = Snapshots::default();
    for number in 0..2 * MOST_SNAPSHOTS {
        snapshots.slot(&number.to_string());
    }
    let slot = snapshots.slot(&MOST_SNAPSHOTS.to_string());
    for number in 0..MOST_SNAPSHOTS - 1 {
        snapshots.slot(&number.to_string());
    }
    assert_eq!(snapshots.kept.lock().expect("not poisoned").len(), MOST_SNAPSHOTS);
    assert!(
        Arc::ptr_eq(&slot, &snapshots.slot(&MOST_SNAPSHOTS.to_string())),
        "the oldest one in use is kept"
    );
}
