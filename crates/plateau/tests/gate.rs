//! `plateau gate`: rules for runs, and verdicts in the formats that scripts and forges read.

mod support;

use support::Bench;

fn run_of(bench: &Bench, seed: &str, name: &str) {
    let args = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/256", "--seed", seed, "--name", name];
    bench.ok(&args);
}

fn rules(bench: &Bench, text: &str) -> String {
    let path = bench.path("rules.toml");
    std::fs::write(&path, text).expect("the rules");
    path.to_str().expect("a path").to_owned()
}

#[test]
fn a_run_passes_or_fails_and_every_format_says_so() {
    let bench = Bench::new();
    run_of(&bench, "1", "released");
    run_of(&bench, "2", "candidate");
    let met = "baseline = 'released'\nrequire = ['steady', 'complete', 'host-limited is none',\n\
               'iops.rnd4k.w > 100 IOPS', 'health.used < 100']\nfail-if = ['iops.rnd4k.w < -90%', 'iops.* < 0']\n";
    let file = rules(&bench, met);
    let document = bench.json(&["gate", "candidate", "--rules", &file]);
    assert_eq!(document["passed"], true, "{document:#}");
    let outcomes: Vec<_> =
        document["rules"].as_array().expect("rules").iter().map(|rule| rule["outcome"].as_str()).collect();
    assert_eq!(outcomes, [Some("passed"); 7]);
    let text = bench.ok(&["gate", "candidate", "--rules", &file]);
    assert!(text.ends_with("gate      passed: all 7 rules are met\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    // A named baseline takes precedence over a run with that name.
    let library = record::Library::at(bench.library());
    let run = library.find("candidate").expect("the run").file.id;
    let set = record::Change::BaselineSet { baseline: "released".into(), run: run.clone() };
    library.annotate::<record::LibraryJournalError>("test", |_| Ok(vec![set])).expect("a baseline");
    assert_eq!(bench.json(&["gate", "candidate", "--rules", &file])["baseline"], run.as_str());

    let file =
        rules(&bench, "require = [\n 'steady',\n 'conforms',\n 'iops.rnd4k.w > 1e9',\n 'accepted',\n]\n");
    let path = |name: &str| bench.path(name).to_str().expect("a path").to_owned();
    let (junit, markdown, badge, quality) = (path("g.xml"), path("g.md"), path("g.svg"), path("g.json"));
    let args = [
        "gate",
        "candidate",
        "--rules",
        &file,
        "--junit",
        &junit,
        "--markdown",
        &markdown,
        "--badge",
        &badge,
    ];
    let gitlab = format!("gitlab={quality}");
    let args = [&args[..], &["--annotations", &gitlab, "--annotations", "github"]].concat();
    let output = bench.run(&args);
    let (out, err) = support::texts(&output);
    assert_eq!(output.status.code(), Some(7), "{out}\n{err}");
    assert!(err.contains("3 of 4 rules are not met"), "{err}");
    assert!(out.contains("FAIL  require: iops.rnd4k.w > 1e9\n      IOPS RND 4KiB W: "), "{out}");
    assert!(
        out.contains(&format!("::error file={file},line=4,title=require%3A iops.rnd4k.w > 1e9::")),
        "{out}"
    );
    let written = |name: &str| support::text(&bench.path(name));
    assert!(
        written("g.xml").contains("tests=\"4\" failures=\"3\"") && written("g.md").contains("3 of 4 rules")
    );
    assert!(
        written("g.svg").contains(">failed</text>") && written("g.json").contains("\"severity\": \"major\"")
    );
}

#[test]
fn a_wrong_file_and_a_missing_baseline_are_refused_before_anything_is_written() {
    let bench = Bench::new();
    run_of(&bench, "1", "only");
    let file = rules(&bench, "require = ['stedy', 'iops.rnd4kk.w > 5']\nfail-if = ['iops.* < -5%']\n");
    let badge = bench.path("badge.svg");
    let args = ["gate", "only", "--rules", &file, "--badge", badge.to_str().expect("a path")];
    let message = bench.fails(2, &args);
    for (line, problem) in [
        ("1:12", "unknown condition 'stedy'; did you mean 'steady'?"),
        ("1:21", "no figure 'iops.rnd4kk.w'; did you mean 'iops.rnd4k.w'?"),
        ("2:12", "this rule needs a baseline; add `baseline = \"RUN\"` to the file"),
    ] {
        assert!(message.contains(&format!("{file}:{line}: {problem}")), "{message}");
    }
    assert!(!badge.exists(), "a badge without a verdict");
    let file = rules(&bench, "require = ['steady']\n");
    bench.fails(6, &["gate", "other", "--rules", &file]);
    bench.fails(6, &["gate", "only", "--rules", &file, "--baseline", "other"]);
    bench.fails(2, &["gate", "only", "--rules", "/no/such/file"]);
}
