//! fio's examples and the command lines of benchmark scripts run unchanged. Only targets, amounts, rates and times are
//! replaced, so that they run in the test's folder and take seconds.

#[path = "fio_jobs/duplicates.rs"]
mod duplicates;
#[path = "fio_jobs/errors.rs"]
mod errors;
#[path = "fio_jobs/examples.rs"]
mod examples;
#[path = "fio_jobs/orders.rs"]
mod orders;
#[path = "fio_jobs/priorities.rs"]
mod priorities;
#[path = "fio_jobs/shared.rs"]
mod shared;
mod support;
#[path = "fio_jobs/ties.rs"]
mod ties;
#[path = "fio_jobs/without_target.rs"]
mod without_target;
#[path = "fio_jobs/witnessed.rs"]
mod witnessed;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use examples::{EXAMPLES, LINES, NEEDS_DRIVE, REFUSED, REFUSED_COMBINATIONS};
use serde_json::Value;

/// The test's amounts and times.
const SMALL: &[(&str, &str)] = &[
    ("size", "4m"),
    ("filesize", "4m"),
    ("nrfiles", "20"),
    ("io_size", "1m"),
    ("runtime", "1"),
    ("timeout", "1"),
    ("ramp_time", "0"),
    ("loops", "2"),
    ("rate_iops", "1000"),
    ("rate", "1250000"),
    ("startdelay", "0"),
    ("numa_cpu_nodes", "0"),
    ("directory", "."),
    ("zonesize", "64k"),
    ("zoneskip", "512k"),
    ("offset_increment", "512k"),
    ("ss_dur", "2s"),
    ("ss_ramp", "0"),
    ("steadystate_duration", "2"),
    ("steadystate_ramp_time", "0"),
    ("steadystate_check_interval", "1"),
];

/// Options of jobs for large zones, and those for zones that fit into the test's targets.
const SMALL_ZONES: &[(&str, &str)] = &[
    ("offset=524z", "offset=16z"),
    ("offset=140660178944", "offset=16z"),
    ("bs=256M", "bs=64k"),
    ("bs=32M", "bs=64k"),
    ("bs=2M", "bs=64k"),
];

/// Options with the name of a target.
const TARGETS: [&str; 2] = ["filename", "libblkio_path"];

/// Returns an option with the test's values. Device names become file names.
fn small(option: &str) -> String {
    let Some((name, value)) = option.split_once('=') else { return option.to_owned() };
    if option == "filesize=4k" {
        return option.to_owned();
    }
    if let Some((_, small)) = SMALL_ZONES.iter().find(|(large, _)| *large == option) {
        return (*small).to_owned();
    }
    if let Some((_, small)) = SMALL.iter().find(|(known, _)| *known == name.trim_start_matches('-')) {
        return format!("{name}={small}");
    }
    let value = match value.rsplit_once('/') {
        Some((_, file)) if TARGETS.contains(&name) => file,
        _ => value,
    };
    format!("{name}={value}")
}

fn plateau(folder: &Path, arguments: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
    for (name, value) in [("FIO_RW", "randread"), ("FIO_IODEPTH", "4"), ("FIO_BS", "8k")] {
        command.env(name, value);
    }
    command.arg("load").args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("plateau runs")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

fn text_of(sections: &[&str]) -> String {
    let section = |section: &&str| {
        let (title, options) = match section.strip_prefix('[') {
            Some(rest) => rest.split_once("] ").expect("options"),
            None => section.split_once(' ').expect("options"),
        };
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
        if text.contains("cmdprio_") && !support::is_root() {
            skips::skip!("{name}: only root may use the real-time class of I/O priorities");
            continue;
        }
        std::fs::write(folder.path().join("job.fio"), &text).expect("a job file");
        // An example without a size needs an existing target in place of the device that it names.
        let options = text.lines().filter_map(|line| line.split_once('='));
        let target = options.filter(|(name, _)| TARGETS.contains(name)).map(|(_, target)| target).next_back();
        let mut arguments = vec!["job.fio".to_owned(), "--json".to_owned()];
        if let Some(target) = target.filter(|_| !text.contains("size=4m")) {
            std::fs::write(folder.path().join(target), vec![1; 16 << 20]).expect("a target");
            if ["rw=write", "rw=randwrite", "rw=randrw"].iter().any(|words| text.contains(words)) {
                arguments.extend(["--erase".to_owned(), target.to_owned()]);
            }
        }
        if text.contains("${FIO_BS}") {
            // The target is on the command line, as in the comments of these examples.
            std::fs::write(folder.path().join("target"), vec![1; 16 << 20]).expect("a target");
            arguments.push("--filename=target".to_owned());
            if text.contains("rw=randwrite") {
                arguments.push("--erase=target".to_owned());
            }
        }
        let output = plateau(folder.path(), &arguments);
        let (text, error) = support::texts(&output);
        assert_eq!(output.status.code(), Some(0), "{name}: {error}{text}");
        let document: Value = serde_json::from_str(&text).expect("a document");
        let jobs = document["jobs"].as_array().expect("jobs");
        let ios = |job: &Value| -> u64 {
            ["read", "write", "trim"].iter().filter_map(|way| job[*way]["total_ios"].as_u64()).sum()
        };
        // A job that another one ends may not have begun.
        let (idle, any) =
            (jobs.iter().filter(|job| ios(job) == 0).count(), jobs.iter().any(|job| ios(job) > 0));
        assert!(any && (idle == 0 || sections[0].contains("exitall")), "{name}: {document}");
        let names: BTreeSet<&str> = jobs.iter().filter_map(|job| job["jobname"].as_str()).collect();
        assert!(!names.is_empty() && names.len() <= sections.len(), "{name}: {names:?}");
    }
}

#[test]
fn other_examples_are_refused_by_name() {
    for (example, option) in REFUSED {
        let (name, value) = option.split_once('=').expect("a value");
        let error = fio::set(&mut fio::Job::default(), name, Some(value)).expect_err(example);
        assert!(error.starts_with(name), "{example}: {error}");
    }
}

#[test]
fn examples_for_special_drives_need_only_the_drive() {
    for ((_, expected), (name, sections)) in NEEDS_DRIVE {
        let folder = folder();
        let text = text_of(sections);
        let options = text.lines().filter_map(|line| line.split_once('='));
        let target = options.filter(|(name, _)| *name == "filename").map(|(_, target)| target).next_back();
        // A file takes the place of the drive. The character device of a namespace is another name for the namespace.
        let target = target.expect("a target").replace("ng0n1", "nvme0n1");
        std::fs::write(folder.path().join("job.fio"), &text).expect("a job file");
        std::fs::write(folder.path().join(&target), vec![1; 16 << 20]).expect("a target");
        let only_reads = text.contains("rw=read") && !text.contains("write");
        let mut arguments = vec!["job.fio".to_owned()];
        if !only_reads {
            arguments.extend(["--erase".to_owned(), target.clone()]);
        }
        let output = plateau(folder.path(), &arguments);
        let error = support::texts(&output).1;
        if output.status.success() && text.contains("atomic=1") {
            skips::skip!("{name}: the file system of the test has atomic writes");
            continue;
        }
        assert!(output.status.code() == Some(2) && error.contains(&format!("{target}: ")), "{name}: {error}");
        assert!(error.contains(expected), "{name}: {error}");
        assert!(std::fs::read(folder.path().join(&target)).expect("a target").iter().all(|byte| *byte == 1));
    }
}

/// Compares the part of docs/reference/fio.md between two marker comments with a table. Set `PLATEAU_BLESS` to update it.
#[test]
fn the_documentation_lists_the_result_of_every_example() {
    const MARKS: [&str; 2] = ["<!-- examples -->\n", "<!-- end of examples -->"];
    let mut rows: Vec<(&str, String)> = EXAMPLES.iter().map(|(name, _)| (*name, "runs".to_owned())).collect();
    rows.extend(REFUSED.iter().map(|(name, option)| (*name, format!("refused: `{option}`"))));
    rows.extend(NEEDS_DRIVE.iter().map(|((what, _), (name, _))| (*name, format!("runs on {what}"))));
    rows.extend(REFUSED_COMBINATIONS.iter().map(|(name, _, error)| (*name, format!("refused: {error}"))));
    rows.sort_unstable();
    assert!(rows.windows(2).all(|pair| pair[0].0 != pair[1].0), "an example has two rows");
    let table: String = rows.iter().map(|(name, result)| format!("| `{name}` | {result} |\n")).collect();
    let count = format!("{} of the {} examples run.\n\n", EXAMPLES.len() + NEEDS_DRIVE.len(), rows.len());
    let path = format!("{}/../../docs/reference/fio.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a page");
    let (before, rest) = text.split_once(MARKS[0]).expect("a mark");
    let (_, after) = rest.split_once(MARKS[1]).expect("a mark");
    let expected =
        format!("{before}{}{count}| example | result |\n|---|---|\n{table}{}{after}", MARKS[0], MARKS[1]);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(path, &expected).expect("a page");
        return;
    }
    assert!(
        text == expected,
        "the examples in docs/reference/fio.md are out of date; PLATEAU_BLESS=1 updates them"
    );
}

#[test]
fn trims_need_a_confirmation_and_free_the_blocks() {
    let folder = folder();
    let target = folder.path().join("data");
    std::fs::write(&target, vec![7; 16 << 20]).expect("a file");
    let run = |words: &[&str]| {
        let words = [&["data", "--bs=64k", "--offset=4m", "--size=8m", "--json"], words].concat();
        plateau(folder.path(), &words.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let content = || std::fs::read(&target).expect("a file");
    for (words, code) in [
        (&["--rw=trim"][..], 3),
        (&["--rw=randtrim", "--readonly", "--erase=data"], 3),
        (&["--rw=trim", "--erase=data", "--verify=crc32c"], 2),
        (&["--rw=trim", "--erase=data", "--bs=4k,4k,8k"], 2),
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        assert!(content().iter().all(|byte| *byte == 7), "{words:?}");
    }
    let output = run(&["--name=a", "--rw=randtrim", "--iodepth=4", "--erase=data", "--fsync=1"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let job = &document["jobs"][0];
    assert_eq!(
        (&job["trim"]["total_ios"], &job["trim"]["io_bytes"]),
        (&128.into(), &(8 << 20).into()),
        "{job}"
    );
    assert_eq!((&job["write"]["total_ios"], &job["sync"]["total_ios"]), (&0.into(), &0.into()));
    assert_eq!(job["trim"]["lat_ns"]["N"], 128);
    let expected = |at: usize| if (4 << 20..12 << 20).contains(&at) { 0 } else { 7 };
    assert!(content().iter().enumerate().all(|(at, byte)| *byte == expected(at)));
}

#[test]
fn a_steady_job_ends_early_with_its_results() {
    let folder = folder();
    std::fs::write(folder.path().join("data"), vec![7; 16 << 20]).expect("a file");
    // A schedule has constant IOPS on every host, so the first complete window meets the limit.
    for (window_seconds, runtime, attained) in [(2, 60, 1), (10, 4, 0)] {
        let words = format!(
            "data --name=a --rw=randread --rate_iops=200 --iodepth=32 --time_based --runtime={runtime} --json \
             --steadystate=iops:20% --ss_dur={window_seconds}s --ss_ramp=1s"
        );
        let words: Vec<String> =
            words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let output = plateau(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        let job = &document["jobs"][0];
        let (steady, seconds) = (&job["steadystate"], job["seconds"].as_f64().expect("a time"));
        if attained == 1 {
            assert_eq!((&steady["attained"], &steady["duration"]), (&1.into(), &2.into()), "{job}");
            assert!((2.9..30.0).contains(&seconds), "{seconds}");
            let ios = job["read"]["total_ios"].as_f64().expect("a number");
            assert!((ios / seconds - 200.0).abs() < 20.0, "{ios} in {seconds} s");
        } else {
            assert_eq!(steady["attained"], 0, "{job}");
            assert!((3.9..10.0).contains(&seconds), "{seconds}");
        }
    }
    let words =
        ["sim:sas-slc-2011", "--scale=1/64", "--rw=read", "--runtime=1", "--ss=iops:1%", "--ss_dur=2"];
    let output = plateau(folder.path(), &words.map(str::to_owned));
    assert!(
        output.status.code() == Some(2)
            && support::texts(&output).1.contains("not evaluated on simulated drives"),
        "{output:?}"
    );
}

#[test]
fn the_greatest_depth_within_a_response_time_is_found() {
    let folder = folder();
    let load = |words: &str| -> (Value, String) {
        let words =
            format!("sim:sas-slc-2011 --scale=1/64 --name=a --rw=randread --time_based --runtime=60 {words}");
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let text = support::texts(&plateau(folder.path(), &words)).0;
        let output = plateau(folder.path(), &[words, vec!["--json".to_owned()]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        (document["jobs"][0].clone(), text)
    };
    let p99_ns =
        |job: &Value| job["read"]["clat_ns"]["percentile"]["99.000000"].as_u64().expect("a percentile");
    let limit_us = p99_ns(&load("--iodepth=6").0) / 1000 * 11 / 10;
    let search = format!("--latency_target={limit_us}us --latency_percentile=99 --latency_window=30s");
    let (job, text) = load(&format!("--iodepth=64 {search}"));
    let depth = job["latency_depth"].as_u64().expect("a depth");
    assert!((6..64).contains(&depth) && p99_ns(&job) <= limit_us * 1000, "{job}");
    assert!(p99_ns(&load(&format!("--iodepth={}", depth + 1)).0) > limit_us * 1000, "{depth}");
    assert_eq!((&job["latency_percentile"], &job["latency_window"]), (&99.0.into(), &30_000_000.into()));
    assert!(text.contains(&format!("the target is met at {depth} outstanding I/Os: p99")), "{text}");
    let seconds = |job: &Value| job["seconds"].as_f64().expect("a time") * 64.0;
    assert!((29.9..31.0).contains(&seconds(&job)), "{job}");
    assert!((59.9..61.0).contains(&seconds(&load(&format!("--iodepth=64 --latency_run=1 {search}")).0)));
}

#[test]
fn descending_and_strided_jobs_access_only_their_blocks() {
    let folder = folder();
    let target = folder.path().join("data");
    for (words, touched) in [
        ("--rw=write:112k --bs=16k", (16 << 10, 128 << 10)),
        ("--rw=write:-32k --bs=8k", (8 << 10, 24 << 10)),
        ("--rw=write --bs=64k --zonemode=strided --zonesize=1m --zoneskip=3m", (1 << 20, 4 << 20)),
    ] {
        std::fs::write(&target, vec![7; 24 << 20]).expect("a file");
        let words: Vec<String> =
            format!("data --name=a --erase=data {words} --json").split(' ').map(str::to_owned).collect();
        let output = plateau(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let content = std::fs::read(&target).expect("a file");
        let (length, stride) = touched;
        for (number, block) in content.chunks(4096).enumerate() {
            let changed = block.iter().any(|byte| *byte != 7);
            assert_eq!(changed, number * 4096 % stride < length, "{words:?}: block {number}");
        }
    }
}

#[test]
fn missing_files_may_be_an_error() {
    let folder = folder();
    let words = ["--name=a", "--size=16m", "--allow_file_create=0"].map(str::to_owned);
    let output = plateau(folder.path(), &words);
    let error = support::texts(&output).1;
    assert!(output.status.code() == Some(2) && error.contains("allow_file_create=0"), "{error}");
    assert!(!folder.path().join("a.0.0").exists());
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
        // The files were laid out with random data and without holes.
        assert!(content.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "{name}");
    }
    // The files now exist, so writing requires a confirmation for each of them.
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
    let text = "[a]\nfilename=data\niodeph=4\nbs=x\n[b]\nhostname=server\nrw=trimwrite\n";
    std::fs::write(folder.path().join("job.fio"), text).expect("a job file");
    let output = plateau(folder.path(), &["job.fio".to_owned()]);
    let error = support::texts(&output).1;
    assert_eq!(output.status.code(), Some(2), "{error}");
    for expected in [
        "job.fio:3: iodeph is not a fio option; did you mean iodepth?",
        "job.fio:4: bs=x: ",
        "job.fio:6: hostname is not supported: a load tests storage",
        "job.fio:7: rw=trimwrite: a job that trims does not write; supported: read, write",
    ] {
        assert!(error.contains(expected), "{error}");
    }
}

/// Runs fio. Returns `None`, and reports the test as skipped, if it is not installed.
fn fio(folder: &Path, words: &[String]) -> Option<Output> {
    const LONGEST: &str = "120";
    let mut command = Command::new("timeout");
    let command = command.args(["--kill-after=5", LONGEST, "fio"]).args(words).current_dir(folder);
    let output = command.stdin(Stdio::null()).output().expect("timeout is part of coreutils");
    match output.status.code() {
        Some(127) => {
            skips::without("fio");
            None
        }
        Some(124 | 137) => panic!("fio did not end within {LONGEST} s: {words:?}"),
        _ => Some(output),
    }
}

/// Runs the same job with fio and with `plateau load`, each on a new file. Returns the first job of each result.
fn by_both(folder: &Path, options: &str) -> Option<[Value; 2]> {
    let words = |target: &str| -> Vec<String> {
        let line = format!("--name=a --filename={target} --size=16m --bs=4k --direct=1 {options}");
        line.split(' ').map(str::to_owned).chain(["--output-format=json".to_owned()]).collect()
    };
    let theirs = fio(folder, &words("theirs"))?;
    let ours = plateau(folder, &words("ours"));
    Some([theirs, ours].map(|output| {
        assert_eq!(output.status.code(), Some(0), "{options}: {output:?}");
        // fio may print a warning before the document.
        let start = output.stdout.iter().position(|byte| *byte == b'{').expect("a document");
        let document: Value = serde_json::from_slice(&output.stdout[start..]).expect("a document");
        document["jobs"][0].clone()
    }))
}

#[test]
fn syncs_are_issued_and_reported_as_by_fio() {
    for (options, syncs) in [
        ("--rw=randwrite --number_ios=200 --ioengine=libaio --iodepth=8 --fsync=16", 12),
        ("--rw=write --number_ios=200 --ioengine=psync --fdatasync=3", 66),
        // At greater depths, fio 3.33 repeats syncs with io_uring.
        ("--rw=write --number_ios=200 --ioengine=io_uring --iodepth=1 --fsync=6 --fdatasync=4", 66),
        ("--rw=write --number_ios=200 --ioengine=libaio --iodepth=4 --fsync=6 --fdatasync=4", 66),
        ("--rw=randwrite --number_ios=60 --ioengine=psync --numjobs=2 --group_reporting --fsync=20", 4),
        ("--rw=write --number_ios=64 --ioengine=libaio --iodepth=8 --end_fsync=1", 0),
        ("--rw=randread --number_ios=64 --ioengine=psync --fsync=1 --end_fsync=1", 0),
        ("--rw=write --number_ios=64 --ioengine=psync --sync=dsync", 0),
    ] {
        let folder = folder();
        let Some([theirs, ours]) = by_both(folder.path(), options) else { return };
        // fio 3.33 omits fdatasyncs from the number of syncs but not from their response times.
        assert_eq!(ours["sync"]["total_ios"], syncs, "{options}: {ours}");
        for job in [&theirs, &ours] {
            assert_eq!(job["sync"]["lat_ns"]["N"], syncs, "{options}: {job}");
        }
        for way in ["read", "write"] {
            assert_eq!(theirs[way]["total_ios"], ours[way]["total_ios"], "{options}");
        }
        let keys = |value: &Value| -> BTreeSet<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        for place in ["/sync", "/sync/lat_ns"] {
            let [theirs, ours] = [&theirs, &ours].map(|job| keys(job.pointer(place).expect("it is there")));
            assert!(theirs.is_subset(&ours), "{place}: {theirs:?} and {ours:?}");
        }
        let end_fsync = ours["sync"]["end_fsync_ns"].as_u64();
        assert_eq!(end_fsync.is_some(), options.contains("--rw=write") && options.contains("end_fsync"));
    }
}

#[test]
fn pauses_take_as_long_as_with_fio() {
    for (options, least_ms) in [
        ("--thinktime=20000 --thinktime_blocks=4", 160),
        ("--thinktime=20ms --thinktime_blocks=8 --iodepth=16 --thinktime_blocks_type=issue", 80),
        // All I/Os in flight may complete at once, so that only one pause is certain.
        ("--thinktime=20ms --thinktime_blocks=4 --iodepth=16", 20),
    ] {
        let folder = folder();
        let options = format!("--rw=randwrite --number_ios=32 --ioengine=libaio {options}");
        let Some(jobs) = by_both(folder.path(), &options) else { return };
        for job in jobs {
            let runtime_ms = job["write"]["runtime"].as_u64().expect("a time");
            assert!(runtime_ms >= least_ms, "{options}: {runtime_ms} ms");
        }
    }
}

/// Without fio: if a thread gets no CPU time while it spins, fio 3.33 subtracts too much and sleeps forever.
#[test]
fn part_of_a_pause_may_keep_the_cpu_busy() {
    let folder = folder();
    let line = "--name=a --filename=data --size=16m --bs=4k --direct=1 --rw=randwrite --number_ios=32 --ioengine=libaio \
                --thinktime=20ms --thinktime_spin=5ms --thinktime_blocks=16 --output-format=json";
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let output = plateau(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{:?}", support::texts(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let runtime_ms = document["jobs"][0]["write"]["runtime"].as_u64().expect("a time");
    assert!(runtime_ms >= 40, "{runtime_ms} ms");
}

#[test]
fn simulated_drives_refuse_syncs_and_pauses() {
    let folder = folder();
    let run = |options: &[&str]| {
        let words = ["sim:sas-slc-2011", "--scale=1/64", "--rw=randwrite", "--io_size=1m"];
        let output = plateau(
            folder.path(),
            &[&words, options].concat().into_iter().map(str::to_owned).collect::<Vec<_>>(),
        );
        (output.status.code(), support::texts(&output))
    };
    for (option, expected) in [
        ("--fsync=4", "syncs are not simulated"),
        ("--sync=1", "syncs are not simulated"),
        ("--thinktime=1ms", "pauses are not simulated"),
    ] {
        let (code, (_, error)) = run(&[option]);
        assert!(code == Some(2) && error.contains(expected), "{option}: {code:?}: {error}");
    }
    let (code, (text, error)) = run(&["--end_fsync=1"]);
    assert!(
        code == Some(0) && text.contains("end_fsync has no effect on a simulated drive"),
        "{error}{text}"
    );
    let (code, _) = run(&["--fsync=4", "--rw=randread"]);
    assert_eq!(code, Some(0), "a job that only reads does not sync");
}

#[test]
fn logs_contain_the_averages_of_each_second() {
    let folder = folder();
    let words = "--name=a --filename=new --size=16m --rw=randwrite --bs=4k --iodepth=4 --runtime=2 --time_based --json \
                 --write_iops_log=x --write_bw_log=x --write_lat_log=y --name=b --stonewall --filename=new --size=16m --rw=read \
                 --io_size=1m --write_iops_log=x";
    let words: Vec<String> = words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let output = plateau(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let lines = |name: &str| -> Vec<Vec<u64>> {
        let text = std::fs::read_to_string(folder.path().join(name)).expect(name);
        let numbers = |line: &str| line.split(", ").map(|number| number.parse().expect("a number")).collect();
        text.lines().map(numbers).collect()
    };
    let iops = lines("x_iops.1.log");
    assert_eq!(
        iops.iter().map(|line| (line[0], line[2], line.len())).collect::<Vec<_>>(),
        [(1000, 1, 5), (2000, 1, 5)]
    );
    let ios: u64 = iops.iter().map(|line| line[1]).sum();
    assert_eq!(document["jobs"][0]["write"]["total_ios"], ios, "{document}");
    let kibibytes: u64 = lines("x_bw.1.log").iter().map(|line| line[1]).sum();
    assert_eq!(kibibytes, ios * 4);
    assert!(lines("y_lat.1.log").iter().all(|line| line[1] > 0) && lines("y_clat.1.log").len() == 2);
    assert_eq!(lines("x_iops.2.log").iter().map(|line| line[2]).collect::<Vec<_>>(), [0]);
    let refused = ["new", "--rw=write", "--erase=new", "--write_iops_log=none/x"].map(str::to_owned);
    let output = plateau(folder.path(), &refused);
    assert!(
        output.status.code() == Some(2) && support::texts(&output).1.contains("none: no such folder"),
        "{output:?}"
    );
}
