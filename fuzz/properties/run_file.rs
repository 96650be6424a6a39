//! `run.json`: whatever the bytes, reading them ends with a run file or with a reason. What was read is written and read again as the
//! same, and nothing of it steers a terminal.

pub fn check(bytes: &[u8]) {
    let Ok(file) = record::parse_run_file(bytes) else { return };
    let text = serde_json::to_string(&file).expect("a run file is JSON");
    assert!(!text.chars().any(char::is_control) && !text.contains("\\u"), "{text}");
    assert_eq!(record::parse_run_file(text.as_bytes()).as_ref(), Ok(&file));
}
