use super::*;
use record::Purged;

const GB: u64 = 1_000_000_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn entries(events: Vec<Event>) -> Vec<Entry> {
    let entry = |(seq, event): (u64, Event)| Entry { seq, wall: at(seq as i64 * 10), event };
    (0..).zip(events).map(entry).collect()
}

fn purged() -> Event {
    Event::Purged(Purged {
        method: "m".into(),
        name: None,
        pts_purge: true,
        start_ns: 0,
        end_ns: 1,
        evidence: Vec::new(),
        samples_read: false,
    })
}

fn health(bytes: u64) -> Event {
    Event::Health { at_ns: 1, health: Health { host_written_bytes: Some(bytes), ..Health::default() } }
}

fn stopped() -> Event {
    Event::Interrupted { reason: "Ctrl-C".into() }
}

/// A drive of 640 GB.
fn target() -> TargetFacts {
    let open = device::OpenOptions { size_bytes: Some(16 << 20), ..device::OpenOptions::default() };
    let path = std::env::temp_dir().join("plateau-a-file-that-nobody-makes");
    let drive = device::open(path.to_str().expect("a path"), &open).expect("a file to be");
    TargetFacts {
        kind: TargetKind::Block,
        identity: "S1".into(),
        serial: Some("S1".into()),
        capacity_bytes: 640 * GB,
        ..drive.facts().clone()
    }
}

fn run_file() -> RunFile {
    let json = serde_json::json!({
        "version": 1, "id": "a", "created": "2026-01-01T00:00:00Z", "plateau_version": "0", "command": [],
        "tests": ["iops"], "profile": "pts-e-2.0", "settings": null, "target": target(),
        "host": {}
    });
    serde_json::from_str(&json.to_string()).expect("a run file")
}

fn why(entries: &[Entry], known: &Known) -> Option<String> {
    evidence(&run_file(), entries, known)
}

#[test]
fn another_run_after_the_last_result_is_evidence() {
    let own = entries(vec![Event::TestStarted { test: "iops".into() }, purged(), stopped()]);
    let used = |second| Known { runs: vec![("b".into(), at(second))], ..Known::default() };
    assert_eq!(why(&own, &Known::default()), None);
    assert_eq!(why(&own, &used(10)), None, "before the purge of this run had ended");
    assert!(why(&own, &used(11)).is_some_and(|why| why.contains("run b used it")));
    // Neither an interrupted continuation nor a continuation without a result makes it forgotten.
    let continued = [&own[..], &entries(vec![Event::Resumed { gap_ns: 9 }, stopped()])].concat();
    assert!(why(&continued, &used(11)).is_some());
}

#[test]
fn another_user_on_this_host_is_evidence_whatever_the_clocks_say() {
    let own = entries(vec![Event::TestStarted { test: "iops".into() }, purged()]);
    let by = |user: &str| Known { last_user: Some(user.into()), ..Known::default() };
    assert_eq!(why(&own, &by("a")), None);
    assert!(why(&own, &by("plateau load")).is_some_and(|why| why.contains("plateau load was the last")));
}

#[test]
fn a_drive_that_counts_more_writes_after_a_clean_stop_was_used() {
    let stop = vec![purged(), health(100 * GB), stopped()];
    let counts = |bytes| Known { written_bytes: Some(bytes), ..Known::default() };
    let clean = entries(stop.clone());
    assert_eq!(why(&clean, &counts(110 * GB)), None, "a coarse counter");
    assert_eq!(why(&clean, &counts(1)), None, "a counter that was reset");
    assert!(why(&clean, &counts(111 * GB)).is_some_and(|why| why.contains("11000000000 B written")));
    for later in [Event::Resumed { gap_ns: 9 }, Event::Restarted { test: "iops".into() }] {
        let crashed = entries([stop.clone(), vec![later]].concat());
        assert_eq!(why(&crashed, &counts(900 * GB)), None, "the run may have written this itself");
    }
    assert_eq!(why(&entries(vec![purged(), stopped()]), &counts(900 * GB)), None);
}

#[test]
fn runs_on_the_same_drive_are_recognized() {
    let was = target();
    assert!(uses(&was, &was));
    assert!(
        uses(&TargetFacts { attachment: Some("later".into()), ..was.clone() }, &was),
        "the same serial number"
    );
    assert!(!uses(&TargetFacts { identity: "S2".into(), ..was.clone() }, &was));
    let unknown = |attachment: Option<&str>| TargetFacts {
        serial: None,
        attachment: attachment.map(Into::into),
        ..was.clone()
    };
    assert!(uses(&unknown(Some("x")), &unknown(None)), "in doubt");
    assert!(!uses(&unknown(Some("x")), &unknown(Some("y"))));
    let file = |path: &str| TargetFacts { kind: TargetKind::File, path: path.into(), ..was.clone() };
    assert!(uses(&file("/a"), &file("/a")) && !uses(&file("/a"), &file("/b")) && !uses(&file("/a"), &was));
}
