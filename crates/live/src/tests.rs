use super::*;
use proptest::prelude::*;

fn second(elapsed_seconds: f64) -> LiveSecond {
    LiveSecond {
        elapsed_seconds,
        iops: 30_260.0,
        bytes_per_second: 123.9e6,
        mean_latency_seconds: 0.001_06,
        max_latency_seconds: 0.0123,
    }
}

fn live() -> Live {
    Live {
        run: "7m2k9q-iops-disk".into(),
        time: "2026-03-01T09:00:00Z".parse().expect("a time"),
        test: Some("iops".into()),
        phase: Some(LivePhase::Cell),
        step: Some("RND 4KiB 50/50".into()),
        round: Some(4),
        max_rounds: Some(25),
        cell: Some(31),
        cells: Some(56),
        share_done: Some(0.42),
        inactive_seconds: None,
        elapsed_seconds: Some(25.0),
        left_seconds: Some(35.0),
        left_is_estimate: false,
        test_left_min_seconds: Some(4_920.0),
        test_left_max_seconds: Some(75_480.0),
        temperature_celsius: Some(41),
        host_limited: false,
        load_written_bytes: Some(1 << 30),
        seconds: (1..=25).map(|elapsed| second(f64::from(elapsed))).collect(),
    }
}

#[test]
fn written_data_is_read_back() {
    let bytes = live().encode();
    assert_eq!(Live::parse(&bytes).expect("valid"), live());
    // The current state is followed by the tail of an earlier, longer state.
    let longer = [&bytes[..], b"\"step\":\"old\"}"].concat();
    assert_eq!(Live::parse(&longer).expect("valid"), live());
}

#[test]
fn every_mixture_of_two_states_is_incomplete() {
    let (old, new) = (live().encode(), Live { round: Some(5), share_done: Some(0.0), ..live() }.encode());
    let torn = |at: usize| [&new[..at], old.get(at..).unwrap_or_default()].concat();
    for at in 1..new.len() {
        let parsed = Live::parse(&torn(at));
        let is_whole = torn(at) == old || torn(at).starts_with(&new);
        assert_eq!(parsed.is_ok(), is_whole, "at {at}: {parsed:?}");
        assert!(Live::parse(&new[..at]).is_err());
    }
}

#[test]
fn a_state_stays_within_the_limits_of_readers() {
    let endless = Live {
        test: Some("\u{1b}".repeat(5_000)),
        step: Some("\u{202e}".repeat(5_000)),
        elapsed_seconds: Some(f64::NAN),
        left_seconds: Some(f64::INFINITY),
        share_done: Some(1.5),
        seconds: (0..5_000).map(|elapsed| second(f64::from(elapsed))).collect(),
        ..live()
    };
    let bytes = endless.encode();
    assert!((bytes.len() as u64) < MOST_BYTES, "{}", bytes.len());
    let read = Live::parse(&bytes).expect("valid");
    assert_eq!((read.elapsed_seconds, read.left_seconds, read.share_done), (None, None, Some(1.0)));
    assert_eq!((read.seconds.len(), read.seconds[59].elapsed_seconds), (MOST_LIVE_SECONDS, 4_999.0));
    let texts = [read.test.expect("a test"), read.step.expect("a step")];
    assert!(texts.iter().all(|text| !text.chars().any(stdx::text::is_unprintable)), "{texts:?}");
}

#[test]
fn impossible_numbers_are_refused() {
    let altered = |from: &str, to: &str| {
        let text = String::from_utf8(live().encode()).expect("text");
        let json = text.split_once('\n').expect("two lines").1.replacen(from, to, 1);
        let digest = Digest::of(json.as_bytes());
        Live::parse(format!("{MAGIC} {digest} {}\n{json}", json.len()).as_bytes())
    };
    assert!(altered("0.42", "0.43").is_ok());
    for (from, to) in [("0.42", "1.01"), ("30260.0", "-1.0"), ("30260.0", "1e999"), ("35.0", "-0.1")] {
        assert!(matches!(altered(from, to), Err(LiveError::Invalid { .. })), "{to}");
    }
}

proptest! {
    #[test]
    fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Live::parse(&bytes).is_err());
        let magic = [MAGIC.as_bytes(), b" ", &bytes].concat();
        prop_assert!(Live::parse(&magic).is_err());
    }
}
