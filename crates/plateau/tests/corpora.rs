//! Checks the properties that the file-reading fuzz targets assert, on their corpora and on deterministic
//! mutations of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stdx::Rng;

/// Mutations per file.
const CHANGES: u64 = 120;

/// The properties of each parser, shared with the fuzz targets.
#[path = "../../../fuzz/properties"]
mod properties {
    pub mod archive;
    pub mod array_description;
    pub mod array_note;
    pub mod changed_settings;
    pub mod journal;
    pub mod model;
    pub mod notify_config;
    pub mod on_disk_signatures;
    pub mod plan;
    pub mod run;
    pub mod run_file;
    pub mod signed_document;
    pub mod trace;
    pub mod trace_import;
}

/// Time limit for any input of this size, in a debug build on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);

type Check = fn(&[u8]);
const CHECKS: [(&str, Check); 15] = [
    ("archive", properties::archive::check),
    ("array_description", properties::array_description::check),
    ("array_note", properties::array_note::check),
    ("changed_settings", properties::changed_settings::check),
    ("import", |bytes| drop(import::read(bytes, None))),
    ("journal", properties::journal::check),
    ("model", properties::model::check),
    ("notify_config", properties::notify_config::check),
    ("on_disk_signatures", properties::on_disk_signatures::check),
    ("plan", properties::plan::check),
    ("run", properties::run::check),
    ("run_file", properties::run_file::check),
    ("signed_document", properties::signed_document::check),
    ("trace", properties::trace::check),
    ("trace_import", properties::trace_import::check),
];

fn corpus(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Replacements for numbers.
const NUMBERS: [&str; 9] =
    ["0", "1", "-1", "255", "65536", "4294967295", "18446744073709551615", "1e308", "0.000001"];

/// Replaces the first number at or after a position.
fn with_number(bytes: &[u8], from: usize, number: &str) -> Vec<u8> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(begin) = bytes[from..].iter().position(is_digit).map(|place| from + place) else {
        return bytes.to_vec();
    };
    let length = bytes[begin..].iter().take_while(|byte| is_digit(byte)).count();
    [&bytes[..begin], number.as_bytes(), &bytes[begin + length..]].concat()
}

/// Changes a byte, removes a part, duplicates a part, or replaces a number.
fn changed(bytes: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let length = out.len().max(1) as u64;
    let mut place = || random.below(length) as usize;
    let (from, to) = (place(), place());
    let (from, to) = (from.min(to), from.max(to).min(out.len()));
    match place() % 6 {
        0 => out.truncate(from),
        1 => drop(out.drain(from..to)),
        2 => out.extend_from_slice(&bytes[from..to]),
        3 | 4 => return with_number(bytes, from.min(bytes.len()), NUMBERS[place() % NUMBERS.len()]),
        _ if from < out.len() => out[from] = place() as u8,
        _ => {}
    }
    out
}

#[test]
fn mutated_corpus_files_keep_every_property() {
    for (name, check) in CHECKS {
        let paths = corpus(name);
        assert!(!paths.is_empty(), "{name} has no corpus");
        for (number, path) in paths.iter().enumerate() {
            let bytes = std::fs::read(path).expect("a file of the corpus");
            let begun = Instant::now();
            check(&bytes);
            assert!(begun.elapsed() < LONGEST, "{}: {:?}", path.display(), begun.elapsed());
            let mut random = Rng::from_seed(number as u64);
            for _ in 0..CHANGES {
                check(&changed(&bytes, &mut random));
            }
        }
    }
}

/// Numbers that overflow when added, multiplied or converted, and zero as a divisor.
const EXTREMES: [&str; 6] = [
    "18446744073709551615",
    "9223372036854775808",
    "4611686018427387904",
    "1152921504606846976",
    "4294967295",
    "0",
];

#[test]
fn extreme_numbers_in_a_run_keep_every_property() {
    for path in corpus("run") {
        let text = std::fs::read_to_string(&path).expect("text");
        let bytes = text.as_bytes();
        let begins_number =
            |at: &usize| bytes[*at].is_ascii_digit() && !bytes[at - 1].is_ascii_alphanumeric();
        let after_name = |at: &usize| matches!(bytes[at - 1], b':' | b'[' | b',' | b' ' | b'-');
        for at in (1..bytes.len()).filter(begins_number).filter(after_name) {
            for number in EXTREMES {
                properties::run::check(&with_number(bytes, at, number));
            }
        }
    }
}

/// Replaces the numbers in all fields with this name.
fn with_numbers(text: &str, name: &str, number: &str) -> String {
    let mut parts = text.split(name);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(name);
        let (space, rest) = part.split_at(part.len() - part.trim_start().len());
        out.push_str(space);
        match rest.trim_start_matches(|c: char| c.is_ascii_digit()) {
            after if after.len() < rest.len() => out.extend([number, after]),
            _ => out.push_str(rest),
        }
    }
    out
}

/// Repeats each of the drive's answers, so that sums have more than a few terms.
fn with_answers_repeated(text: &str) -> String {
    let (file, records) = text.split_once("\n---\n").expect("both parts");
    let is_answer =
        |line: &str| ["purged", "preconditioned", "measured", "idled"].iter().any(|name| line.contains(name));
    let lines =
        records.lines().flat_map(|line| std::iter::repeat_n(line, if is_answer(line) { 5 } else { 1 }));
    let numbered =
        lines.enumerate().map(|(seq, line)| with_numbers(line, "\"seq\":", &seq.to_string()) + "\n");
    format!("{file}\n---\n{}", numbered.collect::<String>())
}

/// Returns the names of all fields, with their quotes and colons.
fn field_names(text: &str) -> BTreeSet<&str> {
    let after_quotes = text.match_indices("\":").map(|(end, _)| (text[..end].rfind('"'), end + 2));
    after_quotes.filter_map(|(begin, end)| Some(&text[begin?..end])).collect()
}

#[test]
fn extreme_numbers_in_all_records_keep_every_property() {
    for path in corpus("run") {
        let text = with_answers_repeated(&std::fs::read_to_string(&path).expect("text"));
        for name in field_names(&text) {
            // Some of these numbers are valid individually, but their sum is too large.
            for number in EXTREMES.into_iter().chain(["100000000000000000"]) {
                properties::run::check(with_numbers(&text, name, number).as_bytes());
            }
        }
    }
}

#[test]
fn sums_over_a_journal_are_bounded() {
    let text = std::fs::read_to_string(corpus("run")[0].with_file_name("tp.run")).expect("text");
    let (_, records) = text.split_once("\n---\n").expect("both parts");
    for name in ["bytes", "ios", "end_ns"] {
        let at = records.find(&format!("\"{name}\":")).expect(name) + name.len() + 3;
        let with =
            |number: &str| String::from_utf8(with_number(records.as_bytes(), at, number)).expect("text");
        let is_read = |number: &str| properties::journal::loaded(with(number).lines()).is_some();
        assert!(is_read("1152921504606846976") && !is_read("18446744073709551615"), "{name}");
    }
}

#[test]
fn valid_corpus_files_are_accepted() {
    let read = |name: &str, file: &str| std::fs::read(corpus(name)[0].with_file_name(file)).expect(file);
    let journal = record::parse_journal(&read("journal", "three-records"), Path::new("journal"));
    assert_eq!(journal.expect("a journal").entries.len(), 3);
    let torn = record::parse_journal(&read("journal", "torn"), Path::new("journal")).expect("a journal");
    assert!(torn.torn.is_some() && torn.entries.len() == 2);
    record::parse_run_file(&read("run_file", "example.json")).expect("a run file");
    let plan = String::from_utf8(read("plan", "mixes.toml")).expect("text");
    assert!(plans::Plan::read("plan.toml", &plan).is_ok());
    let model = String::from_utf8(read("model", "sas-slc-2011.toml")).expect("text");
    nandsim::Model::from_toml(&model).expect("a model");
    for file in ["all.toml", "programs.toml"] {
        let config = String::from_utf8(read("notify_config", file)).expect("text");
        assert!(notify::Config::read(file, &config).is_ok(), "{file}");
    }
    for name in ["fio.run", "lat.run", "published.run", "tp.run"] {
        let text = String::from_utf8(read("run", name)).expect("text");
        let (file, records) = text.split_once("\n---\n").expect("both parts");
        let run = record::parse_run_file(file.as_bytes()).expect("a run file");
        let loaded = properties::journal::loaded(records.lines()).expect("a journal");
        report::fold(&run, &loaded).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let text = |name: &str, file: &str| String::from_utf8(read(name, file)).expect("text");
    for file in ["mdadm.toml", "mirror.toml", "single.toml", "storcli.toml"] {
        let text = text("array_description", file);
        device::untrusted::ArrayDescription::parse(file, &text).unwrap_or_else(|error| panic!("{error}"));
    }
    for file in ["mdadm.json", "storcli.json"] {
        assert!(device::untrusted::ArrayNote::parse(&text("array_note", file)).is_some(), "{file}");
    }
    let known = device::KnownSettings::of_this_host();
    let note = |file: &str| plateau::untrusted::note(&read("changed_settings", file), &known);
    assert_eq!(note("write-cache.json").write_cache_was_on, Some(true));
    assert_eq!(note("lba-format.json").lba_format_was, Some(3));
    assert_eq!(note("foreign.json").tunings, []);
    assert!(plateau::untrusted::signature(&text("signed_document", "signature.json")).is_ok());
    assert_eq!(
        plateau::untrusted::holds_keys(&text("signed_document", "rfc8410-private.pem")),
        (true, false)
    );
    assert_eq!(plateau::untrusted::holds_keys(&text("signed_document", "rfc8410-public.pem")), (false, true));
}
