use super::*;

fn state(text: &str, seconds: u64, ramp_seconds: u64, interval_seconds: u64) -> SteadyState {
    let steady = Steady {
        criterion: Some(criterion(text).unwrap()),
        duration_ns: seconds * SECOND_NS,
        ramp_ns: ramp_seconds * SECOND_NS,
        interval_ns: Some(interval_seconds * SECOND_NS),
    };
    steady.state(0).unwrap().unwrap()
}

fn tick(second: u64, ios: u64, latency_mean_ns: u64) -> Tick {
    Tick {
        elapsed_ns: second * SECOND_NS,
        interval_ns: SECOND_NS,
        read_ios: ios,
        write_ios: 0,
        syncs: 0,
        bytes: ios * 4096,
        latency_mean_ns,
        latency_max_ns: latency_mean_ns,
        share_done: 0.0,
    }
}

/// Returns the second in which a job with these IOPS is steady.
fn steady_at(state: SteadyState, iops: &[u64]) -> Option<usize> {
    let mut search = Search::new(state, 1);
    (1..)
        .zip(iops)
        .find(|(second, iops)| search.add(0, &tick(*second, **iops, 1000)))
        .map(|found| found.0 as usize)
}

#[test]
fn deviations_and_slopes_are_as_in_fio() {
    // Mean 103, largest deviation 3: 2.9 %.
    assert_eq!(steady_at(state("iops:3%", 3, 0, 1), &[200, 106, 103, 100, 90]), Some(4));
    assert_eq!(steady_at(state("iops:2%", 3, 0, 1), &[200, 106, 103, 100, 90]), None);
    // fio compares with "less than".
    assert_eq!(steady_at(state("iops:3", 3, 0, 1), &[106, 103, 100]), None);
    assert_eq!(steady_at(state("iops:4", 3, 0, 1), &[106, 103, 100]), Some(3));
    // The slope is per value and may be negative: -3 of 103.
    assert_eq!(steady_at(state("iops_slope:3%", 3, 0, 1), &[200, 106, 103, 100]), Some(4));
    assert_eq!(steady_at(state("iops_slope:2.9%", 3, 0, 1), &[200, 106, 103, 100]), None);
    // An alternating rate has a large deviation but no slope.
    assert_eq!(steady_at(state("bw_slope:1%", 3, 0, 1), &[100, 50, 100]), Some(3));
    assert_eq!(steady_at(state("bw:1k", 3, 0, 1), &[100, 100, 100]), Some(3));
    // If nothing completes, no rate is steady in percent.
    assert_eq!(steady_at(state("iops:5%", 2, 0, 1), &[0, 0, 0, 0]), None);
    assert!((slope(&[1.0, 3.0, 5.0, 7.0]) - 2.0).abs() < 1e-12);
}

#[test]
fn the_ramp_and_the_interval_delay_the_first_value() {
    let level = [100; 20];
    assert_eq!(steady_at(state("iops:5%", 3, 0, 1), &level), Some(3));
    assert_eq!(steady_at(state("iops:5%", 3, 5, 1), &level), Some(8));
    assert_eq!(steady_at(state("iops:5%", 6, 5, 2), &level), Some(11));
    // The job's own ramp of 4 s applies if `steadystate_ramp_time` is shorter.
    let steady =
        Steady { criterion: criterion("iops:5%").ok(), duration_ns: 2 * SECOND_NS, ..Steady::default() };
    assert_eq!(steady_at(steady.state(4 * SECOND_NS).unwrap().unwrap(), &level), Some(6));
}

#[test]
fn response_times_are_weighted_by_their_number() {
    let mut search = Search::new(state("lat:10%", 2, 0, 1), 2);
    // 100 I/Os of 1 us and 300 of 3 us: 2.5 us; then 2.2 us.
    assert!(!search.add(0, &tick(1, 100, 1000)) && !search.add(1, &tick(1, 300, 3000)));
    assert!(!search.add(1, &tick(2, 400, 2200)));
    assert!(search.add(0, &tick(2, 0, 0)));
    let result = search.result();
    assert_eq!((result.attained, result.iops_mean), (true, 400.0));
    assert_eq!(result.to_string(), "lat:10% over 2 s attained after 2 s, 6.382979%");
}

#[test]
fn streams_are_combined_interval_by_interval() {
    let mut search = Search::new(state("iops:1%", 2, 0, 1), 2);
    // One stream slows down while the other speeds up.
    let steps = [(0, 1, 100), (1, 1, 50), (0, 2, 60), (0, 3, 10)];
    assert!(steps.iter().all(|(stream, second, ios)| !search.add(*stream, &tick(*second, *ios, 1000))));
    assert!(search.add(1, &tick(2, 90, 1000)));
    let unfinished = Search::new(state("iops:1%", 2, 0, 1), 2).result();
    assert_eq!(unfinished.to_string(), "iops:1% over 2 s not attained, not evaluated");
}

#[test]
fn incomplete_options_are_refused() {
    let with = |duration_ns, interval_ns| {
        let steady = Steady { criterion: criterion("iops:1%").ok(), duration_ns, ramp_ns: 0, interval_ns };
        steady.state(0)
    };
    for (duration_ns, interval_ns, expected) in [
        (0, None, "needs a steadystate_duration"),
        (SECOND_NS, None, "needs a steadystate_duration"),
        (5 * SECOND_NS, Some(2 * SECOND_NS), "needs a steadystate_duration"),
        (5 * SECOND_NS, Some(SECOND_NS / 2), "whole seconds"),
        (5 * SECOND_NS, Some(0), "whole seconds"),
    ] {
        let error = with(duration_ns, interval_ns).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(Steady::default().state(0), Ok(None));
}
