//! A job file: sections of options. `[global]` sections set the defaults of the jobs after them.

use super::{Job, set};

/// A file with more jobs is assumed to be a mistake.
const MOST_JOBS: usize = 256;
const GLOBAL: &str = "global";

/// Parses a job file into jobs; `name` identifies the file in errors, `defaults` apply to options that the file
/// does not set.
///
/// # Errors
/// Returns an error with file, line and option of the first problem.
pub fn parse(name: &str, text: &str, defaults: &Job) -> Result<Vec<Job>, String> {
    let mut defaults = defaults.clone();
    let mut jobs: Vec<Job> = Vec::new();
    let mut section: Option<Section> = None;
    for (index, line) in text.lines().enumerate() {
        let at = |problem: String| format!("{name}:{}: {problem}", index + 1);
        let line = without_comment(line);
        if line.is_empty() {
            continue;
        }
        if let Some(title) = line.strip_prefix('[') {
            let title = title.strip_suffix(']').map(str::trim).filter(|title| !title.is_empty());
            let title = title.ok_or_else(|| at(format!("{line}: a section starts with [its name]")))?;
            let global = title.eq_ignore_ascii_case(GLOBAL);
            if !global {
                jobs.push(Job { name: title.to_owned(), ..defaults.clone() });
            }
            if jobs.len() > MOST_JOBS {
                return Err(at(format!("more than {MOST_JOBS} jobs; split the file")));
            }
            section = Some(if global { Section::Global } else { Section::Job });
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (line, None),
        };
        let job = match section {
            Some(Section::Global) => &mut defaults,
            Some(Section::Job) => jobs.last_mut().expect("its section creates it"),
            None => return Err(at(format!("{key}: an option before the first [section]"))),
        };
        set(job, key, value).map_err(at)?;
    }
    if jobs.is_empty() {
        return Err(format!("{name}: contains no job; a job starts with [its name]"));
    }
    Ok(jobs)
}

#[derive(Clone, Copy)]
enum Section {
    Global,
    Job,
}

/// Returns the line without its comment. As in fio, a comment starts with `;` or `#` anywhere in a line.
fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn globals_apply_to_the_jobs_after_them() {
        let text = "; a comment\n[global]\nbs=8k\niodepth=4\n[a]\nrw=randread # mine\n[global]\niodepth=8\n[b]\nbs=4k\n";
        let jobs = parse("x.fio", text, &Job::default()).unwrap();
        let seen: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.iodepth)).collect();
        assert_eq!(seen, [("a", 4), ("b", 8)]);
    }

    #[test]
    fn errors_name_the_line_of_the_problem() {
        for (text, expected) in [
            ("bs=4k\n", "x.fio:1: bs: an option before the first [section]"),
            ("[a\n", "x.fio:1: [a: a section starts with"),
            ("[]\n", "x.fio:1: []"),
            ("", "x.fio: contains no job"),
            ("[global]\nbs=4k\n", "x.fio: contains no job"),
            ("[a]\n\nthinktime=5\n", "x.fio:3: thinktime is not supported"),
            ("[a]\nexec_prerun=rm -rf /\n", "x.fio:2: exec_prerun is not supported"),
            ("[a]\nrw=trim\n", "x.fio:2: rw=trim: supported: read, write"),
            ("[a]\nbs\n", "x.fio:2: bs: missing value"),
            ("[a]\nbs=\n", "x.fio:2: bs="),
            ("[a]\nfilename=${DEVICE}\n", "x.fio:2: filename=${DEVICE}: variables"),
            ("include other.fio\n", "x.fio:1: include other.fio"),
        ] {
            let error = parse("x.fio", text, &Job::default()).expect_err(expected);
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn arbitrary_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse("x", &String::from_utf8_lossy(&bytes), &Job::default());
        }

        #[test]
        fn arbitrary_values_cause_no_panic(
            lines in prop::collection::vec((0..super::super::KEYS.len(), "[0-9a-zA-Z%/:,.=+\\- _\\\\]{0,24}"), 0..12),
            capacity: u64,
        ) {
            let mut text = "[job]\nfilename=x\n".to_owned();
            for (key, value) in lines {
                text.push_str(&format!("{}={value}\n", super::super::KEYS[key].name));
            }
            if let Ok(jobs) = parse("x", &text, &Job::default()) {
                let _ = jobs[0].streams(capacity, 1, 0);
            }
        }

        #[test]
        fn extreme_numbers_cause_no_panic(
            lines in prop::collection::vec((0..super::super::KEYS.len(), prop::sample::select(EDGES.to_vec())), 0..8),
            capacity in prop::sample::select(vec![0, 1, 4096, 1 << 30, u64::MAX]),
        ) {
            let mut text = "[job]\nfilename=x\n".to_owned();
            for (key, value) in lines {
                text.push_str(&format!("{}={value}\n", super::super::KEYS[key].name));
            }
            if let Ok(jobs) = parse("x", &text, &Job::default()) {
                let _ = jobs[0].streams(capacity, u64::MAX, 0);
            }
        }
    }

    const EDGES: &[&str] = &[
        "0",
        "1",
        "-1",
        "100",
        "101",
        "100%",
        "18446744073709551615",
        "18446744073709551616",
        "16777215t",
        "4096",
        "4294967295",
        "4294967296",
        "65535",
        "65536",
        "rw",
        "randrw",
        "write",
        "zoned:50/5:50/95",
        "4k/50:8k/50",
        "4k/1:8k",
        "4k,8k",
        ",",
        ":",
        "/",
        "1,2,3,4",
        "0x10",
        "0x",
        "99999d",
        "1us",
        "poisson",
        "crc32c",
    ];
}
