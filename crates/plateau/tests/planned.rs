//! `plateau plan`: planned cost compared with actual cost, without touching the target.

mod support;

use record::Event;
use serde_json::Value;
use support::Bench;

/// A 256 GB drive at about 500 MB/s, used at scale 1/512.
const DRIVE: &str = concat!("sim:", env!("CARGO_MANIFEST_DIR"), "/tests/models/sata-256.toml");
const DIVISOR: u64 = 512;

/// A test's cost: time on the drive's clock without the purge, bytes written, steps and rounds.
#[derive(Default)]
struct Taken {
    ns: u64,
    written_bytes: u64,
    precondition_bytes: u64,
    steps: u64,
    rounds: u64,
}

fn taken(bench: &Bench, test: &str) -> Taken {
    let mut taken = Taken::default();
    let mut inside = false;
    for entry in bench.journal().unwrap().entries {
        let (segment, is_amount) = match entry.event {
            Event::TestStarted { test: name } => {
                inside = name == test;
                continue;
            }
            Event::Noted(record::Note::RoundStarted { .. }) if inside => {
                taken.rounds += 1;
                continue;
            }
            Event::Idled { length_ns } if inside => {
                taken.ns += length_ns / DIVISOR;
                taken.steps += 1;
                continue;
            }
            Event::Purged(_) if inside => {
                taken.steps += 1;
                continue;
            }
            Event::Preconditioned(segment) if inside => {
                let is_amount = matches!(segment.workload.until, record::Until::AmountBytes(_));
                (segment, is_amount)
            }
            Event::Measured(segment) if inside => (segment, false),
            _ => continue,
        };
        taken.ns += segment.end_ns - segment.start_ns;
        taken.steps += 1;
        taken.written_bytes += segment.write.bytes;
        taken.precondition_bytes += if is_amount { segment.write.bytes } else { 0 };
    }
    taken
}

/// Returns the planned amount for this number of rounds.
fn planned(test: &Value, figures: &[&str], rounds: u64) -> f64 {
    let of = |which: &str, figure: &str| test[which][figure].as_f64().unwrap();
    let sum = |which: &str| figures.iter().map(|figure| of(which, figure)).sum::<f64>();
    let (least, most) = (of("shortest", "rounds"), of("longest", "rounds"));
    let share = if most > least { (rounds as f64 - least) / (most - least) } else { 0.0 };
    sum("shortest") + (sum("longest") - sum("shortest")) * share
}

/// Plans `tests`, runs them, and compares each test's time and bytes with its plan.
fn agree(tests: &str, profile: &str) {
    let bench = Bench::new();
    let scale = format!("1/{DIVISOR}");
    let args = [tests, DRIVE, "--scale", &scale, "--profile", profile];
    let plan = bench.json(&[&["plan", "--no-rehearsal"], &args[..]].concat());
    assert!(bench.runs().is_empty(), "a plan is not a run");
    assert!(plan["source"].as_str().unwrap().contains("probe of the model"), "{}", plan["source"]);
    let ran = bench.json(&[&["run"], &args[..]].concat());
    for (test, spent) in plan["tests"].as_array().unwrap().iter().zip(ran["spent"].as_array().unwrap()) {
        let name = test["test"].as_str().unwrap();
        let taken = taken(&bench, name);
        assert_eq!(spent["test"], name);
        assert_eq!(
            spent["shortest"]["duration_ns"], test["shortest"]["duration_ns"],
            "{name}: the estimate recorded in the run"
        );
        assert_eq!(spent["taken"]["duration_ns"], taken.ns, "{name}: the cost recorded in the run");
        assert_eq!(spent["taken"]["written_bytes"], taken.written_bytes, "{name}");
        let ratio = |real: u64, figures: &[&str]| planned(test, figures, taken.rounds) / real as f64;
        let time = ratio(taken.ns, &["duration_ns"]);
        let bytes = ratio(taken.written_bytes, &["precondition_bytes", "estimated_cell_bytes"]);
        eprintln!("{profile} {name}: {} rounds, time {time:.3}, bytes {bytes:.3}", taken.rounds);
        for (what, ratio) in [("time", time), ("bytes", bytes)] {
            assert!((0.9..=1.1).contains(&ratio), "{profile} {name}: planned {ratio} of the {what}");
        }
        let steps = planned(test, &["steps"], taken.rounds);
        // WSAT ends after a number of bytes, so its number of steps varies by a few minutes. The other tests
        // listed have two kinds of rounds.
        let exact = !["wsat", "cbw", "ecw", "dirth"].contains(&name);
        let allowed = if exact { 1e-6 } else { 0.1 * steps };
        assert!((taken.steps as f64 - steps).abs() <= allowed, "{name}: {} of {steps} steps", taken.steps);
        assert_eq!(taken.precondition_bytes, test["shortest"]["precondition_bytes"], "{name}");
    }
}

#[test]
fn plans_of_the_newest_profile_and_their_runs_agree() {
    agree("iops,tp,lat,wsat,hir,xsr,cbw,dirth", "pts-e-2.0");
}

#[test]
fn plans_of_older_profiles_and_their_runs_agree() {
    agree("wsat,lat,ecw", "pts-e-1.1");
    agree("iops,tp,lat,wsat", "pts-c-1.0");
}

/// PTS-E requires the volatile write cache to be off, which makes small writes of many drives several times slower.
#[test]
fn plans_and_rehearsals_set_the_write_cache_as_runs_do() {
    let bench = Bench::new();
    let plan = |options: &[&str]| {
        let args =
            ["run", "--dry-run", "hir", "sim:nvme-tlc-2018", "--scale", "1/1024", "--profile", "pts-e-2.0"];
        bench.json(&[&args[..], options].concat())
    };
    let [on, off, required] = [&["--write-cache", "on"][..], &["--write-cache", "off"], &[]].map(plan);
    let planned = |plan: &Value| plan["assumed"]["random_4k_write_iops"].as_f64().expect("IOPS");
    let rehearsed = |plan: &Value| plan["rehearsal"]["tests"][0]["duration_ns"].as_f64().expect("a time");
    assert!(planned(&on) > 1.5 * planned(&off), "{} and {}", planned(&on), planned(&off));
    assert!(rehearsed(&off) > 1.5 * rehearsed(&on), "{} and {}", rehearsed(&on), rehearsed(&off));
    assert_eq!((planned(&required), rehearsed(&required)), (planned(&off), rehearsed(&off)));
}

#[test]
fn a_plan_names_what_is_lost_and_changes_nothing() {
    let bench = Bench::on_build_disk();
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
    let interface = document["source"].as_str().unwrap();
    assert!(interface.contains("typical for any drive"), "{interface}");
    let slower = bench.json(&[&args[..], &["--assume-write", "250MB/s"]].concat());
    let bytes =
        |plan: &serde_json::Value| plan["tests"][0]["shortest"]["estimated_cell_bytes"].as_f64().unwrap();
    assert!((bytes(&document) / bytes(&slower) - 2.0).abs() < 1e-6);
    assert_eq!(std::fs::read(&path).unwrap(), content, "nothing was written");

    let absent = bench.path("absent.bin");
    bench.ok(&["plan", "iops", absent.to_str().unwrap(), "--size", "64MiB"]);
    assert!(!absent.exists(), "nothing was created");
}

#[test]
fn a_wrong_plan_is_refused_as_a_wrong_run_is() {
    let bench = Bench::new();
    for (args, hint) in [
        (["plan", "iops", "sim:sas-slc-2011", "--tc", "0"], "1 to 256"),
        (["plan", "iops", "sim:sas-slc-2011", "--assume-write", "fast"], "--assume-write"),
        (["plan", "iops", "sim:sas-slc-2011", "--assume-write", "10B/s"], "at least 1MB/s"),
        (["plan", "iops", "sim:sas-slc-2011", "--assume-read", "1B/s"], "--assume-read"),
        (["plan", "iops", "sim:sas-slc-2011", "--assume-random-write", "0"], "above 0"),
    ] {
        let message = bench.fails(2, &args);
        assert!(message.contains(hint), "{args:?}: {message}");
    }
}

#[test]
fn estimates_use_earlier_runs_of_the_same_target() {
    let bench = Bench::on_build_disk();
    let path = bench.path("disk.bin");
    let target = path.to_str().unwrap();
    let args = ["lat", target, "--size", "32MiB", "--profile", "pts-e-1.0", "--cell-seconds", "0.02"];
    let ran = bench.json(&[&["run"], &args[..], &["--max-rounds", "5"]].concat());
    let plan = bench.json(&[&["plan"], &args[..]].concat());
    let id = ran["run"].as_str().unwrap();
    assert_eq!(plan["source"], format!("as measured in {id}"));
    let (mut bytes, mut ns) = (0, 0);
    for entry in bench.journal().unwrap().entries {
        if let Event::Preconditioned(segment) = entry.event {
            bytes += segment.write.bytes;
            ns += segment.end_ns - segment.start_ns;
        }
    }
    let measured = bytes as f64 / ns as f64 * 1e9;
    let reckoned = plan["assumed"]["sequential_write_bytes_per_second"].as_f64().unwrap();
    assert!((reckoned / measured - 1.0).abs() < 1e-9, "{reckoned} instead of {measured}");
    let typed = bench.json(&[&["plan"], &args[..], &["--assume-write", "123MB/s"]].concat());
    assert_eq!(typed["assumed"]["sequential_write_bytes_per_second"], 123e6);
}

#[test]
fn a_rehearsal_shows_the_curve_and_lays_its_times_over_the_target() {
    let bench = Bench::new();
    let args = ["plan", "iops,wsat", "sim:sas-slc-2011", "--profile", "pts-e-1.0", "--cell-seconds", "30"];
    let document = bench.json(&args);
    let tests = document["rehearsal"]["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 2);
    let rounds = tests[0]["rounds"].as_u64().unwrap();
    assert_eq!(tests[0]["converged"], true);
    assert_eq!(tests[0]["curve"]["over"], "round");
    assert_eq!(tests[0]["curve"]["points"].as_array().unwrap().len() as u64, rounds);
    // 56 cells of 30 s per round, and two 100 GB fills at about 215 MB/s.
    let seconds = tests[0]["duration_ns"].as_f64().unwrap() / 1e9;
    let expected = rounds as f64 * 56.0 * 30.0 + 200e9 / 215e6;
    assert!((seconds / expected - 1.0).abs() < 0.1, "{seconds} s instead of {expected}");
    // The drive is faster when fresh out of the box than later.
    let curve = &tests[1]["curve"];
    let value = |index: usize| curve["points"][index][1].as_f64().unwrap();
    let last = curve["points"].as_array().unwrap().len() - 1;
    assert!(curve["over"] == "minute" && value(0) > 1.5 * value(last), "{} to {}", value(0), value(last));
    assert!(bench.runs().is_empty(), "a rehearsal is not a run");

    let text = bench.ok(&["plan", "lat", "sim:sas-slc-2011", "--scale", "1/16", "--profile", "pts-e-1.0"]);
    let line = text.lines().find(|line| line.starts_with("rehearsed on SIMULATED sas-slc-2011 v"));
    assert!(line.is_some_and(|line| line.contains(" 1/128 seed 1; times")), "{text}");
    assert!(text.contains("RND 4KiB W average latency, ms by round") && text.contains("|███"), "{text}");
    let message = bench.fails(2, &["plan", "iops", "sim:sas-slc-2011", "--rehearse", "nothing"]);
    assert!(message.contains("--rehearse"), "{message}");
}

#[test]
fn table_and_rehearsal_agree_at_every_scale() {
    let bench = Bench::new();
    for scale in ["1", "1/32", "1/64", "1/512"] {
        // The disk test needs no purge, so it would otherwise begin with the drive as the other tests leave it.
        for tests in ["lat,wsat", "hdd-iops"] {
            let document = bench.json(&["plan", tests, "sim:sas-slc-2011", "--scale", scale]);
            assert!(document["rehearsal"]["wall_seconds"].as_f64() > Some(0.0));
            let planned = document["tests"].as_array().expect("tests");
            let rehearsed = document["rehearsal"]["tests"].as_array().expect("tests");
            assert_eq!((planned.len(), rehearsed.len()), (tests.split(',').count(), planned.len()));
            for (planned, rehearsed) in planned.iter().zip(rehearsed) {
                agrees(planned, rehearsed, scale);
            }
        }
    }
}

/// Checks that the time and the bytes of a rehearsed test are near the range in the table.
fn agrees(planned: &Value, rehearsed: &Value, scale: &str) {
    assert_eq!(planned["test"], rehearsed["test"]);
    let test = &planned["test"];
    let at = |which: &str| planned[which]["duration_ns"].as_f64().expect("a time");
    let time = rehearsed["duration_ns"].as_f64().expect("a time");
    assert!(
        time > 0.8 * at("shortest") && time < 1.2 * at("longest"),
        "{test} at {scale}: {time} is not in {}..{}",
        at("shortest"),
        at("longest")
    );
    let bytes = |which: &str| {
        let of = |key: &str| planned[which][key].as_f64().expect("bytes");
        of("precondition_bytes") + of("estimated_cell_bytes")
    };
    let written = rehearsed["written_bytes"].as_f64().expect("bytes");
    assert!(
        written > 0.7 * bytes("shortest") && written < 1.3 * bytes("longest"),
        "{test} at {scale}: {written} is not in {}..{}",
        bytes("shortest"),
        bytes("longest")
    );
}

#[test]
fn a_file_is_rehearsed_on_a_model_and_its_endurance_is_what_was_typed() {
    let bench = Bench::on_build_disk();
    let file = bench.path("new.bin");
    let target = file.to_str().unwrap();
    let args = ["plan", "tp-128", target, "--size", "1GiB", "--rehearse", "sas-slc-2011", "--tbw", "10"];
    let document = bench.json(&args);
    assert_eq!(document["rehearsal"]["model"], "sas-slc-2011");
    let written = document["shortest"]["drive_fills"].as_f64().unwrap() * 1073741824.0;
    let percent = document["endurance"]["shortest_percent"].as_f64().unwrap();
    assert!((percent - written / 10e12 * 100.0).abs() < 1e-6, "{percent}");
    let text = bench.ok(&["plan", "tp-128", target, "--size", "1GiB"]);
    assert!(text.contains("endurance") && text.contains("with --tbw"), "{text}");
    assert!(bench.fails(2, &["plan", "iops", target, "--size", "1GiB", "--tbw", "0"]).contains("--tbw 0"));
    assert!(!file.exists(), "nothing was created");
}
