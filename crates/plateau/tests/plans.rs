//! Plans and presets on the command line: listed, checked, run on simulated drives, resumed and verified.

mod support;

use std::process::Command;

use serde_json::Value;
use support::{Bench, finished, text, texts};

/// A drive small enough to run every preset.
const DRIVE: [&str; 3] = ["sim:sas-slc-2011", "--scale", "1/512"];

const MISTAKEN: &str = "\
tests = [\"iops\", \"mail\"]
profil = \"pts-e-2.0\"

[settings]
tc = 0

[test.mail]
rw = \"randrw\"
rwmixread = [70, 130]
bs = \"4KiB\"
";

#[test]
fn presets_are_listed_with_a_line_each() {
    let bench = Bench::new();
    let listed = bench.ok(&["plan", "--list"]);
    assert_eq!(listed.lines().count(), plans::PRESETS.len());
    for preset in plans::PRESETS {
        assert!(listed.lines().any(|line| line.split_whitespace().next() == Some(preset.name)), "{listed}");
    }
    assert_eq!(bench.json(&["plan", "--list"]).as_array().unwrap().len(), plans::PRESETS.len());
}

#[test]
fn a_mistaken_plan_is_explained_word_by_word_by_every_command() {
    let bench = Bench::new();
    let path = bench.path("mine.toml");
    std::fs::write(&path, MISTAKEN).unwrap();
    let file = path.to_str().unwrap();
    let expected = format!(
        "plateau: {file}:2:1: profil: unknown key; did you mean 'profile'?\n\x20 {file}:5:6: settings.tc: 0 \
         is out of range: a load needs at least one thread, and each thread costs CPU time; use 1 to 256 \
         (nearest: 1)\n\x20 {file}:9:18: test.mail.rwmixread: 130 is out of range: a percentage of reads; \
         use 0 to 100 (nearest: 100)\n"
    );
    assert_eq!(bench.fails(2, &["plan", "--check", file]), expected);
    assert_eq!(bench.fails(2, &["plan", "--plan", file, "sim:sas-slc-2011"]), expected);
    assert_eq!(bench.fails(2, &["run", "--plan", file, "sim:sas-slc-2011"]), expected);
    assert!(bench.runs().is_empty(), "no run was started");
    let output = bench.run(&["plan", "--check", file, "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = &document["errors"][0];
    assert_eq!((first["line"].as_u64(), first["key"].as_str()), (Some(2), Some("profil")));
    assert_eq!(document["errors"].as_array().unwrap().len(), 3);
}

#[test]
fn a_missing_plan_a_missing_target_and_an_unknown_preset_are_named() {
    let bench = Bench::new();
    for (args, hint) in [
        (&["run", "--plan", "/nowhere.toml", "x"][..], "cannot read the plan /nowhere.toml"),
        (&["run", "--preset", "quick"], "quick needs a target"),
        (&["run", "--preset", "quik", "x"], "a similar value exists: 'quick'"),
        (&["run", "iops"], "iops needs a target"),
        (&["run", "nothing", "x", "--preset", "quick"], "no test or preset 'nothing'"),
        (&["plan", "--check", "a.toml", "--list"], "cannot be used with"),
    ] {
        let message = bench.fails(2, args);
        assert!(message.contains(hint), "{args:?}: {message}");
    }
}

#[test]
fn the_command_line_overrides_the_settings_of_a_plan() {
    let bench = Bench::new();
    let path = bench.path("mine.toml");
    let plan = "profile = \"pts-c-1.0\"\ntests = [\"tp\", \"a\"]\n[settings]\ntc = 3\ncell-seconds = 5\nscale = \"1/512\"\n\
                [test.a]\nrw = \"randread\"\nbs = \"4KiB\"\n";
    std::fs::write(&path, plan).unwrap();
    let planned = bench.json(&["plan", "--plan", path.to_str().unwrap(), "sim:sas-slc-2011", "--tc", "2"]);
    assert_eq!(planned["profile"], "pts-c-1.0");
    assert_eq!(planned["settings"]["threads"], 2);
    assert_eq!(planned["settings"]["cell_ns"], 5_000_000_000u64);
    assert_eq!(planned["target"]["simulated"]["scale_divisor"], 512);
    let tests: Vec<&str> =
        planned["tests"].as_array().unwrap().iter().map(|t| t["test"].as_str().unwrap()).collect();
    assert_eq!(tests, ["tp-1024", "a"]);
}

/// Runs a preset to completion, verifies it and writes its report.
fn complete(name: &str, options: &[&str]) -> (Bench, Value) {
    let bench = Bench::new();
    let ran = bench.json(&[&["run", "--preset", name], &DRIVE[..], options].concat());
    assert_eq!(ran["state"], "complete", "{name}");
    let preset = plans::Preset::named(name).unwrap().plan();
    let tests: Vec<&str> =
        ran["tests"].as_array().unwrap().iter().map(|t| t["test"].as_str().unwrap()).collect();
    assert_eq!(tests, preset.tests, "{name}");
    for test in ran["tests"].as_array().unwrap() {
        let values = test["key_figures"].as_array().unwrap();
        let sensible = |figure: &Value| figure["value"].as_f64().is_none_or(|value| value > 0.0);
        assert!(!values.is_empty() && values.iter().all(sensible), "{name}: {test}");
    }
    let modified = ran["modified"].to_string();
    assert!(modified.contains("not PTS: "), "{name}: {modified}");
    let verified = bench.json(&["verify", ran["run"].as_str().unwrap()]);
    assert_eq!(verified["same"], true, "{name}: {verified}");
    every_page_says_it(&text(ran["report"].as_str().unwrap().as_ref()), &preset.title);
    (bench, ran)
}

fn every_page_says_it(report: &str, name: &str) {
    let sheets: Vec<&str> = report.split("<section class=\"sheet").skip(1).collect();
    assert!(sheets.len() > 2, "{name}");
    for sheet in sheets {
        assert!(sheet.contains("not PTS"), "{name}: a page does not say that it is not the PTS");
    }
}

#[test]
fn quick_is_a_first_look() {
    let (_, ran) = complete("quick", &[]);
    assert_eq!(ran["verdict"], "complete");
    let sequential = &ran["tests"][0]["key_figures"];
    let value = |index: usize| sequential[index]["value"].as_f64().unwrap();
    assert!(value(0) > value(1), "reads are faster than writes: {sequential}");
}

/// PTS-E requires the write cache to be off; the preset leaves it on, and the report says so.
#[test]
fn a_preset_that_leaves_the_write_cache_alone_discloses_its_state() {
    let bench = Bench::new();
    let run = ["run", "quick", "sim:nvme-tlc-2018", "--scale", "1/1024", "--cell-seconds", "6"];
    let (kept, set) = (bench.json(&run), bench.json(&[&run[..], &["--write-cache", "profile"]].concat()));
    for (ran, is, verdict) in [(kept, "enabled (WCE)", "modified"), (set, "disabled (WCD)", "conforms")] {
        let modified = ran["modified"].to_string();
        assert_eq!(
            modified.contains("write cache WCE (WCD in the profile)"),
            verdict == "modified",
            "{modified}"
        );
        let path = bench.path("report.json");
        let file = path.to_str().unwrap();
        bench.ok(&["report", ran["run"].as_str().unwrap(), "--json-file", file]);
        let report: Value = serde_json::from_str(&text(&path)).unwrap();
        for statement in report["conformance"].as_array().unwrap() {
            let mut clauses = statement["clauses"].as_array().unwrap().iter();
            let clause = clauses.find(|clause| clause["clause"] == "Write cache").unwrap();
            assert_eq!((&clause["done"], &clause["verdict"]), (&is.into(), &verdict.into()));
        }
    }
}

#[test]
fn sweeps_over_queue_depth_grow_and_flatten() {
    let (_, ran) = complete("anandtech-qd", &[]);
    let table = &ran["tests"][0]["tables"][0];
    assert_eq!(table["columns"][0], "1 x 1");
    let values: Vec<f64> =
        table["rows"][0]["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(values.len(), 10);
    assert!(values[3] > values[0] && values[9] < 2.0 * values[6], "{values:?}");
    complete("anandtech-qd-random", &["--cell-seconds", "12"]);
    complete("anandtech-qd-mixed", &["--cell-seconds", "12"]);
}

#[test]
fn presets_that_follow_other_tools_complete() {
    complete("ezfio", &["--cell-seconds", "12"]);
    let (_, ran) = complete("tkperf", &["--cell-seconds", "12", "--max-rounds", "5"]);
    assert_eq!(ran["settings"]["threads"], 1);
}

#[test]
fn the_review_has_25_rounds_whatever_happens() {
    let (_, ran) = complete("tssdr", &["--cell-seconds", "0.5"]);
    assert!(ran["tests"].as_array().unwrap().iter().all(|test| test["rounds"] == 25));
    assert_eq!(ran["tests"][0]["tables"][0]["rows"].as_array().unwrap().len(), 8);
}

#[test]
fn the_map_proposes_a_demand() {
    let bench = Bench::new();
    let ran = bench.json(&[&["run", "map"], &DRIVE[..], &["--cell-seconds", "60"]].concat());
    let figures = ran["tests"][0]["key_figures"].to_string();
    assert!(figures.contains("RND 4KiB R knee at TC") && figures.contains(", proposed"), "{figures}");
    let shown = bench.ok(&["show", ran["run"].as_str().unwrap()]);
    assert!(shown.contains("note      proposed: TC") && shown.contains(", NOT A PTS TEST, TC"), "{shown}");
}

#[test]
fn a_custom_test_continues_where_it_was_interrupted() {
    let bench = Bench::new();
    let path = bench.path("mine.toml");
    let plan = "[publisher]\nsponsor = \"Somebody\"\nnotes = [\"as it came\"]\n[test.a]\ntitle = \"A\"\npurge = true\n\
                precondition = { capacities = 1 }\nrw = [\"randread\", \"randwrite\"]\nbs = [\"8KiB\", \"4KiB\"]\n\
                rounds = \"steady\"\ntrack = { rw = \"randwrite\", bs = \"4KiB\" }\n";
    std::fs::write(&path, plan).unwrap();
    let child =
        bench.start(&["run", "--plan", path.to_str().unwrap(), "sim:sas-slc-2011", "--scale", "1/16"]);
    bench.wait_for("a few cells", |journal| finished(journal) >= 6);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", texts(&output).1);
    // The run stores the parts of the plan that it needs.
    std::fs::remove_file(&path).unwrap();
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let ran = bench.json(&["resume", &id]);
    assert_eq!(ran["verdict"], "steady state");
    assert_eq!(ran["tests"][0]["test"], "a");
    let modified = ran["modified"].to_string();
    assert!(modified.contains("interrupted for") && modified.contains("A is not a PTS test"), "{modified}");
    assert_eq!(bench.json(&["verify", &id])["same"], true);
    let report = text(ran["report"].as_str().unwrap().as_ref());
    assert!(
        report.contains("Somebody") && report.contains("as it came") && report.contains("NOT A PTS TEST")
    );
}

#[test]
fn the_manual_names_every_key_as_the_code_has_it() {
    let manual = text("../../docs/reference/plans.md".as_ref());
    for key in plans::KEYS.iter() {
        let row = format!("| `{}` | {} |", key.name, key.about);
        assert!(manual.contains(&row), "docs/reference/plans.md lacks {row}");
    }
    for preset in plans::PRESETS {
        assert!(
            manual.contains(&format!("| `{}` |", preset.name)),
            "docs/reference/plans.md lacks {}",
            preset.name
        );
    }
    let example = manual.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let plan = plans::Plan::read("example.toml", example).unwrap();
    assert_eq!(plan.custom_test("mail").unwrap().cells.len(), 18);
}
