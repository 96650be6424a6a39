//! Every stored number is read back exactly, to the last bit.

use proptest::prelude::*;
use record::{
    Access, Ceiling, ClockFacts, CostPerIo, Effort, HostLoad, ImportedTest, Judgement, Reading, ToldFigure,
    VariableJudgement,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Generates any finite number: measurements yield no others, and JSON cannot represent others.
fn finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |number| number.is_finite())
}

/// Writes a value and reads it back the way journals and `run.json` are read.
fn again<T: Serialize + DeserializeOwned>(stored: &T) -> [T; 2] {
    let text = serde_json::to_string(stored).expect("can be written");
    let tree: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    [serde_json::from_str(&text).expect("can be read"), serde_json::from_value(tree).expect("can be read")]
}

fn judgement([value, range, slope, ..]: [f64; 5]) -> Judgement {
    let variable = VariableJudgement {
        name: "RND 4KiB W".into(),
        value,
        range_share: Some(range),
        slope_share: Some(slope),
        steady: false,
    };
    Judgement { round: 5, steady: false, variables: vec![variable] }
}

fn host_load(share: f64) -> HostLoad {
    HostLoad {
        effort: Effort::default(),
        usable_processors: 1,
        processors: 1,
        placement: String::new(),
        polled: false,
        repeats: 0,
        ceiling_share: Some(share),
    }
}

fn ceiling([data_bytes_per_second, cost_ns, cpu_ns, ring_ns, ..]: [f64; 5]) -> Ceiling {
    Ceiling {
        clock: ClockFacts { source: "TSC".into(), cost_ns, resolution_ns: 1 },
        null: vec![CostPerIo { queue_depth: 1, cpu_ns }],
        no_op_ring: vec![CostPerIo { queue_depth: 1, cpu_ns: ring_ns }],
        no_op_ring_missing: None,
        data_bytes_per_second,
    }
}

fn imported([value, iops, rate, mean, max]: [f64; 5]) -> ImportedTest {
    let reading = Reading {
        iops: Some(iops),
        bytes_per_second: Some(rate),
        latency_mean_ns: Some(mean),
        latency_max_ns: Some(max),
        percentiles_ns: vec![(value, iops), (rate, mean)],
        ..Reading::of(Access::Random, 0, 4096)
    };
    let figure = ToldFigure {
        name: "f".into(),
        key: None,
        value: Some(value),
        unit: "IOPS".into(),
        host_limited: false,
    };
    ImportedTest { figures: vec![figure], readings: vec![reading], ..ImportedTest::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn every_stored_number_is_read_back_to_the_last_bit(numbers in prop::array::uniform5(finite())) {
        let (judgement, load) = (judgement(numbers), host_load(numbers[0]));
        prop_assert_eq!(again(&judgement), [judgement.clone(), judgement]);
        prop_assert_eq!(again(&load), [load.clone(), load]);
        let (ceiling, imported) = (ceiling(numbers), imported(numbers));
        prop_assert_eq!(again(&ceiling), [ceiling.clone(), ceiling]);
        prop_assert_eq!(again(&imported), [imported.clone(), imported]);
    }
}
