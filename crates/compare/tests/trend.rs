//! Trends: drift, control limits, firmware changes, and the page.

use compare::{Point, Trend, trend_html, trend_text};
use jiff::Timestamp;
use report::parts::Better;

const SECONDS_PER_DAY: f64 = 86_400.0;

fn trend(values: &[(f64, f64, &str, &str)]) -> Trend {
    let point = |(number, (day, value, drive, firmware)): (usize, &(f64, f64, &str, &str))| Point {
        run: format!("run{number}"),
        created: Timestamp::from_second(1_700_000_000 + (day * SECONDS_PER_DAY) as i64).expect("a time"),
        drive: (*drive).into(),
        firmware: Some((*firmware).into()),
        state: "steady".into(),
        settings: "pts-e-1.1, TC 1, QD 1".into(),
        simulated: None,
        value: *value,
        rounds: vec![value - 1.0, *value, value + 1.0],
        host_limited: false,
    };
    Trend {
        subject: "A".into(),
        figure: "iops.rnd4k.w".into(),
        name: "RND 4KiB W".into(),
        unit: "IOPS".into(),
        better: Better::More,
        points: values.iter().enumerate().map(point).collect(),
    }
}

#[test]
fn the_drift_of_a_straight_line_is_exact() {
    let line = trend(&[(0.0, 100.0, "A", "1"), (10.0, 105.0, "A", "1"), (20.0, 110.0, "A", "1")]);
    let drift = line.drift().expect("three runs");
    assert!((drift.percent - 10.0 / 105.0 * 100.0).abs() < 1e-9, "{drift:?}");
    assert!(drift.is_beyond_noise());
    assert!((drift.ends.0 - 100.0).abs() < 1e-9 && (drift.ends.1 - 110.0).abs() < 1e-9, "{drift:?}");
    let (mean, spread) = line.mean().expect("runs");
    assert!(
        (mean - 105.0).abs() < 1e-9 && (spread.expect("three values") - 5.0 / 105.0 * 100.0).abs() < 1e-9
    );
}

/// A textbook regression with a known confidence interval: Anscombe's first data set (slope 0.5001, standard error
/// 0.1179, 9 degrees of freedom).
#[test]
fn the_interval_of_the_drift_is_that_of_the_slope() {
    let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
    let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
    let mut both: Vec<(f64, f64, &str, &str)> = x.iter().zip(y).map(|(x, y)| (*x, y, "A", "1")).collect();
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    let drift = trend(&both).drift().expect("eleven runs");
    let percent = |slope: f64| slope * 10.0 / 7.500_909 * 100.0;
    assert!((drift.percent - percent(0.5001)).abs() < 0.01, "{drift:?}");
    assert!((drift.interval_percent.0 - percent(0.5001 - 2.262 * 0.1179)).abs() < 0.05, "{drift:?}");
    assert!((drift.interval_percent.1 - percent(0.5001 + 2.262 * 0.1179)).abs() < 0.05, "{drift:?}");
}

#[test]
fn a_change_of_firmware_is_marked_for_its_own_drive() {
    let both = trend(&[
        (0.0, 100.0, "A", "1"),
        (1.0, 101.0, "A", "1"),
        (2.0, 300.0, "B", "2"),
        (3.0, 200.0, "A", "2"),
        (4.0, 201.0, "A", "2"),
    ]);
    let changes = both.firmware_changes();
    assert_eq!(changes.len(), 1);
    assert_eq!((&*changes[0].run, &*changes[0].drive), ("run3", "A"));
    let difference = changes[0].difference.expect("two runs each");
    assert!((difference.percent - 100.0 / 100.5 * 100.0).abs() < 1e-9, "{difference:?}");
    assert_eq!(difference.finding.word(), "better");
    let text = trend_text(&both, None);
    assert!(text.contains("firmware 1 -> 2 of A from run3 on: +99.5 %, better"), "{text}");
    assert_eq!(text.matches("2 (new)").count(), 1, "{text}");
    assert_eq!(both.drives(), ["A", "B"]);
}

/// The example in section 6.3.2.2 of the NIST/SEMATECH handbook of statistical methods: flow rates of ten batches.
#[test]
fn control_limits_are_those_of_the_published_example() {
    let rates = [49.6, 47.6, 49.9, 51.3, 47.8, 51.2, 52.6, 52.4, 53.6, 52.1];
    let runs: Vec<(f64, f64, &str, &str)> =
        rates.iter().enumerate().map(|(day, rate)| (day as f64, *rate, "A", "1")).collect();
    let control = trend(&runs).control().expect("ten runs");
    assert!(
        (control.limits.0 - 45.8159).abs() < 0.001 && (control.limits.1 - 55.8041).abs() < 0.001,
        "{control:?}"
    );
    assert_eq!((control.outside.len(), control.is_newest_outside), (0, false));
    let changed = trend(&[&runs[..], &[(10.0, 70.0, "A", "1")]].concat());
    let control = changed.control().expect("eleven runs");
    assert_eq!((&control.outside[..], control.is_newest_outside), (&["run10".to_owned()][..], true));
    assert!(trend_text(&changed, None).contains("WARNING: the newest run"));
    assert_eq!(trend(&runs[..7]).control(), None);
    assert_eq!(trend(&[&runs[..], &[(10.0, 50.0, "B", "1")]].concat()).control(), None);
}

/// A value that falls from 1,800 to 5.5 changes by more than 100 % of the mean, so the text must not say -192 %.
#[test]
fn a_large_drift_is_given_in_the_unit_of_the_figure_and_columns_have_equal_decimals() {
    let fall = trend(&[(0.0, 1800.0, "A", "1"), (10.0, 1000.0, "A", "1"), (20.0, 5.5, "A", "1")]);
    let text = trend_text(&fall, None);
    assert!(text.contains("first to the last run: -1,794.5 IOPS (95 % interval "), "{text}");
    assert!(text.contains("of the mean") && !text.contains("-19"), "{text}");
    let value = |run: &str| {
        let line = text.lines().find(|line| line.starts_with(run)).expect("a row");
        line.split_whitespace().nth(5).expect("a value").to_owned()
    };
    assert_eq!(["run0", "run1", "run2"].map(value), ["1,800.0", "1,000.0", "5.5"]);
}

#[test]
fn a_lower_control_limit_is_not_negative_if_no_value_is() {
    let values: Vec<(f64, f64, &str, &str)> =
        (0..8).map(|day| (f64::from(day), if day % 2 == 0 { 10.0 } else { 90.0 }, "A", "1")).collect();
    let control = trend(&values).control().expect("eight runs");
    assert!(control.limits.0.abs() < 1e-9 && control.limits.1 > 90.0, "{control:?}");
}

#[test]
fn too_few_runs_have_no_drift() {
    for few in [&[][..], &[(0.0, 1.0, "A", "1")], &[(0.0, 1.0, "A", "1"), (1.0, 2.0, "A", "1")]] {
        assert_eq!(trend(few).drift(), None);
    }
    let at_once = [(1.0, 1.0, "A", "1"), (1.0, 2.0, "A", "1"), (1.0, 3.0, "A", "1")];
    assert_eq!(trend(&at_once).drift(), None);
}

#[test]
fn different_settings_and_limits_of_the_host_are_reported() {
    let mut odd = trend(&[(0.0, 100.0, "A", "1"), (1.0, 101.0, "B", "1"), (2.0, 99.0, "B", "2")]);
    odd.points[0].settings = "pts-c-1.1, TC 2, QD 2".into();
    odd.points[1].host_limited = true;
    let text = trend_text(&odd, None);
    assert!(
        text.contains("the runs differ in settings that affect results")
            && text.contains("* 1 value may reflect"),
        "{text}"
    );
    assert!(text.contains("101.0*"), "{text}");
}

#[test]
fn names_are_escaped_on_pages() {
    let mut odd = trend(&[(0.0, 100.0, "<script>", "1"), (1.0, 101.0, "B", "1"), (4.0, 99.0, "B", "2")]);
    odd.subject = "<b>".into();
    let page = trend_html(&odd);
    assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
    assert!(page.contains("&lt;script&gt;") && page.contains("<svg"), "{page}");
}

#[test]
fn a_trend_fits_the_terminal() {
    let id = "h7x2k1-4-tests-nvme-tlc-2018";
    let named = |values: &[(f64, f64, &str, &str)]| {
        let mut trend = trend(values);
        trend.points.iter_mut().for_each(|point| point.run = id.into());
        trend
    };
    let one = named(&[(0.0, 21_461.0, "S4EWNX0R", "GXA7401Q"), (1.0, 21_470.0, "S4EWNX0R", "GXA7401Q")]);
    let lines = |trend: &Trend, width| {
        let text = trend_text(trend, width);
        let (table, _) = text.split_once("mean ").expect("findings");
        table.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let is_row = |line: &&String| line.starts_with(id);
    let wide = lines(&one, None);
    assert!(wide.iter().any(|line| line.contains("  S4EWNX0R  GXA7401Q  ")), "{wide:?}");
    assert_eq!(lines(&one, Some(120)), wide, "a wide terminal has room for everything");
    let narrow = lines(&one, Some(80));
    assert!(narrow.iter().all(|line| line.chars().count() <= 80), "{narrow:?}");
    assert!(narrow.contains(&"drive S4EWNX0R, firmware GXA7401Q".to_owned()), "{narrow:?}");
    assert_eq!(narrow.iter().filter(is_row).count(), 2, "{narrow:?}");
    assert!(narrow.iter().filter(is_row).all(|line| line.contains(" to ")), "with the interval: {narrow:?}");
    let two = named(&[(0.0, 21_461.0, "S4EWNX0R", "GXA7401Q"), (1.0, 21_470.0, "S4EWNX0T", "GXA7401Q")]);
    let narrow = lines(&two, Some(80));
    assert!(narrow.iter().all(|line| line.chars().count() <= 80), "{narrow:?}");
    assert!(narrow.contains(&"firmware GXA7401Q".to_owned()), "{narrow:?}");
    assert!(
        narrow.contains(&"  S4EWNX0R".to_owned()) && narrow.contains(&"  S4EWNX0T".to_owned()),
        "{narrow:?}"
    );
}

/// Runs of a simulated drive have the same values, whose mean may differ from them in the last bit.
#[test]
fn equal_values_are_within_their_control_limits() {
    let value = 719.617_948_497_336;
    let equal = |count: usize| -> Vec<(f64, f64, &str, &str)> {
        (0..count).map(|day| (day as f64, value, "A", "1")).collect()
    };
    for count in 8..100 {
        let control = trend(&equal(count)).control().expect("enough runs");
        assert_eq!((control.outside.len(), control.is_newest_outside), (0, false), "{count}: {control:?}");
    }
    let changed = trend(&[&equal(14)[..], &[(14.0, value * 1.000_001, "A", "1")]].concat());
    assert!(changed.control().expect("enough runs").is_newest_outside, "a real change");
}
