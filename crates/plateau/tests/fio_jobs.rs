//! fio's examples and the command lines of benchmark scripts run unchanged. Only targets, amounts, rates and times are
//! replaced, so that they run in the test's folder and take seconds.

#[path = "fio_jobs/examples.rs"]
mod examples;
mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use examples::{EXAMPLES, LINES};
use serde_json::Value;

/// Amounts and times of the test.
const SMALL: &[(&str, &str)] = &[
    ("size", "4m"),
    ("filesize", "4m"),
    ("io_size", "1m"),
    ("runtime", "1"),
    ("timeout", "1"),
    ("ramp_time", "0"),
    ("loops", "2"),
    ("rate_iops", "1000"),
    ("directory", "."),
];

/// Returns an option with the values of the test. Names of devices become names of files.
fn small(option: &str) -> String {
    let Some((name, value)) = option.split_once('=') else { return option.to_owned() };
    if let Some((_, small)) = SMALL.iter().find(|(known, _)| *known == name.trim_start_matches('-')) {
        return format!("{name}={small}");
    }
    let value = match value.rsplit_once('/') {
        Some((_, file)) if name == "filename" => file,
        _ => value,
    };
    format!("{name}={value}")
}

fn plateau(folder: &Path, arguments: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
    command.arg("load").args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("plateau runs")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

fn text_of(sections: &[&str]) -> String {
    let section = |section: &&str| {
        let (title, options) = section.split_once(' ').expect("options");
        let lines: Vec<String> = options.split(' ').filter(|word| !word.is_empty()).map(small).collect();
        format!("[{title}]\n{}\n", lines.join("\n"))
    };
    sections.iter().map(section).collect()
}

#[test]
fn fios_examples_run() {
    for (name, sections) in EXAMPLES {
        let folder = folder();
        let text = text_of(sections);
        std::fs::write(folder.path().join("job.fio"), &text).expect("a job file");
        // An example without a size needs an existing target, like the device that it names.
        let target = text.lines().filter_map(|line| line.strip_prefix("filename=")).next_back();
        let mut arguments = vec!["job.fio".to_owned(), "--json".to_owned()];
        if let Some(target) = target.filter(|_| !text.contains("size=4m")) {
            std::fs::write(folder.path().join(target), vec![1; 16 << 20]).expect("a target");
            arguments.extend(["--erase".to_owned(), target.to_owned()]);
        }
        let output = plateau(folder.path(), &arguments);
        let (text, error) = support::texts(&output);
        assert_eq!(output.status.code(), Some(0), "{name}: {error}{text}");
        let document: Value = serde_json::from_str(&text).expect("a document");
        let jobs = document["jobs"].as_array().expect("jobs");
        let ios = |job: &Value| job["read"]["total_ios"].as_u64().zip(job["write"]["total_ios"].as_u64());
        assert!(
            jobs.iter().all(|job| ios(job).is_some_and(|(read, write)| read + write > 0)),
            "{name}: {text}"
        );
        let names: BTreeSet<&str> = jobs.iter().filter_map(|job| job["jobname"].as_str()).collect();
        assert!(!names.is_empty() && names.len() <= sections.len(), "{name}: {names:?}");
    }
}

#[test]
fn command_lines_of_scripts_run() {
    for line in LINES {
        let folder = folder();
        let words: Vec<String> = line
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| small(&word.replace("FILE", "target")))
            .collect();
        let output = plateau(folder.path(), &words);
        let (text, error) = support::texts(&output);
        assert_eq!(output.status.code(), Some(0), "{line}: {error}{text}");
        if line.contains("--minimal") {
            // YABS reads these fields: IOPS and throughput of reads and writes.
            let fields: Vec<&str> = text.trim_end().split(';').collect();
            let number = |index: usize| fields[index].parse::<u64>().expect("a number");
            assert!(number(7) > 0 && number(6) > 0, "{text}");
            assert_eq!(number(48) > 0 && number(47) > 0, line.contains("randrw"), "{text}");
        }
    }
}

#[test]
fn every_job_without_a_target_gets_separate_files() {
    let folder = folder();
    let words = ["--name=a", "--nrfiles=2", "--numjobs=2", "--size=32m", "--bs=64k", "--rw=read", "--json"];
    let output = plateau(folder.path(), &words.map(str::to_owned));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1), "{document}");
    assert_eq!(document["jobs"][0]["read"]["io_bytes"], 64 << 20, "{document}");
    for name in ["a.0.0", "a.0.1", "a.1.0", "a.1.1"] {
        let content = std::fs::read(folder.path().join(name)).expect(name);
        assert_eq!(content.len(), 16 << 20);
        // The files were laid out with random data, without holes.
        assert!(content.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "{name}");
    }
    // Now the files exist, so writing needs a confirmation for each.
    let words = ["--name=a", "--size=16m", "--rw=write"].map(str::to_owned);
    assert_eq!(plateau(folder.path(), &words).status.code(), Some(3));
}

#[test]
fn readonly_refuses_every_write() {
    let folder = folder();
    std::fs::write(folder.path().join("data"), vec![7; 16 << 20]).expect("a file");
    let run = |words: &[&str]| {
        plateau(folder.path(), &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(run(&["data", "--rw=read", "--readonly"]).status.code(), Some(0));
    for words in [
        &["data", "--rw=randwrite", "--readonly", "--erase=data"][..],
        &["--filename=new", "--size=16m", "--rw=read", "--readonly"],
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(support::texts(&output).1.contains("--readonly"), "{output:?}");
    }
    assert!(!folder.path().join("new").exists());
    assert!(std::fs::read(folder.path().join("data")).expect("a file").iter().all(|byte| *byte == 7));
}

#[test]
fn a_job_file_may_come_from_standard_input_with_variables_and_included_files() {
    let folder = folder();
    std::fs::write(folder.path().join("data"), vec![7; 16 << 20]).expect("a file");
    std::fs::write(folder.path().join("common"), "bs=${SIZE}\nio_size=1m\n").expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
    command.args(["load", "-", "--json", "--section=b"]).current_dir(folder.path()).env("SIZE", "8k");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("plateau starts");
    let text = "[global]\nfilename=data\ninclude common\n[a]\nrw=read\n[b]\nrw=randread\n";
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1), "{document}");
    assert_eq!(
        (&document["jobs"][0]["jobname"], &document["jobs"][0]["read"]["total_ios"]),
        (&"b".into(), &128.into())
    );
}

#[test]
fn all_problems_of_a_job_file_are_reported_at_once() {
    let folder = folder();
    let text = "[a]\nfilename=data\niodeph=4\nbs=x\n[b]\nhostname=server\nrw=randtrim\n";
    std::fs::write(folder.path().join("job.fio"), text).expect("a job file");
    let output = plateau(folder.path(), &["job.fio".to_owned()]);
    let error = support::texts(&output).1;
    assert_eq!(output.status.code(), Some(2), "{error}");
    for expected in [
        "job.fio:3: iodeph is not a fio option; did you mean iodepth?",
        "job.fio:4: bs=x: ",
        "job.fio:6: hostname is not supported: a load tests storage",
        "job.fio:7: rw=randtrim: supported: read, write",
    ] {
        assert!(error.contains(expected), "{error}");
    }
}
