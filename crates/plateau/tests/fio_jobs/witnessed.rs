//! Verifies that a drive receives the load described by a job file: a simulated drive counts a job's I/Os by size and
//! offset.

use device::OpenOptions;
use engine::{Flow, LoadOutcome};
use fio::{Job, Surroundings, parse};

/// Every zone ends at a boundary between the 64 parts of the drive for which the witness keeps counts.
const JOB: &str = "\
[global]
filename=sim
iodepth=8
norandommap
[shares]
rw=randrw
rwmixread=70
bssplit=4k/50:8k/30:16k/20
random_distribution=zoned:60/25:30/50:10/25
size=100%
io_size=8g
";
const IOS: u64 = 1_000_000;
const WITHIN_PERCENT: f64 = 0.2;

#[test]
fn block_sizes_zones_and_mix_have_their_shares() {
    let options = OpenOptions { scale: Some("1/64".into()), ..OpenOptions::default() };
    let drive = device::open("sim:sas-slc-2011", &options).expect("a model");
    let capacity_bytes = drive.facts().capacity_bytes;
    let mut drive = drive.arm(None).expect("a simulated drive");
    let jobs = parse("shares.fio", JOB, &Job::default(), &Surroundings::none()).expect("a job file");
    let streams = jobs[0].streams(capacity_bytes, 0, 1).expect("a job for this drive");
    drive.watch();
    let outcome = drive.run(&streams[0], &mut |_| Flow::Continue).expect("a load");
    assert!(matches!(outcome, LoadOutcome::Finished(_)));
    let seen = drive.witness().expect("a witness");
    let commands = seen.commands();
    assert!(commands >= IOS, "{commands}");
    let near = |what: &str, count: u64, percent: f64| {
        let share = count as f64 / commands as f64 * 100.0;
        assert!((share - percent).abs() <= WITHIN_PERCENT, "{what}: {share:.3} % instead of {percent} %");
    };
    for (bytes, percent) in [(4096, 50.0), (8192, 30.0), (16384, 20.0)] {
        near(&format!("{bytes} B"), seen.sizes[&bytes], percent);
    }
    for (zone, percent) in [(0..16, 60.0), (16..48, 30.0), (48..64, 10.0)] {
        near(&format!("parts {zone:?} of 64"), seen.parts[zone.clone()].iter().sum(), percent);
    }
    near("reads", seen.reads, 70.0);
}
