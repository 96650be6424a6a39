//! Failures of Slurm itself, and what it does to jobs: each run still ends whole, with one purge.

use std::collections::BTreeMap;
use std::path::Path;

use record::Event;

use super::cluster::wait;
use super::{Lab, is_queued_as, process_of};
use crate::support::hold;

/// The runs of the campaign, one for each drive.
const RUNS: [&str; 4] = ["f-iops-D1-1", "f-iops-D2-1", "f-iops-D3-1", "f-iops-D4-1"];
/// The runs on node n1, whose agent is killed.
const OF_N1: [&str; 2] = [RUNS[0], RUNS[1]];
const LIMITED: &str = RUNS[2];
const CANCELLED: &str = RUNS[3];

/// Number of runs.
pub const COUNT: usize = RUNS.len();

/// Submits a campaign and lets everything happen to its jobs that the guide says they survive.
pub fn survive(lab: &mut Lab) {
    let campaign = lab.write(
        "failures.toml",
        "name = \"f\"\n[[drives]]\nmodel = \"sas\"\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n\
         options = [\"--scale\", \"1/16\", \"--profile\", \"pts-e-1.0\"]\n",
    );
    let held_job = lab.cluster.wait_until_ends_are_saved();
    lab.ok(&["fleet", "submit", &campaign]);
    kill_the_controller_early(lab, &campaign);
    lab.cluster.slurm("scancel", &[&held_job]);
    // The processes are stopped, so that their runs do not end meanwhile. Each has completed a cell, so that it handles
    // signals: a job may have just been submitted again.
    let library = lab.bench.library();
    let begun: BTreeMap<&str, usize> = RUNS.iter().map(|id| (*id, lab.finished(id))).collect();
    let mut held = BTreeMap::new();
    wait("cells of every run", || {
        start_requeued(lab);
        for id in RUNS {
            if !held.contains_key(id) && lab.finished(id) > begun[id] && is_queued_as(lab, id, "RUNNING") {
                held.extend(process_of(&library, id).map(|process| (id, hold(process))));
            }
        }
        held.len() == RUNS.len()
    });
    lose_a_node(lab);
    reach_the_time_limit(lab);
    lab.cluster.slurm("scancel", &[&lab.number(CANCELLED)]);
    wait("the end of the cancelled job", || {
        !lab.cluster.queue().iter().any(|(_, name, _)| name == CANCELLED)
    });
    drop(held);
    // A job that was cancelled is missing, and is submitted again.
    let added = lab.ok(&["fleet", "submit", &campaign]);
    assert!(added.contains(CANCELLED), "{added}");
}

/// Starts requeued jobs at once; Slurm would wait two minutes.
fn start_requeued(lab: &Lab) {
    for (number, _, _) in lab.cluster.queue().iter().filter(|(_, _, state)| state.contains("BeginTime")) {
        lab.cluster.slurm("scontrol", &["update", &format!("JobId={number}"), "StartTime=now"]);
    }
}

/// Kills the controller one second after a job has started. It may forget jobs, whose processes it then ends; submitting the
/// campaign again adds them.
fn kill_the_controller_early(lab: &mut Lab, campaign: &str) {
    wait("a job", || RUNS.iter().any(|id| lab.load(id).is_some()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    // However long the controller takes to start again, no run completes meanwhile.
    let library = lab.bench.library();
    let held: Vec<_> = RUNS.iter().filter_map(|id| process_of(&library, id)).map(hold).collect();
    lab.cluster.kill_controller();
    lab.cluster.wait_for_agents();
    lab.ok(&["fleet", "submit", campaign]);
    drop(held);
    let is_known = |id: &str| {
        lab.cluster.queue().iter().any(|(_, name, _)| name == id)
            || lab.load(id).is_some_and(|loaded| super::is_closed(&loaded))
    };
    assert!(RUNS.iter().all(|id| is_known(id)), "{:?}", lab.cluster.queue());
}

/// Kills the agent of a node without its jobs, whose processes remain as orphans, takes the node down, which requeues the
/// jobs, and brings the node back.
fn lose_a_node(lab: &mut Lab) {
    let library = lab.bench.library();
    let orphans = OF_N1.map(|id| process_of(&library, id).expect("held"));
    lab.cluster.kill_agent("n1");
    assert!(orphans.iter().all(|orphan| Path::new(&format!("/proc/{orphan}")).exists()), "they are alive");
    lab.cluster.slurm("scontrol", &["update", "NodeName=n1", "State=DOWN", "Reason=test"]);
    wait("the requeued jobs", || OF_N1.iter().all(|id| is_queued_as(lab, id, "PENDING")));
    lab.cluster.start_agent("n1");
    lab.cluster.slurm("scontrol", &["update", "NodeName=n1", "State=RESUME"]);
    lab.cluster.wait_for_agents();
}

/// Shortens the limit of a job, so that Slurm sends the signal that precedes its end: the run stops, and the job is requeued.
fn reach_the_time_limit(lab: &Lab) {
    let number = lab.number(LIMITED);
    let limit = |minutes: &str| {
        let limit = format!("TimeLimit={minutes}");
        lab.cluster.slurm("scontrol", &["update", &format!("JobId={number}"), &limit]);
    };
    limit("2");
    // Slurm resumes the stopped process.
    wait("the signal before the limit", || is_queued_as(lab, LIMITED, "BeginTime"));
    let loaded = lab.load(LIMITED).expect("a run");
    assert!(loaded.entries.iter().any(|entry| matches!(entry.event, Event::Interrupted { .. })));
    limit("60");
}
