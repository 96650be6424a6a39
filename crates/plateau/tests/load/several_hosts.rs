//! `--start-at` and `--merge`: processes that stand in for hosts, each with its own result.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::{Bench, json, plateau};

/// A skew limit that even a busy machine does not exceed.
const WIDE: &str = "1h";

/// A time in seconds from now, as `--start-at` expects it.
fn time(seconds: i64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    let arguments = ["-u", "+%Y-%m-%dT%H:%M:%SZ", "-d", &format!("@{}", now.saturating_add_signed(seconds))];
    let output = Command::new("date").args(arguments).output().expect("date");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

fn begin(bench: &Bench, result: &str, more: &[&str]) -> (Child, PathBuf) {
    let path = bench.dir.path().join(result);
    let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
    command.arg("load").arg(bench.data()).args(["--rw", "randread", "--iodepth", "4", "--json"]).args(more);
    command.stdout(std::fs::File::create(&path).expect("a file")).stderr(Stdio::null());
    (command.spawn().expect("plateau starts"), path)
}

fn merge(limit: &str, results: &[&PathBuf]) -> Output {
    let results: Vec<&str> = results.iter().map(|path| path.to_str().expect("a path")).collect();
    plateau(&[&["--json", "load", "--skew-limit", limit, "--merge"], &results[..]].concat())
}

#[test]
fn results_of_loads_that_start_at_the_same_time_are_merged() {
    let bench = Bench::new("");
    let start = time(3);
    let begun = ["a.json", "b.json", "c.json"]
        .map(|name| begin(&bench, name, &["--io_size", "4M", "--start-at", &start]));
    let paths = begun.map(|(mut child, path)| {
        assert!(child.wait().expect("an end").success());
        path
    });
    for path in &paths {
        let result: Value = serde_json::from_slice(&std::fs::read(path).expect("a result")).expect("JSON");
        let (requested, actual) = (&result["start"]["requested"], &result["start"]["actual"]);
        assert_eq!(requested, &start, "{result}");
        assert!(actual.as_str() >= requested.as_str().map(|time| time.trim_end_matches('Z')), "{result}");
        assert_eq!(actual, &result["jobs"][0]["began"]);
    }
    let output = merge(WIDE, &paths.each_ref());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    let job = &document["jobs"][0];
    assert_eq!((&job["read"]["total_ios"], &job["read"]["lat_ns"]["N"]), (&3072.into(), &3072.into()));
    let shares: Vec<f64> =
        job["hosts"].as_array().into_iter().flatten().filter_map(|h| h["share"].as_f64()).collect();
    assert_eq!(shares, [1.0 / 3.0; 3], "{document}");
    assert_eq!(job["skew_ns"], job["skew_at_most_ns"], "one clock: {document}");
    assert!(job["slowest"]["file"].as_str().is_some_and(|file| file.ends_with(".json")));
    let text = plateau(&[
        "load",
        "--skew-limit",
        WIDE,
        "--merge",
        paths[0].to_str().expect("a path"),
        paths[1].to_str().expect("a path"),
    ]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("2 results") && text.contains("slowest"), "{text}");
}

#[test]
fn a_sweep_of_queue_depths_is_merged_depth_by_depth() {
    let sweep = "[global]\nfilename=DATA\nrw=randread\nbs=4k\nio_size=2m\n[qd1]\niodepth=1\nstonewall\n\
                 [qd8]\niodepth=8\nstonewall\n";
    let bench = Bench::new(sweep);
    let start = time(8);
    let begun = ["a.json", "b.json"].map(|name| {
        let path = bench.dir.path().join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_plateau"));
        command.args(["--json", "load", &bench.job(), "--start-at", &start]);
        command.stdout(std::fs::File::create(&path).expect("a file")).stderr(Stdio::null());
        (command.spawn().expect("plateau starts"), path)
    });
    let paths = begun.map(|(mut child, path)| {
        assert!(child.wait().expect("an end").success());
        path
    });
    let output = merge(WIDE, &paths.each_ref());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document = json(&output);
    let jobs: Vec<_> = document["jobs"].as_array().into_iter().flatten().collect();
    let names: Vec<_> = jobs.iter().map(|job| &job["jobname"]).collect();
    assert_eq!(names, ["qd1", "qd8"]);
    for job in jobs {
        assert_eq!(job["read"]["lat_ns"]["N"], 1024, "{job}");
        assert!(job["skew_ns"].is_i64() && job["slowest"]["file"].is_string(), "{job}");
        assert_eq!(job["hosts"].as_array().map(Vec::len), Some(2), "{job}");
    }
}

#[test]
fn a_host_that_died_or_began_late_makes_the_result_invalid() {
    let bench = Bench::new("");
    let (mut first, a) = begin(&bench, "a.json", &["--io_size", "4M"]);
    assert!(first.wait().expect("an end").success());
    // The second load begins after the end of the first, which lasts longer than the limit.
    let (mut second, b) = begin(&bench, "b.json", &["--io_size", "4M"]);
    assert!(second.wait().expect("an end").success());
    let output = merge("1us", &[&a, &b]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let problem = json(&output)["problems"][0]["problem"].to_string();
    assert!(problem.contains("later on") && problem.contains("--skew-limit"), "{problem}");

    let (mut killed, c) = begin(&bench, "c.json", &["--runtime", "600", "--time_based"]);
    let (mut stopped, d) = begin(&bench, "d.json", &["--start-at", &time(3600)]);
    killed.kill().expect("killed");
    killed.wait().expect("an end");
    let status = loop {
        // Until a handler is installed, the signal would end the process at once, without a result.
        std::thread::sleep(Duration::from_millis(500));
        let kill = Command::new("kill").args(["-INT", &stopped.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        if let Some(status) = stopped.try_wait().expect("a status") {
            break status;
        }
    };
    let output = plateau(&["load", "--hosts", "3", "--merge", "a.json", "b.json"]);
    assert_eq!(output.status.code(), Some(7), "a host without a result: {output:?}");
    let output = merge(WIDE, &[&a, &b, &c, &d]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let document = json(&output);
    let problems: Vec<&str> =
        document["problems"].as_array().into_iter().flatten().filter_map(|p| p["file"].as_str()).collect();
    assert_eq!(problems, [&c, &d].map(|path| path.to_str().expect("a path")), "{status}: {document}");
    assert!(document["jobs"].is_null(), "{document}");
}

#[test]
fn a_start_that_is_late_measures_nothing() {
    let bench = Bench::new("");
    let path = bench.data();
    let path = path.to_str().expect("a path");
    let start_at = |time: &str| {
        plateau(&["load", path, "--rw", "randread", "--runtime", "1", "--start-at", time, "--json"])
    };
    let output = start_at(&time(-60));
    assert_eq!((output.status.code(), &json(&output)["exit_code"]), (Some(75), &75.into()), "{output:?}");
    for wrong in [&time(2 * 86_400), "soon", "12:00"] {
        assert_eq!(start_at(wrong).status.code(), Some(2), "{wrong}");
    }
    let simulated = plateau(&["load", "sim:sas-slc-2011", "--scale", "1/64", "--start-at", &time(60)]);
    assert_eq!(simulated.status.code(), Some(2), "{simulated:?}");
    for arguments in [
        &["load", "--merge", "a.json"][..],
        &["load", "--merge", "a.json", "b.json", "--bs", "4k"],
        &["load", "--merge", "a.json", "b.json", "--erase", "x"],
        &["load", "--merge", "a.json", "b.json", "--seed", "7"],
        &["load", "--hosts", "2", path],
        &["load", "--skew-limit", "1s", path],
    ] {
        assert_eq!(plateau(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
