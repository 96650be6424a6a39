//! How workloads are stored, and which workloads are rejected.

use super::*;
use crate::{Arrivals, Process};

fn plain() -> Workload {
    Workload {
        access: Access::Random,
        read_percent: 65,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 2,
        queue_depth: 16,
        range: Range::first(1 << 30),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(1),
        seed: 1,
        regime: Regime::default(),
        commands: None,
    }
}

#[test]
fn sequential_streams_and_sequences_have_adjacent_ios() {
    let kind = |access| IoKind { share_percent: 50, access, read_percent: 65, block_bytes: 4096 };
    let mixed = |other| Workload { kinds: vec![kind(Access::Random), kind(other)], ..plain() };
    let sequence = Some(Sequence { blocks: vec![0, 1], strided: true });
    for (workload, expected) in [
        (plain(), false),
        (Workload { access: Access::Sequential, ..plain() }, true),
        (mixed(Access::Random), false),
        (mixed(Access::Sequential), true),
        (Workload { sequence, ..plain() }, true),
    ] {
        assert_eq!(workload.has_adjacent_ios(), expected, "{workload:?}");
    }
}

#[test]
fn only_nondefault_fields_are_stored() {
    let stored = serde_json::to_string(&plain()).unwrap();
    assert!(!stored.contains("regime"), "{stored}");
    let arrivals = Some(Arrivals { per_second: 500, divisor: 1, process: Process::Poisson });
    let regime = Regime { arrivals, ramp_ns: 5, limit_ns: None, verify: true, ..Regime::default() };
    let data_pattern = DataPattern::Reducible(Reducible {
        compressible_percent: 50,
        dedupable_percent: 20,
        working_set: None,
    });
    for workload in [plain(), Workload { regime, data_pattern, ..plain() }] {
        let stored = serde_json::to_string(&workload).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), workload, "{stored}");
    }
    let stored = serde_json::to_value(Workload { regime, data_pattern, ..plain() }).unwrap();
    assert_eq!(stored["data_pattern"]["compressible_percent"], 50);
    assert_eq!(stored["regime"]["arrivals"]["process"], "poisson");
}

#[test]
fn is_written_in_pts_notation() {
    let kind = |share_percent, block_bytes| IoKind {
        share_percent,
        access: Access::Random,
        read_percent: 40,
        block_bytes,
    };
    let mixed = plain().of_kinds(vec![kind(10, 512), kind(90, 65536)]);
    assert_eq!(mixed.to_string(), "RND 0.5KiB to 64KiB 40/60");
    assert!((mixed.mean_block_bytes() - 59033.6).abs() < 1e-6);
    assert_eq!(plain().to_string(), "RND 4KiB 65/35");
    assert_eq!(Workload { read_percent: 0, block_bytes: 512, ..plain() }.to_string(), "RND 0.5KiB W");
    assert_eq!(
        Workload { read_percent: 100, access: Access::Sequential, ..plain() }.to_string(),
        "SEQ 4KiB R"
    );
}

#[test]
fn impossible_workloads_state_the_reason() {
    let rate = |per_second| Regime {
        arrivals: Some(Arrivals { per_second, divisor: 1, process: Process::Constant }),
        ..Regime::default()
    };
    let reducible = |compressible_percent| {
        DataPattern::Reducible(Reducible { compressible_percent, dedupable_percent: 0, working_set: None })
    };
    let kind =
        |block_bytes| IoKind { share_percent: 50, access: Access::Random, read_percent: 0, block_bytes };
    let cases = [
        (plain().of_kinds(vec![kind(4096), kind(6144)]), "block size 6144 B"),
        (Workload { kinds: vec![kind(8192); 2], ..plain() }, "up to 8192 B, 0 % reads and RND"),
        (Workload { kinds: vec![kind(8192)], ..plain() }.of_kinds(vec![kind(8192)]), "add up to 50 %"),
        (
            Workload { zones: vec![Zone { access_percent: 100, range_percent: 50 }], ..plain() },
            "50 % of the range",
        ),
        (Workload { read_percent: 101, ..plain() }, "read share"),
        (Workload { threads: 0, ..plain() }, "thread count"),
        (Workload { block_bytes: 512, ..plain() }, "multiple of the device's 4096 B sectors"),
        (Workload { range: Range::first(2 << 30), ..plain() }, "the device has only 1 GiB"),
        (Workload { range: Range::first(1024), ..plain() }, "cannot hold"),
        (Workload { range: Range { start_bytes: 512, ..Range::first(4096 * 8) }, ..plain() }, "start"),
        (Workload { threads: 9, range: Range::first(4096 * 8), ..plain() }, "9 threads"),
        (Workload { until: Until::AmountBytes(1), ..plain() }, "less than one block"),
        (Workload { until: Until::DurationNs(0), ..plain() }, "duration of zero"),
        (Workload { regime: Regime { limit_ns: Some(1), ..Regime::default() }, ..plain() }, "time limit"),
        (Workload { regime: rate(0), ..plain() }, "zero I/Os per second"),
        (Workload { data_pattern: reducible(101), ..plain() }, "101"),
    ];
    for (workload, expected) in cases {
        let error = workload.validate(1 << 30, 4096).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(plain().validate(1 << 30, 4096), Ok(()));
}

#[test]
fn commands_are_stored_only_if_there_are_any() {
    assert!(!serde_json::to_string(&plain()).unwrap().contains("commands"));
    let priority = crate::IoPriority { class: 2, level: 7, hint: 0 };
    let commands = Commands { priority: Some(priority), atomic: true, ..Commands::default() };
    let workload = Workload {
        commands: Some(Box::new(commands)),
        data_pattern: DataPattern::Byte(1),
        read_percent: 0,
        ..plain()
    };
    let stored = serde_json::to_string(&workload).unwrap();
    assert!(stored.contains(r#""commands":{"priority":{"class":2,"level":7},"atomic":true}"#), "{stored}");
    assert!(stored.contains(r#""data_pattern":{"byte":1}"#), "{stored}");
    assert_eq!(serde_json::from_str::<Workload>(&stored).unwrap(), workload);
}

#[test]
fn a_write_to_shared_blocks_is_one_block() {
    let commands = Commands { atomic: true, shared_blocks: true, ..Commands::default() };
    let regime = Regime::VERIFIED;
    let shared = Workload { commands: Some(Box::new(commands)), regime, ..plain() };
    assert_eq!(shared.validate(1 << 30, 4096), Ok(()));
    let kind =
        |block_bytes| IoKind { share_percent: 50, access: Access::Random, read_percent: 0, block_bytes };
    let sizes = shared.clone().of_kinds(vec![kind(4096), kind(16384)]);
    for torn in [sizes, Workload { align_bytes: 512, ..shared }] {
        let error = torn.validate(1 << 30, 512).expect_err("torn writes go unnoticed").to_string();
        assert!(error.contains("use one size"), "{error}");
    }
}
