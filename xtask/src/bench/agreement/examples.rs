//! fio's examples: which of them are compared, and the job file that both programs run.
//!
//! The job file keeps the load of the example, and replaces only where and for how long it runs.

use anyhow::{Context as _, bail};

use crate::fio_examples::EXAMPLES;
pub use crate::fio_examples::Example;

/// The examples that are compared.
const COMPARED: [&str; 20] = [
    "aio-read",
    "backwards-read",
    "butterfly",
    "cmdprio-percentage",
    "disk-zone-profile",
    "fio-rand-RW",
    "fio-rand-read",
    "fio-rand-write",
    "fio-seq-RW",
    "fio-seq-read",
    "fio-seq-write",
    "fsx",
    "iometer-file-access-server",
    "jesd219",
    "rand-zones",
    "ssd-steadystate",
    "ssd-test",
    "tiobench-example",
    "waitfor",
    "xnvme-compare",
];

const STORES_NOTHING: &str = "the device stores nothing, so its content cannot be verified";
const NO_TRANSFERS: &str = "it transfers no data";
const NEW_IN_FIO: &str = "fio 3.33 lacks some of its options";
const OFFLOADED: &str = "fio 3.33 does not end with io_submit_mode=offload";
const TOO_DEEP: &str =
    "its 512 outstanding I/Os exceed those of a loop device, like those of jesd219, which is compared";
const OTHER_DRIVE: &str = "it needs another kind of drive";

/// The other examples that `plateau load` runs, with the reason why they are not compared.
const LEFT_OUT: &[(&str, &str)] = &[
    ("1mbs_clients", "its rate of 1250 bytes per second is an I/O every 3 s"),
    ("atomic-verify", STORES_NOTHING),
    ("basic-verify", STORES_NOTHING),
    ("cmdprio-bssplit", NEW_IN_FIO),
    ("cross-stripe-verify", STORES_NOTHING),
    ("dedupe-global", TOO_DEEP),
    ("dircreate-ioengine", NO_TRANSFERS),
    ("dirdelete-ioengine", NO_TRANSFERS),
    ("dirstat-ioengine", NO_TRANSFERS),
    ("enospc-pressure", "it fills a file system"),
    ("example_latency_steadystate", NEW_IN_FIO),
    ("exitwhat", "its jobs end each other, so their lengths differ"),
    ("falloc", NO_TRANSFERS),
    ("filecreate-ioengine", NO_TRANSFERS),
    ("filedelete-ioengine", NO_TRANSFERS),
    ("filestat-ioengine", NO_TRANSFERS),
    ("fixed-rate-submission", OFFLOADED),
    ("flow", TOO_DEEP),
    ("ftruncate", NO_TRANSFERS),
    ("latency-profile", "its result is a queue depth"),
    ("libblkio-io_uring", "fio needs a library for it"),
    ("null", NO_TRANSFERS),
    ("numa", "it needs two NUMA nodes"),
    ("poisson-rate-submission", OFFLOADED),
    ("sequence-distribution", NO_TRANSFERS),
    ("sg_verify", OTHER_DRIVE),
    ("sg_verify-fail", OTHER_DRIVE),
    ("sg_write_same_ndob", OTHER_DRIVE),
    ("sprandom", NEW_IN_FIO),
    ("steadystate", "it measures when a device is steady; its targets are /dev/null and /dev/zero"),
    ("surface-scan", STORES_NOTHING),
    ("uring-cmd-fdp", OTHER_DRIVE),
    ("uring-cmd-ng", OTHER_DRIVE),
    ("uring-cmd-trim-multi-range", OTHER_DRIVE),
    ("uring-cmd-write-mode", OTHER_DRIVE),
    ("zbd-rand-write", OTHER_DRIVE),
    ("zbd-rand-write-trim-gc", OTHER_DRIVE),
    ("zbd-rand-write-zone-reset-gc", OTHER_DRIVE),
    ("zbd-seq-read", OTHER_DRIVE),
    ("zipf", NO_TRANSFERS),
];

/// Environment variables of `xnvme-compare`. It requests no engine, and with fio's default engine, depths above 1 have
/// no effect.
pub const VARIABLES: [(&str, &str); 3] = [("FIO_RW", "randread"), ("FIO_IODEPTH", "1"), ("FIO_BS", "8k")];

/// Options of examples that do not describe the load: targets, lengths, logs, names, and combined results, from which the
/// jobs could not be told apart. `direct` is always on, because Plateau does not use the page cache.
const REPLACED: [&str; 13] = [
    "filename",
    "directory",
    "direct",
    "buffered",
    "time_based",
    "runtime",
    "timeout",
    "group_reporting",
    "write_bw_log",
    "write_lat_log",
    "log_offset",
    "log_prio",
    "name",
];

/// Returns the examples with these names, or all that are compared.
pub fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Example>> {
    if names.is_empty() {
        return COMPARED.iter().map(|name| example(name)).collect();
    }
    names.iter().map(|name| example(name)).collect()
}

fn example(name: &str) -> anyhow::Result<&'static Example> {
    if let Some((_, reason)) = LEFT_OUT.iter().find(|(known, _)| *known == name) {
        bail!("{name} is not compared: {reason}");
    }
    let compared = EXAMPLES.iter().find(|(known, _)| *known == name && COMPARED.contains(known));
    compared.with_context(|| {
        format!("{name} is not an example that is compared; these are: {}", COMPARED.join(", "))
    })
}

/// Returns the job file with the load of an example, on this device. Clones are threads, as always in Plateau, so that
/// fio has no processes that could outlive it.
pub fn job_file(sections: &[&str], device: &str, seconds: u32) -> String {
    let mut text = format!(
        "[global]\nfilename={device}\ndirect=1\nthread=1\ntime_based=1\nruntime={seconds}\n\
         clat_percentiles=1\nlat_percentiles=1\n"
    );
    for &section in sections {
        let (title, options) = section.split_once(' ').unwrap_or((section, ""));
        text.push_str(&format!("[{title}]\n"));
        for option in options.split_whitespace().filter(|option| !REPLACED.contains(&name_of(option))) {
            text.push_str(&format!("{option}\n"));
        }
    }
    text
}

/// Returns whether a job writes.
pub fn writes(sections: &[&str]) -> bool {
    let options = sections.iter().flat_map(|section| section.split_whitespace());
    let mut loads = options.filter_map(|option| option.strip_prefix("rw="));
    loads.any(|load| load.contains("write") || load.ends_with("rw"))
}

fn name_of(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio_examples::NEEDS_DRIVE;

    #[test]
    fn every_example_that_runs_is_compared_or_has_a_reason() {
        let runs = EXAMPLES.iter().chain(NEEDS_DRIVE.iter().map(|(_, example)| example));
        let mut runs: Vec<&str> = runs.map(|(name, _)| *name).collect();
        let mut listed: Vec<&str> =
            COMPARED.into_iter().chain(LEFT_OUT.iter().map(|(name, _)| *name)).collect();
        runs.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, runs);
    }

    #[test]
    fn examples_are_chosen_by_name() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            chosen(&words).map(|all| all.iter().map(|example| example.0).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), COMPARED);
        assert_eq!(names(&["fsx", "aio-read"]).unwrap(), ["fsx", "aio-read"]);
        let error = |name| names(&[name]).unwrap_err().to_string();
        assert!(error("basic-verify").ends_with(STORES_NOTHING), "{}", error("basic-verify"));
        assert!(error("fsy").contains("these are: aio-read, "), "{}", error("fsy"));
    }

    #[test]
    fn the_job_file_keeps_the_load_and_replaces_its_place_and_length() {
        let sections = [
            "global rw=randread direct=0 directory=/data1 filename=/dev/sda runtime=900",
            "a bs=4k numjobs=4 group_reporting timeout=60 write_bw_log",
            "b stonewall iodepth=8 new_group",
        ];
        let text = job_file(&sections, "/dev/loop7", 5);
        let (replaced, load) = text.split_once("lat_percentiles=1\n[global]").unwrap();
        assert!(replaced.starts_with("[global]\nfilename=/dev/loop7\ndirect=1\n"), "{text}");
        assert!(replaced.contains("\ntime_based=1\nruntime=5\n"), "{text}");
        assert_eq!(load, "\nrw=randread\n[a]\nbs=4k\nnumjobs=4\n[b]\nstonewall\niodepth=8\nnew_group\n");
    }

    #[test]
    fn only_jobs_that_write_need_a_confirmation() {
        let writing = |name: &str| writes(example(name).unwrap().1);
        for name in ["fio-rand-RW", "fio-seq-RW", "fio-rand-write", "ssd-test", "waitfor", "fsx", "jesd219"] {
            assert!(writing(name), "{name}");
        }
        for name in ["aio-read", "backwards-read", "butterfly", "rand-zones", "xnvme-compare"] {
            assert!(!writing(name), "{name}");
        }
    }
}
