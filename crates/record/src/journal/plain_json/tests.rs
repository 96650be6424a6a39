//! Compares what the parser accepts with `serde_json`.

use super::*;
use crate::{Entry, Series};
use proptest::prelude::*;
use serde_json::Value;

/// Returns whether the text is accepted; if so, checks that `serde_json` reads it the same way.
fn is_accepted<T: for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug>(json: &str) -> bool {
    let read = parsed::<T>(json, Detail::All);
    if let Some(value) = &read {
        assert_eq!(*value, serde_json::from_str::<T>(json).expect(json), "{json}");
    }
    read.is_some()
}

#[test]
fn what_this_program_writes_is_accepted() {
    let series = r#"{"interval_ns":1,"read_ios":[3,0],"write_ios":[],"latency_mean_ns":[5,0],"latency_max_ns":[9,18446744073709551],"times":{"intervals_per_column":2,"columns":[[0,3,12,1],[]]}}"#;
    assert!(is_accepted::<Series>(series));
    for event in [
        r#""closed""#,
        r#"{"idled":{"length_ns":7}}"#,
        r#"{"test_ended":{"test":"iops","converged":null}}"#,
        r#"{"write_cache":{"was_on":true,"is_on":false}}"#,
        r#"{"noted":"rounds_ended"}"#,
        r#"{"noted":{"judged":{"round":5,"steady":false,"variables":[{"name":"W","value":1.5e3,"range_share":null,"slope_share":-0.25,"steady":true}]}}}"#,
        r#"{"health":{"at_ns":1,"health":{"temperature_celsius":-4,"power_milliwatts":{"package-0":12}}}}"#,
    ] {
        let entry = format!(r#"{{"seq":1,"wall":"2026-01-01T00:00:00Z","event":{event}}}"#);
        assert!(is_accepted::<Entry>(&entry), "{entry}");
    }
}

#[test]
fn conclusions_are_read_without_details() {
    let series = r#"{"interval_ns":1,"read_ios":[3,0],"write_ios":[1,2],"latency_mean_ns":[5,0],"latency_max_ns":[9,8],"times":{"intervals_per_column":2,"columns":[[0,3,12,1],[]]}}"#;
    let all: Series = parsed(series, Detail::All).expect(series);
    let read: Series = parsed(series, Detail::Conclusions).expect(series);
    assert!(read.times.as_ref().is_some_and(|times| times.is_empty()));
    let none = stdx::Packed::default();
    let expected =
        Series { latency_mean_ns: none.clone(), latency_max_ns: none, times: read.times.clone(), ..all };
    assert_eq!(read, expected);
    // What follows the text that is left out is read as well.
    for wrong in
        [series.replace("]]}}", "]]}"), series.replace("\"latency_max_ns\":[9,8]", "\"latency_max_ns\":[9,8")]
    {
        assert!(parsed::<Series>(&wrong, Detail::Conclusions).is_none(), "{wrong}");
    }
}

#[test]
fn everything_else_is_left_to_the_other_parser() {
    for json in [
        "",
        "[",
        "[1",
        "[1,]",
        "[,1]",
        "[1 ,2]",
        "[1]]",
        "[01]",
        "[-0]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[+1]",
        "[1e999]",
        "[18446744073709551616]",
        "[-9223372036854775808]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1,}",
        "\"a",
        "tru",
        "nul",
        "1x",
        "--1",
        "[1}",
        "{\"a\":1]",
        "NaN",
    ] {
        assert!(!is_accepted::<Value>(json), "{json}");
    }
    assert!(!is_accepted::<u64>("1.5") && !is_accepted::<u64>("1e2") && is_accepted::<u64>("12"));
    let deep = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
    assert!(is_accepted::<Value>(&deep(64)) && !is_accepted::<Value>(&deep(65)));
    assert!(!is_accepted::<Value>(&deep(100_000)));
}

/// This number is just above the midpoint of two adjacent `f32` values; rounded to an `f64`, it is the exact
/// midpoint.
#[test]
fn a_number_of_32_bits_is_rounded_once() {
    let text = "1.00000005960464477540";
    assert_eq!(serde_json::from_str::<f32>(text).unwrap(), 1.000_000_1);
    assert!(!is_accepted::<f32>(text) && !is_accepted::<Vec<f32>>("[1.5]"));
    assert!(is_accepted::<f64>(text));
}

proptest! {
    #[test]
    fn accepted_text_means_the_same_to_the_other_parser(json in "[-+.,:eE\\[\\]{}\"019atrufalsn ]{0,24}") {
        is_accepted::<Value>(&json);
        is_accepted::<Vec<Vec<u64>>>(&json);
        is_accepted::<Vec<Option<f64>>>(&json);
    }

    #[test]
    fn arrays_of_integers_mean_the_same_to_the_other_parser(
        numbers in "[0-9,]{0,12}|[-.\\]\\[{}\"a0-9, ]{0,12}", columns in "[0-9,]{0,8}|(\\[[0-9,]{0,8}\\],?){0,3}"
    ) {
        let series = format!(
            r#"{{"interval_ns":1,"read_ios":[{numbers}],"write_ios":[],"latency_mean_ns":[],"latency_max_ns":[],"times":{{"intervals_per_column":1,"columns":[{columns}]}}}}"#
        );
        is_accepted::<Series>(&series);
    }

    #[test]
    fn numbers_are_read_exactly(whole in any::<u64>(), negative in any::<i64>(), fraction in any::<f64>()) {
        prop_assert!(is_accepted::<u64>(&whole.to_string()));
        is_accepted::<i64>(&negative.to_string());
        if fraction.is_finite() {
            is_accepted::<f64>(&serde_json::to_string(&fraction).unwrap());
        }
    }
}
