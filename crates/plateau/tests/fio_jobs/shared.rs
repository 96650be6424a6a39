//! Jobs whose clones write to the same blocks and verify them.

use serde_json::Value;

use super::{by_both, folder, plateau, support};

#[test]
fn clones_verify_the_blocks_that_they_share() {
    for (options, written) in [
        ("--rw=randwrite --verify=crc32c --numjobs=4 --iodepth=4", 64 << 20),
        ("--rw=randrw --verify=crc32c --numjobs=3 --iodepth=8", 48 << 20),
        ("--rw=write --verify=md5 --numjobs=2 --iodepth=2", 32 << 20),
        ("--rw=write:12k --verify=crc32c", 16 << 20),
        (
            "--rw=write:12k --verify=crc32c --numjobs=3 --offset_increment=2m --size=8m --offset=4k --io_size=2m",
            6 << 20,
        ),
    ] {
        let folder = folder();
        let line = format!(
            "--name=a --filename=new --filesize=16m --size=16m --bs=4k --group_reporting --json {options}"
        );
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let output = plateau(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{options}: {:?}", support::texts(&output));
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        let job = &document["jobs"][0];
        let bytes: u64 = ["read", "write"].iter().filter_map(|way| job[*way]["io_bytes"].as_u64()).sum();
        assert_eq!(bytes, written, "{options}");
        let verify = &job["verify"];
        let checked = verify["checked_blocks"].as_u64().expect("a number");
        assert!(checked > 0 && verify["wrong_blocks"] == 0, "{options}: {verify}");
        if options.starts_with("--rw=randwrite") {
            // Each of the 4096 blocks is read back once, and not once for each clone.
            assert!((3900..=4096).contains(&checked), "{options}: {verify}");
        }
    }
}

#[test]
fn clones_that_skip_bytes_transfer_what_they_do_with_fio() {
    let folder = folder();
    let options = "--rw=write:12k --verify=crc32c --verify_backlog=1 --numjobs=3 --offset_increment=2m --offset=4k \
                   --io_size=1m --loops=2 --group_reporting";
    let Some([theirs, ours]) = by_both(folder.path(), options) else { return };
    for key in ["/write/io_bytes", "/write/clat_ns/N"] {
        assert_eq!(theirs.pointer(key), ours.pointer(key), "{key}");
    }
}
