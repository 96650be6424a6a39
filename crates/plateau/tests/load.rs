//! `plateau load`: fio's words on the command line and in job files, and the rights that each of them needs.

mod support;

use std::process::{Command, Output};

use serde_json::Value;

const SIZE: u64 = 16 << 20;

fn plateau(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plateau")).args(arguments).output().expect("plateau runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// A folder with a file `data` of so many bytes that holds something, and a job file.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new(job: &str) -> Self {
        let bench = Self { dir: tempfile::tempdir().expect("a folder") };
        std::fs::write(bench.data(), vec![7; SIZE as usize]).expect("data");
        let job = job.replace("DATA", bench.data().to_str().expect("a path"));
        std::fs::write(bench.dir.path().join("job.fio"), job).expect("a job file");
        bench
    }

    fn data(&self) -> std::path::PathBuf {
        self.dir.path().join("data")
    }

    fn job(&self) -> String {
        self.dir.path().join("job.fio").to_str().expect("a path").to_owned()
    }

    fn run(&self, more: &[&str]) -> Output {
        plateau(&[&["load", &self.job()], more].concat())
    }

    fn untouched(&self) -> bool {
        std::fs::read(self.data()).expect("data").iter().all(|&byte| byte == 7)
    }
}

#[test]
fn reads_need_no_confirmation_and_change_nothing() {
    let bench = Bench::new("");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    let words = ["--rw", "randread", "--iodepth", "4", "--runtime", "0.2", "--time_based", "--json"];
    let output = plateau(&[&["load", path], &words[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    let job = &document["jobs"][0];
    assert!(job["read"]["total_ios"].as_u64() > Some(0), "{document}");
    assert!(job["read"]["lat_ns"]["percentile"]["99.900000"].as_u64() > Some(0));
    assert_eq!(job["write"]["total_ios"], 0);
    assert!((job["seconds"].as_f64().expect("seconds") - 0.2).abs() < 1e-6);
    assert!(bench.untouched());
}

#[test]
fn polling_says_what_came_of_it() {
    let bench = Bench::new("");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    for (option, expected) in
        [("--hipri", "not polled: a file may lie"), ("--sqthread_poll", "submissions polled by the kernel")]
    {
        let output = plateau(&["load", path, "--rw", "randread", "--iodepth", "4", "--json", option]);
        let document = json(&output);
        let engines = document["jobs"][0]["engines"].to_string();
        // A kernel may keep its polling thread from those who are not root.
        assert!(engines.contains(expected) || engines.contains("not polled: "), "{option}: {document}");
    }
    let refused = plateau(&["load", "sim:sas-slc-2011", "--scale", "1/64", "--hipri"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn writes_are_armed_like_a_run() {
    let bench = Bench::new("[w]\nfilename=DATA\nrw=write\n");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    for rw in ["write", "randwrite", "rw", "randrw"] {
        let output = plateau(&["load", path, "--rw", rw, "--runtime", "0.1"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(bench.untouched());
    }
    for erase in [&[][..], &["--erase", "other"], &["--erase", "data", "--erase", "other"]] {
        assert_eq!(bench.run(erase).status.code(), Some(3), "{erase:?}");
        assert!(bench.untouched());
    }
    let output = plateau(&["load", path, "--rw", "write", "--bs", "64k", "--erase", "data"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("SEQ 64KiB W") && text.contains("p99.9 ") && text.contains("###"), "{text}");
    assert!(!bench.untouched());
    assert_eq!(bench.run(&["--erase", "data"]).status.code(), Some(0));
}

#[test]
fn a_simulated_drive_can_be_loaded_as_well() {
    let words = "--scale 1/1024 --rw randrw --rwmixread 65 --size 64M --runtime 1 --output-format json";
    let words: Vec<&str> = ["load", "sim:sas-slc-2011"].into_iter().chain(words.split(' ')).collect();
    let output = plateau(&words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(json(&output)["jobs"][0]["engines"][0], "simulated");
    let jobs = "[global]\nfilename=sim:sas-slc-2011\nsize=64m\nruntime=60\ntime_based\n\
                [slow]\nrw=randread\nrate_iops=300\nrate_process=poisson\nramp_time=5\n[busy]\nrw=randwrite\n";
    let output = Bench::new(jobs).run(&["--scale", "1/64", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    let slow = &document["jobs"][0];
    let rate = slow["read"]["iops"].as_f64().expect("a rate");
    // A second of virtual time: 300 with a deviation of 17.
    assert!((rate - 300.0).abs() < 100.0, "{rate}");
    assert!(document["jobs"][1]["write"]["total_ios"].as_u64() > Some(1000));
}

#[test]
fn wrong_words_are_the_command_lines_fault() {
    let bench = Bench::new("");
    let path = bench.data();
    for arguments in [
        &["--rw", "trim"][..],
        &["--bs", "1000"],
        &["--numjobs", "0"],
        &["--rwmixread", "50"],
        &["--filename", "x"],
        &["--verify", "md5"],
        &["--time_based"],
    ] {
        let output = plateau(&[&["load", path.to_str().expect("a path")], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}

#[test]
fn job_files_are_refused_with_file_line_and_option() {
    for (job, code, wanted) in [
        ("[a]\nfilename=DATA\nthinktime=5\n", 2, "job.fio:3: thinktime is not offered"),
        ("[a]\nfilename=DATA\nrw=randtrim\n", 2, "job.fio:3: rw=randtrim: read, write"),
        ("[a]\nrw=read\n", 2, "[a] has no filename"),
        ("[a]\nfilename=DATA\nbs=3k\n", 0, ""),
        ("[a]\nfilename=DATA\nbs=1000\n", 2, "[a]: "),
        ("[a]\nfilename=DATA\noffset=32m\n", 2, "behind the end"),
        ("[a]\nfilename=DATA/none\n", 4, "none"),
    ] {
        let bench = Bench::new(job);
        let output = bench.run(&[]);
        let (_, error) = support::texts(&output);
        assert_eq!(output.status.code(), Some(code), "{job}: {error}");
        assert!(error.contains(wanted), "{job}: {error}");
        assert!(bench.untouched());
    }
    let bench = Bench::new("[a]\nrw=read\n");
    assert_eq!(bench.run(&["--bs", "4k"]).status.code(), Some(2));
    assert_eq!(bench.run(&["--filename", bench.data().to_str().expect("a path")]).status.code(), Some(0));
}

/// What fio does of a job file, by the same numbers.
fn fios(bench: &Bench) -> Option<Value> {
    let mut command = Command::new("fio");
    command.args([&bench.job(), "--output-format=json"]).current_dir(bench.dir.path());
    match command.output() {
        Ok(output) if output.status.success() => Some(json(&output)),
        Ok(output) => panic!("fio refuses it: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("skipped: fio cannot be run: {error}");
            None
        }
    }
}

/// I/Os and bytes of each direction of all jobs of one name.
fn counts(document: &Value, name: &str) -> [(u64, u64); 2] {
    let mut sums = [(0, 0); 2];
    for job in document["jobs"].as_array().expect("jobs").iter().filter(|job| job["jobname"] == name) {
        for (sum, direction) in sums.iter_mut().zip(["read", "write"]) {
            sum.0 += job[direction]["total_ios"].as_u64().expect("a count");
            sum.1 += job[direction]["io_bytes"].as_u64().expect("bytes");
        }
    }
    sums
}

/// Jobs that are bound by their amount do exactly the same I/Os in both tools.
const SAME: &str = "\
[global]
filename=DATA
ioengine=psync
norandommap
size=8m
[sequential] ; with a comment
rw=read
bs=16k
[offset]
stonewall
rw=randread
offset=4m
size=4m
io_size=1m
[clones]
stonewall
rw=write
bs=64k
numjobs=3
size=2m
offset_increment=2m
[random_clones]
stonewall
rw=randwrite
numjobs=2
size=1m
loops=2
[side_by_side_a]
stonewall
rw=randread
bs=8k
io_size=512k
[side_by_side_b]
rw=randwrite
io_size=256k
";

#[test]
fn job_files_do_what_fio_does_with_them() {
    let bench = Bench::new(SAME);
    let output = bench.run(&["--erase", "data", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let ours = json(&output);
    let Some(fios) = fios(&bench) else { return };
    for name in ["sequential", "offset", "clones", "random_clones", "side_by_side_a", "side_by_side_b"] {
        let (ours, fios) = (counts(&ours, name), counts(&fios, name));
        assert_eq!(ours, fios, "[{name}]");
        assert!(ours[0].0 + ours[1].0 > 0, "[{name}]");
    }
}

const MIXED: &str = "\
[global]
filename=DATA
ioengine=psync
norandommap
size=16m
io_size=64m
[mix]
rw=randrw
rwmixread=70
[sizes]
stonewall
rw=randread
bssplit=4k/50:8k/30:64k/20
[zones]
stonewall
rw=randread
random_distribution=zoned:60/10:30/20:10/70
";

#[test]
fn shares_are_those_that_fio_draws() {
    let bench = Bench::new(MIXED);
    let output = bench.run(&["--erase", "data", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let ours = json(&output);
    let reads = |document: &Value| {
        let [read, write] = counts(document, "mix");
        read.0 as f64 / (read.0 + write.0) as f64
    };
    let size = |document: &Value, name: &str| {
        let [read, _] = counts(document, name);
        read.1 as f64 / read.0 as f64
    };
    // 16,384 I/Os: the share deviates by 0.36 %, the mean size by 1.4 %.
    assert!((reads(&ours) - 0.7).abs() < 0.018, "{}", reads(&ours));
    assert!((size(&ours, "sizes") / 17_612.8 - 1.0).abs() < 0.07, "{}", size(&ours, "sizes"));
    assert_eq!(size(&ours, "zones"), 4096.0);
    let Some(fios) = fios(&bench) else { return };
    assert!((reads(&ours) - reads(&fios)).abs() < 0.025, "{} and {}", reads(&ours), reads(&fios));
    assert!((size(&ours, "sizes") / size(&fios, "sizes") - 1.0).abs() < 0.1);
    assert_eq!(counts(&ours, "zones"), counts(&fios, "zones"));
}

#[test]
fn groups_have_one_result() {
    let jobs = "[global]\nfilename=DATA\nio_size=1m\ngroup_reporting\n[a]\nrw=read\n[b]\nrw=randread\nnorandommap\n\
                [c]\nnew_group\nrw=read\n[d]\nstonewall\nrw=read\n";
    let document = json(&Bench::new(jobs).run(&["--json"]));
    let seen: Vec<(&str, u64)> = document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| {
            (job["jobname"].as_str().expect("a name"), job["read"]["io_bytes"].as_u64().expect("bytes"))
        })
        .collect();
    assert_eq!(seen, [("a", 2 << 20), ("c", 1 << 20), ("d", 1 << 20)]);
}

#[test]
fn verify_writes_and_reads_back_and_finds_what_changed() {
    let bench = Bench::new(
        "[write]\nfilename=DATA\nrw=randwrite\niodepth=8\nverify=crc32c\n\
         [check]\nstonewall\nfilename=DATA\nrw=write\nbs=64k\nverify=crc32c\n",
    );
    let document = json(&bench.run(&["--erase", "data", "--json"]));
    assert_eq!(document["jobs"][1]["verify"]["checked_blocks"], SIZE / 65536);
    assert!(document["jobs"][0]["verify"]["checked_blocks"].as_u64() > Some(2000), "{document}");
    assert_eq!(document["jobs"][0]["verify"]["wrong_blocks"], 0);
    let path = bench.data();
    let path = path.to_str().expect("a path");
    let read = ["load", path, "--rw", "read", "--bs", "128k", "--verify", "crc32c"];
    assert_eq!(plateau(&read).status.code(), Some(0));
    let file = std::fs::File::options().write(true).open(path).expect("the data");
    std::os::unix::fs::FileExt::write_all_at(&file, b"damage", (1 << 20) + 70_000).expect("damage");
    let output = plateau(&read);
    let (text, error) = support::texts(&output);
    assert_eq!(output.status.code(), Some(5), "{text}{error}");
    assert!(text.contains("65536 B at byte 1114112: corrupt"), "{text}");
    assert!(error.contains("1 blocks do not hold what was written"), "{error}");
    let output = plateau(&[&read[..], &["--output-format", "json"]].concat());
    assert_eq!(output.status.code(), Some(5));
    let document = json(&output);
    assert_eq!(document["jobs"][0]["verify"]["places"][0]["offset_bytes"], 1_114_112);
    assert_eq!(document["exit_code"], 5);
}

/// A closed loop, an open one with hardly anything to do, and two that run side by side.
#[test]
fn signals_end_a_load_without_a_result() {
    let slow = "[slow]\nfilename=DATA\nrw=randread\nrate_iops=1\nruntime=1h\ntime_based\n";
    let busy = "[busy]\nfilename=DATA\nrw=randread\niodepth=8\nruntime=1h\ntime_based\n";
    for (jobs, signal) in [(busy, "INT"), (slow, "TERM"), (&format!("{slow}{busy}"), "INT")] {
        let bench = Bench::new(jobs);
        let child = Command::new(env!("CARGO_BIN_EXE_plateau"))
            .args(["load", &bench.job(), "--json"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("plateau starts");
        // The threads of the load are there once signals are watched.
        let tasks = format!("/proc/{}/task", child.id());
        let begun = std::time::Instant::now();
        while std::fs::read_dir(&tasks).map_or(0, Iterator::count) < 3 {
            assert!(begun.elapsed().as_secs() < 60, "no threads of a load");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let sent = std::time::Instant::now();
        let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        assert!(sent.elapsed().as_secs() < 20, "{:?}", sent.elapsed());
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        assert!(json(&output)["jobs"].is_null(), "{output:?}");
    }
}

#[test]
fn the_host_says_what_it_can_do() {
    let document = json(&plateau(&["self", "--json"]));
    assert!(document["data_bytes_per_second"].as_f64() > Some(0.0), "{document}");
    assert_eq!(document["null"].as_array().map(Vec::len), Some(3));
}
