//! Duplicates in written data, compared with those of fio.

use std::collections::HashMap;
use std::path::Path;

use super::{fio, folder, plateau, support};

const BLOCKS: usize = 4096;

/// Returns the number of different blocks in these files, and the number of those that occur more than once.
fn distinct(folder: &Path, names: &[&str]) -> (usize, usize) {
    let mut counts: HashMap<Vec<u8>, u32> = HashMap::new();
    for name in names {
        let content = std::fs::read(folder.join(name)).expect(name);
        assert_eq!(content.len(), BLOCKS * 4096, "{name}");
        content.chunks(4096).for_each(|block| *counts.entry(block.to_vec()).or_default() += 1);
    }
    (counts.len(), counts.values().filter(|count| **count > 1).count())
}

#[test]
fn working_sets_have_as_many_duplicates_as_those_of_fio() {
    for options in [
        "--dedupe_percentage=50 --dedupe_working_set_percentage=50 --dedupe_global=1 --buffer_compress_percentage=50",
        "--dedupe_percentage=50 --dedupe_working_set_percentage=20 --dedupe_global=0",
        "--dedupe_percentage=30 --dedupe_working_set_percentage=10 --dedupe_global=1",
    ] {
        let line = format!(
            "--ioengine=libaio --iodepth=16 --direct=1 --size=16m --bs=4k --rw=write --dedupe_mode=working_set {options} \
             --name=a --filename=a --name=b --filename=b"
        );
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (ours, theirs) = (folder(), folder());
        let output = plateau(ours.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{options}: {:?}", support::texts(&output));
        let Some(output) = fio(theirs.path(), &words) else { return };
        assert_eq!(output.status.code(), Some(0), "{options}: {output:?}");
        for names in [&["a"][..], &["b"], &["a", "b"]] {
            let (ours, theirs) = (distinct(ours.path(), names), distinct(theirs.path(), names));
            // The number of duplicates in a file has a standard deviation of at most 32.
            for (ours, theirs) in [(ours.0, theirs.0), (ours.1, theirs.1)] {
                assert!(ours.abs_diff(theirs) < 250, "{options}: {names:?}: {ours} and {theirs}");
            }
        }
    }
}
