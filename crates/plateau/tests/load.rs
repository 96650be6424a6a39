//! `plateau load` and `plateau self`: fio's words, and the rights that each of them needs.

use std::process::{Command, Output};

const SIZE: u64 = 16 << 20;

fn plateau(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plateau")).args(arguments).output().expect("plateau runs")
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[test]
fn reads_need_no_confirmation_and_change_nothing() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), vec![7; SIZE as usize]).expect("data");
    let path = file.path().to_str().expect("a path");
    let output = plateau(&["load", path, "--rw", "randread", "--iodepth", "4", "--runtime", "0.2", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    assert!(document["directions"]["read"]["ios"].as_u64() > Some(0), "{document}");
    assert!(document["directions"]["read"]["latency_ns"]["percentiles"]["p99.9"].as_u64() > Some(0));
    assert!(document["directions"]["write"].is_null());
    assert!(std::fs::read(file.path()).expect("data").iter().all(|&byte| byte == 7));
}

#[test]
fn writes_are_armed_like_a_run() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), vec![7; SIZE as usize]).expect("data");
    let path = file.path().to_str().expect("a path");
    for rw in ["write", "randwrite", "rw", "randrw"] {
        let output = plateau(&["load", path, "--rw", rw, "--runtime", "0.1"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(std::fs::read(file.path()).expect("data").iter().all(|&byte| byte == 7));
    }
    let name = file.path().file_name().and_then(|n| n.to_str()).expect("a name");
    let output = plateau(&["load", path, "--rw", "write", "--bs", "64k", "--erase", name]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("SEQ 64KiB W") && text.contains("p99.9"), "{text}");
    assert!(std::fs::read(file.path()).expect("data").iter().any(|&byte| byte != 7));
}

#[test]
fn a_simulated_drive_can_be_loaded_as_well() {
    let output = plateau(&[
        "load",
        "sim:sas-slc-2011",
        "--scale",
        "1/1024",
        "--rw",
        "randrw",
        "--rwmixread",
        "65",
        "--size",
        "64M",
        "--runtime",
        "1",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(json(&output)["engine"], "simulated");
}

#[test]
fn wrong_words_are_the_command_lines_fault() {
    for arguments in [["--rw", "trim"], ["--bs", "1000"], ["--numjobs", "0"]] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(SIZE).expect("a length");
        let output = plateau(&["load", file.path().to_str().expect("a path"), arguments[0], arguments[1]]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}

#[test]
fn the_host_says_what_it_can_do() {
    let document = json(&plateau(&["self", "--json"]));
    assert!(document["data_bytes_per_second"].as_f64() > Some(0.0), "{document}");
    assert_eq!(document["null"].as_array().map(Vec::len), Some(3));
}
