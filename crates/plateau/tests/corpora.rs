//! The corpora of the fuzz targets for files, and changes of them that are always the same: no parser panics.

use std::path::{Path, PathBuf};

use stdx::Rng;

/// Changes of each file.
const CHANGES: u64 = 300;

type Parse = fn(&[u8]);
const PARSERS: [(&str, Parse); 5] = [
    ("journal", |bytes| drop(record::parse_journal(bytes, Path::new("journal")))),
    ("run_file", |bytes| drop(record::parse_run_file(bytes))),
    ("plan", |bytes| drop(pts::Plan::read("plan.toml", &String::from_utf8_lossy(bytes)))),
    ("model", |bytes| drop(nandsim::Model::from_toml(&String::from_utf8_lossy(bytes)))),
    ("import", |bytes| drop(import::read(bytes, None))),
];

fn corpus(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// A byte changed, a part cut off, or a part doubled.
fn changed(bytes: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let length = out.len().max(1) as u64;
    let mut place = || random.below(length) as usize;
    let (from, to) = (place(), place());
    let (from, to) = (from.min(to), from.max(to).min(out.len()));
    match place() % 4 {
        0 => out.truncate(from),
        1 => drop(out.drain(from..to)),
        2 => out.extend_from_slice(&bytes[from..to]),
        _ if from < out.len() => out[from] = place() as u8,
        _ => {}
    }
    out
}

#[test]
fn no_change_of_a_good_file_makes_a_parser_panic() {
    for (name, parse) in PARSERS {
        let paths = corpus(name);
        assert!(!paths.is_empty(), "{name} has no corpus");
        for (number, path) in paths.iter().enumerate() {
            let bytes = std::fs::read(path).expect("a file of the corpus");
            parse(&bytes);
            let mut random = Rng::from_seed(number as u64);
            for _ in 0..CHANGES {
                parse(&changed(&bytes, &mut random));
            }
        }
    }
}

#[test]
fn good_files_of_the_corpora_are_good() {
    let read = |name: &str, file: &str| std::fs::read(corpus(name)[0].with_file_name(file)).expect(file);
    let journal = record::parse_journal(&read("journal", "three-records"), Path::new("journal"));
    assert_eq!(journal.expect("a journal").entries.len(), 3);
    let torn = record::parse_journal(&read("journal", "torn"), Path::new("journal")).expect("a journal");
    assert!(torn.torn.is_some() && torn.entries.len() == 2);
    record::parse_run_file(&read("run_file", "example.json")).expect("a run file");
    let plan = String::from_utf8(read("plan", "mixes.toml")).expect("text");
    assert!(pts::Plan::read("plan.toml", &plan).is_ok());
    let model = String::from_utf8(read("model", "sas-slc-2011.toml")).expect("text");
    nandsim::Model::from_toml(&model).expect("a model");
}
