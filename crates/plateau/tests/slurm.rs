//! `plateau fleet` with real Slurm: whatever happens to its jobs, every run completes with one purge, and no two jobs
//! use a drive at the same time.

#[path = "slurm/chain.rs"]
mod chain;
#[path = "slurm/cluster.rs"]
mod cluster;
#[path = "slurm/failures.rs"]
mod failures;
#[path = "support/lab_server/mod.rs"]
mod lab_server;
#[path = "support/schemas/mod.rs"]
mod schemas;
mod support;
#[path = "slurm/unfit.rs"]
mod unfit;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use cluster::{Cluster, bytes, wait};
use record::{Digest, Event, Library, Loaded};
use serde_json::{Value, json};
use support::loop_device::{Loop, attach, identity};
use support::{Bench, finished, hold};

/// D1 and D4, which are drives of different hosts, are in the same enclosure.
fn simulated(identity: &str) -> Value {
    let enclosure = ["D1", "D4"].contains(&identity).then(|| json!({ "id": "0x5003048001a2b37f" }));
    json!({
        "path": "sim:sas-slc-2011", "kind": "simulated", "identity": identity, "model": "sas-slc-2011",
        "capacity_bytes": 1_000_000_000, "refusals": [], "enclosure": enclosure
    })
}

fn is_closed(loaded: &Loaded) -> bool {
    loaded.entries.iter().any(|entry| matches!(entry.event, Event::Closed))
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

    /// Returns the number of a run's queued job.
    fn number(&self, id: &str) -> String {
        let queue = self.cluster.queue();
        queue.into_iter().find(|(_, name, _)| name == id).map(|(number, ..)| number).expect("queued")
    }
}

/// The run whose job is requeued while running.
const REQUEUED: &str = "q-iops-D2-1";
/// The run whose job is interrupted while running.
const INTERRUPTED: &str = "q-iops-D3-1";

#[test]
fn every_run_of_a_campaign_completes() {
    let Some(cluster) = Cluster::prepare() else { return };
    let bench = Bench::on_build_disk();
    let mut lab = Lab { bench, cluster };
    // A device of the host and a file that no campaign names.
    let bystander = lab.bench.path("bystander");
    let pattern: Vec<u8> = (0..support::loop_device::SIZE).map(|at| (at % 251) as u8).collect();
    std::fs::write(&bystander, pattern).expect("written");
    let beside = Loop::over(&bystander, &[]);
    let bystanders = || {
        let device = beside.as_ref().map(|device| Path::new(&device.path));
        let paths = device.into_iter().chain([bystander.as_path()]);
        paths.map(|path| Digest::of(&bytes(path)).to_string()).collect::<Vec<_>>()
    };
    let before = bystanders();
    let attached: Vec<_> =
        ["l1", "l2"].iter().filter_map(|name| attach(&lab.bench.path(name), &[])).collect();
    let described = |device: &Loop| (device.path.clone(), identity(&lab.bench, &device.path));
    let loops: Vec<(String, String)> = attached.iter().map(described).collect();
    take_inventory(&lab, &loops);
    lab.cluster.start();

    let campaign = lab.write(
        "campaign.toml",
        "name = \"q\"\nrepetitions = 2\n[[drives]]\nmodel = \"sas\"\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n\
         options = [\"--scale\", \"1/16\", \"--profile\", \"pts-e-1.0\"]\n",
    );
    let submitted = lab.ok(&["fleet", "submit", &campaign]);
    assert_eq!(submitted.lines().filter(|line| line.starts_with("job ")).count(), 8, "{submitted}");
    assert!(lab.ok(&["fleet", "submit", &campaign]).contains("8 jobs are already complete or in the queue"));
    disturb(&mut lab);
    let status = lab.ok(&["fleet", "status", &campaign]);
    assert!(status.contains("D1  n1:sim:sas-slc-2011"), "{status}");
    refuse_an_unknown_serial_number(&lab, &campaign);
    if let [(_, one), (_, other)] = &loops[..] {
        submit_disks(&lab, one, other);
    }
    submit_arrays(&lab);
    lab.cluster.wait_for_all();
    failures::survive(&mut lab);
    lab.cluster.wait_for_all();
    chain::cancel_the_middle(&lab);
    lab.cluster.wait_for_all();

    check_runs(&lab, 8 + IN_ARRAYS + failures::COUNT + chain::COUNT + if loops.len() == 2 { 2 } else { 0 });
    assert_eq!(bystanders(), before, "nothing else was written");
    assert!(lab.ok(&["fleet", "status", &campaign]).contains("q: 8 complete"));
    unfit::keep_unfit_drives_from_running(&lab);
    unfit::drain_an_unfit_host(&lab);
    unfit::show_campaigns_on_a_page(&lab, &campaign);
}

/// Writes the configuration for two nodes, each with two simulated drives and at most one loop device (path,
/// identity).
fn take_inventory(lab: &Lab, loops: &[(String, String)]) {
    let mut lists = [vec![simulated("D1"), simulated("D2")], vec![simulated("D3"), simulated("D4")]];
    for ((path, identity), list) in loops.iter().zip(&mut lists) {
        list.push(json!({
            "path": path, "kind": "loop", "identity": identity, "model": null,
            "capacity_bytes": support::loop_device::SIZE, "refusals": []
        }));
    }
    let mut args = vec!["fleet".to_owned(), "inventory".to_owned()];
    for ((list, host), node) in lists.iter().zip(["n1", "n2"]).zip([1, 2]) {
        let file = lab.write(&format!("{host}.json"), &json!(list).to_string());
        args.extend(["--from".to_owned(), format!("{host}={file}")]);
        args.extend(["--node".to_owned(), lab.cluster.node(node)]);
    }
    args.extend(["--dir".to_owned(), lab.cluster.dir.path().to_str().expect("text").to_owned()]);
    lab.ok(&args.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Kills the controller while two runs are in progress. Then requeues one run's job and interrupts the other run's job.
fn disturb(lab: &mut Lab) {
    // Both processes are stopped, so that their runs do not finish before the controller is back.
    let mut held = BTreeMap::new();
    let library = lab.bench.library();
    wait("a run to requeue and one to interrupt", || {
        for id in [REQUEUED, INTERRUPTED] {
            if !held.contains_key(id) && lab.finished(id) >= 3 {
                held.extend(process_of(&library, id).map(|process| (id, hold(process))));
            }
        }
        held.len() == 2
    });
    let (requeued, interrupted) = (held[REQUEUED].0, held[INTERRUPTED].0);
    let number = lab.number(REQUEUED);
    lab.cluster.wait_until_saved(&number);
    lab.cluster.kill_controller();
    // Slurm resumes a stopped process before it terminates it.
    lab.cluster.slurm("scontrol", &["requeue", &number]);
    wait("the end of the requeued job", || !Path::new(&format!("/proc/{requeued}")).exists());
    // Slurm waits two minutes before it starts this job again, and the drive is free.
    wait("the requeued job", || is_queued_as(lab, REQUEUED, "BeginTime"));
    assert!(is_queued_as(lab, "q-iops-D2-2", "Dependency"), "{:?}", lab.cluster.queue());
    lab.cluster.slurm("scancel", &["-s", "INT", "-b", &lab.number(INTERRUPTED)]);
    wait("the interrupt", || is_interrupt_pending(interrupted));
}

fn is_queued_as(lab: &Lab, id: &str, words: &str) -> bool {
    lab.cluster.queue().iter().any(|(_, name, state)| name == id && state.contains(words))
}

/// Returns the process of the job that is working on run `id` in a library. A job that has just been requeued counts as
/// running before it has one.
fn process_of(library: &Path, id: &str) -> Option<u32> {
    let is_job = |process: &u32| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.windows(3).any(|three| three == [library.as_os_str().as_bytes(), b"job", id.as_bytes()])
    };
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let mut processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.find(is_job)
}

/// Returns whether SIGINT was sent to a stopped process.
fn is_interrupt_pending(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).expect("its signals");
    // SIGINT is signal 2, which is bit 1.
    u64::from_str_radix(pending.trim(), 16).expect("a number") & 2 != 0
}

fn refuse_an_unknown_serial_number(lab: &Lab, campaign: &str) {
    let known = std::fs::read_to_string(lab.cluster.path("inventory.json")).expect("readable");
    let unknown = lab.write("unknown.json", &known.replace("D4", "D9"));
    let refused = lab.plateau(&["fleet", "submit", campaign, "--inventory", &unknown]);
    assert_eq!(refused.status.code(), Some(6), "{}", support::texts(&refused).1);
    let unknown = lab.plateau(&["fleet", "check", "serial:D9"]);
    assert_eq!(unknown.status.code(), Some(4), "{}", support::texts(&unknown).1);
}

/// Submits a campaign for two loop devices, which requires their identities. They are not checked, because this host may be
/// hot.
fn submit_disks(lab: &Lab, one: &str, other: &str) {
    let disks = lab.write(
        "disks.toml",
        &format!(
            "name = \"d\"\nunchecked = true\n[[drives]]\nidentities = [{one:?}, {other:?}]\n[[plans]]\nname = \"tp\"\n\
             tests = \"tp-1024\"\noptions = [\"--cell-seconds\", \"1\", \"--max-rounds\", \"5\"]\n"
        ),
    );
    let error = lab.plateau(&["fleet", "submit", &disks]);
    assert_eq!(error.status.code(), Some(3), "{}", support::texts(&error).1);
    let submitted = lab.ok(&["fleet", "submit", &disks, "--erase", one, "--erase", other, "--json"]);
    schemas::assert_matches("fleet", &serde_json::from_str(&submitted).expect("one document"));
}

/// Number of runs that are tasks of job arrays.
const IN_ARRAYS: usize = 6;

/// Submits the repetitions on the drives of an enclosure as two arrays, with at most one task running at a
/// time.
fn submit_arrays(lab: &Lab) {
    let arrays = lab.write(
        "arrays.toml",
        "name = \"a\"\nrepetitions = 3\narrays = true\ncontention = \"avoid-in-enclosures\"\n[[drives]]\n\
         identities = [\"D1\", \"D4\"]\n[[plans]]\nname = \"iops\"\ntests = \"iops\"\n\
         options = [\"--scale\", \"1/256\", \"--profile\", \"pts-e-1.0\"]\n",
    );
    let submitted = lab.ok(&["fleet", "submit", &arrays]);
    let numbers: Vec<&str> = submitted.lines().filter_map(|line| line.strip_prefix("job ")).collect();
    assert_eq!(numbers.len(), IN_ARRAYS, "{submitted}");
    for (line, (task, drive)) in numbers.iter().zip([(1, 1), (2, 1), (3, 1), (1, 4), (2, 4), (3, 4)]) {
        assert!(line.contains(&format!("_{task}  a-iops-D{drive}-{task}")), "{submitted}");
    }
    assert!(lab.ok(&["fleet", "submit", &arrays]).contains("6 jobs are already complete or in the queue"));
    assert!(
        lab.ok(&["fleet", "status", &arrays]).contains("a: "),
        "tasks are found by the ids of their runs"
    );
}

/// Checks that every run is complete with one purge, and that no two runs overlapped on a drive.
fn check_runs(lab: &Lab, expected: usize) {
    let (runs, unreadable) = Library::at(lab.bench.library()).list().expect("a library");
    assert!(unreadable.is_empty(), "{unreadable:?}");
    assert_eq!(runs.len(), expected);
    let mut spans: BTreeMap<String, Vec<(jiff::Timestamp, jiff::Timestamp)>> = BTreeMap::new();
    for run in &runs {
        let id = &run.file.id;
        let loaded = run.load().expect("intact");
        assert!(is_closed(&loaded), "{id} is complete");
        assert_eq!(purges(&loaded), 1, "{id}");
        lab.ok(&["verify", id]);
        // No other run uses the drive until this one has ended, even while it is interrupted.
        let drive = id.split('-').nth(2).expect("a drive");
        let span = (loaded.entries[0].wall, loaded.entries[loaded.entries.len() - 1].wall);
        spans.entry(drive.to_owned()).or_default().push(span);
        if id.starts_with("a-") {
            spans.entry("the enclosure".to_owned()).or_default().push(span);
        }
    }
    for (drive, mut spans) in spans {
        spans.sort();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{drive}: two runs at once");
    }
    for id in [REQUEUED, INTERRUPTED] {
        check_gap(lab, id);
    }
}

/// Checks that a continued run states its gap, and that the gap is the time between its records.
fn check_gap(lab: &Lab, id: &str) {
    let loaded = lab.load(id).expect("a run");
    let gap = loaded.entries.windows(2).find_map(|pair| match pair[1].event {
        Event::Resumed { gap_ns } => Some((gap_ns, pair[1].wall.duration_since(pair[0].wall))),
        _ => None,
    });
    let (gap_ns, between) = gap.unwrap_or_else(|| panic!("{id} was continued"));
    let stated = jiff::SignedDuration::from_nanos(i64::try_from(gap_ns).expect("a short gap"));
    // The simulated drive is played back between the end of the gap and the record that states it.
    let played_back = between - stated;
    let longest = jiff::SignedDuration::from_secs(60);
    assert!(!played_back.is_negative() && played_back < longest, "{id}: {stated:?} of {between:?}");
    let page = lab.bench.path("continued.html");
    lab.ok(&["report", id, page.to_str().expect("text")]);
    let page = std::fs::read_to_string(page).expect("written");
    assert!(page.contains("resumed after"), "{id}: the report states the gap");
}
