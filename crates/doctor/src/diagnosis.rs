//! The result of an examination, with remedies, as text and as a document. Doc comments in this file are part of
//! the schema.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use stdx::text::{on_one_line, shell_word};
use stdx::units::count_of;

use crate::examine::Examined;
use crate::problem::{Finding, Problem};
use crate::severity::Severity;

/// The problems found in a library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "Doctor")]
pub struct Diagnosis {
    /// Version of the document's layout.
    pub schema_version: u32,
    /// Path of the library.
    pub library: String,
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that were verified, which excludes runs in progress and unreadable runs.
    pub verified: usize,
    /// Number of runs in progress.
    pub in_progress: usize,
    /// Everything that was found, errors first.
    pub findings: Vec<Diagnosed>,
}

/// A problem and its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosed {
    /// Severity.
    pub severity: Severity,
    /// Kind of problem, as a keyword that never changes.
    pub kind: &'static str,
    /// Id of the run; null for other files.
    pub run: Option<String>,
    /// Path of the file or folder.
    pub path: String,
    /// The problem in words.
    pub text: String,
    /// The remedy.
    pub advice: String,
}

impl Diagnosis {
    /// Sorts the findings by severity and adds a remedy to each. `options` are the arguments that make a command use
    /// this library; empty if it is the default.
    #[must_use]
    pub fn of(library: &Path, examined: &Examined, options: &str) -> Self {
        let options = if options.is_empty() { String::new() } else { format!(" {options}") };
        let diagnosed = |finding: &Finding| Diagnosed {
            severity: finding.problem.severity(),
            kind: finding.problem.kind(),
            run: finding.run.clone(),
            path: finding.path.to_string_lossy().into_owned(),
            text: finding.problem.to_string(),
            advice: advice(finding, &options),
        };
        let mut findings: Vec<Diagnosed> = examined.findings.iter().map(diagnosed).collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Self {
            schema_version: 1,
            library: library.to_string_lossy().into_owned(),
            runs: examined.runs,
            verified: examined.verified,
            in_progress: examined.in_progress,
            findings,
        }
    }

    /// Returns the number of findings of this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|found| found.severity == severity).count()
    }

    /// Returns the findings for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for found in &self.findings {
            let word = match found.severity {
                Severity::Error => "ERROR",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            let place = found.run.as_ref().unwrap_or(&found.path);
            out.push_str(&format!("{word:<8} {}\n", on_one_line(place)));
            out.push_str(&format!(
                "         {}\n         -> {}\n",
                on_one_line(&found.text),
                on_one_line(&found.advice)
            ));
        }
        let count = |number: usize, noun: &str| count_of(number, noun);
        let busy = match self.in_progress {
            0 => String::new(),
            number => format!(", {number} in progress"),
        };
        let result = match self.findings.len() {
            0 => "no problems found".to_owned(),
            number => count(number, "finding"),
        };
        let library = on_one_line(&self.library).into_owned();
        let runs = count(self.runs, "run");
        out + &format!("{library}: {runs}, {} verified{busy}; {result}\n", self.verified)
    }
}

/// Number of duplicate runs whose commands are listed.
const MOST_COMPARED: usize = 4;

/// Returns the path that a file in an archived run will have once the run's directory has been restored.
fn inside(folder: &Path, file: &Path) -> PathBuf {
    folder.join(file.file_name().unwrap_or_default())
}

fn longer_of(first: &str, folder: &str) -> String {
    format!(
        "compare it with the journal; if the journal is a prefix of it, keep the longer file: {first}ls -l {folder}"
    )
}

/// Returns the remedy for a problem. `options` are appended to commands that use the library.
fn advice(finding: &Finding, options: &str) -> String {
    // Names in a library may come from anyone, and users may paste the command into a shell.
    let word = |path: &Path| shell_word(&path.to_string_lossy()).into_owned();
    let path = word(&finding.path);
    let run = finding.run.as_deref().unwrap_or("RUN");
    // The problem can be solved only in the run's directory, so an archived run must be unarchived first.
    let unarchive = finding
        .archive
        .as_ref()
        .map(|(archive, folder)| (format!("plateau unarchive {}", word(archive)), folder));
    match &finding.problem {
        Problem::Unreadable { .. } | Problem::Disordered { .. } | Problem::NoRunFile => {
            format!("restore it from a copy, or move it out of the library: mv {path} ELSEWHERE")
        }
        Problem::NoJournal => format!("copy it again, or remove it: rm -r {path}"),
        Problem::Torn { .. } => {
            let first = unarchive.map(|(command, _)| command + " && ").unwrap_or_default();
            let run = shell_word(run);
            format!("only that record is lost; continue the run: {first}plateau resume {run}{options}")
        }
        Problem::Unjudged { .. } => {
            "use the version of Plateau that wrote it (plateau_version in its run.json), or a newer one"
                .into()
        }
        Problem::JudgedDifferently { .. } => format!("show the differences: plateau verify {path}"),
        Problem::ImportedFileChanged => {
            format!("restore the file from a copy, or import it again: plateau import FILE{options}")
        }
        Problem::DuplicateId { names, .. } => {
            let verify = |name: &String| format!("plateau verify {}", word(&finding.path.join(name)));
            let commands: Vec<String> = names.iter().take(MOST_COMPARED).map(verify).collect();
            format!("keep one of them; compare them with: {}", commands.join("; "))
        }
        Problem::Renamed { own, .. } => {
            format!("restore its name, if nothing else has it: mv -n {path} {}", word(own))
        }
        Problem::OtherOwner { uid } => {
            format!("if you trust user {uid}, nothing; otherwise move it out of the library")
        }
        Problem::Link => format!("copy the run itself instead of the link, then remove the link: rm {path}"),
        Problem::LeftOverRun => format!("the next run removes it; or: rm -r {path}"),
        Problem::HalfArchived => {
            format!(
                "complete it: plateau archive {path}; or keep only the directory: plateau unarchive {path}"
            )
        }
        Problem::LeftOverFile => match unarchive {
            Some((command, folder)) => format!("{command} && rm {}", word(&inside(folder, &finding.path))),
            None => format!("rm {path}"),
        },
        Problem::Rescued => {
            let (first, folder) = match unarchive {
                Some((command, folder)) => (command + " && ", folder.as_path()),
                None => (String::new(), finding.path.parent().unwrap_or(&finding.path)),
            };
            longer_of(&first, &word(folder))
        }
        Problem::StaleSettings => {
            "the next run on that drive restores them; until then: plateau check TARGET shows its settings"
                .into()
        }
        Problem::UntrustedState { .. } => {
            "specify a folder that only you can write to with PLATEAU_STATE".into()
        }
        Problem::StaleIndex { .. } => format!("plateau index{options}"),
        Problem::UnusableIndex { .. } => {
            format!("remove it; `plateau index{options}` recreates it from the runs")
        }
        Problem::Added(problem) => problem.advice(&path),
        Problem::LittleSpace { .. } => {
            format!("remove runs (plateau rm RUN{options}), or keep new ones in another library")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_library_is_one_word_of_what_to_type() {
        let finding = |path: &str, problem| Finding::elsewhere(path.as_ref(), problem);
        let advice = |finding: &Finding| advice(finding, "");
        assert_eq!(advice(&finding("/l/a", Problem::LeftOverFile)), "rm /l/a");
        assert_eq!(advice(&finding("/l/a; rm -r ~", Problem::LeftOverFile)), "rm '/l/a; rm -r ~'");
        assert_eq!(advice(&finding("/l/'$(id)'", Problem::LeftOverFile)), r"rm '/l/'\''$(id)'\'''");
        let renamed = Finding {
            run: Some("it's".into()),
            ..finding("/l/a b", Problem::Renamed { name: "a b".into(), own: "/l/it's".into() })
        };
        assert!(advice(&renamed).ends_with(r"mv -n '/l/a b' '/l/it'\''s'"), "{}", advice(&renamed));
    }

    #[test]
    fn commands_use_the_examined_library() {
        let torn = Problem::Torn { bytes: 3 };
        let finding =
            |problem| Finding { run: Some("a".into()), ..Finding::elsewhere("/l/a".as_ref(), problem) };
        assert!(advice(&finding(torn), " -L x").ends_with("plateau resume a -L x"));
        assert_eq!(advice(&finding(Problem::StaleIndex { runs: 1 }), " -L x"), "plateau index -L x");
        assert_eq!(advice(&finding(Problem::StaleIndex { runs: 1 }), ""), "plateau index");
    }

    #[test]
    fn what_changes_an_archived_run_first_restores_its_directory() {
        let finding = |path: &str, problem| Finding {
            run: Some("a".into()),
            archive: Some(("/l/b.tar.zst".into(), "/l/b".into())),
            ..Finding::elsewhere(path.as_ref(), problem)
        };
        let advice = |finding: &Finding| advice(finding, " -L x");
        let renamed = Problem::Renamed { name: "b.tar.zst".into(), own: "/l/a.tar.zst".into() };
        assert!(advice(&finding("/l/b.tar.zst", renamed)).ends_with("mv -n /l/b.tar.zst /l/a.tar.zst"));
        let torn = advice(&finding("/l/b.tar.zst", Problem::Torn { bytes: 1 }));
        assert!(torn.ends_with(": plateau unarchive /l/b.tar.zst && plateau resume a -L x"), "{torn}");
        let left = advice(&finding("/l/b.tar.zst/.plateau-1.tmp", Problem::LeftOverFile));
        assert_eq!(left, "plateau unarchive /l/b.tar.zst && rm /l/b/.plateau-1.tmp");
        let rescued = advice(&finding("/l/b.tar.zst/journal.rescued", Problem::Rescued));
        assert!(rescued.ends_with(": plateau unarchive /l/b.tar.zst && ls -l /l/b"), "{rescued}");
        let names = vec!["a".to_owned(), "b.tar.zst".to_owned()];
        let twice = advice(&finding("/l", Problem::DuplicateId { count: 2, names }));
        assert!(twice.ends_with(": plateau verify /l/a; plateau verify /l/b.tar.zst"), "{twice}");
    }
}
