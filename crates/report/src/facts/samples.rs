//! Events for the tests in this folder.

use record::{
    Access, DataPattern, Direction, Entry, Event, Health, Range, Regime, Segment, Series, Until, Workload,
};
use stdx::units::SECOND_NS;

pub(super) const MINUTE_NS: u64 = 60 * SECOND_NS;

/// Returns a one-minute workload.
pub(super) fn segment(from_minute: u64) -> Segment {
    let workload = Workload {
        access: Access::Random,
        read_percent: 0,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth: 1,
        range: Range::first(1 << 30),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(MINUTE_NS),
        seed: 1,
        regime: Regime::default(),
        commands: None,
    };
    Segment {
        workload,
        start_ns: from_minute * MINUTE_NS,
        end_ns: (from_minute + 1) * MINUTE_NS,
        read: Direction::default(),
        write: Direction::default(),
        series: Series {
            interval_ns: MINUTE_NS,
            write_ios: vec![600].into(),
            read_ios: vec![0].into(),
            ..Series::default()
        },
        errors: Vec::new(),
        io_path: record::IoEngine::IoUring.into(),
        gap_before: None,
        on_file: None,
        power: None,
        verified: None,
        synced: None,
        host: None,
        detail: None,
    }
}

/// Returns a measured one-minute workload.
pub(super) fn measured(from_minute: u64) -> Event {
    Event::Measured(segment(from_minute))
}

/// Returns a measured workload that lasts this many minutes.
pub(super) fn measured_for(minutes: u64) -> Event {
    let Segment { workload, .. } = segment(0);
    let until = Until::DurationNs(minutes * MINUTE_NS);
    Event::Measured(Segment { workload: Workload { until, ..workload }, ..segment(0) })
}

/// Returns a health reading.
pub(super) fn read(minute: u64, health: Health) -> Event {
    Event::Health { at_ns: minute * MINUTE_NS, health }
}

pub(super) fn started(test: &str) -> Event {
    Event::TestStarted { test: test.into() }
}

pub(super) fn entries(events: Vec<Event>) -> Vec<Entry> {
    let entry = |(seq, event)| Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event };
    (0..).zip(events).map(entry).collect()
}
