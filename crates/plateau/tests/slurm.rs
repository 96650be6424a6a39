//! `plateau fleet` with real Slurm: every run ends whole with one purge, whatever happens to its jobs, and no two jobs
//! work on a drive at the same time.

#[path = "slurm/cluster.rs"]
mod cluster;
mod support;

use std::collections::BTreeMap;

use cluster::{Cluster, bytes, wait};
use record::{Event, Library, Loaded};
use serde_json::{Value, json};
use support::loop_device::{attach, identity};
use support::{Bench, finished};

fn simulated(identity: &str) -> Value {
    json!({
        "path": "sim:sas-slc-2011", "kind": "simulated", "identity": identity, "model": "sas-slc-2011",
        "capacity_bytes": 1_000_000_000, "refusals": []
    })
}

fn purges(loaded: &Loaded) -> usize {
    loaded.entries.iter().filter(|entry| matches!(entry.event, Event::Purged(_))).count()
}

/// A bench whose commands find the cluster.
struct Lab {
    bench: Bench,
    cluster: Cluster,
}

impl Lab {
    fn plateau(&self, args: &[&str]) -> std::process::Output {
        let mut command = self.bench.command(args);
        command.env("SLURM_CONF", self.cluster.path("slurm.conf")).current_dir(self.cluster.dir.path());
        command.output().expect("plateau starts")
    }

    fn ok(&self, args: &[&str]) -> String {
        let output = self.plateau(args);
        let (out, err) = support::texts(&output);
        assert!(output.status.success(), "plateau {args:?}: {out}\n{err}");
        out
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.cluster.path(name), text).expect("written");
        self.cluster.text(name)
    }

    fn load(&self, id: &str) -> Option<Loaded> {
        Library::at(self.bench.library()).find(id).ok()?.load().ok()
    }

    fn finished(&self, id: &str) -> usize {
        self.load(id).map_or(0, |loaded| finished(&loaded))
    }
}

#[test]
fn every_run_of_a_campaign_ends_whole() {
    let Some(cluster) = Cluster::prepare() else { return };
    let bench = Bench::on_build_disk();
    let mut lab = Lab { bench, cluster };
    let bystander = lab.bench.path("bystander");
    std::fs::write(&bystander, vec![7; 1 << 20]).expect("written");
    let loops: Vec<_> = ["l1", "l2"].iter().filter_map(|name| attach(&lab.bench.path(name), &[])).collect();
    let real = |device: &support::loop_device::Loop| {
        let identity = identity(&lab.bench, &device.path);
        json!({
            "path": device.path, "kind": "loop", "identity": identity, "model": null,
            "capacity_bytes": support::loop_device::SIZE, "refusals": []
        })
    };
    let mut lists = [vec![simulated("D1"), simulated("D2")], vec![simulated("D3"), simulated("D4")]];
    for (device, list) in loops.iter().zip(&mut lists) {
        list.push(real(device));
    }
    let from: Vec<String> = lists
        .iter()
        .zip(["n1", "n2"])
        .map(|(list, host)| {
            format!("{host}={}", lab.write(&format!("{host}.json"), &json!(list).to_string()))
        })
        .collect();
    let (n1, n2) = (lab.cluster.node(1), lab.cluster.node(2));
    let dir = lab.cluster.dir.path().to_str().expect("text").to_owned();
    lab.ok(&[
        "fleet",
        "inventory",
        "--from",
        &from[0],
        "--from",
        &from[1],
        "--node",
        &n1,
        "--node",
        &n2,
        "--dir",
        &dir,
    ]);
    lab.cluster.start();

    let campaign = lab.write(
        "campaign.toml",
        "name = \"q\"\nrepetitions = 2\n[[drives]]\nmodel = \"sas\"\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n\
         options = [\"--scale\", \"1/64\", \"--profile\", \"pts-e-1.0\"]\n",
    );
    let submitted = lab.ok(&["fleet", "submit", &campaign]);
    assert_eq!(
        submitted.matches("\njob ").count() + usize::from(submitted.starts_with("job ")),
        8,
        "{submitted}"
    );
    assert!(lab.ok(&["fleet", "submit", &campaign]).contains("8 jobs are complete or in the queue"));
    let number = |lab: &Lab, id: &str| {
        lab.cluster
            .queue()
            .into_iter()
            .find(|(_, name, _)| name == id)
            .map(|(number, ..)| number)
            .expect("queued")
    };

    // The controller is killed as soon as a run has begun.
    wait("the first run", || lab.finished("q-iops-D1-1") >= 1);
    lab.cluster.kill_controller();
    // One job is requeued, one interrupted, and the plateau of one is killed.
    let (requeued, interrupted) = ("q-iops-D2-1", "q-iops-D3-1");
    wait("a run to requeue", || lab.finished(requeued) >= 3);
    lab.cluster.slurm("scontrol", &["requeue", &number(&lab, requeued)]);
    wait("a run to interrupt", || lab.finished(interrupted) >= 3);
    lab.cluster.slurm("scancel", &["-s", "INT", "-b", &number(&lab, interrupted)]);
    let status = lab.ok(&["fleet", "status", &campaign]);
    assert!(status.contains("D1  n1:sim:sas-slc-2011"), "{status}");

    // A serial number that no node has is refused.
    let unknown =
        std::fs::read_to_string(lab.cluster.path("inventory.json")).expect("readable").replace("D4", "D9");
    let unknown = lab.write("unknown.json", &unknown);
    let refused = lab.plateau(&["fleet", "submit", &campaign, "--inventory", &unknown]);
    assert_eq!(refused.status.code(), Some(6), "{}", support::texts(&refused).1);

    if let [one, other] = &loops[..] {
        let (one, other) = (identity(&lab.bench, &one.path), identity(&lab.bench, &other.path));
        let disks = lab.write(
            "disks.toml",
            &format!(
                "name = \"d\"\n[[drives]]\nidentities = [{one:?}, {other:?}]\n[[plans]]\nname = \"tp\"\n\
                 tests = \"tp-1024\"\noptions = [\"--cell-seconds\", \"1\", \"--max-rounds\", \"5\"]\n"
            ),
        );
        let error = lab.plateau(&["fleet", "submit", &disks]);
        assert_eq!(error.status.code(), Some(3), "{}", support::texts(&error).1);
        lab.ok(&["fleet", "submit", &disks, "--erase", &one, "--erase", &other]);
    }
    lab.cluster.wait_for_all();

    let (runs, unreadable) = Library::at(lab.bench.library()).list().expect("a library");
    assert!(unreadable.is_empty(), "{unreadable:?}");
    assert_eq!(runs.len(), 8 + if loops.len() == 2 { 2 } else { 0 });
    let mut spans: BTreeMap<String, Vec<(jiff::Timestamp, jiff::Timestamp)>> = BTreeMap::new();
    for run in &runs {
        let id = &run.file.id;
        let loaded = run.load().expect("intact");
        assert!(loaded.entries.iter().any(|entry| matches!(entry.event, Event::Closed)), "{id} is complete");
        assert_eq!(purges(&loaded), 1, "{id}");
        lab.ok(&["verify", id]);
        let (first, last) =
            (loaded.entries.first().expect("a record"), loaded.entries.last().expect("a record"));
        let drive = id.rsplit_once('-').expect("a repetition").0;
        spans.entry(drive.to_owned()).or_default().push((first.wall, last.wall));
    }
    for (drive, mut spans) in spans {
        spans.sort();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{drive}: two jobs at once");
    }
    for id in [requeued, interrupted] {
        let loaded = lab.load(id).expect("a run");
        let resumed =
            loaded.entries.iter().filter(|entry| matches!(entry.event, Event::Resumed { .. })).count();
        assert!(resumed >= 1, "{id} was continued");
    }
    assert_eq!(bytes(&bystander), vec![7; 1 << 20]);
    assert!(lab.ok(&["fleet", "status", &campaign]).contains("q: 8 complete"));
}
