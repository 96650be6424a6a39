//! `plateau plan`: what a run would cost, held against what it did cost, and never touching the target.

mod support;

use record::{Event, Segment};
use support::Bench;

fn segments(bench: &Bench) -> Vec<Segment> {
    let journal = bench.journal().unwrap();
    let answers = journal.entries.into_iter().filter_map(|entry| match entry.event {
        Event::Preconditioned(segment) | Event::Measured(segment) => Some(segment),
        _ => None,
    });
    answers.collect()
}

/// What is planned for so many rounds.
fn planned(plan: &serde_json::Value, figure: &str, rounds: u64) -> f64 {
    let of = |which: &str| plan[which][figure].as_f64().unwrap();
    let (low, high) = (of("shortest"), of("longest"));
    low + (high - low) * (rounds as f64 - 5.0) / 20.0
}

#[test]
fn a_plan_and_its_run_agree() {
    for (test, profile) in [("iops", "pts-e-1.0"), ("tp-128", "pts-e-1.0"), ("lat", "pts-e-2.0")] {
        let bench = Bench::new();
        let args = [test, "sim:sas-slc-2011", "--scale", "1/64", "--profile", profile];
        let plan = bench.json(&[&["plan"], &args[..]].concat());
        assert!(bench.runs().is_empty(), "a plan is no run");
        let document = bench.json(&[&["run"], &args[..]].concat());
        let rounds = document["tests"][0]["rounds"].as_u64().unwrap();
        let segments = segments(&bench);
        let took_ns: u64 = segments.iter().map(|s| s.end_ns - s.start_ns).sum();
        let ratio = took_ns as f64 / planned(&plan, "duration_ns", rounds);
        assert!((0.9..1.1).contains(&ratio), "{test}: took {ratio} of the planned time");
        let steps = segments.len() as f64 + 1.0;
        assert!((steps - planned(&plan, "steps", rounds)).abs() < 1e-6, "{test}: {steps} steps");
        let exact = plan["shortest"]["precondition_bytes"].as_u64().unwrap();
        assert_eq!(segments[0].write.bytes, exact, "{test}");
    }
}

#[test]
fn a_plan_names_what_is_lost_and_changes_nothing() {
    let bench = Bench::beside_the_build();
    let path = bench.path("disk.bin");
    let content: Vec<u8> = (0..16u32 << 20).map(|i| (i >> 8) as u8).collect();
    std::fs::write(&path, &content).unwrap();
    let target = path.to_str().unwrap();
    let args = ["plan", "tp,lat", target, "--profile", "pts-c-1.0", "--cell-seconds", "5", "--qd", "4"];
    let text = bench.ok(&args);
    assert!(text.contains("--erase 'disk.bin'"), "{text}");
    assert!(text.contains("cell time 5 s instead of") && text.contains("500 MB/s"), "{text}");
    let document = bench.json(&args);
    assert_eq!(document["erase"], "disk.bin");
    assert_eq!(document["tests"].as_array().unwrap().len(), 2);
    assert_eq!(document["settings"]["queue_depth"], 4);
    let slower = bench.json(&[&args[..], &["--assume-write", "250MB/s"]].concat());
    let bytes =
        |plan: &serde_json::Value| plan["tests"][0]["shortest"]["estimated_cell_bytes"].as_f64().unwrap();
    assert!((bytes(&document) / bytes(&slower) - 2.0).abs() < 1e-6);
    assert_eq!(std::fs::read(&path).unwrap(), content, "nothing was written");

    let absent = bench.path("absent.bin");
    bench.ok(&["plan", "iops", absent.to_str().unwrap(), "--size", "64MiB"]);
    assert!(!absent.exists(), "nothing was made");
}

#[test]
fn a_wrong_plan_is_refused_as_a_wrong_run_is() {
    let bench = Bench::new();
    for (args, hint) in [
        (["plan", "iops", "sim:sas-slc-2011", "--tc", "0"], "1 to 256"),
        (["plan", "iops", "sim:sas-slc-2011", "--assume-write", "fast"], "--assume-write"),
        (["plan", "iops", "sim:sas-slc-2011", "--assume-write", "10B/s"], "at least 1MB/s"),
    ] {
        let message = bench.fails(2, &args);
        assert!(message.contains(hint), "{args:?}: {message}");
    }
}
