//! Conditions without a number: `steady`, `conforms`, `host-limited is none`.

use report::parts::MarkKind;
use report::{Document, Verdict};
use stdx::nearest;

/// A condition without a number.
#[derive(Debug)]
pub(crate) struct Word {
    /// The condition as written in a rules file.
    pub name: &'static str,
    /// Whether the condition holds for a run.
    pub check: fn(&Document) -> Check,
}

/// Whether a condition holds, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Check {
    Holds(String),
    Fails(String),
    /// The run does not contain the data that the condition requires.
    Absent(String),
}

/// All of them.
pub(crate) const WORDS: &[Word] = &[
    Word { name: "complete", check: complete },
    Word { name: "steady", check: steady },
    Word { name: "conforms", check: conforms },
    Word { name: "host-limited is none", check: not_host_limited },
    Word { name: "accepted", check: accepted },
];

/// Looks up a condition; spaces and case do not matter.
pub(crate) fn named(text: &str) -> Result<&'static Word, String> {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let names = || WORDS.iter().map(|word| word.name);
    WORDS.iter().find(|word| word.name == plain).ok_or_else(|| match nearest(&plain, names()) {
        Some(meant) => format!("unknown condition '{text}'; did you mean '{meant}'?"),
        None => format!(
            "unknown condition '{text}'; use one of {}, or a comparison such as `iops.rnd4k.w > 500000`",
            names().collect::<Vec<_>>().join(", ")
        ),
    })
}

/// Returns the details of one of the run's marks; `None` if it does not have the mark.
fn marked(document: &Document, kind: MarkKind) -> Option<String> {
    let marks = document.marks(None);
    marks.into_iter().find(|mark| mark.kind == kind).map(|mark| mark.details.join("; "))
}

fn complete(document: &Document) -> Check {
    match marked(document, MarkKind::NotComplete) {
        Some(why) => Check::Fails(format!("not complete: {why}")),
        None => Check::Holds("every test is complete".into()),
    }
}

fn steady(document: &Document) -> Check {
    if let Check::Fails(why) = complete(document) {
        return Check::Fails(why);
    }
    if let Some(why) = marked(document, MarkKind::NotAchieved) {
        return Check::Fails(why);
    }
    let judged: Vec<&str> = document
        .outcomes()
        .iter()
        .filter(|outcome| outcome.converged.is_some())
        .map(|outcome| outcome.title.as_str())
        .collect();
    if judged.is_empty() {
        return Check::Absent("no test of the run requires steady state".into());
    }
    Check::Holds(format!("steady state in {}", judged.join(", ")))
}

fn conforms(document: &Document) -> Check {
    let revision = document.profile.revision;
    match document.run_verdict() {
        None => Check::Absent("the run is imported, so the specification does not apply".into()),
        Some(Verdict::Conforms) => Check::Holds(format!("conforms to {revision}")),
        Some(verdict) => {
            let conformance = document.conformance();
            let clauses = conformance.iter().flat_map(|test| test.clauses.iter().map(move |c| (test, c)));
            let why: Vec<String> = clauses
                .filter(|(_, clause)| clause.verdict == Some(verdict))
                .map(|(test, clause)| format!("{}: {}: {}", test.title, clause.clause, clause.done))
                .collect();
            Check::Fails(format!("{} ({revision}): {}", verdict.words(), why.join("; ")))
        }
    }
}

fn not_host_limited(document: &Document) -> Check {
    let limited: Vec<String> = document
        .outcomes()
        .iter()
        .filter_map(|outcome| Some(format!("{}: {}", outcome.title, outcome.host_limited.as_ref()?)))
        .collect();
    if limited.is_empty() {
        Check::Holds("no cell is host-limited".into())
    } else {
        Check::Fails(format!("host-limited: {}", limited.join("; ")))
    }
}

fn accepted(document: &Document) -> Check {
    let verdicts: Vec<_> =
        document.outcomes().iter().filter_map(|o| Some((&o.title, o.acceptance.as_ref()?))).collect();
    let rejected: Vec<String> = verdicts
        .iter()
        .filter(|(_, acceptance)| !acceptance.is_pass())
        .map(|(title, acceptance)| format!("{title}: {acceptance}"))
        .collect();
    match (verdicts.is_empty(), rejected.is_empty()) {
        (true, _) => Check::Absent("no test of the run accepts or rejects the drive".into()),
        (false, true) => Check::Holds("the drive is accepted".into()),
        (false, false) => Check::Fails(rejected.join("; ")),
    }
}
