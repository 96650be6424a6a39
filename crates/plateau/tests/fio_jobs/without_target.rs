//! Jobs without a device: `ioengine=null`, and files that are created, inspected or deleted.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{fio, folder, plateau, support};

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
}

/// Returns the jobs of a result of fio or of `plateau load`.
fn jobs(output: &std::process::Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    document["jobs"].as_array().expect("jobs").clone()
}

#[test]
fn file_operations_count_and_leave_the_files_that_fio_does() {
    for (engine, options, kept) in [
        ("filecreate", "--create_on_open=1 --fallocate=none --openfiles=1", 40),
        ("filestat", "", 40),
        ("filedelete", "--unlink=0", 0),
    ] {
        let line = format!(
            "--name=t0 --ioengine={engine} --filesize=4k --nrfiles=20 --numjobs=2 --thread --group_reporting \
             --output-format=json {options}"
        );
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let [theirs, ours] = [folder(), folder()];
        let by_plateau = jobs(&plateau(ours.path(), &words)).remove(0);
        assert_eq!(by_plateau["read"]["total_ios"], 40, "{engine}: {by_plateau}");
        assert_eq!(by_plateau["read"]["clat_ns"]["N"], 40, "{engine}: {by_plateau}");
        assert_eq!(names(ours.path()).len(), kept, "{engine}");
        let Some(output) = fio(theirs.path(), &words) else { return };
        let by_fio = jobs(&output).remove(0);
        for key in ["total_ios", "io_bytes"] {
            assert_eq!(by_fio["read"][key], by_plateau["read"][key], "{engine}: {key}");
        }
        assert_eq!(by_fio["read"]["clat_ns"]["N"], 40, "{engine}: {by_fio}");
        assert_eq!(names(theirs.path()), names(ours.path()), "{engine}");
    }
}

#[test]
fn folders_are_created_inspected_and_deleted() {
    for (engine, kept) in [("dircreate", 6), ("dirstat", 6), ("dirdelete", 0)] {
        let folder = folder();
        std::fs::create_dir_all(folder.path().join("x")).expect("a folder");
        let line = format!("--name=t --directory=x --ioengine={engine} --filesize=4k --nrfiles=6 --json");
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let job = jobs(&plateau(folder.path(), &words)).remove(0);
        assert_eq!(job["read"]["total_ios"], 6, "{engine}: {job}");
        let left = names(&folder.path().join("x"));
        assert!(left.len() == kept && left.iter().all(|name| folder.path().join("x").join(name).is_dir()));
    }
}

#[test]
fn existing_files_are_neither_replaced_nor_deleted() {
    for engine in ["filecreate", "filedelete", "dircreate", "dirdelete"] {
        let folder = folder();
        std::fs::write(folder.path().join("t.0.3"), b"kept").expect("a file");
        let line = format!("--name=t --ioengine={engine} --filesize=4k --nrfiles=6");
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let output = plateau(folder.path(), &words);
        let error = support::texts(&output).1;
        assert!(!output.status.success() && error.contains("t.0.3"), "{engine}: {output:?}");
        assert_eq!(names(folder.path()).into_iter().collect::<Vec<_>>(), ["t.0.3"], "{engine}");
        assert_eq!(std::fs::read(folder.path().join("t.0.3")).expect("a file"), b"kept", "{engine}");
    }
    // Only an inspection uses files that exist.
    let folder = folder();
    std::fs::write(folder.path().join("t.0.0"), b"kept").expect("a file");
    let words = ["--name=t", "--ioengine=filestat", "--filesize=4k", "--nrfiles=2"].map(str::to_owned);
    assert_eq!(plateau(folder.path(), &words).status.code(), Some(0));
    assert_eq!(std::fs::read(folder.path().join("t.0.0")).expect("a file"), b"kept");
}

#[test]
fn readonly_creates_no_files() {
    let folder = folder();
    for engine in ["filecreate", "filestat", "filedelete", "dircreate"] {
        let engine = format!("--ioengine={engine}");
        let words = ["--name=t", &engine, "--filesize=4k", "--readonly"].map(str::to_owned);
        let output = plateau(folder.path(), &words);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn null_transfers_nothing_and_opens_nothing() {
    let folder = folder();
    std::fs::write(folder.path().join("data"), vec![7; 16 << 20]).expect("a file");
    for words in [
        "--name=t --ioengine=null --size=4m --rw=randread --iodepth=8 --json",
        "--name=t --ioengine=null --size=4m --rw=write --filename=data --json",
        "--name=t --ioengine=null --size=4m --rw=randrw --numjobs=2 --io_size=2m --json",
    ] {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let job = jobs(&plateau(folder.path(), &words)).remove(0);
        let ios = ["read", "write"].map(|way| job[way]["total_ios"].as_u64().expect("a number"));
        assert_eq!(ios.iter().sum::<u64>(), 1024, "{words:?}: {job}");
    }
    assert_eq!(names(folder.path()).into_iter().collect::<Vec<_>>(), ["data"]);
    assert!(std::fs::read(folder.path().join("data")).expect("a file").iter().all(|byte| *byte == 7));
    // Another job of the same target would access it.
    let words =
        "--filename=data --size=4m --name=a --ioengine=null --rw=read --name=b --rw=read --ioengine=psync";
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let output = plateau(folder.path(), &words);
    let error = support::texts(&output).1;
    assert!(output.status.code() == Some(2) && error.contains("accesses no target"), "{output:?}");
    let words = ["sim:sas-slc-2011", "--scale=1/64", "--rw=read", "--ioengine=filestat"].map(str::to_owned);
    assert_eq!(plateau(folder.path(), &words).status.code(), Some(2));
}

#[test]
fn falloc_and_ftruncate_change_only_the_space_of_a_file() {
    let folder = folder();
    let data = folder.path().join("data");
    let run = |words: &str| {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        plateau(folder.path(), &words)
    };
    std::fs::write(&data, vec![7; 16 << 20]).expect("a file");
    // A new file has no blocks until they are allocated.
    let job =
        jobs(&run("--name=a --filename=new --size=4m --rw=randwrite --bs=64k --ioengine=falloc --json"))
            .remove(0);
    assert_eq!((&job["write"]["total_ios"], &job["write"]["io_bytes"]), (&64.into(), &(4 << 20).into()));
    let new = std::fs::metadata(folder.path().join("new")).expect("a file");
    assert!(
        new.len() == 16 << 20 && std::os::unix::fs::MetadataExt::blocks(&new) * 512 >= 4 << 20,
        "{new:?}"
    );
    // Both need a confirmation for data that exists, and allocations keep the data.
    for engine in ["falloc", "ftruncate"] {
        let line = format!("--name=a --filename=data --size=4m --rw=write --bs=64k --ioengine={engine}");
        assert_eq!(run(&line).status.code(), Some(3), "{engine}");
        assert!(std::fs::read(&data).expect("a file") == vec![7; 16 << 20], "{engine}");
    }
    let line = "--name=a --filename=data --size=4m --rw=write --bs=64k --json --erase=data --ioengine=";
    jobs(&run(&format!("{line}falloc")));
    assert!(std::fs::read(&data).expect("a file") == vec![7; 16 << 20]);
    let job = jobs(&run(&format!("{line}ftruncate"))).remove(0);
    assert_eq!(job["write"]["total_ios"], 64, "{job}");
    // As in fio, the file ends at the offset of the last call.
    assert_eq!(std::fs::metadata(&data).expect("a file").len(), (4 << 20) - (64 << 10));
    let output = run("sim:sas-slc-2011 --scale=1/64 --rw=write --ioengine=ftruncate");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let shared =
        "--filename=data --size=1m --rw=write --name=a --ioengine=ftruncate --name=b --ioengine=psync";
    let error = support::texts(&run(shared)).1;
    assert!(error.contains("changes the length of the file"), "{error}");
}
