//! I/Os with priorities of their own.

use serde_json::Value;

use super::{folder, plateau, support};

/// Returns the share of the reads of each priority (class, level, hint).
fn shares(job: &Value) -> Vec<([u64; 3], f64)> {
    let reads = job["read"]["total_ios"].as_f64().expect("a number");
    let rows = job["read"]["prios"].as_array().expect("priorities").iter();
    rows.map(|row| {
        let number = |name: &str| row[name].as_u64().expect("a number");
        let count = row["clat_ns"]["N"].as_f64().expect("a number");
        (["prioclass", "prio", "priohint"].map(number), count / reads)
    })
    .collect()
}

#[test]
fn response_times_are_reported_by_priority() {
    let folder = folder();
    std::fs::write(folder.path().join("data"), vec![1; 16 << 20]).expect("a target");
    for engine in ["io_uring", "libaio"] {
        let line = format!(
            "--name=a --filename=data --rw=randread --ioengine={engine} --iodepth=8 --bs=4k --prioclass=3 \
             --cmdprio_percentage=20 --cmdprio_class=2 --cmdprio=7 --json"
        );
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let output = plateau(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{engine}: {output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        let job = &document["jobs"][0];
        let shares = shares(job);
        let expected = [([3, 0, 0], 0.8), ([2, 7, 0], 0.2)];
        assert_eq!(shares.iter().map(|row| row.0).collect::<Vec<_>>(), expected.map(|row| row.0), "{job}");
        // 4096 I/Os, so five standard deviations are 3 %.
        assert!(
            shares.iter().zip(expected).all(|(row, expected)| (row.1 - expected.1).abs() < 0.032),
            "{shares:?}"
        );
        assert!((shares.iter().map(|row| row.1).sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    }
}

#[test]
fn priorities_of_simulated_drives_and_of_other_engines_are_refused() {
    let folder = folder();
    std::fs::write(folder.path().join("data"), vec![1; 16 << 20]).expect("a target");
    for (line, expected) in [
        ("data --rw=randread --ioengine=psync --cmdprio_percentage=20", "need ioengine=io_uring or libaio"),
        (
            "sim:sas-slc-2011 --scale=1/64 --rw=randread --runtime=1 --ioengine=libaio --cmdprio_percentage=20 \
             --cmdprio_class=3",
            "priorities, atomic writes and NVMe commands are not simulated",
        ),
        ("sim:sas-slc-2011 --scale=1/64 --rw=randrw --runtime=1 --write_lat_log=x", "write_lat_log in a mix"),
    ] {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let output = plateau(folder.path(), &words);
        let error = support::texts(&output).1;
        assert!(output.status.code() == Some(2) && error.contains(expected), "{line}: {error}");
    }
}
