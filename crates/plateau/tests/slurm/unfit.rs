//! Drives and hosts that are not fit for a test, and the page that shows why.

use serde_json::Value;

use super::cluster::wait;
use super::lab_server::Server;
use super::{Lab, is_queued_as};

/// Plans that end within seconds.
const SHORT: &str = "[[plans]]\nname = \"iops\"\ntests = \"iops\"\noptions = [\"--scale\", \"1/256\", \"--profile\", \
                     \"pts-e-1.0\"]\n";

/// Submits a campaign with one job on one drive; returns the campaign's file.
fn submit(lab: &Lab, name: &str, drive: &str, limits: &str) -> String {
    let text = format!("name = \"{name}\"\n{limits}[[drives]]\nidentities = [\"{drive}\"]\n{SHORT}");
    let campaign = lab.write(&format!("{name}.toml"), &text);
    lab.ok(&["fleet", "submit", &campaign]);
    campaign
}

/// A drive with a lasting problem keeps its job held, and one that is hot makes its job wait. In both cases, the drive is not
/// touched, the reason is shown, and another drive of the same node is tested.
pub fn keep_unfit_drives_from_running(lab: &Lab) {
    // Simulated drives report no spare.
    let worn = submit(lab, "worn", "D1", "[limits]\nmin-spare = 10\n");
    let hot = submit(lab, "hot", "D2", "[limits]\nmax-temperature = -100\n");
    wait("the job on the worn drive to be held", || is_queued_as(lab, "worn-iops-D1-1", "JobHeld"));
    wait("the job on the hot drive to be requeued", || is_queued_as(lab, "hot-iops-D2-1", "BeginTime"));
    let status = lab.ok(&["fleet", "status", &worn]);
    assert!(
        status.contains("held       worn-iops-D1-1  sim:sas-slc-2011 is not fit for a test: available spare"),
        "{status}"
    );
    notify_a_person(lab);
    let log = std::fs::read_to_string(lab.cluster.path("logs/hot-iops-D2-1.log")).expect("a log");
    assert!(log.contains("is not fit for a test: temperature: ") && log.contains("try again later"), "{log}");
    assert!(lab.ok(&["fleet", "status", &hot]).contains("waiting    hot-iops-D2-1  for BeginTime"));
    for id in ["worn-iops-D1-1", "hot-iops-D2-1"] {
        assert!(lab.load(id).is_none(), "{id} was not started");
        lab.cluster.slurm("scancel", &["--name", id]);
    }
    // A campaign may do without the check, and then uses the same drive.
    let unchecked = submit(lab, "bold", "D1", "unchecked = true\n[limits]\nmin-spare = 10\n");
    lab.cluster.wait_for_all();
    assert!(lab.ok(&["fleet", "status", &unchecked]).contains("bold: 1 complete"));
}

/// A notice says which job is held and why, once, and nothing of a job that waits.
fn notify_a_person(lab: &Lab) {
    let file = |name: &str| lab.cluster.text(name);
    let campaigns: String = ["worn.toml", "hot.toml"]
        .map(|name| {
            let (campaign, inventory, logs) = (file(name), file("inventory.json"), file("logs"));
            format!("[[campaign]]\nfile = {campaign:?}\ninventory = {inventory:?}\nlogs = {logs:?}\n")
        })
        .concat();
    let notices = file("notices");
    let channel = format!("[[program]]\nname = \"file\"\nrun = [\"/bin/sh\", \"-c\", \"cat >>{notices}\"]\n");
    let config = lab.write("notify.toml", &(channel + &campaigns));
    for _ in 0..2 {
        lab.ok(&["notify", "--once", "--config", &config]);
    }
    let text = std::fs::read_to_string(&notices).expect("notices");
    let notice: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("one notice: {text}"));
    let is = |key: &str, value: &str| assert_eq!(notice[key], value, "{notice}");
    is("event", "needs-person");
    is("question", "held");
    assert_eq!((&notice["run"]["id"], &notice["run"]["drive"]), (&"worn-iops-D1-1".into(), &"D1".into()));
    let number: u64 = lab.number("worn-iops-D1-1").parse().expect("a number");
    assert_eq!(notice["job"], number);
    let reason = notice["reason"].as_str().expect("a reason");
    assert!(reason.contains("is not fit for a test: available spare"), "{reason}");
    assert!(
        notice["text"].as_str().expect("a text").contains(&format!("scontrol release {number}")),
        "{notice}"
    );
}

/// The prolog in docs/guide/fleet.md drains a node that fails the check, and Slurm holds the job.
pub fn drain_an_unfit_host(lab: &Lab) {
    let guide = include_str!("../../../../docs/guide/fleet.md");
    let (_, rest) = guide.split_once("#!/bin/sh\n").expect("a prolog in the guide");
    let (prolog, _) = rest.split_once("```").expect("the end of the prolog");
    let check = "/usr/bin/plateau fleet check";
    assert!(prolog.contains(check), "{prolog}");
    // Only one of the nodes, which are on the same host, is unfit.
    let instead = format!("{} fleet check sim:sas-slc-2011 --min-spare 10", env!("CARGO_BIN_EXE_plateau"));
    lab.cluster
        .set_prolog(&format!("[ \"$SLURMD_NODENAME\" = n2 ] || exit 0\n{}", prolog.replace(check, &instead)));
    let drained = submit(lab, "drained", "D3", "");
    wait("the job to be held", || is_queued_as(lab, "drained-iops-D3-1", "held"));
    let nodes = || lab.cluster.slurm("sinfo", &["-h", "-N", "-o", "%N %T %E"]);
    wait("the node to be drained", || nodes().contains("n2 drained"));
    let nodes = nodes();
    let of = |node: &str| nodes.lines().find(|line| line.starts_with(node)).expect("a node");
    assert!(of("n1").ends_with(" none"), "{nodes}");
    assert!(of("n2").contains("is not fit for a test: available spare"), "{nodes}");
    let status = lab.ok(&["fleet", "status", &drained]);
    assert!(status.contains("held       drained-iops-D3-1  launch failed requeued held"), "{status}");
    assert!(lab.load("drained-iops-D3-1").is_none(), "it was not started");
}

/// The page and its JSON show what `fleet status` shows, to a visitor who has signed in.
pub fn show_campaigns_on_a_page(lab: &Lab, complete: &str) {
    let (drained, missing) = (lab.cluster.text("drained.toml"), lab.cluster.text("missing.toml"));
    let inventory = lab.cluster.text("inventory.json");
    let logs = lab.cluster.text("logs");
    let mut options = vec!["--inventory", &inventory, "--logs", &logs];
    for campaign in [complete, &drained, &missing] {
        options.extend(["--campaign", campaign]);
    }
    let server = Server::configured(&lab.bench, &options, |command| {
        command.env("SLURM_CONF", lab.cluster.path("slurm.conf"));
    });
    let cookie = server.enter();
    let page = server.get("/fleet", &cookie).body;
    for part in [
        "8 complete",
        "n1:sim:sas-slc-2011",
        "href=\"/runs/q-iops-D1-1\"",
        "drained-iops-D3-1",
        "launch failed requeued held",
        "missing.toml",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let document: Value = serde_json::from_str(&server.get("/api/fleet", &cookie).body).expect("JSON");
    let of_status: Value =
        serde_json::from_str(&lab.ok(&["--json", "fleet", "status", complete])).expect("JSON");
    crate::schemas::assert_matches("fleet", &of_status);
    let pairs = |jobs: &Value| -> Vec<(Value, Value, Value)> {
        let jobs = jobs.as_array().expect("jobs");
        jobs.iter().map(|job| (job["run"].clone(), job["state"].clone(), job["detail"].clone())).collect()
    };
    assert_eq!(pairs(&document[0]["jobs"]), pairs(&of_status));
    assert_eq!(document[1]["jobs"][0]["state"], "held");
    assert!(document[2]["problem"].as_str().is_some_and(|why| why.contains("missing.toml")), "{document}");
}
