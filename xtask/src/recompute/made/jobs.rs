//! The runs that are recomputed: one of each kind, all of them small and most of them simulated.

use pts::Profile;

use super::job::Job;

/// The simulated drive that most runs use.
const DRIVE: &str = "sim:sas-slc-2011";
const SCALE: &str = "1/1024";
/// The drive at this scale.
const SCALED: [&str; 3] = [DRIVE, "--scale", SCALE];
const SMALL: &str = "sim:../small.toml";
/// Names of the runs that the self-test alters: a small run with maxima, and a run with a power source.
pub(super) const ALTERED: [&str; 2] = ["altered", "metered"];
/// Exit code of a burn-in that rejects the drive.
const REJECTED: i32 = 9;

/// Returns all runs, the longest first. `source` is a power source.
pub(super) fn all(presets: &[String], source: &str) -> Vec<Job> {
    let mut jobs: Vec<Job> = pts::PROFILES.iter().rev().map(of_profile).collect();
    jobs.extend(presets.iter().map(|name| of_preset(name)));
    jobs.extend(custom());
    jobs.extend(beyond_the_standard());
    jobs.extend(with_options());
    jobs.extend(interrupted());
    jobs.extend(verified());
    jobs.extend(imported());
    jobs.push(metered(source));
    jobs
}

fn of_profile(profile: &Profile) -> Job {
    Job::run(profile.name, &[&["all"], &SCALED[..], &["--profile", profile.name]].concat())
}

fn of_preset(name: &str) -> Job {
    match name {
        // The 25 rounds of this run, with 256 outstanding I/Os, take minutes on a drive with small units.
        "tssdr" => Job::run(name, &[name, "sim:../coarse.toml", "--cell-seconds", "0.01"]),
        _ => Job::run(name, &[&[name], &SCALED[..]].concat()),
    }
}

fn custom() -> Vec<Job> {
    let plan = ["--plan", "../custom.toml", SMALL];
    vec![
        Job::run("custom", &plan),
        Job::run("custom-sectors", &["--plan", "../custom.toml", "sizes", "sim:../sectors.toml"]),
        Job::interrupted("custom-again", &plan, "removal:after=2s", &[]),
        Job::stopped("custom-stopped", &plan, "removal:after=2s"),
    ]
}

/// Returns runs of tests that no profile contains.
fn beyond_the_standard() -> Vec<Job> {
    let cached = ["client-write", "sim:nvme-tlc-2018", "--scale", "1/256"];
    let uncached = ["client-write", DRIVE, "--scale", "1/256", "--tc", "2", "--qd", "4"];
    let file = ["client-write,tp-1024", "../target.img", "--size", "64MiB", "--cell-seconds", "0.1"];
    vec![
        Job::run("zones", &["hdd-tp,hdd-iops", SMALL, "--cell-seconds", "0.02"]),
        Job::run("cached", &cached),
        Job::run("uncached", &uncached),
        Job::interrupted(
            "cached-again",
            &["client-write", "sim:nvme-tlc-2018", "--scale", SCALE],
            "removal:after=10min",
            &[],
        ),
        Job::run("on-file", &file),
    ]
}

/// Returns runs whose settings differ from those of their profile.
fn with_options() -> Vec<Job> {
    let small = ["tp,lat", SMALL, "--cell-seconds", "0.1"];
    // At its scale, this run has segments that are not whole sectors; its demand also differs from the profile's,
    // and it does not become steady within five rounds.
    let amount = ["--ar-amount", "16GiB", "--tc", "3", "--qd", "8", "--max-rounds", "5", "--seed", "7"];
    let large = ["tp,lat,xsr,iops", "sim:nvme-tlc-2018", "--scale", "1/1000", "--profile", "pts-c-2.0"];
    // This run reaches steady state, because its few writes at this scale take longer than five samples.
    let slow = ["wsat", "sim:sata-mlc-hybrid-2011", "--scale", "1/256", "--tc", "1", "--qd", "4"];
    let ranges = ["--pc-ar", "80", "--test-ar", "50", "--ar-amount", "32GiB", "--ar-segments", "512"];
    let client = ["--profile", "pts-c-1.1", "--pc-ar", "75", "--test-ar", "75", "--ar-amount", "8GiB"];
    let sectors = [
        "iops,lat,ecw,jesd219",
        "sim:../sectors.toml",
        "--profile",
        "pts-e-1.1",
        "--composite-fits-sectors",
        "--cell-seconds",
        "0.02",
    ];
    let never_steady = ["hir", SMALL, "--cell-seconds", "0.02", "--max-rounds", "5"];
    let mut jobs = vec![
        Job::run(ALTERED[0], &small),
        Job::run("signed", &small).then(&["report", "signed", "--sign", "../key.pem"]),
        Job::run("amount", &[&large[..], &amount].concat()),
        Job::run("saturated", &slow),
        Job::run("ranges", &[&["iops,hir"], &SCALED[..], &ranges, &["--precondition", "1"]].concat()),
        Job::run("client-range", &[&["lat"], &SCALED[..], &client].concat()),
        Job::run("sectors", &sectors),
        Job::run("never-steady", &never_steady),
        Job::run(
            "dirth",
            &[&["dirth"], &SCALED[..], &["--dirth-bs", "16KiB", "--dirth-rwmixread", "30"]].concat(),
        ),
        kept_going(),
    ];
    // Each workload of WSAT, and each condition that ends it.
    for (workload, length) in [
        ("oltp", ["--wsat-until", "time", "--wsat-hours", "1"]),
        ("video", ["--wsat-until", "all", "--wsat-hours", "2"]),
        ("metadata", ["--wsat-capacities", "1", "--wsat-hours", "3"]),
        ("composite", ["--wsat-until", "first", "--wsat-capacities", "2"]),
    ] {
        let workload_options = ["--wsat-workload", workload];
        jobs.push(Job::run(workload, &[&["wsat"], &SCALED[..], &workload_options, &length].concat()));
    }
    jobs
}

/// Returns a run that becomes steady only after 25 rounds, because its drive is throttled half of the time until
/// then. Its purge takes a minute, a round about one second.
fn kept_going() -> Job {
    let throttled = |i: u32| format!("throttle:after={}s,for=1500ms,rate=1MB/s", 63 + 3 * i);
    let faults: Vec<String> = (0..11).map(throttled).collect();
    let mut words = vec!["lat", SMALL, "--cell-seconds", "0.1", "--profile", "pts-e-1.0", "--keep-going"];
    words.extend(faults.iter().flat_map(|fault| ["--sim-fault", fault]));
    Job::run("kept-going", &words)
}

/// Returns runs that are interrupted in the third round, in a timeline that starts again, and in one that
/// continues.
fn interrupted() -> Vec<Job> {
    let oldest = [&["wsat"], &SCALED[..], &["--profile", "pts-e-1.0"]].concat();
    vec![
        Job::interrupted("interrupted", &[&["iops"], &SCALED[..]].concat(), "removal:after=60h", &[]),
        Job::interrupted("power", &[&["lat"], &SCALED[..]].concat(), "power:after=40min", &[]),
        Job::interrupted("restarted", &oldest, "removal:after=22min", &[]),
        Job::interrupted("continued", &oldest, "removal:after=22min", &["--continue-timeline"]),
        Job::stopped("stopped", &[&["iops,lat"], &SCALED[..]].concat(), "removal:after=60h"),
    ]
}

/// Returns a run with a power source; its target is a file, because a simulated drive draws no power.
fn metered(source: &str) -> Job {
    let short = ["--size", "32MiB", "--cell-seconds", "0.05", "--max-rounds", "5"];
    let power = ["--power", source, "--power-idle", "1"];
    Job::run(ALTERED[1], &[&["lat", "../metered.img"], &short[..], &power].concat())
}

/// Returns burn-ins that accept their drive, and some that reject it.
fn verified() -> Vec<Job> {
    let small_burn = ["burn-in", DRIVE, "--burn-in-hours", "1", "--scale", "1/256"];
    let jesd =
        ["burn-in,jesd219", DRIVE, "--burn-in-hours", "1", "--burn-in-load", "jesd219", "--scale", "1/256"];
    let mut jobs = vec![Job::run("burned-in", &small_burn), Job::run("enterprise", &jesd)];
    for (name, more) in [
        ("flipped", ["--sim-fault", "flip:at=30%,after=15min"]),
        ("lost", ["--sim-fault", "lost-writes:at=30%"]),
        ("bad", ["--sim-fault", "media:at=30%,on=reads"]),
        ("hot", ["--burn-in-temperature", "20"]),
    ] {
        jobs.push(Job::ending(REJECTED, name, &[&small_burn[..], &more].concat()));
    }
    jobs
}

/// Returns imported runs: published figures, and every format that Plateau itself writes and reads.
fn imported() -> Vec<Job> {
    let examples = Job { name: "examples".into(), steps: Vec::new() }.then(&["examples", "--install"]);
    let exports = [
        "--json-file",
        "../exported.json",
        "--csv",
        "../exported",
        "--openmetrics",
        "../exported.txt",
        "--fio-json",
        "../exported-fio.json",
        "--tkperf-xml",
        "../exported.xml",
    ];
    let tests = [&["iops,lat,wsat,hir,cbw"], &SCALED[..], &["--profile", "pts-e-2.0"]].concat();
    let mut own = Job::run("exported", &tests).then(&[&["report", "exported"], &exports[..]].concat());
    for file in [
        "../exported.json",
        "../exported/cells.csv",
        "../exported/figures.csv",
        "../exported/steady_state.csv",
        "../exported/tables.csv",
        "../exported.txt",
        "../exported-fio.json",
        "../exported.xml",
    ] {
        own = own.then(&["import", file]);
    }
    vec![own, examples]
}
