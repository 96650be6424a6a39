use std::path::Path;

use record::{Event, Health, Journal, Library, RunFile};

use super::*;

/// Time after which a test fails instead of waiting.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run of the IOPS test, whose journal has two records and is locked by the returned value.
pub fn example(library: &Path) -> (Run, Journal) {
    let profile = pts::Profile::named("pts-e-2.0").expect("a profile");
    let file: RunFile = serde_json::from_str(&serde_json::json!({
        "version": 1, "id": "example", "created": "2026-03-01T09:00:00Z", "plateau_version": "0.1.0",
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

fn followed(library: &Path) -> Followed {
    let catalogue = Catalogue::of(Library::at(library));
    Followed::of(Arc::new(catalogue), Arc::default())
}

/// Runs a test that fails after some time instead of waiting.
fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await }).expect("in time");
}

async fn seen(viewer: &mut watch::Receiver<Option<Seen>>, next: u64) -> Seen {
    let is_news = |seen: &Option<Seen>| seen.as_ref().is_some_and(|seen| seen.is_news(next));
    viewer.wait_for(is_news).await.expect("the run is followed").clone().expect("a look")
}

#[test]
fn viewers_of_a_run_share_what_one_task_finds_until_they_leave() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_run, mut journal) = example(dir.path());
    let followed = followed(dir.path());
    block_on(async {
        let mut viewers = [followed.follow("example"), followed.follow("example")];
        for next in 1..4 {
            let [first, second] = &mut viewers;
            let (first, second) = (seen(first, next).await, seen(second, next).await);
            assert_eq!(first.last_record, Some(next));
            assert!(first.snapshot.ptr_eq(&second.snapshot), "the journal was read once");
            assert_eq!(
                followed.snapshot("example", &first).and_then(|found| found.last_record()),
                Some(next)
            );
            journal.append(Event::Health { at_ns: next, health: Health::default() }).expect("appended");
        }
        assert_eq!(followed.feeds().len(), 1);
        drop(viewers);
        while !followed.feeds().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn a_feed_ends_with_its_run_and_with_the_server() {
    let dir = tempfile::tempdir().expect("a folder");
    let (_run, journal) = example(dir.path());
    let followed = followed(dir.path());
    block_on(async {
        let mut viewer = followed.follow("example");
        assert_eq!(seen(&mut viewer, 0).await.standing, Standing::Running);
        drop(journal);
        let ended =
            |seen: &Option<Seen>| seen.as_ref().is_some_and(|seen| seen.standing != Standing::Running);
        let standing = viewer.wait_for(ended).await.expect("a look").as_ref().expect("a look").standing;
        assert_eq!(standing, Standing::Incomplete);
        assert!(viewer.changed().await.is_err(), "nothing more is to come");
        assert!(seen(&mut viewer, 99).await.is_news(99), "a slow viewer still sees the end");
        assert!(followed.follow("unknown").changed().await.is_err());
        let mut resumed = followed.follow("example");
        assert_eq!(seen(&mut resumed, 0).await.standing, Standing::Incomplete, "it is looked at again");
    });
    let (_run, _journal) = example(&dir.path().join("other"));
    let followed = self::followed(&dir.path().join("other"));
    block_on(async {
        let mut viewer = followed.follow("example");
        seen(&mut viewer, 0).await;
        followed.stop();
        assert!(viewer.changed().await.is_err());
    });
}
