//! `plateau compare`: two runs in the library side by side.

mod support;

use support::Bench;

fn run_of(bench: &Bench, model: &str) -> String {
    let args = ["run", "tp-128", &format!("sim:{model}"), "--scale", "1/64", "--profile", "pts-e-1.0"];
    bench.json(&args)["run"].as_str().expect("an id").to_owned()
}

#[test]
fn two_runs_are_compared_and_a_regression_ends_with_7() {
    let bench = Bench::new();
    let (slc, mlc) = (run_of(&bench, "sas-slc-2011"), run_of(&bench, "sata-mlc-2011"));
    let page = bench.library().join("compared.html");
    let page_name = page.to_str().expect("a path");
    let text = bench.ok(&["compare", &slc, &mlc, "--html", page_name]);
    assert!(text.contains("Throughput SEQ 128KiB R") && text.contains("B vs. A"), "{text}");
    assert!(text.contains("\n  interface differs\n    A: "), "{text}");
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("Selected performance") && html.contains(&mlc), "no page");
    assert!(html.contains(&format!("<a href=\"{slc}/report.html\">{slc}</a>")), "no link to the report");

    let document = bench.json(&["compare", &mlc, "--against", &slc]);
    assert_eq!(document["runs"][0]["run"], slc.as_str());
    let figure = &document["figures"][0];
    assert!(figure["runs"][1]["difference"]["percent"].is_number(), "{figure}");

    let condition = ["--fail-if", "tp.seq128k.r > -99%", "--fail-if", "tp.seq128k.w < -99%"];
    let args = [&["compare", &mlc, "--against", &slc], &condition[..]].concat();
    let message = bench.fails(7, &args);
    assert!(message.contains("tp.seq128k.r") && !message.contains("tp.seq128k.w"), "{message}");
    let text = bench.ok(&["compare", &slc, &mlc, "--fail-if", "tp.seq128k.w < -99.9%"]);
    assert!(text.ends_with("no --fail-if condition is met: tp.seq128k.w < -99.9%\n"), "{text}");
}

#[test]
fn drives_whose_best_depths_differ_are_compared_at_each_depth() {
    let bench = Bench::new();
    let run = |model: &str| {
        let target = format!("sim:{model}");
        let args = ["run", "qd-rand-write", &target, "--preset", "anandtech-qd-random", "--scale", "1/512"];
        bench.json(&args)["run"].as_str().expect("an id").to_owned()
    };
    let (slc, mlc) = (run("sas-slc-2011"), run("sata-mlc-2011"));
    let document = bench.json(&["compare", &slc, &mlc]);
    let figures = document["figures"].as_array().expect("figures");
    let keys: Vec<&str> = figures.iter().filter_map(|figure| figure["key"].as_str()).collect();
    for depth in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] {
        let key = format!("qd-rand-write.rnd-4kib-w.oio{depth}");
        assert!(keys.contains(&key.as_str()), "{key} in {keys:?}");
    }
    let page = bench.library().join("depths.html");
    bench.ok(&["compare", &slc, &mlc, "--html", page.to_str().expect("a path")]);
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("Comparing Random write by queue depth - RND 4KiB W by outstanding I/Os"));
}

#[test]
fn drives_whose_knees_differ_are_compared() {
    let bench = Bench::new();
    let run = |model: &str| {
        let target = format!("sim:{model}");
        let args = ["run", "map", &target, "--scale", "1/1024", "--profile", "pts-e-2.0"];
        let id = bench.json(&args)["run"].as_str().expect("an id").to_owned();
        let file = bench.library().join(format!("{id}.json"));
        bench.ok(&["report", &id, "--json-file", file.to_str().expect("a path")]);
        bench.json(&["import", file.to_str().expect("a path")])["run"].as_str().expect("an id").to_owned()
    };
    // Imported runs have the keys of their originals.
    let runs = [run("sas-slc-2011"), run("sata-mlc-2011")];
    let document = bench.json(&["compare", &runs[0], &runs[1]]);
    let figures = document["figures"].as_array().expect("figures");
    let keys: Vec<&str> = figures.iter().filter_map(|figure| figure["key"].as_str()).collect();
    assert!(keys.contains(&"map.rnd-4kib-w-knee"), "{keys:?}");
}

#[test]
fn incomparable_runs_are_refused() {
    let bench = Bench::new();
    let run = run_of(&bench, "sas-slc-2011");
    assert!(bench.fails(2, &["compare", &run]).contains("at least 2 runs"));
    let unknown = bench.fails(2, &["compare", &run, &run, "--fail-if", "iops.rnd4k.w < -5%"]);
    assert!(unknown.contains("tp.seq128k.w"), "{unknown}");
    assert!(bench.fails(2, &["compare", &run, &run, "--fail-if", "less"]).contains("is not a condition"));
    bench.fails(6, &["compare", &run, "no-such-run"]);
}
