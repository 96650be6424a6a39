//! Jobs that depend on each other do what they do with fio: `exitall` and `flow`.

use std::path::Path;

use serde_json::Value;

use super::{fio, folder, plateau};

/// Runs the same job file with fio and with `plateau load`, on the same file; returns the jobs of each.
fn by_both(folder: &Path, jobs: &str) -> Option<[Vec<Value>; 2]> {
    let text = format!("[global]\nfilename=data\nsize=16m\nbs=4k\ndirect=1\nioengine=libaio\n{jobs}");
    std::fs::write(folder.join("job.fio"), text).expect("a job file");
    std::fs::write(folder.join("data"), vec![1; 16 << 20]).expect("a file");
    let theirs = fio(folder, &["--output-format=json", "job.fio"].map(str::to_owned))?;
    let ours = plateau(folder, &["job.fio".to_owned(), "--json".to_owned()]);
    Some([theirs, ours].map(|output| {
        assert_eq!(output.status.code(), Some(0), "{jobs}: {output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        document["jobs"].as_array().expect("jobs").clone()
    }))
}

fn runtime_ms(jobs: &[Value], name: &str) -> u64 {
    let job = jobs.iter().find(|job| job["jobname"] == name).expect(name);
    job["read"]["runtime"].as_u64().expect("a time")
}

#[test]
fn a_job_ends_the_others_that_it_selects() {
    const FIRST: &str = "[first]\nrw=read\nnumber_ios=10\nthinktime=50ms\nexitall\n";
    const OTHER: &str = "rw=randread\ntime_based\nthinktime=1ms\n";
    for (exit_what, new_group, ends) in
        [("group", 0, true), ("group", 1, false), ("stonewall", 1, true), ("all", 1, true)]
    {
        let folder = folder();
        let runtime = if ends { 30 } else { 2 };
        let jobs = format!(
            "{FIRST}exit_what={exit_what}\n[other]\n{OTHER}runtime={runtime}\nnew_group={new_group}\n"
        );
        let Some(both) = by_both(folder.path(), &jobs) else { return };
        for jobs in both {
            assert!(runtime_ms(&jobs, "first") >= 450, "{jobs:?}");
            let other_ms = runtime_ms(&jobs, "other");
            let expected = if ends { 400..20_000 } else { 1900..20_000 };
            assert!(expected.contains(&other_ms), "{exit_what}, {new_group}: {other_ms} ms");
            let ios = jobs[1]["read"]["total_ios"].as_u64().expect("a number");
            assert!(ios > 10, "{ios}");
        }
    }
}

#[test]
fn jobs_of_later_stages_start_unless_all_jobs_end() {
    for (exit_what, count) in [("stonewall", 3), ("all", 2)] {
        let folder = folder();
        let jobs = format!(
            "exitall\n[first]\nrw=read\nnumber_ios=5\nthinktime=20ms\nexit_what={exit_what}\n[other]\nrw=randread\n\
             runtime=30\ntime_based\nthinktime=1ms\n[later]\nstonewall\nrw=read\nnumber_ios=7\n"
        );
        let Some([theirs, ours]) = by_both(folder.path(), &jobs) else { return };
        // fio also lists jobs that did not start.
        let ran = |jobs: &[Value]| {
            jobs.iter().filter(|job| job["read"]["total_ios"].as_u64().is_some_and(|ios| ios > 0)).count()
        };
        assert_eq!([ran(&theirs), ran(&ours)], [count; 2], "{exit_what}");
        assert_eq!(ours.len(), count);
    }
}

/// A job that pauses after each I/O holds back a job that does not.
#[test]
fn jobs_keep_the_ratio_of_their_numbers_of_ios() {
    for (options, least_ms) in [
        (
            "[one]\nrw=read\nthinktime=5ms\nnumber_ios=100\nflow=1\n[two]\nflow=8\nnumber_ios=800\niodepth=4\n",
            450,
        ),
        (
            "flow_sleep=1000\n[one]\nrw=read\nthinktime=5ms\nnumber_ios=100\nflow=1\n[two]\nflow=8\nnumber_ios=800\n",
            450,
        ),
        (
            "[one]\nrw=read\nthinktime=1ms\nnumber_ios=800\nflow=8\n[two]\nflow=1\nnumber_ios=100\niodepth=4\n",
            700,
        ),
    ] {
        let folder = folder();
        let Some(both) = by_both(folder.path(), &format!("rw=randread\nnorandommap\n{options}")) else {
            return;
        };
        for jobs in both {
            let times = ["one", "two"].map(|name| runtime_ms(&jobs, name));
            assert!(times.iter().all(|ms| *ms >= least_ms), "{options}: {times:?} ms");
        }
    }
}
