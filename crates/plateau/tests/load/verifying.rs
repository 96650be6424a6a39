//! Verification across several runs of the same job.

use super::{Bench, SIZE, json, plateau};

const JOB: &str = "[stamped]\nfilename=DATA\nrw=write\nbs=64k\nverify=crc32c\n";

/// Writes all blocks and returns the number of the run.
fn written(bench: &Bench) -> String {
    let document = json(&bench.run(&["--erase=data", "--json"]));
    let verify = &document["jobs"][0]["verify"];
    assert_eq!((&verify["checked_blocks"], &verify["wrong_blocks"]), (&(SIZE / 65536).into(), &0.into()));
    verify["run"].as_str().expect("a run").to_owned()
}

/// The second run of a job must not write what the first one has written, or a drive that drops all writes of the
/// second run would pass.
#[test]
fn a_repeated_job_writes_different_stamps() {
    let bench = Bench::new(JOB);
    let first = written(&bench);
    let old = std::fs::read(bench.data()).expect("data");
    let second = written(&bench);
    assert_ne!(first, second);
    let new = std::fs::read(bench.data()).expect("data");
    let same = old.chunks(65536).zip(new.chunks(65536)).filter(|(old, new)| old == new).count();
    assert_eq!(same, 0);

    let data = bench.data();
    let read = ["load", data.to_str().expect("a path"), "--rw=read", "--bs=64k", "--verify=crc32c", "--json"];
    let checked = |run: &str| plateau(&[&read[..], &["--verify-run", run]].concat());
    assert_eq!(checked(&second).status.code(), Some(0));
    assert!(json(&checked(&second))["jobs"][0]["verify"]["run"].is_null());
    // The last 4 MiB of the second run were lost.
    let lost = (SIZE - (4 << 20)) as usize;
    std::fs::write(&data, [&new[..lost], &old[lost..]].concat()).expect("data");
    assert_eq!(plateau(&read).status.code(), Some(0), "any run is accepted");
    let output = checked(&second);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let verify = &json(&output)["jobs"][0]["verify"];
    assert_eq!((&verify["wrong_blocks"], &verify["kinds"]["lost"]), (&64.into(), &64.into()), "{verify}");
    assert_eq!(verify["places"][0]["offset_bytes"], lost, "{verify}");
}

#[test]
fn the_run_is_printed_and_only_accepted_where_it_has_an_effect() {
    let bench = Bench::new(JOB);
    let (text, _) = super::support::texts(&bench.run(&["--erase=data"]));
    let run = text.split("0 wrong; stamped by run ").nth(1).and_then(|rest| rest.get(..12)).expect("a run");
    let output = bench.run(&["--erase=data", "--verify-run", run]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let data = bench.data();
    let path = data.to_str().expect("a path");
    assert_eq!(plateau(&["load", path, "--verify=crc32c", "--verify-run=1"]).status.code(), Some(2));
}
