//! `plateau load`: fio's options on the command line and in job files, and the permissions that each of them
//! requires.

#[path = "load/engines.rs"]
mod engines;
#[path = "load/limits.rs"]
mod limits;
#[path = "support/schemas/mod.rs"]
mod schemas;
#[path = "load/several_hosts.rs"]
mod several_hosts;
mod support;
#[path = "load/traces.rs"]
mod traces;
#[path = "load/verifying.rs"]
mod verifying;
#[path = "load/zones.rs"]
mod zones;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const SIZE: u64 = 16 << 20;

fn plateau(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plateau")).args(arguments).output().expect("plateau runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// A folder with a non-empty `data` file of a given size, and a job file.
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
    // Limit the load by amount rather than time, because a busy machine may not complete enough I/Os for a 90th
    // percentile in a short time.
    let words = ["--rw", "randread", "--iodepth", "4", "--io_size", "4M", "--json"];
    let output = plateau(&[&["load", path], &words[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    let job = &document["jobs"][0];
    assert_eq!(job["read"]["total_ios"], 1024, "{document}");
    assert!(job["read"]["lat_ns"]["percentile"]["90.000000"].as_u64() > Some(0));
    assert_eq!(job["write"]["total_ios"], 0);
    let timed = ["--rw", "randread", "--iodepth", "4", "--runtime", "0.2", "--time_based", "--json"];
    let document = json(&plateau(&[&["load", path], &timed[..]].concat()));
    assert!((document["jobs"][0]["seconds"].as_f64().expect("seconds") - 0.2).abs() < 1e-6);
    assert!(bench.untouched());
}

fn starts_with_number(text: &str) -> bool {
    text.split(' ').next().is_some_and(|word| word.parse::<u32>().is_ok())
}

#[test]
fn the_result_of_polling_is_reported() {
    let bench = Bench::new("");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    for (option, expected) in [
        ("--hipri", "not polled: a file may be on a device"),
        ("--sqthread_poll", "submissions polled by the kernel"),
    ] {
        let output = plateau(&["load", path, "--rw", "randread", "--iodepth", "4", "--json", option]);
        let document = json(&output);
        let engines = document["jobs"][0]["engines"].to_string();
        // The kernel may refuse a polling thread to users other than root; the result must then say so.
        let refused = option == "--sqthread_poll" && !support::is_root() && engines.contains("not polled: ");
        assert!(engines.contains(expected) || refused, "{option}: {document}");
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
    // One second of virtual time contains 300 I/Os on average, with a standard deviation of 17.
    assert!((rate - 300.0).abs() < 100.0, "{rate}");
    assert!(document["jobs"][1]["write"]["total_ios"].as_u64() > Some(1000));
}

#[test]
fn wrong_options_are_usage_errors() {
    let bench = Bench::new("");
    let path = bench.data();
    for arguments in [
        &["--rw", "trimwrite"][..],
        &["--bs", "1000"],
        &["--numjobs", "0"],
        &["--filename", "x"],
        &["--verify", "pattern"],
        &["--time_based"],
    ] {
        let output = plateau(&[&["load", path.to_str().expect("a path")], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}

#[test]
fn job_files_are_refused_with_file_line_and_option() {
    for (job, code, message) in [
        (
            "[a]\nfilename=DATA\nexit_what=some\n",
            2,
            "job.fio:3: exit_what=some: supported: group, stonewall, all",
        ),
        ("[a]\nfilename=DATA\nrw=trimwrite\n", 2, "job.fio:3: rw=trimwrite: a job that trims does not write"),
        ("[a]\nrw=read\n", 2, "[a]: neither filename nor size is set"),
        ("[a]\nfilename=DATA\nbs=3k\n", 0, ""),
        ("[a]\nfilename=DATA\nbs=1000\n", 2, "[a]: "),
        ("[a]\nfilename=DATA\noffset=32m\n", 2, "beyond the end"),
        ("[a]\nfilename=DATA/none\n", 4, "none"),
    ] {
        let bench = Bench::new(job);
        let output = bench.run(&[]);
        let (_, error) = support::texts(&output);
        assert_eq!(output.status.code(), Some(code), "{job}: {error}");
        assert!(error.contains(message), "{job}: {error}");
        assert!(bench.untouched());
    }
    let bench = Bench::new("[a]\nrw=read\n");
    assert_eq!(bench.run(&["--bs", "4k"]).status.code(), Some(2));
    assert_eq!(bench.run(&["--filename", bench.data().to_str().expect("a path")]).status.code(), Some(0));
}

/// Returns fio's results for the same job file.
fn fios(bench: &Bench) -> Option<Value> {
    let mut command = Command::new("fio");
    command.args([&bench.job(), "--output-format=json"]).current_dir(bench.dir.path());
    match command.output() {
        Ok(output) if output.status.success() => Some(json(&output)),
        Ok(output) => panic!("fio refuses it: {}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            skips::without("fio");
            None
        }
    }
}

/// Returns the I/Os and bytes per direction of all jobs with one name.
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

/// Jobs limited by their amount issue exactly the same I/Os in both tools.
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
    // With 16,384 I/Os, the standard deviation is 0.36 % for the proportion and 1.4 % for the mean size.
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
    assert!(error.contains("1 block does not contain what was written"), "{error}");
    let output = plateau(&[&read[..], &["--output-format", "json"]].concat());
    assert_eq!(output.status.code(), Some(5));
    let document = json(&output);
    assert_eq!(document["jobs"][0]["verify"]["places"][0]["offset_bytes"], 1_114_112);
    assert_eq!(document["exit_code"], 5);
}

/// Tries a closed loop, an almost idle open loop, and two concurrent jobs.
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
        // The load's threads exist only after the signal handlers are installed.
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

const EVERY_WORD: &[&str] = &[
    "--name=mine",
    "--readwrite=randread",
    "--blocksize=8k",
    "--iodepth=2",
    "--direct=1",
    "--norandommap",
    "--group_reporting",
    "--loops=2",
    "--randseed=7",
    "--randrepeat=1",
    "--do_verify=0",
    "--refill_buffers",
    "--thread",
    "--time_based=0",
    "--fixedbufs",
    "--registerfiles=1",
    "--fallocate=none",
    "--gtod_reduce=0",
    "--cpus_allowed=all",
    "--cpus_allowed_policy=split",
    "--hipri=0",
];

#[test]
fn the_command_line_and_job_files_know_the_same_words() {
    let lines: Vec<&str> = EVERY_WORD.iter().map(|word| &word[2..]).collect();
    let bench = Bench::new(&format!("[job]\nfilename=DATA\n{}\n", lines.join("\n")));
    let target = format!("--filename={}", bench.data().display());
    for output in [plateau(&[&["load", &target, "--json"], EVERY_WORD].concat()), bench.run(&["--json"])] {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let job = &json(&output)["jobs"][0];
        assert_eq!((&job["jobname"], &job["workloads"][0]["seed"]), (&"mine".into(), &7.into()), "{job}");
        assert_eq!(job["read"]["total_ios"], 2 * SIZE / 8192, "{job}");
        assert_eq!(job["placement"][0], "not pinned, as requested");
    }
    let polled =
        Bench::new("[job]\nfilename=DATA\nrw=randread\niodepth=4\nio_size=1m\nhipri\n").run(&["--json"]);
    assert!(json(&polled)["jobs"][0]["engines"].to_string().contains("not polled: a file"), "{polled:?}");
}

#[test]
fn unsupported_options_are_refused_by_name_in_both() {
    for (word, message) in [
        ("write_iolog=x", "does not replay or record"),
        ("cgroup=x", "set outside"),
        ("gpu_dev_ids=0", "GPU memory"),
    ] {
        let bench = Bench::new(&format!("[a]\nfilename=DATA\n{word}\n"));
        let path = bench.data();
        let line = plateau(&["load", path.to_str().expect("a path"), &format!("--{word}")]);
        for output in [bench.run(&[]), line] {
            let error = support::texts(&output).1;
            assert_eq!(output.status.code(), Some(2), "{word}: {error}");
            assert!(error.contains(message), "{error}");
        }
    }
    let bench = Bench::new("[a]\nrw=read\n");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    for arguments in
        [&["load"][..], &["load", path, "--filename", path], &["load", &bench.job(), "--rw=read"]]
    {
        assert_eq!(plateau(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let with_path = bench.run(&["--filename", path, "--cpus_allowed", "all", "--json"]);
    assert_eq!(json(&with_path)["jobs"][0]["placement"][0], "not pinned, as requested");
}

#[test]
fn a_seed_that_is_drawn_is_reported() {
    let bench = Bench::new("");
    let path = bench.data();
    let load = ["load", path.to_str().expect("a path"), "--rw=randread", "--io_size=64k", "--json"];
    let seed = |more: &str| {
        let document = json(&plateau(&[&load[..], &[more]].concat()));
        (document["jobs"][0]["workloads"][0]["seed"].as_u64().expect("a seed"), document)
    };
    let (first, document) = seed("--randrepeat=0");
    assert!(document["jobs"][0]["notes"].to_string().contains(&format!("randseed={first} ")), "{document}");
    // Two random 32-bit seeds are equal once in four billion times; three equal seeds are practically
    // impossible.
    assert!([seed("--randrepeat=0").0, seed("--randrepeat=0").0] != [first; 2]);
    assert_eq!(seed(&format!("--randseed={first}")).0, first);
    assert_eq!((seed("--randrepeat=1").0, seed("--norandommap").0), (1, 1));
}

#[test]
fn options_without_meaning_for_a_target_are_refused() {
    let bench = Bench::new("[a]\nfilename=DATA\n[b]\nfilename=sim:sas-slc-2011\nio_size=1m\n");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    let library = bench.dir.path().join("runs");
    let library = library.to_str().expect("a path");
    let fault = "media:at=25%,length=1MiB";
    for (arguments, message) in [
        (&["load", path, "--scale", "1/4"][..], "only to simulated drives"),
        (&["load", path, "--sim-fault", fault], "only into simulated drives"),
        (&["load", path, "--no-sim-faults"], "only into simulated drives"),
        (&["info", path, "--scale", "1/4"], "only to simulated drives"),
        (
            &["run", "iops", path, "--erase", "data", "--sim-fault", fault, "--library", library],
            "only into simulated drives",
        ),
        (&["plan", "iops", path, "--sim-fault", fault, "--library", library], "only into simulated drives"),
        (&["load", "sim:sas-slc-2011", "--scale", "1/256", "--cpus_allowed", "0"], "no load threads"),
        (&["load", "sim:sas-slc-2011", "--scale", "1/256", "--numa_cpu_nodes", "0"], "no load threads"),
    ] {
        let output = plateau(arguments);
        let error = support::texts(&output).1;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert!(bench.untouched());
    }
    let both = bench.run(&["--scale", "1/256", "--json"]);
    assert_eq!(both.status.code(), Some(0), "{both:?}");
    assert_eq!(json(&both)["jobs"][1]["target"]["simulated"]["scale_divisor"], 256);
}

/// Returns the same load's text output and JSON document.
fn both(arguments: &[&str]) -> (String, Value) {
    let run = |more: &[&str]| {
        let output = plateau(&[arguments, more].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        output
    };
    (support::texts(&run(&[])).0, json(&run(&["--json"])))
}

#[test]
fn percentiles_with_fewer_than_ten_ios_beyond_are_omitted() {
    let bench = Bench::new("");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    // 2,048 I/Os of 8 KiB.
    let (text, document) = both(&["load", path, "--rw", "randread", "--bs", "8k"]);
    assert!(text.contains("2,048 I/Os"), "{text}");
    assert!(text.contains("p99.9 n/a  p99.99 n/a  p99.999 n/a"), "{text}");
    assert!(text.contains("note   n/a: fewer than ten I/Os lie beyond"), "{text}");
    let times = &document["jobs"][0]["read"]["lat_ns"];
    let percentiles = times["percentile"].as_object().expect("percentiles");
    assert!(percentiles["99.500000"].is_u64() && percentiles["99.900000"].is_null(), "{document}");
    assert!(times["max"].is_u64() && times["not_in_bins"] == 0, "{document}");
}

/// Returns the longest response time in a load's JSON document, in ns.
fn slowest(times: &Value) -> u64 {
    let bins = times["bins"].as_object().expect("bins").keys().filter_map(|ns| ns.parse().ok());
    let percentiles =
        times["percentile"].as_object().expect("percentiles").values().filter_map(Value::as_u64);
    bins.chain(percentiles).max().expect("a time")
}

#[test]
fn a_scaled_drive_reports_no_maximum_under_any_name() {
    let words = "--rw randwrite --iodepth 32 --size 64M --scale 1/256".split(' ');
    let words: Vec<&str> = ["load", "sim:sas-slc-2011"].into_iter().chain(words).collect();
    let (text, document) = both(&words);
    let times = &document["jobs"][0]["write"]["lat_ns"];
    assert!(times["max"].is_null() && text.contains("max n/a") && text.contains("p99.999 n/a"), "{text}");
    let bins: Vec<(u64, u64)> = times["bins"]
        .as_object()
        .expect("bins")
        .iter()
        .map(|(ns, count)| (ns.parse().expect("ns"), count.as_u64().expect("a count")))
        .collect();
    let counted: u64 = bins.iter().map(|bin| bin.1).sum();
    assert_eq!(Some(counted + times["not_in_bins"].as_u64().expect("a count")), times["N"].as_u64());
    let most = slowest(times);
    assert!(bins.iter().any(|bin| bin.0 == most && bin.1 + times["not_in_bins"].as_u64().unwrap_or(0) >= 10));
    let full: Vec<&str> = words.iter().map(|word| if *word == "1/256" { "1/1" } else { word }).collect();
    let times = &both(&full).1["jobs"][0]["write"]["lat_ns"];
    assert!(times["max"].is_u64() && times["not_in_bins"] == 0, "{times}");
}

#[test]
fn a_load_is_compared_with_the_ceiling_of_the_host() {
    let bench = Bench::new("");
    let path = bench.data();
    let (text, document) =
        both(&["load", path.to_str().expect("a path"), "--rw", "randread", "--iodepth", "4"]);
    assert!(text.contains("\nhost   ") && text.contains(" % of its ceiling  "), "{text}");
    assert!(text.contains("  clock "), "{text}");
    let job = &document["jobs"][0];
    let share = job["host_share"].as_f64().expect("a share");
    assert!(share > 0.0 && share <= 1.0, "{document}");
    assert_eq!(job["host_limited"], share > 0.7);
    assert_eq!(job["notes"].to_string().contains("HOST-LIMITED: "), share > 0.7, "{document}");
    let placement = job["placement"][0].as_str().expect("a placement");
    match std::thread::available_parallelism().map(usize::from) {
        // With two or more CPUs, the only thread is pinned to one CPU, which is identified by its number.
        Ok(2..) => assert!(placement.strip_prefix("cpu ").is_some_and(starts_with_number), "{placement}"),
        _ => assert_eq!(placement, "not pinned: 1 threads on 1 CPUs leave none free"),
    }
    assert!(job["clock"]["cost_ns"].as_f64() > Some(0.0) && document["ceiling"]["null"].is_array());
    let (text, document) = both(&["load", "sim:sas-slc-2011", "--scale", "1/256", "--runtime", "1"]);
    let job = &document["jobs"][0];
    assert!(!text.contains("\nhost ") && job["host_share"].is_null() && document["ceiling"].is_null());
    assert_eq!((&job["host_limited"], job["clock"].is_null()), (&Value::Bool(false), true), "{document}");
}

#[test]
fn the_first_line_distinguishes_loads() {
    let bench = Bench::new("");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    for (words, message) in [
        ("--zero_buffers", "load: RND 4KiB W, zeros, 1 thread with"),
        ("--dedupe_percentage 30", "load: RND 4KiB W, data 30 % copies, "),
        ("--buffer_compress_percentage 50", "load: RND 4KiB W, data 50 % compressible, "),
        (
            "--random_distribution zoned:50/5:50/95",
            "load: RND 4KiB W, 50 % of the I/Os on 5 % of the range and 50 % on 95 %, ",
        ),
    ] {
        let load = ["load", path, "--rw", "randwrite", "--io_size", "64k", "--erase", "data"];
        let output = plateau(&[&load[..], &words.split(' ').collect::<Vec<_>>()].concat());
        let (text, error) = support::texts(&output);
        assert!(text.starts_with(message), "{words}: {text}{error}");
    }
    let small = plateau(&["load", path, "--rw", "randread", "--bs", "100"]);
    assert!(support::texts(&small).1.contains("RND 100B R"), "{small:?}");
}

#[test]
fn documents_are_written_alike_and_in_order() {
    let bench = Bench::new("");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    let ordered = |text: &str| {
        let begin = text.find("\"bins\": {").expect("bins") + 9;
        let bins = &text[begin..begin + text[begin..].find('}').expect("an end")];
        let numbers = bins.split('"').filter_map(|word| word.parse::<u64>().ok());
        let numbers: Vec<u64> = numbers.collect();
        assert!(numbers.len() > 1 && numbers.is_sorted(), "{numbers:?}");
        assert!(text.find("\"5.000000\"") < text.find("\"10.000000\""), "{text}");
    };
    let good = plateau(&["load", path, "--rw", "randread", "--json"]);
    ordered(&support::texts(&good).0);
    let wrong = plateau(&["load", path, "--verify", "crc32c", "--json"]);
    assert_eq!(wrong.status.code(), Some(5), "{wrong:?}");
    let text = support::texts(&wrong).0;
    ordered(&text);
    assert!(text.starts_with("{\n  \"jobs\": ["), "{text}");
    assert_eq!((&json(&wrong)["exit_code"], json(&wrong)["run"].is_null()), (&5.into(), true));
}

#[test]
fn the_capabilities_of_the_host_are_reported() {
    let document = json(&plateau(&["self", "--json"]));
    assert!(document["data_bytes_per_second"].as_f64() > Some(0.0), "{document}");
    assert_eq!(document["null"].as_array().map(Vec::len), Some(3));
}

#[test]
fn reads_of_a_sparse_file_cause_a_warning() {
    let bench = Bench::new("");
    let path = bench.dir.path().join("sparse");
    std::fs::File::create(&path).unwrap().set_len(32 << 20).unwrap();
    let load = |path: &Path| {
        let path = path.to_str().expect("a path");
        let output = plateau(&["load", path, "--rw", "randread", "--io_size", "1M"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let warning = "reads of holes do not reach the device";
    let err = load(&path);
    assert!(err.contains(warning) && err.contains("sparse has holes"), "{err}");
    assert!(!load(&bench.data()).contains(warning), "a written file");
}
