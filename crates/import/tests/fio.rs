//! Output of old and new fio versions, with and without histograms.

mod common;

use common::{outcomes, printed, tables};

const NEW: &str = r#"fio: this platform does not support process shared mutexes, forcing use of threads.
{
  "fio version" : "fio-3.36", "timestamp" : 1700000000, "time" : "Tue Nov 14 22:13:20 2023",
  "global options" : { "filename" : "/dev/nvme9n9", "ioengine" : "io_uring", "group_reporting" : "" },
  "jobs" : [
    { "jobname" : "randread", "error" : 0,
      "job options" : { "name" : "randread", "rw" : "randread", "bs" : "4k", "iodepth" : "32", "numjobs" : "4" },
      "read" : { "io_bytes" : 4096000, "bw_bytes" : 81920000, "bw" : 80000, "iops" : 20000.5, "runtime" : 50, "total_ios" : 20000,
        "lat_ns" : { "min" : 50, "max" : 2000000, "mean" : 160000.25, "stddev" : 1.0, "N" : 20000 },
        "clat_ns" : { "min" : 50, "max" : 1900000, "mean" : 150000.5, "N" : 20000,
          "percentile" : { "50.000000" : 140000, "99.000000" : 300000, "99.900000" : 900000, "99.999000" : 1900000 },
          "bins" : { "140000" : 19000, "300000" : 900, "1900000" : 100 } } },
      "write" : { "total_ios" : 0, "iops" : 0.0, "clat_ns" : { "bins" : {} } } },
    { "jobname" : "idle", "job options" : { "rw" : "write" } },
    { "jobname" : "mix", "job options" : { "rw" : "randrw", "rwmixread" : "70", "bs" : "8k" },
      "read" : { "total_ios" : 700, "iops" : 70.0, "bw_bytes" : 573440, "lat_ns" : { "max" : 3000, "mean" : 1000.0 } },
      "write" : { "total_ios" : 300, "iops" : 30.0, "bw_bytes" : 245760, "lat_ns" : { "max" : 9000, "mean" : 2000.0 } } }
  ], "disk_util" : [] }

some normal output after it
"#;

const OLD: &str = r#"{ "fio version": "fio-2.1.11", "jobs": [ { "jobname": "seq", "job options": { "rw": "write", "bs": "128k" },
  "write": { "io_bytes": 1000, "bw": 1000, "iops": 7.8, "total_ios": 78,
  "lat": { "min": 1, "max": 900, "mean": 250.5, "stddev": 0.1 }, "clat": { "max": 890, "mean": 240.0 } } } ] }"#;

#[test]
fn jobs_are_rows_with_their_own_units() {
    let found = outcomes(NEW.as_bytes());
    let tables = tables(&found, "jobs");
    let rates = printed(&tables[0]);
    assert_eq!(rates[0], ["randread: RND 4KiB R, TC 4 QD 32", "20000.5", "81.9"]);
    assert_eq!(
        rates[1],
        ["mix: RND 8KiB 70/30", "100.0", "0.8"],
        "neither numjobs nor iodepth is in the file"
    );
    let times = printed(&tables[1]);
    // Values from the histogram: the 50th percentile within a slot of 0.4 %, and n/a if fewer than ten I/Os are
    // beyond it.
    assert_eq!(times[0][1], "0.160");
    assert!(times[0][2].starts_with("0.140") || times[0][2].starts_with("0.139"), "{times:?}");
    assert_eq!(times[0][5..7], ["not in the file", "not in the file"]);
    assert_eq!(times[1][1], "0.001", "the mean by count of both directions is 1.3 us");
    assert!(found[0].pages.iter().any(|page| page.title == "Response Time Histogram - randread"));
    let (_, imported) = import::read(NEW.as_bytes(), None).unwrap();
    assert_eq!(imported.device.path.as_deref(), Some("/dev/nvme9n9"));
    assert_eq!(imported.tool, "fio-3.36");
    assert!(imported.remarks.iter().any(|remark| remark.contains("'idle'")));
}

#[test]
fn old_output_is_in_microseconds_and_kib() {
    let (_, imported) = import::read(OLD.as_bytes(), None).unwrap();
    let reading = &imported.tests[0].readings[0];
    assert_eq!(reading.latency_mean_ns, Some(250_500.0));
    assert_eq!(reading.latency_max_ns, Some(900_000.0));
    assert_eq!(reading.bytes_per_second, Some(1_024_000.0));
    assert_eq!((reading.block_bytes, reading.read_percent), (131_072, 0));
}

/// fio 2 prints amounts in KiB, rounded down; fio 3 prints bytes.
#[test]
fn amounts_are_kept_for_each_direction() {
    let reading = |text: &str| import::read(text.as_bytes(), None).unwrap().1.tests[0].readings[0].clone();
    let (_, new) = import::read(NEW.as_bytes(), None).unwrap();
    let reads = new.tests[0].readings[0].read.clone().expect("amounts of the reads");
    assert_eq!((reads.ios, reads.bytes), (20_000, 4_096_000), "as stated, although 4 KiB I/Os would be more");
    assert_eq!((reads.latency_min_ns, reads.latency_mean_ns), (Some(50.0), Some(160_000.25)));
    assert_eq!(reads.percentiles_ns.last(), Some(&(99.999, 1_900_000.0)));
    assert_eq!(new.tests[0].readings[0].write, None, "the file has no io_bytes of the writes");

    let old = reading(OLD);
    let writes = old.write.expect("amounts of the writes");
    assert_eq!((writes.ios, writes.bytes), (78, 1_024_000));
    assert_eq!(old.read, None, "the file has no reads");
    // 79 I/Os of 512 bytes are 39.5 KiB, of which the file reports 39.
    let odd = OLD.replace("128k", "512").replace("\"io_bytes\": 1000", "\"io_bytes\": 39");
    let writes = reading(&odd.replace("\"total_ios\": 78", "\"total_ios\": 79")).write.expect("amounts");
    assert_eq!(writes.bytes, 79 * 512);
    // The block size of old output follows from the amount in KiB.
    let without = OLD.replace(", \"bs\": \"128k\"", "").replace("\"io_bytes\": 1000", "\"io_bytes\": 9984");
    assert_eq!(reading(&without).block_bytes, 131_072);

    let huge = NEW.replace("\"io_bytes\" : 4096000", "\"io_bytes\" : 18446744073709551615");
    let error = import::read(huge.as_bytes(), None).expect_err("impossible").to_string();
    assert!(error.contains("than any drive can transfer"), "{error}");
}

/// A job with four clones.
fn clones(group_reporting: &str, more: &str) -> String {
    format!(
        r#"{{ "fio version": "fio-3.36", "global options": {{ {group_reporting} }}, "jobs": [ {{ "jobname": "a",
        "job options": {{ "rw": "randrw", "numjobs": "4" {more} }},
        "read": {{ "total_ios": 300, "io_bytes": 1228800, "iops": 3.0 }},
        "write": {{ "total_ios": 100, "io_bytes": 409600, "iops": 1.0 }} }} ] }}"#
    )
}

#[test]
fn clones_reported_as_a_group_are_threads() {
    let reading = |text: &str| import::read(text.as_bytes(), None).unwrap().1.tests[0].readings[0].clone();
    for group in [r#""group_reporting": """#, r#""group_reporting": null"#, r#""group_reporting": "1""#] {
        assert_eq!(reading(&clones(group, "")).threads, Some(4), "{group}");
    }
    // Otherwise, each clone has its own entry.
    assert_eq!(reading(&clones("", "")).threads, Some(1));
    assert_eq!(reading(&clones(r#""group_reporting": "0""#, "")).threads, Some(1));
    let group = r#""group_reporting": "1", "numjobs": "8""#;
    assert_eq!(reading(&clones(group, "")).threads, Some(4), "the option of the job counts");
}

#[test]
fn missing_options_are_not_replaced_by_defaults_of_fio() {
    let (_, imported) = import::read(clones("", "").as_bytes(), None).unwrap();
    let reading = &imported.tests[0].readings[0];
    assert_eq!(reading.queue_depth, None, "iodepth is not there");
    assert_eq!(reading.block_bytes, 4096, "from bytes and I/Os");
    assert_eq!(reading.read_percent, 75, "from the I/Os of both directions");
    assert_eq!((reading.latency_mean_ns, reading.latency_max_ns), (None, None));
    assert_eq!((imported.device.path, imported.device.capacity_bytes), (None, None));
    assert_eq!(imported.settings, None);
    let uneven = clones("", "").replace("409600", "409601");
    let (_, imported) = import::read(uneven.as_bytes(), None).unwrap();
    assert_eq!(imported.tests[0].readings[0].block_bytes, 0, "unknown");
    assert!(imported.remarks.iter().any(|remark| remark.contains("is not in the file")));
}
