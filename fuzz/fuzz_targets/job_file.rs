//! Fuzzes job files of `plateau load`: no input causes a panic, and every resulting workload is either refused
//! or possible.

#![cfg_attr(fuzzing, no_main)]

const CAPACITIES: [u64; 4] = [0, 4096, 1 << 30, u64::MAX];
const SECTOR_BYTES: u32 = 512;
/// Number of jobs to check. A file may have 256 jobs with 1024 clones each, but checking more of them would cover
/// no additional code.
const JOBS: usize = 4;
const CLONES: u16 = 8;

fuzz::target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(jobs) = fio::parse("fuzz.fio", text, &fio::Job::default(), &fio::Surroundings::none()) else {
        return;
    };
    let Ok(jobs) = jobs.into_iter().take(JOBS).map(fio::Job::expanded).collect::<Result<Vec<_>, _>>() else {
        return;
    };
    let jobs: Vec<fio::Job> = jobs.into_iter().flatten().collect();
    for (position, job) in (0..).zip(jobs.iter().take(JOBS).filter(|job| job.numjobs <= CLONES)) {
        for capacity_bytes in CAPACITIES {
            check(job, position, capacity_bytes);
        }
    }
});

fn check(job: &fio::Job, position: u64, capacity_bytes: u64) {
    let _ = (job.notes(), job.end_bytes(capacity_bytes));
    let Ok(streams) = job.streams(capacity_bytes, position, u64::MAX) else { return };
    assert!(!streams.is_empty(), "a job without a load");
    for workload in streams.iter().filter(|load| load.validate(capacity_bytes, SECTOR_BYTES).is_ok()) {
        let range = &workload.range;
        assert!(
            range.start_bytes + range.segment_bytes <= capacity_bytes,
            "a load beyond the end of its target"
        );
        assert_eq!(workload.read_percent < 100, job.writes(), "a load that writes although the job does not");
    }
}
