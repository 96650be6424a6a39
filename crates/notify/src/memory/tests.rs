use jiff::Timestamp;

use super::*;
use crate::notice::Subject;

fn notice(id: &str) -> Notice {
    Notice {
        id: id.into(),
        run: Subject::unknown(id.split(':').next().expect("a run")),
        ..Notice::sample("h", Timestamp::UNIX_EPOCH)
    }
}

fn conclude(memory: &mut Memory, run: &str, bytes: u64, channels: &[&str]) {
    let conclusion = Conclusion { run: Subject::unknown(run), settled: Some(bytes), notice: None };
    let channels: Vec<String> = channels.iter().map(|name| (*name).to_owned()).collect();
    let complete = |_: &Conclusion| Some((notice(&format!("{run}:finished:{bytes}")), channels.clone()));
    memory.conclude(&[conclusion], complete).expect("written");
}

fn outstanding(memory: &Memory) -> Vec<(String, Vec<String>)> {
    memory.outstanding().map(|it| (it.notice.id.clone(), it.channels.iter().cloned().collect())).collect()
}

#[test]
fn a_restart_neither_repeats_nor_forgets() {
    let dir = tempfile::tempdir().expect("a folder");
    let open = || Memory::open(&dir.path().join("notify")).expect("a memory");
    let mut memory = open();
    assert!(memory.is_new());
    memory.settle(&[("old".into(), 7)]).expect("written");
    conclude(&mut memory, "r", 9, &["a", "b"]);
    conclude(&mut memory, "s", 9, &["a"]);
    memory.delivered("r:finished:9", "a").expect("written");
    memory.abandoned("s:finished:9", "a").expect("written");
    drop(memory);
    let memory = open();
    assert!(!memory.is_new());
    assert!(memory.known().is_settled("old", 7) && memory.known().is_settled("r", 9));
    assert!(!memory.known().is_settled("r", 10));
    assert_eq!(outstanding(&memory), [("r:finished:9".to_owned(), vec!["b".to_owned()])]);
}

#[test]
fn only_one_process_uses_a_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let _memory = Memory::open(dir.path()).expect("a memory");
    assert!(matches!(Memory::open(dir.path()), Err(MemoryError::Busy { .. })));
}

#[test]
fn a_torn_line_does_not_count_and_any_cut_leaves_a_valid_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut memory = Memory::open(dir.path()).expect("a memory");
    memory.settle(&[("old".into(), 7)]).expect("written");
    conclude(&mut memory, "r", 9, &["a"]);
    memory.delivered("r:finished:9", "a").expect("written");
    drop(memory);
    let path = dir.path().join(FILE);
    let whole = std::fs::read(&path).expect("readable");
    for length in (0..whole.len()).step_by(5) {
        std::fs::write(&path, &whole[..length]).expect("writable");
        let memory = Memory::open(dir.path()).expect("a memory");
        // A run counts as reported only if its notice is known.
        let is_settled = memory.known().is_settled("r", 9);
        assert!(!is_settled || memory.known().noticed.contains("r:finished:9"), "cut at {length}");
        drop(memory);
        let mut memory = Memory::open(dir.path()).expect("it can be opened again");
        memory.settle(&[("more".into(), 1)]).expect("and continued");
    }
}

#[test]
fn damage_is_reported_with_its_line() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(Memory::open(dir.path()).expect("a memory"));
    let path = dir.path().join(FILE);
    for (text, line) in [
        ("nonsense\n", 1),
        ("{\"notices\":2}\n", 1),
        ("{\"notices\":1}\n{\"notices\":1}\n", 2),
        ("{\"notices\":1}\nnull\n{\"past\":\"x\"}\n", 2),
    ] {
        std::fs::write(&path, text).expect("writable");
        let error = Memory::open(dir.path()).expect_err("damage");
        assert!(
            matches!(error, MemoryError::Damaged { line: found, .. } if found == line),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_long_memory_is_rewritten_without_what_is_past() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut memory = Memory::open(dir.path()).expect("a memory");
    memory.settle(&[]).expect("written");
    let conclusion = |number| {
        let run = Subject::unknown(&format!("run-{number}"));
        Conclusion { run, settled: Some(9), notice: None }
    };
    let conclusions: Vec<Conclusion> = (0..4000).map(conclusion).collect();
    // Only one of the notices is addressed to a channel.
    let complete = |conclusion: &Conclusion| {
        let channels = if conclusion.run.id == "run-3" { vec!["a".to_owned()] } else { Vec::new() };
        Some((notice(&format!("{}:finished:9", conclusion.run.id)), channels))
    };
    memory.conclude(&conclusions, complete).expect("written");
    // The journal of this run is longer than the output of its job.
    let held = Conclusion { run: Subject::unknown("run-4"), settled: None, notice: None };
    memory.conclude(&[held], |_| Some((notice("run-4:held:3"), Vec::new()))).expect("written");
    let before = (memory.known().ended.clone(), outstanding(&memory));
    let long = memory.bytes;
    memory.compact().expect("rewritten");
    assert!(memory.bytes < long / 4, "{} of {long}", memory.bytes);
    memory.delivered("run-3:finished:9", "b").expect("it can be continued");
    drop(memory);
    let memory = Memory::open(dir.path()).expect("a memory");
    assert_eq!(memory.known().ended, before.0, "a run that is missing may come back");
    assert_eq!(outstanding(&memory), before.1);
    assert!(memory.known().noticed.contains("run-4:held:3"), "the job may still be held");
}

#[test]
fn a_notice_whose_cause_is_over_is_forgotten_but_still_delivered() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut memory = Memory::open(dir.path()).expect("a memory");
    memory.settle(&[]).expect("written");
    let held = Conclusion { run: Subject::unknown("r"), settled: None, notice: None };
    memory.conclude(&[held], |_| Some((notice("r:held:3:1"), vec!["a".to_owned()]))).expect("written");
    memory.forget(vec!["r:held:3:1".into()]).expect("written");
    drop(memory);
    let memory = Memory::open(dir.path()).expect("a memory");
    assert!(memory.known().noticed.is_empty());
    assert_eq!(outstanding(&memory), [("r:held:3:1".to_owned(), vec!["a".to_owned()])]);
}
