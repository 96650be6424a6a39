//! A job file: sections of options. `[global]` sections set the defaults for the jobs that follow.

use super::variables::expanded;
use super::{Job, set};

/// Maximum number of jobs: a file with more is probably a mistake.
const MOST_JOBS: usize = 256;
/// Maximum nesting depth of included files.
const DEEPEST: usize = 8;
/// Maximum number of errors: a file with more is probably not a job file.
const MOST_COMPLAINTS: usize = 50;
const GLOBAL: &str = "global";

/// Name and text of an included file, or why it cannot be read.
pub type Included = Result<(String, String), String>;

/// The environment of a job file: variables and included files.
pub struct Surroundings<'a> {
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the text and the resolved name of an included file, given the names of the including and the included
    /// file.
    pub include: &'a dyn Fn(&str, &str) -> Included,
}

impl Surroundings<'_> {
    /// Returns an environment with no variables or include files.
    #[must_use]
    pub fn none() -> Self {
        Self { variable: &|_| None, include: &|_, _| Err("files cannot be included here".into()) }
    }
}

/// Parses a job file into jobs; `name` identifies the file in errors, and `defaults` applies to options that
/// the file does not set.
///
/// # Errors
/// Returns all problems, one per line, each with its file, line number and option.
pub fn parse(
    name: &str,
    text: &str,
    defaults: &Job,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Job>, String> {
    let mut reader = Reader {
        surroundings,
        defaults: defaults.clone(),
        jobs: Vec::new(),
        section: None,
        complaints: Vec::new(),
    };
    reader.read(name, text, 0);
    if reader.jobs.is_empty() && reader.complaints.is_empty() {
        reader.complaints.push(format!("{name}: contains no job; a job starts with [its name]"));
    }
    if reader.complaints.is_empty() { Ok(reader.jobs) } else { Err(reader.complaints.join("\n")) }
}

#[derive(Clone, Copy)]
enum Section {
    Global,
    Job,
}

/// State of the parser.
struct Reader<'a> {
    surroundings: &'a Surroundings<'a>,
    defaults: Job,
    jobs: Vec<Job>,
    section: Option<Section>,
    complaints: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self, name: &str, text: &str, depth: usize) {
        for (index, line) in text.lines().enumerate() {
            if self.complaints.len() >= MOST_COMPLAINTS {
                return;
            }
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            if let Err(problem) = self.line(name, line, depth) {
                let line = index + 1;
                self.complaints.push(format!("{name}:{line}: {problem}"));
            }
        }
    }

    fn line(&mut self, name: &str, line: &str, depth: usize) -> Result<(), String> {
        if let Some(title) = line.strip_prefix('[') {
            return self.begin(line, title);
        }
        if let Some(included) = line.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t'])) {
            return self.include(name, included.trim(), depth);
        }
        let line = expanded(line, self.surroundings.variable)?;
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (line.trim(), None),
        };
        let job = match self.section {
            Some(Section::Global) => &mut self.defaults,
            Some(Section::Job) => self.jobs.last_mut().ok_or("an option before the first [section]")?,
            None => return Err(format!("{key}: an option before the first [section]")),
        };
        set(job, key, value)
    }

    fn begin(&mut self, line: &str, title: &str) -> Result<(), String> {
        let title = title.strip_suffix(']').map(str::trim).filter(|title| !title.is_empty());
        let title = title.ok_or_else(|| format!("{line}: a section starts with [its name]"))?;
        if title.eq_ignore_ascii_case(GLOBAL) {
            self.section = Some(Section::Global);
            return Ok(());
        }
        if self.jobs.len() == MOST_JOBS {
            return Err(format!("more than {MOST_JOBS} jobs; split the file"));
        }
        self.section = Some(Section::Job);
        self.jobs.push(self.defaults.begun(title.to_owned()));
        Ok(())
    }

    fn include(&mut self, name: &str, included: &str, depth: usize) -> Result<(), String> {
        if depth == DEEPEST {
            return Err(format!("include {included}: includes are nested more than {DEEPEST} deep"));
        }
        let (found, text) = (self.surroundings.include)(name, included)
            .map_err(|problem| format!("include {included}: {problem}"))?;
        self.read(&found, &text, depth + 1);
        Ok(())
    }
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
        let jobs = parse("x.fio", text, &Job::default(), &Surroundings::none()).unwrap();
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
            ("[a]\n\nexit_what=some\n", "x.fio:3: exit_what=some: supported: group, stonewall, all"),
            (
                "[a]\nexec_prerun=rm -rf /\n",
                "x.fio:2: exec_prerun is not supported: a load does not start other programs",
            ),
            ("[a]\nhostname=x\n", "x.fio:2: hostname is not supported: a load tests storage"),
            ("[a]\niodeph=4\n", "x.fio:2: iodeph is not a fio option; did you mean iodepth?"),
            (
                "[a]\nrw=trimwrite\n",
                "x.fio:2: rw=trimwrite: a job that trims does not write; supported: read, write",
            ),
            ("[a]\nbs\n", "x.fio:2: bs: missing value"),
            ("[a]\nbs=\n", "x.fio:2: bs="),
            ("[a]\nfilename=${DEVICE}\n", "x.fio:2: filename=${DEVICE}: the environment has no"),
            ("include other.fio\n", "x.fio:1: include other.fio: files cannot"),
        ] {
            let error = parse("x.fio", text, &Job::default(), &Surroundings::none()).expect_err(expected);
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn all_problems_of_a_file_are_reported_at_once() {
        let text = "[a]\nbs=x\nrw=randread\niodeph=4\nwrite_iolog=x\n[b\n";
        let error = parse("x.fio", text, &Job::default(), &Surroundings::none()).unwrap_err();
        let lines: Vec<&str> = error.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(lines, ["x.fio:2:", "x.fio:4:", "x.fio:5:", "x.fio:6:"], "{error}");
    }

    #[test]
    fn an_included_file_continues_the_section() {
        let include = |from: &str, name: &str| match name {
            "loop.fio" => Ok((name.to_owned(), "include loop.fio\n".to_owned())),
            "deep.fio" => Ok((format!("{from}/{name}"), "iodepth=7\nbs=x\n".to_owned())),
            _ => Ok((name.to_owned(), "iodepth=7\n".to_owned())),
        };
        let surroundings = Surroundings { variable: &|_| None, include: &include };
        let jobs = parse("x", "[a]\ninclude b.fio\nbs=8k\n", &Job::default(), &surroundings).unwrap();
        assert_eq!((jobs[0].iodepth, jobs[0].blocks[0][0].block_bytes), (7, 8192));
        let error = |text: &str| parse("x", text, &Job::default(), &surroundings).unwrap_err();
        assert!(error("[a]\ninclude loop.fio\n").contains("nested more than 8 deep"));
        assert!(error("[a]\ninclude deep.fio\n").starts_with("x/deep.fio:2: bs=x"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn arbitrary_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse("x", &String::from_utf8_lossy(&bytes), &Job::default(), &Surroundings::none());
        }

        #[test]
        fn arbitrary_values_cause_no_panic(
            lines in prop::collection::vec((prop::sample::select(names()), "[0-9a-zA-Z%/:,.=+\\- _\\\\]{0,24}"), 0..12),
            capacity: u64,
        ) {
            let mut text = "[job]\nfilename=x\n".to_owned();
            for (key, value) in lines {
                text.push_str(&format!("{}={value}\n", key));
            }
            if let Ok(jobs) = parse("x", &text, &Job::default(), &Surroundings::none()) {
                let _ = jobs[0].streams(capacity, 1, 0);
            }
        }

        #[test]
        fn extreme_numbers_cause_no_panic(
            lines in prop::collection::vec((prop::sample::select(names()), prop::sample::select(EDGES.to_vec())), 0..8),
            capacity in prop::sample::select(vec![0, 1, 4096, 1 << 30, u64::MAX]),
        ) {
            let mut text = "[job]\nfilename=x\n".to_owned();
            for (key, value) in lines {
                text.push_str(&format!("{}={value}\n", key));
            }
            if let Ok(jobs) = parse("x", &text, &Job::default(), &Surroundings::none()) {
                let _ = jobs[0].streams(capacity, u64::MAX, 0);
            }
        }
    }

    fn names() -> Vec<&'static str> {
        crate::keys().map(|key| key.name).filter(|name| *name != "filename").collect()
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
