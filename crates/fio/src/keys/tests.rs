use engine::Polling;
use record::Placement;

use super::*;
use crate::job::BlockShare;

fn job(words: &[(&str, &str)]) -> Result<Job, String> {
    let mut job = Job::default();
    words.iter().try_for_each(|(name, value)| set(&mut job, name, Some(value)))?;
    Ok(job)
}

/// Compares a table with the part of a page between two marker comments. Set `PLATEAU_BLESS` to update the page.
fn compare(page: &str, table: &str) {
    const MARKS: [&str; 2] = ["<!-- keys -->\n", "<!-- end of keys -->"];
    let path = format!("{}/../../docs/reference/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let expected = format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(path, &expected).unwrap();
        return;
    }
    assert!(
        text == expected,
        "the table in docs/reference/{page} is out of date; PLATEAU_BLESS=1 updates it"
    );
}

fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_documentation_lists_every_option_with_an_effect() {
    let row = |key: &Key| format!("| {} | {} |\n", quoted(key.names()), key.about);
    let table: String = effective().map(row).collect();
    compare("load.md", &format!("| option | meaning here |\n|---|---|\n{table}"));
}

#[test]
fn the_documentation_compares_every_option_with_fio() {
    let word = |standing: Standing| match standing {
        Standing::Same => "same",
        Standing::Differs => "differs",
        Standing::Ignored => "no effect",
    };
    let accepted = keys().map(|key| (quoted(key.names()), word(key.standing), key.about));
    let refused = REFUSED.iter().map(|row| (quoted(row.names.iter().copied()), "refused", row.why));
    let mut rows: Vec<_> = accepted.chain(refused).collect();
    rows.sort_unstable();
    let table = |rows: &[(String, &str, &str)]| -> String {
        rows.iter().map(|(names, word, about)| format!("| {names} | {word} | {about} |\n")).collect()
    };
    let mut program: Vec<_> = PROGRAM
        .iter()
        .map(|row| (format!("`--{}`", row.name), row.standing.map_or("refused", word), row.about))
        .collect();
    program.sort_unstable();
    let head = "| option | here | meaning, or reason |\n|---|---|---|\n";
    let program_rows = table(&program);
    compare("fio.md", &format!("{head}{}\n## Command-line options\n\n{head}{program_rows}", table(&rows)));
}

#[test]
fn no_option_has_two_lines() {
    let mut names: Vec<&str> = all_names().collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    let mut names: Vec<&str> = PROGRAM.iter().map(|row| row.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn every_option_of_the_installed_fio_is_in_the_table() {
    let Ok(output) = std::process::Command::new("fio").arg("--cmdhelp=all").output() else {
        skips::without("fio");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.split_once(':')).map(|line| line.0.trim()).collect();
    assert!(names.len() > 150, "{text}");
    let unknown: Vec<&&str> = names.iter().filter(|name| all_names().all(|known| known != **name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn options_without_effect_are_named_in_a_note() {
    let job = job(&[("gtod_reduce", "1"), ("iodepth_batch", "4"), ("iodepth_batch_submit", "8")]).unwrap();
    assert!(
        job.notes().iter().any(|note| note.starts_with("without effect: gtod_reduce, iodepth_batch (")),
        "{:?}",
        job.notes()
    );
}

#[test]
fn reads_and_writes_may_differ_in_size() {
    let sizes = |text: &str| job(&[("bs", text)]).unwrap().blocks.map(|blocks| blocks[0].block_bytes);
    assert_eq!(sizes("8k"), [8192; 2]);
    assert_eq!(sizes("8k,16k"), [8192, 16384]);
    assert_eq!(sizes("8k,"), [8192, 4096]);
    assert_eq!(sizes(",8k"), [4096, 8192]);
    assert_eq!(sizes("8k,16k,4k"), [8192, 16384]);
    let range = job(&[("bsrange", "4k-16k,8k")]).unwrap().blocks;
    let rows: Vec<_> = range[0].iter().map(|row| (row.block_bytes, row.share_percent)).collect();
    assert_eq!(rows, [(4096, 25), (8192, 25), (12288, 25), (16384, 25)]);
    assert_eq!(range[1][0], BlockShare { block_bytes: 8192, share_percent: 100 });
    let split = job(&[("bssplit", "4k/10:8k:16k/40,64k/100")]).unwrap().blocks;
    let rows: Vec<_> = split[0].iter().map(|row| (row.block_bytes, row.share_percent)).collect();
    assert_eq!(rows, [(4096, 10), (8192, 50), (16384, 40)]);
    assert_eq!(split[1][0], BlockShare { block_bytes: 65536, share_percent: 100 });
}

#[test]
fn the_last_placement_and_the_last_polling_mode_apply() {
    let places = [("cpus_allowed", "0"), ("numa_cpu_nodes", "1")];
    assert_eq!(job(&places).unwrap().placement, Some(Placement::NumaCpuNodes("1".into())));
    let polling = |words: &[(&str, &str)]| job(words).unwrap().polling;
    assert_eq!(polling(&[("hipri", "1"), ("sqthread_poll", "1")]), Polling::Submissions);
    assert_eq!(polling(&[("hipri", "1"), ("sqthread_poll", "0")]), Polling::Completions);
    assert_eq!(polling(&[("hipri", "1"), ("hipri", "0")]), Polling::No);
}

#[test]
fn names_with_colons_need_a_backslash() {
    assert_eq!(job(&[("filename", "/dev/x\\:y")]).unwrap().filename.as_deref(), Some("/dev/x:y"));
    assert_eq!(
        job(&[("filename", "sim:sas-slc-2011")]).unwrap().filename.as_deref(),
        Some("sim:sas-slc-2011")
    );
}

#[test]
fn errors_list_the_possible_values() {
    for (name, value, expected) in [
        ("rw", "randtrimwrite", "randread"),
        ("rw", "randread:8", "omit the number"),
        ("rw", "read:x", "not an integer"),
        ("steadystate", "iops", "iops_slope"),
        ("steadystate", "cpu:1%", "iops_slope"),
        ("steadystate", "lat:50us", "percent"),
        ("zonemode", "zbc", "supported: none, strided and zbd"),
        ("fill_device", "2", "0 or 1"),
        ("bs", "0", "1 to 1g"),
        ("bs", "4KiB", "write k"),
        ("bssplit", "4k/50:8k/40", "90 %"),
        ("iodepth", "0", "1 to 4096"),
        ("verify_fatal", "2", "0 or 1"),
        ("startdelay", "5-9", "not a range"),
        ("exitall", "2", "0 or 1"),
        ("bsrange", "4k-64m", "1 to 100 sizes"),
        ("bsrange", "8k-4k", "1 to 100 sizes"),
        ("filesize", "4k-8k", "same size"),
        ("ioengine", "mmap", "libaio"),
        ("cmd_type", "ublk", "only nvme"),
        ("verify", "pattern", "crc32c"),
        ("random_distribution", "zipf:0", "positive"),
        ("random_distribution", "sequential:2,0,1", "zoned:"),
        ("random_distribution", "zoned:50/5:40/95", "90 %"),
        ("rate_iops", "0", "1 to"),
        ("rate_process", "bursty", "poisson"),
        ("dedupe_percentage", "120", "0 to 100"),
        ("size", "120%", "0 to 100"),
        ("cpus_allowed_policy", "even", "split, shared"),
        ("fixedbufs", "0", "only 1"),
        ("sync", "2", "dsync"),
        ("fsync", "-1", "0 to"),
        ("thinktime", "0.5", "integer"),
        ("thinktime_blocks", "0", "1 to"),
        ("thinktime_blocks_type", "done", "complete, issue"),
    ] {
        let error = job(&[(name, value)]).expect_err(expected);
        assert!(error.starts_with(&format!("{name}={value}: ")) && error.contains(expected), "{error}");
    }
}

#[test]
fn defaults_that_differ_from_those_of_fio_are_named_in_notes() {
    let notes = |words: &[(&str, &str)]| job(words).unwrap().notes().join("\n");
    let (engine, cache) = ("ioengine is not set", "direct is not set");
    let deep = notes(&[("iodepth", "32")]);
    assert!(deep.contains(engine) && deep.contains(cache), "{deep}");
    assert!(!notes(&[("iodepth", "1")]).contains(engine));
    let explicit = notes(&[("iodepth", "32"), ("ioengine", "libaio"), ("direct", "1")]);
    assert_eq!(explicit, "");
    assert!(!notes(&[("buffered", "0")]).contains(cache));
    assert!(!notes(&[("filename", "sim:sas-slc-2011"), ("iodepth", "32")]).contains("not set"));
}

#[test]
fn engines_that_perform_one_io_at_a_time_ignore_the_depth() {
    for (engine, depth) in
        [("psync", 1), ("sync", 1), ("pvsync", 1), ("pvsync2", 1), ("posixaio", 32), ("libaio", 32)]
    {
        let job = job(&[("ioengine", engine), ("iodepth", "32"), ("direct", "1")]).unwrap();
        assert_eq!(job.streams(1 << 30, 0, 1).unwrap()[0].queue_depth, depth, "{engine}");
        let notes = job.notes();
        let is_noted = notes.iter().any(|note| note.contains("one I/O at a time, not the 32 of iodepth"));
        assert_eq!(is_noted, depth == 1, "{engine}: {notes:?}");
    }
    let later = job(&[("ioengine", "psync"), ("iodepth", "8"), ("ioengine", "posixaio")]).unwrap();
    assert_eq!(later.streams(1 << 30, 0, 1).unwrap()[0].queue_depth, 8);
}

#[test]
fn values_that_change_little_are_accepted_with_a_note() {
    let direct = ("direct", "1");
    for (name, value) in [("startdelay", "0"), ("startdelay", "0s"), ("exitall", "0"), ("thread", "1")] {
        assert_eq!(job(&[direct, (name, value)]).unwrap().notes(), [""; 0], "{name}={value}");
    }
    for (name, value) in
        [("thread", "0"), ("refill_buffers", "0"), ("verify_fatal", "1"), ("cpus_allowed_policy", "shared")]
    {
        let notes = job(&[direct, (name, value)]).unwrap().notes();
        assert!(notes.iter().any(|note| note.starts_with(&format!("{name}={value}: "))), "{notes:?}");
    }
    assert_eq!(job(&[direct, ("thread", "0"), ("thread", "1")]).unwrap().notes(), [""; 0]);
    let pure = job(&[direct, ("rwmixread", "70"), ("random_distribution", "zipf:1.2")]).unwrap().notes();
    assert!(pure.iter().any(|note| note.contains("rwmixread has no effect on read")), "{pure:?}");
    assert!(pure.iter().any(|note| note.contains("random_distribution has no effect on read")), "{pure:?}");
}
