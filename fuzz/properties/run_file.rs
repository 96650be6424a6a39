//! `run.json`: any bytes yield a run file or an error. A run file is unchanged after being written and read again, and
//! contains no control characters.

pub fn check(bytes: &[u8]) {
    let Ok(file) = record::parse_run_file(bytes) else { return };
    let text = serde_json::to_string(&file).expect("a run file is JSON");
    assert!(!text.chars().any(char::is_control) && !text.contains("\\u"), "{text}");
    assert_eq!(record::parse_run_file(text.as_bytes()).as_ref(), Ok(&file));
}
