//! `plateau trace`, `capture` and `replay`: from a workload to a drive test.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{Bench, is_root, loop_device, text};

const CSV: &str =
    "419,W,0,4096,1000\n419,R,8192,8192,3000\n419,X,0,512,4000\n7,R,0,512,5000\n419,W,4096,4096,6000\n";

#[test]
fn an_imported_trace_names_bad_lines_and_other_volumes() {
    let bench = Bench::new();
    let (csv, trace) = (bench.path("io.csv"), bench.path("io.trace"));
    std::fs::write(&csv, CSV).expect("a file");
    let [csv, trace] = [&csv, &trace].map(|path| path.to_str().expect("a path"));
    let output = bench.run(&["trace", "import", csv, "-o", trace]);
    let (out, err) = super::support::texts(&output);
    assert!(output.status.success(), "{err}");
    assert!(out.contains("3 I/Os in 5 ms") && out.contains("volume 419 (alibaba)"), "{out}");
    assert!(err.contains("line 3: unknown operation: 419,X,0,512,4000"), "{err}");
    assert!(err.contains("skipped 1 I/O on other volumes, 1 of them on volume"), "{err}");
    let document = bench.json(&["trace", "show", trace]);
    assert_eq!((&document["ios"], &document["written_bytes"]), (&3.into(), &8192.into()));
    // Order of streams with the same number of I/Os: reads first, and random before sequential writes.
    let streams = document["streams"].as_array().expect("streams").iter();
    let streams: Vec<_> = streams.map(|stream| (stream["name"].as_str(), stream["ios"].as_u64())).collect();
    let once = ["RND 8KiB R", "RND 4KiB W", "SEQ 4KiB W"].map(|name| (Some(name), Some(1)));
    assert_eq!(streams, once);
    // Without completions, it is unknown when the volume was idle.
    assert!(document["idle_ns"].is_null(), "{document}");
    assert!(!bench.ok(&["trace", "show", trace]).contains("Idle"));
}

#[test]
fn invalid_traces_are_refused_with_the_next_step() {
    let bench = Bench::new();
    let file = bench.path("file");
    std::fs::write(&file, "hello\n").expect("a file");
    let file = file.to_str().expect("a path");
    let error = bench.fails(2, &["trace", "show", file]);
    assert!(error.contains("plateau trace import"), "{error}");
    let output = bench.path("out");
    let error = bench.fails(2, &["trace", "import", file, "-o", output.to_str().expect("a path")]);
    assert!(error.contains("--format"), "{error}");
    assert!(!output.exists());
}

#[test]
fn a_trace_becomes_a_plan_that_is_accepted_and_run() {
    let bench = Bench::new();
    let (trace, plan, page) = (bench.path("s.trace"), bench.path("s.toml"), bench.path("s.html"));
    let [trace, plan, page] = [&trace, &plan, &page].map(|path| path.to_str().expect("a path").to_owned());
    bench.ok(&["trace", "sample", "-o", &trace]);
    bench.ok(&["trace", "show", &trace, "--html", &page]);
    let html = text(page.as_ref());
    assert!(html.contains("IO Stream Composition") && html.contains("<svg"));
    bench.ok(&["trace", "plan", &trace, "-o", &plan]);
    bench.ok(&["plan", "--check", &plan]);
    let model = "sim:sas-slc-2011";
    let run =
        ["run", "multi-wsat", "--plan", &plan, model, "--scale", "1/512", "--cell-seconds", "0.5", "-q"];
    bench.ok(&run);
    let file = text(&bench.runs()[0].join("run.json"));
    let run: serde_json::Value = serde_json::from_str(&file).expect("a run file");
    let tests = run["plan"]["custom_tests"].as_array().expect("custom tests");
    let composite = tests.iter().find(|test| test["name"] == "multi-wsat").expect("the composite");
    let streams = composite["streams"].as_array().expect("streams");
    let sum: u64 = streams.iter().filter_map(|stream| stream["share_percent"].as_u64()).sum();
    assert!(streams.len() > 2 && sum == 100, "{streams:?}");
    bench.ok(&["verify", "latest"]);
}

#[test]
fn the_steps_of_a_trace_are_replayed_beside_the_original() {
    let bench = Bench::new();
    let (trace, plan) = (bench.path("s.trace"), bench.path("s.toml"));
    let [trace, plan] = [&trace, &plan].map(|path| path.to_str().expect("a path").to_owned());
    bench.ok(&["trace", "sample", "-o", &trace]);
    let steps = bench.json(&["trace", "plan", &trace, "-o", &plan, "--steps", "7"]);
    assert_eq!(steps["steps"], 7, "{steps}");
    let run = ["run", "replay-native", "--plan", &plan, "sim:sas-slc-2011", "--scale", "1/512", "-q"];
    bench.ok(&run);
    bench.ok(&["verify", "latest"]);
    let report = bench.path("report.html");
    bench.ok(&["report", "latest", report.to_str().expect("a path")]);
    let html = text(&report);
    for title in
        ["Replay and Original", "IOPS v Step", "Outstanding I/Os v Step", "Steps 1 to 7 - Tabular Data"]
    {
        assert!(html.contains(title), "{title}");
    }
    assert!(html.contains("Original") && html.contains("its text is not public"));
}

#[test]
fn a_replay_on_a_simulated_drive_takes_as_long_as_the_trace() {
    let bench = Bench::new();
    let trace = bench.path("s.trace");
    let trace = trace.to_str().expect("a path");
    bench.ok(&["trace", "sample", "-o", trace]);
    let replay = |more: &[&str]| {
        bench.json(&[&["replay", trace, "sim:sas-slc-2011", "--scale", "1/16"], more].concat())
    };
    let original = bench.json(&["trace", "show", trace]);
    let document = replay(&[]);
    let ios = document["read_ios"].as_u64().unwrap_or(0) + document["write_ios"].as_u64().unwrap_or(0);
    assert_eq!(Some(ios), original["ios"].as_u64());
    let ratio = document["ratio"].as_f64().expect("an open loop");
    assert!((0.99..1.01).contains(&ratio), "{ratio}");
    let faster = replay(&["--speed", "2"]);
    assert_eq!(faster["planned_ns"].as_u64(), document["planned_ns"].as_u64().map(|ns| ns / 2));
    let closed = replay(&["--closed", "4"]);
    assert_eq!((&closed["loop"], &closed["ratio"]), (&"closed".into(), &serde_json::Value::Null));
    let text = bench.ok(&["replay", trace, "sim:sas-slc-2011", "--scale", "1/16", "--closed", "4"]);
    assert!(text.contains("CLOSED LOOP"), "{text}");
}

/// A flush and a trim, which are not replayed, follow the reads long after the last one.
#[test]
fn a_replay_is_compared_with_the_ios_that_it_replays() {
    let bench = Bench::new();
    let (log, trace) = (bench.path("io.log"), bench.path("io.trace"));
    let reads: String =
        (0..100).map(|index| format!("{} /dev/x read {} 4096\n", index * 10_000, index * 4096)).collect();
    let lines = format!(
        "fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n{reads}5000000 /dev/x sync 0 0\n6000000 /dev/x trim 0 65536\n"
    );
    std::fs::write(&log, lines).expect("a file");
    let [log, trace] = [&log, &trace].map(|path| path.to_str().expect("a path"));
    bench.ok(&["trace", "import", log, "-o", trace]);
    let document = bench.json(&["replay", trace, "sim:sas-slc-2011", "--scale", "1/16"]);
    assert_eq!((&document["read_ios"], &document["left_out"]), (&100.into(), &2.into()), "{document}");
    assert_eq!(
        (&document["planned_ns"], &document["last_start_ns"]),
        (&990_000_000.into(), &990_000_000.into())
    );
    assert_eq!(document["ratio"], 1.0, "{document}");
}

#[test]
fn a_replay_that_writes_needs_the_identity_and_enough_room() {
    let bench = Bench::new();
    let (trace, target) = (bench.path("s.trace"), bench.path("target"));
    let [trace, target] = [&trace, &target].map(|path| path.to_str().expect("a path").to_owned());
    bench.ok(&["trace", "sample", "-o", &trace]);
    // The smallest target; the traced volume is larger.
    std::fs::write(&target, vec![7; 16 << 20]).expect("a file");
    let error = bench.fails(2, &["replay", &trace, &target]);
    assert!(error.contains("--offsets"), "{error}");
    bench.fails(3, &["replay", &trace, &target, "--offsets", "wrap"]);
    assert!(std::fs::read(&target).expect("the file").iter().all(|byte| *byte == 7));
}

#[test]
fn a_capture_contains_the_ios_of_its_device() {
    if !is_root() {
        return skips::skip!("a capture needs root");
    }
    let bench = Bench::new();
    let image = bench.path("image");
    let Some(device) = loop_device::attach(&image, &[]) else { return };
    let trace = bench.path("c.trace");
    let trace = trace.to_str().expect("a path");
    // Partitions and files are refused before anything is traced.
    let error = bench.fails(4, &["capture", image.to_str().expect("a path"), "--for", "1s", "-o", trace]);
    assert!(error.contains("not a block device"), "{error}");
    // If udev is running, it reads from new devices.
    let _ = Command::new("udevadm").arg("settle").output();
    let mut capture = bench.start(&["capture", &device.path, "--for", "10min", "-o", trace, "--json"]);
    let Some(instances) = tracefs(&bench) else {
        capture.kill().expect("a child");
        capture.wait().expect("a child");
        return skips::skip!("tracefs cannot be mounted");
    };
    let instance = instances.join(format!("plateau-{}", capture.id()));
    let unmount = Unmount(instances);
    while !records(&instance) {
        if capture.try_wait().expect("a child").is_some() {
            let (_, error) = super::support::texts(&capture.wait_with_output().expect("a child"));
            assert!(error.contains("this kernel cannot trace block devices"), "{error}");
            return skips::skip!("{error}");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let input = format!("if={}", device.path);
    let dd =
        Command::new("dd").args([&input, "of=/dev/null", "bs=4096", "count=200", "iflag=direct"]).output();
    assert!(dd.expect("dd runs").status.success());
    let stopped = Command::new("kill").args(["-INT", &capture.id().to_string()]).status();
    assert!(stopped.expect("kill runs").success());
    let output = capture.wait_with_output().expect("a child");
    assert!(output.status.success(), "{output:?}");
    crate::schemas::assert_matches("capture", &serde_json::from_slice(&output.stdout).expect("one document"));
    assert!(!instance.exists(), "the instance remains");
    drop(unmount);
    let document = bench.json(&["trace", "show", trace]);
    assert_eq!((&document["ios"], &document["completed"]), (&200.into(), &200.into()), "{document}");
    assert_eq!((&document["read_bytes"], &document["lost_events"]), (&(200 * 4096).into(), &0.into()));
    assert_eq!(document["streams"][0]["name"], "SEQ 4KiB R");
}

/// Returns whether an instance records both events. A new instance is switched on before any event is enabled,
/// and off while it is being set up. Whether it is on is therefore meaningful only once the last event has been
/// enabled.
fn records(instance: &Path) -> bool {
    let is_on =
        |file: &str| std::fs::read_to_string(instance.join(file)).is_ok_and(|text| text.trim() == "1");
    is_on("events/block/block_rq_issue/enable") && is_on("tracing_on")
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let mounted = self.0.parent().expect("the root of tracefs");
        let _ = Command::new("umount").arg(mounted).status();
    }
}

/// Mounts tracefs in the test's folder and returns its `instances` folder.
fn tracefs(bench: &Bench) -> Option<PathBuf> {
    let folder = bench.path("tracing");
    std::fs::create_dir(&folder).expect("a folder");
    let mounted = Command::new("mount").args(["-t", "tracefs", "none"]).arg(&folder).status();
    mounted.is_ok_and(|status| status.success()).then(|| folder.join("instances"))
}
