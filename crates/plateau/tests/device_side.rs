//! The device side of simulated drives: health, purge methods and power losses.

mod support;

use record::Event;
use support::{Bench, finished};

const LAT: [&str; 7] = ["run", "lat", "sim:sas-slc-2011", "--scale", "1/512", "--max-rounds", "5"];

#[test]
fn info_describes_a_simulated_drive() {
    let bench = Bench::new();
    let shown = bench.ok(&["info", "sim:nvme-tlc-2018", "--scale", "1/64"]);
    for part in [
        "serial     none (seed 1)",
        "firmware   model version ",
        "health     32 °C, 0 % used",
        "purge      nvme-format-user            used by default",
        "purge      nvme-sanitize-block         if requested",
        "scale                      1/64",
        "dies                       16",
        "write buffer outlives power no",
        "injected faults            none",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    let document = bench.json(&["info", "sim:sas-slc-2011"]);
    assert_eq!(document["facts"]["write_buffer_outlives_power"], true);
    assert_eq!(document["health"]["host_written_bytes"], 0);
    let methods = document["purge_methods"].as_array().expect("methods");
    assert!(methods.iter().any(|method| method["name"] == "discard" && method["pts_purge"] == false));
}

#[test]
fn a_purge_of_a_simulated_drive_is_a_rehearsal() {
    let bench = Bench::new();
    let output =
        bench.ok(&["purge", "sim:sas-slc-2011", "--scale", "1/64", "--method", "scsi-sanitize-block"]);
    for part in [
        "SCSI Sanitize, block erase (simulated)",
        "of simulated time at scale 1/64",
        "rehearsal only",
        "0 after",
    ] {
        assert!(output.contains(part), "{part} in\n{output}");
    }
    let document = bench.json(&["purge", "sim:sata-mlc-2011"]);
    assert_eq!(
        (&document["method"], &document["pts_purge"]),
        (&"Security Erase (simulated)".into(), &true.into())
    );
    assert!(document["seconds"].as_f64().unwrap() >= 60.0, "{document}");
    let err = bench.fails(4, &["purge", "sim:sata-mlc-2011", "--method", "nvme-format-user"]);
    assert!(err.contains("supports ata-security-erase"), "{err}");
    bench.fails(2, &["purge", "sim:sata-mlc-2011", "--method", "magnet"]);
    bench.fails(2, &["purge", "sim:sata-mlc-2011", "--verify-purge"]);
}

#[test]
fn a_run_uses_the_named_purge_method_or_does_not_begin() {
    let bench = Bench::new();
    for method in ["ata-sanitize-block", "magnet"] {
        let args = [&LAT[..], &["--purge-method", method]].concat();
        bench.fails(if method == "magnet" { 2 } else { 4 }, &args);
    }
    assert!(bench.runs().is_empty(), "no run was started");
    let document = bench.json(&[&LAT[..], &["--purge-method", "scsi-sanitize-block"]].concat());
    assert!(!document["modified"].to_string().contains("purge"), "{}", document["modified"]);
    let journal = bench.journal().unwrap();
    let purged = journal.entries.iter().find_map(|entry| match &entry.event {
        Event::Purged(purged) => Some(purged),
        _ => None,
    });
    let purged = purged.expect("a purge");
    assert!(purged.pts_purge && purged.evidence[0].to_string().contains("superblocks erased"), "{purged:?}");
    assert!(purged.end_ns > purged.start_ns);

    let bench = Bench::new();
    let document = bench.json(&[&LAT[..], &["--purge-method", "discard"]].concat());
    assert!(
        document["modified"].to_string().contains("discard (not a PTS purge)"),
        "{}",
        document["modified"]
    );
}

/// Completed steps are compared with the journal; after a different purge, the drive would return different
/// results.
#[test]
fn a_killed_campaign_continues_after_its_own_purges() {
    let bench = Bench::new();
    let args =
        ["run", "tp-128,lat,tp-1024", "sim:sas-slc-2011", "--scale", "1/512", "--purge-method", "discard"];
    let mut child = bench.start(&args);
    bench.wait_for("the second purge and some more", |journal| {
        let purges = journal.entries.iter().filter(|entry| matches!(entry.event, Event::Purged(_)));
        purges.count() >= 2 && finished(journal) >= 12
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let document = bench.json(&["resume", &id]);
    assert_eq!(
        (&document["state"], document["tests"].as_array().map(Vec::len)),
        (&"complete".into(), Some(3))
    );
    let journal = bench.journal().unwrap();
    let methods = journal.entries.iter().filter_map(|entry| match &entry.event {
        Event::Purged(purged) => Some(purged.method.as_str()),
        _ => None,
    });
    assert!(methods.eq(["discard (not a PTS purge) (simulated)"; 3]));
}

/// Two power losses and one kill. Each resumption repeats the whole run and compares it with the journal.
#[test]
fn a_drive_continues_in_its_state_after_the_power_loss() {
    let bench = Bench::new();
    let args = ["run", "lat", "sim:nvme-tlc-2018", "--scale", "1/1024", "--max-rounds", "5"];
    let faults = ["--sim-fault", "power:after=60min", "--sim-fault", "power:after=90min"];
    let err = bench.fails(5, &[&args[..], &faults].concat());
    assert!(err.contains("lost power") && err.contains("plateau resume"), "{err}");
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let of = |kind: fn(&Event) -> bool| {
        bench.journal().unwrap().entries.iter().filter(|entry| kind(&entry.event)).count()
    };
    let losses = || of(|event| matches!(event, Event::Cut(cut) if cut.errors[0].kind == "EIO"));
    assert_eq!(losses(), 1);
    let cells = finished(&bench.journal().unwrap());
    let mut child = bench.start(&["resume", &id]);
    bench.wait_for("another cell", |journal| finished(journal) > cells);
    child.kill().unwrap();
    child.wait().unwrap();
    // If the process was killed late, the second power loss has already happened.
    if losses() == 1 {
        assert!(bench.fails(5, &["resume", &id]).contains("lost power"));
    }
    assert_eq!(losses(), 2);
    let document = bench.json(&["resume", &id]);
    assert_eq!((&document["state"], losses()), (&"complete".into(), 2));
    assert!(document["modified"].to_string().contains("injected fault power:after=90min"), "{document}");
    let shown = bench.ok(&["show", &id]);
    assert!(shown.contains("2 unsafe shutdowns"), "{shown}");
}
