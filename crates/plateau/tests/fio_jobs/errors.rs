//! `continue_on_error` and `ignore_error`: failed I/Os that do not end a job. A limit on the size of files makes all
//! writes beyond it fail with EFBIG.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::{folder, support};

const LENGTH: usize = 16 << 20;
const LIMIT: usize = 6 << 20;

/// Runs a program in a folder, with a limit on the size of files.
fn limited(folder: &Path, program: &str, words: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec prlimit --fsize=\"$0\" \"$@\"", &LIMIT.to_string(), program]);
    command.args(words.split(' ')).current_dir(folder).output().expect("a shell")
}

fn by_plateau(folder: &Path, words: &str) -> Output {
    std::fs::write(folder.join("data"), vec![7; LENGTH]).expect("a file");
    limited(
        folder,
        env!("CARGO_BIN_EXE_plateau"),
        &format!("load --name=a --filename=data --erase=data {words}"),
    )
}

fn job(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    document["jobs"][0].clone()
}

#[test]
fn failed_writes_are_counted_as_by_fio() {
    for options in [
        "--rw=randwrite --bs=4k --ioengine=libaio --iodepth=8 --continue_on_error=write --ignore_error=,EFBIG",
        "--rw=write --bs=64k --ioengine=psync --ignore_error=,27:ENOSPC",
        "--rw=randwrite --bs=4k --ioengine=io_uring --iodepth=4 --continue_on_error=all --ignore_error=EIO,27",
        "--rw=randwrite --bs=4k --ioengine=psync --number_ios=1000 --ignore_error=,EFBIG --norandommap --randseed=7",
    ] {
        let words = format!("--direct=1 --size=16m {options} --output-format=json");
        let folder = folder();
        let ours = job(&by_plateau(folder.path(), &words));
        assert_eq!((&ours["error"], &ours["first_error"]), (&27.into(), &27.into()), "{options}: {ours}");
        let number =
            |key| ours.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("{key}: {ours}"));
        let failed = number("/write/total_ios") - number("/write/clat_ns/N");
        assert!(failed > 0 && failed == number("/total_err"), "{options}: {failed} failed: {ours}");
        if options.contains("--norandommap") {
            // The offsets differ from fio's, so only the sum is the same.
            assert_eq!(number("/write/total_ios"), 1000, "{ours}");
            continue;
        }
        assert_eq!(ours["write"]["io_bytes"], LIMIT, "{options}");
        std::fs::write(folder.path().join("theirs"), vec![7; LENGTH]).expect("a file");
        let output = limited(folder.path(), "fio", &format!("--name=a --filename=theirs {words}"));
        if output.status.code() == Some(127) {
            skips::without("fio");
            return;
        }
        let theirs = job(&output);
        let keys = ["/error", "/total_err", "/first_error"];
        for key in keys.into_iter().chain(["/write/io_bytes", "/write/total_ios", "/write/clat_ns/N"]) {
            assert_eq!(theirs.pointer(key), ours.pointer(key), "{options}: {key}");
        }
    }
}

#[test]
fn only_the_named_errors_are_tolerated() {
    let folder = folder();
    for options in ["", "--continue_on_error=write", "--ignore_error=,ENOSPC", "--ignore_error=EFBIG"] {
        let words = format!("--rw=randwrite --size=16m --bs=4k {options}");
        let output = by_plateau(folder.path(), words.trim_end());
        let error = support::texts(&output).1;
        assert!(!output.status.success() && error.contains("EFBIG"), "{options}: {output:?}");
    }
}

#[test]
fn errors_are_part_of_every_format() {
    let folder = folder();
    let words = "--rw=write --bs=1m --size=16m --ignore_error=,EFBIG";
    let (text, error) = support::texts(&by_plateau(folder.path(), words));
    assert!(text.contains("errors total 10  first EFBIG\n"), "{text}{error}");
    let output = by_plateau(folder.path(), &format!("{words} --minimal"));
    assert!(support::texts(&output).0.ends_with(";10;27\n"), "{output:?}");
    let none = job(&by_plateau(folder.path(), "--rw=write --bs=1m --size=4m --ignore_error=,EFBIG --json"));
    assert_eq!((&none["error"], &none["total_err"], &none["first_error"]), (&0.into(), &0.into(), &0.into()));
}

#[test]
fn blocks_whose_write_failed_are_not_verified() {
    let folder = folder();
    let words = "--rw=randwrite --bs=4k --size=16m --iodepth=8 --ignore_error=,EFBIG --verify=crc32c --json";
    let job = job(&by_plateau(folder.path(), words));
    let blocks = LIMIT / 4096;
    assert_eq!(
        (&job["verify"]["checked_blocks"], &job["verify"]["wrong_blocks"]),
        (&blocks.into(), &0.into())
    );
}

#[test]
fn simulated_drives_end_loads_with_every_error() {
    let folder = folder();
    let words = "load sim:sas-slc-2011 --scale=1/64 --rw=read --io_size=1m --continue_on_error=all";
    let output = limited(folder.path(), env!("CARGO_BIN_EXE_plateau"), words);
    let error = support::texts(&output).1;
    assert!(output.status.code() == Some(2) && error.contains("not simulated"), "{output:?}");
}
