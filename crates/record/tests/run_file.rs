//! `run.json` contains the git commit of the program; files without a commit remain readable.

use record::RunFile;
use serde_json::json;

const OLD: &str = include_str!("../../../fuzz/corpus/run_file/example.json");

#[test]
fn a_run_file_without_a_commit_is_read_and_written_as_it_was() {
    let file: RunFile = serde_json::from_str(OLD).expect("a run file");
    assert_eq!(file.plateau_commit, None);
    let written = serde_json::to_value(&file).expect("JSON");
    assert_eq!(written, serde_json::from_str::<serde_json::Value>(OLD).expect("JSON"), "no key is added");
}

#[test]
fn a_commit_is_kept() {
    let mut value: serde_json::Value = serde_json::from_str(OLD).expect("JSON");
    value["plateau_commit"] = json!("0123456789abcdef0123456789abcdef01234567-dirty");
    let file: RunFile = serde_json::from_str(&value.to_string()).expect("a run file");
    assert_eq!(file.plateau_commit.as_deref(), value["plateau_commit"].as_str());
    assert_eq!(serde_json::to_value(&file).expect("JSON"), value);
}
