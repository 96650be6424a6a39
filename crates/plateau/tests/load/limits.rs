//! Jobs that start later, and limits that end a load with an error, as in fio.

use super::support::texts;
use super::{Bench, json};

#[test]
fn a_job_that_misses_a_limit_fails_with_both_numbers() {
    let job = "[slow]\nfilename=DATA\nrw=randread\nrate_iops=50\nruntime=60\ntime_based\n";
    for (limits, messages) in [
        ("rate_min=900g", ["job slow: rate_min: ", " B/s is less than 966367641600 B/s; "]),
        (
            "rate_iops_min=1000,1\nrate_cycle=2000",
            ["job slow: rate_iops_min: ", " IOPS is less than 1000 IOPS; "],
        ),
        ("bs=1m\nmax_latency=1", ["job slow: max_latency: an I/O took ", " us, which is more than 1.0 us; "]),
    ] {
        let output = Bench::new(&format!("{job}{limits}\n")).run(&[]);
        let error = texts(&output).1;
        assert_eq!(output.status.code(), Some(7), "{limits}: {error}");
        assert!(messages.iter().all(|message| error.contains(message)), "{limits}: {error}");
    }
    // Others do not end a load.
    let fine = "[fine]\nfilename=DATA\nrw=randread\nruntime=4\ntime_based\nrate_min=1\nrate_iops_min=1\nmax_latency=1h\n";
    let output = Bench::new(fine).run(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // A load may end before its second; its response times are compared with the limit nevertheless.
    let short = "[short]\nfilename=DATA\nrw=randread\nbs=1m\nnumber_ios=1\nmax_latency=1\n";
    assert_eq!(Bench::new(short).run(&[]).status.code(), Some(7));
}

#[test]
fn delayed_jobs_start_later_and_share_no_target_with_others() {
    let bench =
        Bench::new("[a]\nfilename=DATA\nnumber_ios=1\n[b]\nfilename=DATA2\nnumber_ios=1\nstartdelay=2\n");
    std::fs::copy(bench.data(), bench.dir.path().join("data2")).expect("a copy");
    let document = json(&bench.run(&["--json"]));
    let start = |job: usize| {
        let text = document["jobs"][job]["began"].as_str().unwrap_or_else(|| panic!("{document:#}"));
        text.parse::<jiff::Timestamp>().expect("a time")
    };
    let delay = start(1).duration_since(start(0));
    // The threads start together, and the first may be late on a busy machine.
    assert!(delay.as_secs_f64() > 1.0, "{delay:?}");

    let shared = "[a]\nfilename=DATA\n[b]\nfilename=DATA\nstartdelay=2\n";
    let error = texts(&Bench::new(shared).run(&[])).1;
    assert!(error.contains("[b]: startdelay differs from other jobs of the same target"), "{error}");
    let apart =
        "[a]\nfilename=DATA\nnumber_ios=1\n[b]\nfilename=DATA\nnumber_ios=1\nstonewall\nstartdelay=100ms\n";
    assert_eq!(Bench::new(apart).run(&[]).status.code(), Some(0));
    let simulated = "[a]\nfilename=sim:sas-slc-2011\nstartdelay=2\n";
    let error = texts(&Bench::new(simulated).run(&[])).1;
    assert!(error.contains("a simulated drive has its own time"), "{error}");
}
