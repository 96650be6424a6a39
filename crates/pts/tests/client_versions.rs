//! The client profiles 1.1 and 1.2, to the extent that sources describe them.

mod support;

use pts::{Profile, deviations};
use record::Settings;
use support::{Fake, run_on, target};

const GIB: u64 = 1 << 30;

/// The variants of the public implementation of PTS-C 1.1: {100 %, 75 %} x {8 GiB, 16 GiB} in 2048 segments.
#[test]
fn four_active_ranges_conform() {
    for name in ["pts-c-1.1", "pts-c-1.2"] {
        let profile = Profile::named(name).unwrap();
        let of = |percent: u8, amount_bytes: Option<u64>, segments: u32| {
            let settings = Settings {
                precondition_range_percent: percent,
                test_range_percent: percent,
                active_range_amount_bytes: amount_bytes,
                active_range_segments: segments,
                ..profile.settings(1)
            };
            pts::texts(&deviations(&settings, profile))
        };
        for percent in [100, 75] {
            for amount in [8 * GIB, 16 * GIB] {
                assert_eq!(of(percent, Some(amount), 2048), [""; 0], "{name} {percent} % {amount}");
            }
        }
        assert_eq!(of(50, Some(16 * GIB), 2048).len(), 2, "PC AR and Test AR");
        let different = Settings { precondition_range_percent: 75, ..profile.settings(1) };
        let expected = ["PC AR 75 % instead of 100 %"];
        assert_eq!(
            pts::texts(&deviations(&different, profile)),
            expected,
            "a quarter of the test range is not preconditioned"
        );
        assert_eq!(of(100, Some(4 * GIB), 2048).len(), 1);
        assert_eq!(of(100, Some(8 * GIB), 1024).len(), 1);
        assert_eq!(of(100, None, 2048).len(), 1);
    }
}

#[test]
fn the_first_version_has_no_choice_of_ranges() {
    let profile = Profile::named("pts-c-1.0").unwrap();
    let settings = Settings { test_range_percent: 75, ..profile.settings(1) };
    assert_eq!(pts::texts(&deviations(&settings, profile)), ["Test AR 75 % instead of 100 %"]);
}

#[test]
fn the_tests_are_those_of_1_0_and_what_is_unsourced_is_named() {
    let old = Profile::named("pts-c-1.0").unwrap();
    for name in ["pts-c-1.1", "pts-c-1.2"] {
        let profile = Profile::named(name).unwrap();
        assert_eq!(profile.tests, old.tests);
        assert!(!profile.unsourced.is_empty());
        let outcome = run_on("iops", name, &target(512), &mut Fake::new(|_, _| 1_000));
        assert_eq!(
            (outcome.header.ar_amount.as_str(), outcome.header.ar_segments.as_str()),
            ("16 GiB", "2048")
        );
        assert!(outcome.modified.is_empty());
    }
    assert!(old.unsourced.is_empty());
}
