use super::*;
use crate::result::tests::{origin, part};

/// The keys of fio 3.33 for a job, except for `iodepth_submit` and `iodepth_complete`, which are not measured.
const JOB_KEYS: &[&str] = &[
    "jobname",
    "groupid",
    "error",
    "eta",
    "elapsed",
    "job options",
    "read",
    "write",
    "trim",
    "sync",
    "job_runtime",
    "usr_cpu",
    "sys_cpu",
    "ctx",
    "majf",
    "minf",
    "iodepth_level",
    "latency_ns",
    "latency_us",
    "latency_ms",
    "latency_depth",
    "latency_target",
    "latency_percentile",
    "latency_window",
];
/// The keys of fio 3.33 for reads, writes and trims.
const WAY_KEYS: &[&str] = &[
    "io_bytes",
    "io_kbytes",
    "bw_bytes",
    "bw",
    "iops",
    "runtime",
    "total_ios",
    "short_ios",
    "drop_ios",
    "slat_ns",
    "clat_ns",
    "lat_ns",
    "bw_min",
    "bw_max",
    "bw_agg",
    "bw_mean",
    "bw_dev",
    "bw_samples",
    "iops_min",
    "iops_max",
    "iops_mean",
    "iops_stddev",
    "iops_samples",
];
const TOP_KEYS: &[&str] = &["fio version", "timestamp", "timestamp_ms", "time", "global options", "jobs"];

#[test]
fn programs_that_read_the_json_of_fio_find_its_keys() {
    let mut part = part(400_000_000, None, false);
    for ns in [900, 1_100, 1_900, 150_000, 900_000, 1_100_000, 3_000_000_000, 3_000_000_000] {
        part.segments[0].read.latency.record(ns);
    }
    part.segments[0].workload.queue_depth = 33;
    let parts = [part];
    let document = serde_json::to_value(Document::of(&parts, None, &origin())).unwrap();
    let job = &document["jobs"][0];
    let lacks = |of: &serde_json::Value, keys: &[&str]| -> Vec<String> {
        keys.iter().filter(|key| of.get(**key).is_none()).map(|key| (*key).to_owned()).collect()
    };
    assert_eq!(lacks(&document, TOP_KEYS), [""; 0]);
    assert_eq!(lacks(job, JOB_KEYS), [""; 0]);
    for way in ["read", "write", "trim"] {
        assert_eq!(lacks(&job[way], WAY_KEYS), [""; 0]);
    }
    let unit = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"];
    for (key, more) in [("latency_ns", &[][..]), ("latency_us", &[]), ("latency_ms", &["2000", ">=2000"])] {
        let object = job[key].as_object().unwrap();
        assert_eq!(object.len(), unit.len() + more.len(), "{key}");
        assert!(unit.iter().chain(more).all(|name| object.contains_key(*name)), "{key}: {object:?}");
    }
    assert_eq!((&job["latency_ns"]["1000"], &job["latency_us"]["2"]), (&12.5.into(), &25.0.into()));
    assert_eq!((&job["latency_us"]["250"], &job["latency_us"]["1000"]), (&12.5.into(), &12.5.into()));
    assert_eq!((&job["latency_ms"]["2"], &job["latency_ms"][">=2000"]), (&12.5.into(), &25.0.into()));
    assert_eq!((&job["iodepth_level"][">=64"], &job["iodepth_level"]["32"]), (&100.0.into(), &0.0.into()));
    assert_eq!(job["read"]["slat_ns"]["N"], 0);
}

#[test]
fn cpu_time_is_the_mean_per_clone() {
    let mut several = part(2_000_000_000, None, false);
    several.segments[0].workload.threads = 4;
    let line = several.terse();
    assert_eq!(line.split(';').nth(87), Some("50.000000%"), "{line}");
    let parts = [several];
    let document = serde_json::to_value(Document::of(&parts, None, &origin())).unwrap();
    let job = &document["jobs"][0];
    assert_eq!((&job["usr_cpu"], &job["job_runtime"]), (&50.0.into(), &4000.into()), "{job}");
}

#[test]
fn page_faults_and_the_options_of_all_jobs_are_part_of_the_document() {
    let mut both = part(0, None, false);
    let host = both.segments[0].host.as_mut().expect("a real target");
    (host.effort.major_faults, host.effort.minor_faults) = (3, 17);
    let text = "[global]\nrw=randread\nbs=8k\n[a]\nfilename=x\niodepth=4\n[b]\nfilename=x\nbs=16k\n";
    let jobs = crate::parse("x", text, &crate::Job::default(), &crate::Surroundings::none()).expect("jobs");
    both.given = jobs[1].given();
    let parts = [both];
    let document = serde_json::to_value(Document::of(&parts, None, &origin())).unwrap();
    let job = &document["jobs"][0];
    assert_eq!((&job["majf"], &job["minf"]), (&3.into(), &17.into()), "{job}");
    assert_eq!(document["global options"], serde_json::json!({ "rw": "randread", "bs": "8k" }));
    assert_eq!(job["job options"]["bs"], "16k", "{job}");
}

fn direction(values_ns: &[u64]) -> Direction {
    let mut latency = Histogram::new();
    values_ns.iter().for_each(|ns| latency.record(*ns));
    Direction { ios: latency.count(), bytes: latency.count() * 4096, latency }
}

#[test]
fn percentiles_agree_with_the_bins() {
    let values: Vec<u64> = (1..=20_000).map(|i| i * i % 7_000_003 + 200).collect();
    let output = way(&direction(&values), &Rates::default(), vec![], 2.0, true);
    assert!((output.iops - 10_000.0).abs() < 1e-9);
    let bins: Vec<(u64, u64)> =
        output.lat_ns.bins.0.iter().map(|(ns, count)| (ns.parse().unwrap(), *count)).collect();
    assert!(bins.is_sorted(), "{bins:?}");
    assert_eq!(bins.iter().map(|bin| bin.1).sum::<u64>(), 20_000);
    assert_eq!(output.lat_ns.min, Some(bins[0].0));
    assert!(output.lat_ns.max >= bins.last().map(|bin| bin.0), "{bins:?}");
    let document = serde_json::to_value(&output).unwrap();
    let percentiles = &document["lat_ns"]["percentile"];
    for beyond_ppm in BEYOND_PPM.iter().filter(|ppm| **ppm >= 500) {
        let rank = 20_000 - 20_000 * u64::from(*beyond_ppm) / 1_000_000;
        let mut seen = 0;
        let at = bins.iter().find(|bin| {
            seen += bin.1;
            seen >= rank
        });
        let name = format!("{:.6}", 100.0 - f64::from(*beyond_ppm) / 1e4);
        assert_eq!(percentiles[&name].as_u64(), at.map(|bin| bin.0), "{name}");
    }
    for unknown in ["99.990000", "99.999000"] {
        assert!(percentiles.as_object().unwrap()[unknown].is_null(), "{percentiles}");
    }
}

#[test]
fn the_bins_of_a_scaled_drive_do_not_reveal_a_maximum() {
    let mut values = vec![100_000; 1000];
    values.extend([9_000_000_000, 9_900_000_000]);
    let document =
        serde_json::to_string(&way(&direction(&values), &Rates::default(), vec![], 1.0, false)).unwrap();
    assert!(document.contains(r#""max":null"#) && document.contains(r#""not_in_bins":2"#), "{document}");
    assert!(document.contains(r#""bins":{"100095":1000}"#), "{document}");
    let whole =
        serde_json::to_string(&way(&direction(&values), &Rates::default(), vec![], 1.0, true)).unwrap();
    assert!(whole.contains(r#""max":9900000000"#) && whole.contains(r#""not_in_bins":0"#), "{whole}");
}
