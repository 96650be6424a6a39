use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use stdx::Histogram;
use stdx::histogram::slot_of;

use super::*;
use crate::result::tests::{origin, part};
use crate::result::{ClockState, Document, Host, Origin, Part, Span};

const LIMIT: Duration = Duration::from_millis(100);

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_800_000_000_000 + ms).expect("in range")
}

/// Returns one second of reads with these response times, begun `ms` milliseconds after the reads on the first
/// host.
fn reads(ms: i64, values_ns: &[u64]) -> Part {
    let mut part = part(1, None, false);
    let read = &mut part.segments[0].read;
    read.latency = Histogram::new();
    values_ns.iter().for_each(|ns| read.latency.record(*ns));
    read.ios = read.latency.count();
    read.bytes = read.ios * 4096;
    part.span = Some(Span { started: at(ms), began: at(ms), ended: at(ms + 1000) });
    part
}

/// Returns a host whose own clock is off by at most `max_error_ms`.
fn host(name: &str, max_error_ms: u64, synchronized: bool) -> Origin {
    let max_error_ns = max_error_ms * 1_000_000;
    let clock = Some(ClockState { synchronized, max_error_ns, estimated_error_ns: 0 });
    Origin { host: Host { name: name.into(), boot_id: Some(name.into()) }, requested: None, clock }
}

fn given(file: &str, part: Part, origin: &Origin) -> Given {
    let parts = [part];
    let text = serde_json::to_string(&Document::of(&parts, None, origin)).expect("a result");
    Given { file: file.into(), content: Ok(text) }
}

fn troubles(given: &[Given]) -> Vec<(String, Trouble)> {
    let problems = combine(given, LIMIT).expect_err("it is not valid");
    problems.into_iter().map(|problem| (problem.file, problem.trouble)).collect()
}

proptest! {
    #[test]
    fn percentiles_equal_those_of_all_response_times_together(
        hosts in prop::collection::vec(prop::collection::vec(1u64..20_000_000_000, 1..3000), 2..5),
    ) {
        let results: Vec<Given> = hosts.iter().enumerate()
            .map(|(index, values)| given(&format!("{index}.json"), reads(index as i64, values), &origin()))
            .collect();
        // If the response times were the same, the two results would count as one.
        prop_assume!(!results.windows(2).any(|pair| pair[0].content == pair[1].content));
        let combined = combine(&results, LIMIT).expect("valid");
        let mut all = hosts.concat();
        all.sort_unstable();
        let mut expected = Histogram::new();
        all.iter().for_each(|ns| expected.record(*ns));
        let latency = &combined.jobs[0].read.latency;
        prop_assert_eq!(latency, &expected);
        let rank = (0.999 * all.len() as f64).ceil() as usize;
        prop_assert_eq!(latency.quantile(0.999).map(slot_of), Some(slot_of(all[rank - 1])));
    }

    #[test]
    fn no_text_makes_reading_panic(text in "\\PC*", cut in 0usize..6000) {
        let whole = given("a", reads(0, &[90_000; 20]), &origin()).content.expect("a result");
        let cut: String = whole.chars().take(cut).collect();
        for text in [text, cut] {
            let other = Given { file: "b".into(), content: Ok(text.clone()) };
            let results = [Given { file: "a".into(), content: Ok(whole.clone()) }, other];
            prop_assert!(combine(&results, LIMIT).is_err(), "{}", text);
        }
    }
}

#[test]
fn skew_shares_and_the_slowest_host_are_stated() {
    let results = [
        given("a.json", reads(0, &[100_000; 3000]), &host("rack1", 2, true)),
        given("b.json", reads(30, &[900_000; 1000]), &host("rack2", 5, true)),
    ];
    let combined = combine(&results, LIMIT).expect("valid");
    let job = &combined.jobs[0];
    assert_eq!(job.skew, SignedDuration::from_millis(30));
    assert_eq!(job.skew_at_most, SignedDuration::from_millis(37));
    assert_eq!((job.slowest, job.shares[1].share), (1, 0.25));
    assert_eq!((job.read.ios, job.read.bytes), (4000, 4000 * 4096));
    assert!((job.seconds() - 1.03).abs() < 1e-9 && (job.overlap_share - 0.97 / 1.03).abs() < 1e-9);
    let text = combined.text();
    for expected in [
        "job: 2 results, 1.030 s\nread   3,883 IOPS",
        "start  within 30.000 ms (37.000 ms including the errors of the clocks; limit 100.000 ms)",
        "host   rack1   75.0 %  3,000 IOPS",
        "host   rack2   25.0 %  1,000 IOPS  4.1 MB/s  slowest\n",
        "note   all hosts were measuring for only 94.2 % of the time",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let document = serde_json::to_value(combined.document()).expect("JSON");
    let job = &document["jobs"][0];
    assert_eq!((&job["skew_ns"], &job["slowest"]["host"]), (&30_000_000.into(), &"rack2".into()));
}

#[test]
fn failed_ios_are_part_of_the_numbers_but_not_of_the_rates() {
    let failing = |file: &str, ms, failed_reads| {
        let mut part = reads(ms, &[100_000; 1000]);
        let segment = &mut part.segments[0];
        segment.workload.regime.tolerated.read = record::Errors::try_from(vec![5]).expect("an error");
        segment.errors = vec![record::ErrorCount { kind: "EIO".into(), count: failed_reads }];
        let detail = record::SegmentDetail { failed_reads, ..record::SegmentDetail::default() };
        segment.detail = Some(Box::new(detail));
        given(file, part, &origin())
    };
    let results = [failing("a", 0, 20), failing("b", 0, 3)];
    let combined = combine(&results, LIMIT).expect("valid");
    let document = serde_json::to_value(combined.document()).expect("JSON");
    let job = &document["jobs"][0];
    assert_eq!((&job["read"]["total_ios"], &job["read"]["iops"]), (&2023.into(), &2000.0.into()), "{job}");
    assert_eq!((&job["hosts"][0]["total_ios"], &job["hosts"][0]["share"]), (&1020.into(), &0.5.into()));
    let text = results[1].content.clone().expect("a result");
    let lost = text.replace(r#""total_err":3"#, r#""total_err":2"#);
    assert_ne!(lost, text);
    let found = troubles(&[results[0].clone(), Given { file: "b".into(), content: Ok(lost) }]);
    assert!(matches!(&found[..], [(file, Trouble::NotAResult(_))] if file == "b"), "{found:?}");
}

#[test]
fn hosts_that_began_outside_the_limit_make_the_result_invalid() {
    let first = given("a.json", reads(0, &[100_000; 20]), &host("rack1", 2, true));
    let apart = |ms, error_ms| {
        let later = given("b.json", reads(ms, &[100_000; 20]), &host("rack2", error_ms, true));
        combine(&[first.clone(), later], LIMIT)
    };
    assert!(apart(90, 8).is_ok() && apart(-90, 8).is_ok());
    for (ms, error_ms, file) in [(101, 0, "b.json"), (90, 9, "b.json"), (-99, 0, "a.json")] {
        let problems = apart(ms, error_ms).expect_err("too far apart");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].file == file && matches!(problems[0].trouble, Trouble::Skew { .. }),
            "{problems:?}"
        );
    }
    let text = apart(90, 9).expect_err("too far apart")[0].to_string();
    let expected = "b.json: job began 90.000 ms later on rack2 than on rack1 (101.000 ms including the errors of both clocks); \
                    --skew-limit is 100.000 ms";
    assert_eq!(text, expected);
}

#[test]
fn clocks_that_are_not_synchronized_are_compared_only_with_themselves() {
    let result = |file: &str, ms, origin: &Origin| given(file, reads(ms, &[100_000; 20]), origin);
    let free = host("rack1", 16_000, false);
    assert!(combine(&[result("a", 0, &free), result("b", 1, &free)], LIMIT).is_ok());
    let found = troubles(&[result("a", 0, &free), result("b", 1, &host("rack2", 1, true))]);
    assert_eq!(found, [("a".into(), Trouble::Unsynchronized { host: "rack1".into() })]);
    let unknown = Origin { clock: None, ..host("rack1", 0, true) };
    let found = troubles(&[result("a", 0, &unknown), result("b", 1, &host("rack2", 1, true))]);
    assert_eq!(found, [("a".into(), Trouble::Unsynchronized { host: "rack1".into() })]);
}

#[test]
fn a_result_that_is_missing_or_incomplete_is_not_left_out() {
    let good = given("a", reads(0, &[100_000; 20]), &origin());
    let with =
        |content: Result<String, String>| troubles(&[good.clone(), Given { file: "b".into(), content }]);
    let one = |trouble| [("b".to_owned(), trouble)];
    assert_eq!(with(Err("no such file".into())), one(Trouble::Unreadable("no such file".into())));
    assert_eq!(with(Ok("\n".into())), one(Trouble::Empty));
    assert_eq!(with(good.content.clone()), one(Trouble::Duplicate { first: "a".into() }));
    let failed = r#"{"error":"interrupted","exit_code":130,"run":null}"#;
    let expected = Trouble::Failed { error: "interrupted".into(), exit_code: Some(130) };
    assert_eq!(with(Ok(failed.into())), one(expected));
    let mut simulated = reads(1, &[100_000; 20]);
    simulated.span = None;
    assert_eq!(with(given("b", simulated, &origin()).content), one(Trouble::Simulated));
    let idle = given("b", reads(1, &[]), &origin());
    assert_eq!(with(idle.content), one(Trouble::Nothing { job: "job".into() }));
    let mut other = reads(1, &[100_000; 20]);
    other.name = "other".into();
    assert_eq!(with(given("b", other, &origin()).content), one(Trouble::OtherJobs { first: "a".into() }));
}

#[test]
fn results_of_different_loads_are_not_combined() {
    let good = given("a", reads(0, &[100_000; 20]), &origin());
    let with = |change: &dyn Fn(&mut record::Workload)| {
        let mut part = reads(1, &[100_000; 21]);
        change(&mut part.segments[0].workload);
        combine(&[good.clone(), given("b", part, &origin())], LIMIT)
    };
    let same = with(&|load| {
        (load.seed, load.range) = (7, record::Range::first(1 << 20));
    });
    assert!(same.is_ok(), "each host has its own seed and target");
    let changes: [&dyn Fn(&mut record::Workload); 4] = [
        &|load| load.access = record::Access::Sequential,
        &|load| load.block_bytes = 1 << 20,
        &|load| load.queue_depth = 7,
        &|load| load.until = record::Until::DurationNs(7),
    ];
    for change in changes {
        let problems = with(change).expect_err("another load");
        assert_eq!(problems[0].trouble, Trouble::OtherLoad { job: "job".into(), first: "a".into() });
    }
}

#[test]
fn a_result_that_contradicts_itself_is_refused() {
    let good = given("a", reads(0, &[100_000; 20]), &origin());
    let text = given("b", reads(1, &[100_000; 21]), &origin()).content.expect("a result");
    for (from, to) in [
        (r#""N":21"#, r#""N":22"#),
        (r#""total_ios":21"#, r#""total_ios":20"#),
        (r#""min":100000"#, r#""min":1"#),
        (r#""mean":100000.0"#, r#""mean":1e300"#),
        (r#""not_in_bins":0"#, r#""not_in_bins":1"#),
        (r#""io_bytes":86016"#, r#""io_bytes":18446744073709551615"#),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        let changed = Given { file: "b".into(), content: Ok(text.replace(from, to)) };
        let found = troubles(&[good.clone(), changed]);
        assert!(matches!(&found[..], [(file, Trouble::NotAResult(_))] if file == "b"), "{from}: {found:?}");
    }
}
