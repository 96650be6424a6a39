//! `plateau copy`: copies are labelled, never resumed, and continued after an interruption.

mod support;

use support::{Bench, finished, hold};

/// The run lasts long enough to be stopped after its first cells.
const RUN: [&str; 7] = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/16", "--profile", "pts-e-1.0"];

#[test]
fn a_copied_run_is_a_copy_until_its_source_is_gone() {
    let bench = Bench::new();
    let mut child = bench.start(&RUN);
    bench.wait_for("a few cells", |journal| finished(journal) >= 4);
    // The run must not complete while it is being copied.
    let held = hold(child.id());
    let id = bench.runs()[0].file_name().expect("a name").to_str().expect("text").to_owned();
    let dest = bench.path("other");
    let dest_text = dest.to_str().expect("text");
    let error = bench.fails(6, &["copy", &id, dest_text]);
    assert!(error.contains("in progress") && error.contains("--in-progress"), "{error}");
    assert!(!dest.exists(), "nothing was copied");

    let document = bench.json(&["copy", &id, dest_text, "--in-progress"]);
    assert_eq!(document["copied"][0]["in_progress"], true);
    child.kill().expect("killed");
    drop(held);
    child.wait().expect("ended");

    let shown = bench.ok(&["show", &id, "--library", dest_text]);
    assert!(shown.contains("copy of") && shown.contains("was in progress"), "{shown}");
    let error = bench.fails(6, &["resume", &id, "--library", dest_text]);
    assert!(error.contains("copied.json"), "{error}");
    let elsewhere = bench.path("third");
    let error = bench.fails(6, &["copy", &id, elsewhere.to_str().expect("text"), "--library", dest_text]);
    assert!(error.contains("incomplete copy"), "{error}");

    bench.ok(&["resume", &id]);
    let output = bench.ok(&["copy", &id, dest_text]);
    assert!(output.contains("continued"), "{output}");
    assert!(bench.ok(&["copy", &id, dest_text]).contains("nothing new"));
    let journal =
        |library: &std::path::Path| std::fs::read(library.join(&id).join("journal")).expect("a journal");
    assert_eq!(journal(&bench.library()), journal(&dest));
    bench.ok(&["verify", &id, "--library", dest_text]);

    // A copy in a renamed directory is shown with a remark about its name.
    std::fs::rename(dest.join(&id), dest.join("renamed")).expect("renamed");
    let shown = bench.ok(&["show", "renamed", "--library", dest_text]);
    assert!(shown.contains("its directory has another name: renamed"), "{shown}");
    assert!(bench.fails(2, &["copy", &id, bench.library().to_str().expect("text")]).contains("already in"));
}

#[test]
fn all_runs_are_copied_at_once_or_refused() {
    let bench = Bench::new();
    let (dest, wrong) = (bench.path("all"), bench.path("wrong"));
    let (dest, wrong) = (dest.to_str().expect("text"), wrong.to_str().expect("text"));
    assert!(bench.fails(6, &["copy", "--all", dest]).contains("no runs in"));
    bench.ok(&["examples", "--install", "slc-a", "mlc-a"]);
    bench.fails(2, &["copy", dest]);
    bench.fails(2, &["copy", "--all", "example-slc-a", wrong]);
    let document = bench.json(&["copy", "--all", dest]);
    assert_eq!(document["copied"].as_array().map(Vec::len), Some(2), "{document}");
    let listed = bench.json(&["runs", "--library", dest]);
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(bench.ok(&["copy", dest, "--all"]).matches("nothing new").count(), 2);
    assert!(!std::path::Path::new(wrong).exists());

    // A run that cannot be copied is reported, and the others are copied.
    let partial = bench.path("partial");
    let partial = partial.to_str().expect("text");
    let damaged = bench.library().join("example-mlc-a/run.json");
    std::fs::write(&damaged, "damaged").expect("written");
    let output = bench.run(&["copy", "--all", partial, "--json"]);
    let (out, err) = support::texts(&output);
    assert_eq!(output.status.code(), Some(6), "{out}{err}");
    let document: serde_json::Value = serde_json::from_str(&out).expect("a document");
    assert_eq!(document["copied"][0]["run"], "example-slc-a", "{document}");
    assert!(
        document["failed"][0]["problem"].as_str().is_some_and(|why| why.contains("example-mlc-a")),
        "{document}"
    );
    let error = bench.fails(6, &["copy", "--all", partial]);
    assert!(error.contains("example-mlc-a") && error.contains("1 of 2 runs were not copied"), "{error}");
}
