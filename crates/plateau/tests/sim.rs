//! Models of simulated drives: shown, written by the user, with injected faults, and fitted to a run.

mod support;

use support::{Bench, finished, text};

const RUN: [&str; 6] = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/256", "--max-rounds=5"];

#[test]
fn the_list_is_an_array_and_a_model_shows_how_well_it_fits() {
    let bench = Bench::new();
    let list = bench.json(&["sim", "list"]);
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"sata-mlc-hybrid-2011") && names.len() >= 8, "{names:?}");

    let listed = bench.ok(&["sim", "list"]);
    for (line, model) in listed.lines().zip(list.as_array().unwrap()) {
        assert!(line.contains(&format!(" version {} ", model["version"])), "{line}");
    }

    let shown = bench.ok(&["sim", "show", "sata-mlc-hybrid-2011"]);
    for part in [
        "target: median error",
        "met with",
        "hold-out:",
        "1/64",
        "within 30 %",
        "steady state, IOPS",
        "658",
        "known to differ",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    let shown = bench.json(&["sim", "show", "sata-mlc-hybrid-2011"]);
    assert_eq!(shown["calibration"]["scores"][0]["cells"], 56);
    for (table, key) in [("geometry", "channels"), ("timing", "read_us"), ("firmware", "write_buffer_bytes")]
    {
        assert!(shown[table][key].is_number(), "{table}.{key}: {shown}");
    }
    assert!(bench.ok(&["sim", "show", "nvme-qlc-2024"]).contains("Not calibrated"));
    for part in ["granules of 32KiB", "rated for 3,000 erases", "faults        none"] {
        assert!(bench.ok(&["sim", "show", "sata-mlc-hybrid-2011"]).contains(part), "{part}");
    }
}

/// Every published figure is shown with its error, however large.
#[test]
fn no_figure_is_hidden() {
    let bench = Bench::new();
    let mut worst: f64 = 0.0;
    for model in bench.json(&["sim", "list"]).as_array().unwrap() {
        let name = model["name"].as_str().unwrap();
        let shown = bench.ok(&["sim", "show", name]);
        let lines: Vec<&str> = shown.lines().map(str::trim).filter(|line| line.ends_with('%')).collect();
        let cells = lines.iter().filter(|line| line.starts_with("IOPS RND ")).count();
        let figures = model["calibration"]["figures"].as_array().unwrap();
        let fitted = !model["calibration"]["scores"].as_array().unwrap().is_empty();
        assert_eq!((cells, figures.is_empty()), if fitted { (56, false) } else { (0, true) }, "{name}");
        for figure in figures {
            let heading =
                format!("{}, {} ", figure["name"].as_str().unwrap(), figure["unit"].as_str().unwrap());
            let line = lines.iter().find(|line| line.starts_with(&heading));
            let line = line.unwrap_or_else(|| panic!("{name}: {heading} is missing in\n{shown}"));
            let off = line.split_whitespace().next_back().unwrap().trim_end_matches('%');
            let (measured, simulated) = (figure["measured"].as_f64(), figure["simulated"].as_f64());
            let expected = 100.0 * (simulated.unwrap() / measured.unwrap() - 1.0);
            assert!((off.parse::<f64>().unwrap() - expected).abs() < 0.51, "{name}: {line}");
            worst = worst.max(expected.abs());
        }
    }
    assert!(worst > 50.0, "large errors are shown as well");
}

#[test]
fn custom_models_start_from_a_built_in_one_and_errors_name_the_key() {
    let bench = Bench::new();
    let toml = bench.ok(&["sim", "show", "sas-slc-2011", "--toml"]);
    let file = bench.path("mine.toml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, &toml).unwrap();
    assert_eq!(bench.ok(&["sim", "show", path, "--toml"]), toml, "read and written again");
    for (from, to, message) in [
        ("read_us = ", "reed_us = ", "reed_us"),
        ("channels = 8", "channels = 0", "geometry.channels = 0 is not allowed: 1 to 256"),
        ("program_us = 320.0", "program_us = -1.0", "timing.program_us = -1"),
        ("program_us = 320.0\n", "", "in [timing]: missing field `program_us`"),
        ("class = \"enterprise\"", "class = \"toaster\"", "toaster"),
        ("version = ", "faults = [\"removal\"]\nversion = ", "after is missing"),
    ] {
        assert!(toml.contains(from), "{from} in\n{toml}");
        std::fs::write(&file, toml.replacen(from, to, 1)).unwrap();
        let err = bench.fails(4, &["sim", "show", path]);
        assert!(err.contains(message) && err.contains("mine.toml"), "{to}: {err}");
        let err = bench.fails(4, &["run", "iops", &format!("sim:{path}"), "--scale", "1/256"]);
        assert!(err.contains(message), "{to}: {err}");
    }
    assert!(bench.runs().is_empty());
}

#[test]
fn injected_faults_end_a_run_and_are_stated() {
    for (fault, shown_part, message) in [
        ("media:at=0%,length=100%,on=reads,retry=10ms", "media:at=0,length=", "ENODATA"),
        ("timeout:after=40min,commands=2,wait=5s", "timeout:after=40min,commands=2,wait=5s", "ETIMEDOUT"),
        ("removal:after=40min", "removal:after=40min", "ENODEV"),
    ] {
        let bench = Bench::new();
        let args = [&RUN[..], &["--sim-fault", fault]].concat();
        let err = bench.fails(5, &args);
        let hint = if fault.starts_with("media") { "cannot be completed" } else { "`plateau resume " };
        assert!(err.contains(message) && err.contains(hint), "{fault}: {err}");
        let journal = bench.journal().unwrap();
        assert!(finished(&journal) >= 2, "{fault}: purge and preconditioning are kept");
        let failed = journal.entries.iter().find_map(|entry| match &entry.event {
            record::Event::Cut(cut) => Some(cut.errors.clone()),
            _ => None,
        });
        let failed = failed.expect("the workload during which the drive failed");
        assert!(failed[0].kind == message && failed[0].count > 0, "{fault}: {failed:?}");
        let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
        let shown = bench.ok(&["show", &id]);
        let stated = format!("injected fault {shown_part}");
        assert!(shown.contains(&stated), "{shown}");
        let report = bench.json(&["report", &id]);
        let page = text(report["report"].as_str().unwrap().as_ref());
        assert!(page.contains(&stated));
        let clause = page.split("<th scope=\"row\">I/O errors</th>").nth(1).expect("a clause of annex A");
        let count: u64 = failed.iter().map(|error| error.count).sum();
        assert!(
            clause.split("</tr>").next().unwrap().contains(&format!(">{count}")),
            "{fault}: {clause:.300}"
        );
        if fault.starts_with("media") {
            assert!(bench.fails(5, &["resume", &id]).contains(message), "bad flash stays bad");
        } else {
            let resumed = bench.json(&["resume", &id]);
            assert_eq!(resumed["state"], "complete", "{fault} happens once");
        }
    }
}

#[test]
fn a_throttle_slows_its_time_and_faults_can_be_switched_off() {
    let bench = Bench::new();
    let load = |more: &[&str]| {
        let base = ["load", "sim:sas-slc-2011", "--scale", "1/256", "--rw", "randread", "--runtime", "20"];
        bench.json(&[&base[..], more].concat())["jobs"][0]["read"]["iops"].as_f64().unwrap()
    };
    let free = load(&[]);
    let throttled = load(&["--sim-fault", "throttle:after=0s,for=1h,rate=1MB/s"]);
    let fault = "throttle:after=0s,for=1h,rate=1MB/s";
    let args = [
        "load",
        "sim:sas-slc-2011",
        "--scale",
        "1/256",
        "--rw",
        "randread",
        "--runtime",
        "20",
        "--sim-fault",
        fault,
    ];
    let shown = bench.ok(&args);
    for part in ["SIMULATED sas-slc-2011 (model version 3, scale 1/256, seed 1)", "max n/a", fault] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    assert!((throttled - 244.0).abs() < 25.0 && free > 4.0 * throttled, "{throttled} instead of {free}");

    let mut toml = bench.ok(&["sim", "show", "sas-slc-2011", "--toml"]);
    toml.insert_str(0, "faults = [\"removal:after=0s\"]\n");
    let file = bench.path("broken.toml");
    std::fs::write(&file, toml).unwrap();
    let target = format!("sim:{}", file.display());
    let run = ["load", &target, "--scale", "1/256", "--rw", "randread", "--runtime", "20"];
    assert!(bench.fails(5, &run).contains("ENODEV"));
    bench.ok(&[&run[..], &["--no-sim-faults"]].concat());
    let err = bench.fails(2, &[&run[..], &["--sim-fault", "media:at=200%"]].concat());
    assert!(err.contains("at = 200%: write 0% to 100%"), "{err}");
}

#[test]
fn a_fit_writes_a_usable_model_and_reports_its_quality() {
    let bench = Bench::new();
    let run = bench.json(&RUN)["run"].as_str().unwrap().to_owned();
    let file = bench.path("fitted.toml");
    let path = file.to_str().unwrap();
    let fit = [
        "sim",
        "fit",
        &run,
        "--from",
        "sas-slc-fast-2011",
        "--steps",
        "6",
        "--scale",
        "1/256",
        "--output",
        path,
    ];
    let document = bench.json(&fit);
    let score = &document["score"];
    assert_eq!(score["cells"], 56);
    let (fitted, held_out) =
        (score["fitted_percent"].as_f64().unwrap(), score["held_out_percent"].as_f64().unwrap());
    assert!((document["held_out_ratio"].as_f64().unwrap() - held_out / fitted).abs() < 1e-9);
    assert!(bench.fails(2, &fit).contains("exists"), "a file is not overwritten");

    let kept = bench.path("kept.toml");
    let keep = |key| {
        let from = ["sim", "fit", &run, "--from", "sas-slc-fast-2011", "--steps", "3", "--scale", "1/256"];
        [&from[..], &["--keep", key, "--output", kept.to_str().unwrap()]].concat()
    };
    let err = bench.fails(2, &keep("geometry.channels"));
    assert!(err.contains("geometry.channels") && err.contains("timing.read_us"), "{err}");
    bench.ok(&keep("geometry.effective_op_percent"));
    let spare = |path: &str| {
        let toml = bench.ok(&["sim", "show", path, "--toml"]);
        toml.lines().find(|line| line.starts_with("effective_op_percent")).map(str::to_owned)
    };
    assert_eq!(spare(kept.to_str().unwrap()), spare("sas-slc-fast-2011"));

    let shown = bench.ok(&["sim", "show", path]);
    assert!(shown.contains(&run) && shown.contains("hold-out:"), "{shown}");
    bench.ok(&["load", &format!("sim:{path}"), "--scale", "1/256", "--rw", "randread", "--runtime", "1"]);

    // The model of a run's drive fits that run best.
    let itself = bench.path("itself.toml");
    let itself = bench.json(&[
        "sim",
        "fit",
        &run,
        "--steps",
        "0",
        "--scale",
        "1/256",
        "--output",
        itself.to_str().unwrap(),
    ]);
    assert_eq!(itself["from"], "sas-slc-2011");
    let off = itself["score"]["median_percent"].as_f64().unwrap();
    assert!(off < 5.0 && off < score["median_percent"].as_f64().unwrap(), "{off} %");
}

#[test]
fn a_fit_needs_a_run_with_an_iops_test() {
    let bench = Bench::new();
    let run = bench.json(&["run", "lat", "sim:sas-slc-2011", "--scale", "1/512", "--max-rounds", "5"]);
    let err = bench.fails(2, &["sim", "fit", run["run"].as_str().unwrap()]);
    assert!(err.contains("no IOPS test"), "{err}");
    bench.fails(6, &["sim", "fit", "nothing"]);
}
