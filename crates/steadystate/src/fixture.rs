//! A segment for tests of this crate and of `pts`.

use record::{Access, DataPattern, Direction, Range, Regime, Segment, Series, Until, Workload};

/// Returns a segment of writes with intervals of one second.
pub fn segment(write_ios: Vec<u64>, length_ns: u64) -> Segment {
    let workload = Workload {
        access: Access::Random,
        read_percent: 0,
        block_bytes: 1000,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth: 1,
        range: Range::first(1 << 30),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(length_ns),
        seed: 1,
        regime: Regime::default(),
        commands: None,
    };
    let count = write_ios.len();
    let ios = write_ios.iter().sum::<u64>();
    let write = Direction { ios, bytes: ios * 1000, ..Direction::default() };
    Segment {
        workload,
        start_ns: 5,
        end_ns: 5 + length_ns,
        read: Direction::default(),
        write,
        series: Series {
            interval_ns: 1_000_000_000,
            read_ios: vec![0; count].into(),
            latency_mean_ns: vec![2_000_000; count].into(),
            latency_max_ns: (0..count as u64).map(|i| i * 1_000_000).collect(),
            write_ios: write_ios.into(),
            times: None,
        },
        errors: Vec::new(),
        io_path: record::IoEngine::Simulated.into(),
        gap_before: None,
        on_file: None,
        power: None,
        verified: None,
        synced: None,
        host: None,
        detail: None,
    }
}
