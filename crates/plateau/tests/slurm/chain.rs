//! The jobs of a drive run one after another, even if the one in the middle is cancelled.

use super::cluster::wait;
use super::{Lab, is_queued_as, process_of};
use crate::support::hold;

/// The runs of one drive, in the order of their jobs.
const RUNS: [&str; 3] = ["c-iops-D1-1", "c-iops-D1-2", "c-iops-D1-3"];

/// Number of runs, without the cancelled one.
pub const COUNT: usize = RUNS.len() - 1;

/// Cancels the second of three jobs while the first one runs.
pub fn cancel_the_middle(lab: &Lab) {
    let [first, second, third] = RUNS;
    let campaign = lab.write(
        "chain.toml",
        "name = \"c\"\nrepetitions = 3\n[[drives]]\nidentities = [\"D1\"]\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n\
         options = [\"--scale\", \"1/16\", \"--profile\", \"pts-e-1.0\"]\n",
    );
    lab.ok(&["fleet", "submit", &campaign]);
    // The process is stopped, so that its run does not end meanwhile.
    let mut held = None;
    wait("a cell of the first run", || {
        if held.is_none() && lab.finished(first) >= 1 && is_queued_as(lab, first, "RUNNING") {
            held = process_of(&lab.bench.library(), first).map(hold);
        }
        held.is_some()
    });
    let (cancelled, last) = (lab.number(second), lab.number(third));
    assert!(open_dependencies(lab, &last).contains(&cancelled), "{}", open_dependencies(lab, &last));
    lab.cluster.slurm("scancel", &[&cancelled]);
    // Slurm removes a dependency from the list when it has decided about it.
    wait("the decision about the cancelled job", || !open_dependencies(lab, &last).contains(&cancelled));
    assert!(is_queued_as(lab, third, "Dependency"), "{:?}", lab.cluster.queue());
    assert!(open_dependencies(lab, &last).contains(&lab.number(first)), "the first job still runs");
    assert!(lab.load(third).is_none() && lab.load(second).is_none());
    drop(held);
}

/// Returns the jobs that a job still waits for, in Slurm's notation.
fn open_dependencies(lab: &Lab, number: &str) -> String {
    lab.cluster.slurm("squeue", &["-h", "-j", number, "-o", "%E"])
}
