//! Jobs whose blocks have a prescribed order: `random_distribution=sequence` and `sprandom`.

use serde_json::Value;

use super::{folder, plateau, support};

/// Writes with these options to a file of 16 MiB. Returns the blocks of 4 KiB that changed, and the number of writes.
fn written(options: &str) -> (Vec<usize>, u64) {
    let folder = folder();
    let target = folder.path().join("data");
    std::fs::write(&target, vec![7; 16 << 20]).expect("a file");
    let line = format!("--name=a --filename=data --erase=data --rw=randwrite --bs=4k --json {options}");
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let output = plateau(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{options}: {:?}", support::texts(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let content = std::fs::read(&target).expect("a file");
    let changed = |block: &[u8]| block.iter().any(|byte| *byte != 7);
    let blocks = content.chunks(4096).enumerate().filter(|(_, block)| changed(block));
    let ios = document["jobs"][0]["write"]["total_ios"].as_u64().expect("a number");
    (blocks.map(|(number, _)| number).collect(), ios)
}

#[test]
fn sequences_access_the_blocks_that_they_name() {
    const SEQUENCE: &str = "--random_distribution=sequence:2,0,1,9";
    for (options, blocks, ios) in [
        ("--number_ios=2", &[0, 2][..], 2),
        ("--number_ios=6 --iodepth=4 --ioengine=libaio", &[0, 1, 2, 9], 6),
        ("--random_sequence_stride=1 --number_ios=7", &[0, 1, 2, 4, 5, 6, 9], 7),
        // The last access within 12 blocks is that to block 5: block 13 would be next.
        ("--random_sequence_stride=1 --size=48k --io_size=1m", &[0, 1, 2, 4, 5, 6, 9], 7),
        ("--offset=1m --number_ios=4 --numjobs=2", &[256, 257, 258, 265], 8),
    ] {
        assert_eq!(written(&format!("{SEQUENCE} {options}")), (blocks.to_vec(), ios), "{options}");
    }
}

#[test]
fn sprandom_writes_every_block_and_some_again() {
    let (blocks, ios) = written(
        "--sprandom=1 --norandommap=1 --iodepth=8 --ioengine=libaio --spr_op=0.2 --spr_num_regions=16",
    );
    assert_eq!(blocks.len(), 4096);
    assert!((4096 * 119 / 100..=4096 * 120 / 100).contains(&ios), "{ios}");
    let (blocks, ios) = written("--sprandom=1 --spr_num_regions=8 --offset=4m --size=4m");
    assert!(
        blocks.into_iter().eq(1024..2048) && (1024 * 113 / 100..=1024 * 115 / 100).contains(&ios),
        "{ios}"
    );
}
