//! Notices as text: subject, message and JSON document. The message contains every command that a person may need
//! next.

use serde_json::Value;
use stdx::units::{count_of, span};

use crate::notice::{About, Failing, Notice, Question, Verdict};

/// Version of the JSON document.
pub const PAYLOAD_VERSION: u32 = 1;
/// Maximum length of a subject.
const MOST_SUBJECT_CHARS: usize = 150;

/// Returns the notice on one line.
#[must_use]
pub fn subject(notice: &Notice) -> String {
    let Notice { run, host, .. } = notice;
    let id = run.name.as_ref().map_or_else(|| run.id.clone(), |name| format!("{name} ({})", run.id));
    let tests = if run.tests.is_empty() { String::new() } else { format!(" [{}]", run.tests.join(", ")) };
    let what = match &notice.about {
        About::Finished { accepted: Some(false), .. } => "drive rejected".into(),
        About::Finished { verdict, deviations, .. } => {
            let modified = if *deviations > 0 { ", modified" } else { "" };
            format!("complete, {}{modified}", words(*verdict))
        }
        About::Failed(Failing::Drive { .. }) => "the drive failed".into(),
        About::Failed(Failing::Incomplete { .. }) => "ended without all results".into(),
        About::Failed(Failing::Unreadable { .. }) => "cannot be read".into(),
        About::Interrupted { .. } => "interrupted".into(),
        About::NeedsPerson { question: Question::Held, .. } => "its job is held".into(),
        About::NeedsPerson { .. } => "interrupted, needs a decision".into(),
        About::Stuck { quiet_seconds, .. } => format!("no activity for {}", quiet(*quiet_seconds)),
        About::Test => return cut(&format!("Plateau on {host}: test of this channel")),
    };
    cut(&format!("Plateau on {host}: {id}: {what}{tests}"))
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MOST_SUBJECT_CHARS {
        return text.to_owned();
    }
    text.chars().take(MOST_SUBJECT_CHARS - 1).chain(['…']).collect()
}

const fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Steady => "steady state",
        Verdict::Unsteady => "steady state not reached",
        Verdict::Complete => "no steady state required",
    }
}

fn quiet(seconds: u64) -> String {
    span(seconds.saturating_mul(1_000_000_000))
}

/// Returns the notice as lines of plain text.
#[must_use]
pub fn text(notice: &Notice) -> String {
    let run = &notice.run;
    let mut lines = vec![sentence(notice), String::new()];
    let mut fact = |name: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("{name:<9} {value}"));
        }
    };
    fact("run", &run.id);
    fact("name", run.name.as_deref().unwrap_or_default());
    fact("tests", &run.tests.join(", "));
    fact("profile", &run.profile);
    let simulated = if run.simulated { " (simulated)" } else { "" };
    fact("target", &if run.target.is_empty() { String::new() } else { format!("{}{simulated}", run.target) });
    fact("drive", &run.drive);
    fact("model", run.model.as_deref().unwrap_or_default());
    fact("started", &run.created.map(|time| format!("{time:.0}")).unwrap_or_default());
    fact("host", &notice.host);
    fact("observed", &format!("{:.0}", notice.time));
    fact("notice", &notice.id);
    let next = next(notice);
    if !next.is_empty() {
        lines.push(String::new());
        lines.extend(next.into_iter().map(|(command, purpose)| format!("{command}\n    {purpose}")));
    }
    lines.join("\n") + "\n"
}

fn sentence(notice: &Notice) -> String {
    let in_test = |test: &Option<String>| test.as_ref().map(|test| format!(" in {test}")).unwrap_or_default();
    let because = |reason: &Option<String>| match reason {
        Some(reason) => format!(": {reason}."),
        None => ": its process ended without a record, as after a kill, a crash or a power cut.".into(),
    };
    match &notice.about {
        About::Finished { verdict, deviations, accepted } => {
            let accepted = match accepted {
                Some(true) => " The drive is accepted.",
                Some(false) => " The drive is rejected: the burn-in has the verdict FAIL.",
                None => "",
            };
            let conforms = match deviations {
                0 => "It conforms to its profile.".into(),
                number => format!("It has {} from its profile.", count_of(*number, "deviation")),
            };
            format!("The run is complete: {}. {conforms}{accepted}", words(*verdict))
        }
        About::Failed(Failing::Drive { test, reason }) => {
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("The drive failed{}{reason}. Completed work is kept.", in_test(test))
        }
        About::Failed(Failing::Incomplete { reason }) => {
            format!("The run has ended, but a test is not complete: {reason}.")
        }
        About::Failed(Failing::Unreadable { problem }) => format!("The run cannot be read: {problem}."),
        About::Interrupted { test, reason } => {
            format!("The run was interrupted{}{}", in_test(test), because(reason))
        }
        About::NeedsPerson { question: Question::Held, reason, .. } => {
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("The scheduler holds the job of this run until you release it{reason}.")
        }
        About::NeedsPerson { test, question, reason, .. } => {
            let question = match question {
                Question::Timeline => {
                    "The test's timeline is its result, so you must decide whether it restarts or continues with a \
                     gap."
                }
                Question::Array => {
                    "Its array does not outlive an interruption, so you must confirm that the test restarts from its \
                     purge."
                }
                Question::Fruitless | Question::Held => {
                    "It was continued several times without completing a purge or a workload, each of which starts again \
                     from its beginning, so it needs more time without an interruption."
                }
            };
            format!("The run was interrupted{}{} {question}", in_test(test), because(reason))
        }
        About::Stuck { quiet_seconds, phase } => {
            let phase =
                phase.as_ref().map(|phase| format!(" It is in this phase: {phase}.")).unwrap_or_default();
            format!(
                "A process is working on the run, but there has been no sign of activity for {}.{phase} Check the kernel's \
                 log for a drive that does not respond, and whether the process is stopped.",
                quiet(*quiet_seconds)
            )
        }
        About::Test => "This is a test of the channel. No run is affected.".into(),
    }
}

/// Returns the commands that a person may need next, each with its purpose.
fn next(notice: &Notice) -> Vec<(String, &'static str)> {
    let id = &notice.run.id;
    let command = |words: &str, purpose| (format!("plateau {words}"), purpose);
    match &notice.about {
        About::Finished { .. } => vec![command(&format!("show {id}"), "shows the results")],
        About::Failed(Failing::Drive { .. } | Failing::Incomplete { .. }) => {
            vec![command(&format!("show {id}"), "shows the results until then")]
        }
        About::Failed(Failing::Unreadable { .. }) => {
            vec![command("doctor", "shows what is wrong with the library, and how to fix it")]
        }
        About::Interrupted { .. } => {
            vec![command(&format!("resume {id}"), "continues after the last completed step")]
        }
        About::NeedsPerson { question: Question::Held, job, .. } => {
            let release = job.map(|job| (format!("scontrol release {job}"), "starts the job again"));
            release.into_iter().collect()
        }
        About::NeedsPerson { question, .. } => {
            let restart = command(
                &format!("resume {id} --restart-test"),
                "restarts the test from its purge, which erases the drive again",
            );
            let with_gap = command(
                &format!("resume {id} --continue-timeline"),
                "continues with a gap, which the report shows",
            );
            match question {
                Question::Timeline => vec![restart, with_gap],
                Question::Array => vec![restart],
                Question::Fruitless | Question::Held => {
                    vec![command(&format!("resume {id}"), "continues after the last completed step")]
                }
            }
        }
        About::Stuck { .. } => vec![command(&format!("watch {id}"), "shows the state of the run")],
        About::Test => Vec::new(),
    }
}

/// Returns the notice as a JSON document on one line, with its texts.
#[must_use]
pub fn json(notice: &Notice) -> String {
    let mut document = serde_json::to_value(notice).unwrap_or_default();
    if let Value::Object(keys) = &mut document {
        keys.insert("version".into(), PAYLOAD_VERSION.into());
        keys.insert("subject".into(), subject(notice).into());
        keys.insert("text".into(), text(notice).into());
    }
    stdx::text::in_json(&document.to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::{Subject, short};
    use jiff::Timestamp;
    use proptest::prelude::*;
    use stdx::text::is_unprintable;

    fn notice(about: About) -> Notice {
        Notice { about, ..Notice::sample("lab7", Timestamp::UNIX_EPOCH) }
    }

    #[test]
    fn a_person_reads_what_happened_and_what_to_type_next() {
        let finished = notice(About::Finished { verdict: Verdict::Steady, deviations: 2, accepted: None });
        assert_eq!(subject(&finished), "Plateau on lab7: sample: complete, steady state, modified [iops]");
        let body = text(&finished);
        assert!(body.starts_with("The run is complete: steady state. It has 2 deviations"), "{body}");
        assert!(body.contains("\nplateau show sample\n"), "{body}");
        let decision = |question, reason: Option<&str>, job| About::NeedsPerson {
            test: Some("wsat".into()),
            question,
            reason: reason.map(str::to_owned),
            job,
        };
        let body = text(&notice(decision(Question::Fruitless, Some("time limit"), None)));
        for part in ["interrupted in wsat: time limit. It was continued several times", "resume sample\n"] {
            assert!(body.contains(part), "{body}");
        }
        let held = notice(decision(Question::Held, Some("D1 is not fit for a test"), Some(12)));
        assert!(subject(&held).ends_with("its job is held [iops]"), "{}", subject(&held));
        let body = text(&held);
        for part in ["until you release it: D1 is not fit for a test.", "\nscontrol release 12\n"] {
            assert!(body.contains(part), "{body}");
        }
        let body = text(&notice(decision(Question::Timeline, None, None)));
        for part in ["power cut", "resume sample --restart-test", "resume sample --continue-timeline"] {
            assert!(body.contains(part), "{body}");
        }
        let stuck = notice(About::Stuck { quiet_seconds: 720, phase: Some("iops, round 2".into()) });
        assert!(subject(&stuck).contains("no activity for 12 min"), "{}", subject(&stuck));
        let rejected =
            notice(About::Finished { verdict: Verdict::Complete, deviations: 0, accepted: Some(false) });
        assert!(subject(&rejected).contains("drive rejected") && text(&rejected).contains("FAIL"));
    }

    proptest! {
        #[test]
        fn texts_of_a_run_cannot_add_lines_or_control_characters(
            name in ".{0,400}|[\u{1b}\r\n\u{202e}\"\\\\<]{0,20}",
            reason in "(?s).{0,400}",
        ) {
            let run = Subject { name: Some(short(&name)), target: short(&name), ..Subject::unknown("r") };
            let about = About::Interrupted { test: None, reason: Some(short(&reason)) };
            let notice = Notice { run, about, ..Notice::sample("h", Timestamp::UNIX_EPOCH) };
            let subject = subject(&notice);
            prop_assert!(!subject.chars().any(is_unprintable) && subject.chars().count() <= MOST_SUBJECT_CHARS);
            let body = text(&notice);
            prop_assert!(!body.chars().any(|c| c != '\n' && is_unprintable(c)));
            let empty = text(&Notice { run: Subject::unknown("r"), ..notice.clone() });
            prop_assert_eq!(body.lines().count(), empty.lines().count() + if name.is_empty() { 0 } else { 2 });
            let json = json(&notice);
            prop_assert!(!json.chars().any(is_unprintable));
            let document: Value = serde_json::from_str(&json).expect("JSON");
            prop_assert_eq!(document["text"].as_str(), Some(body.as_str()));
            prop_assert_eq!(document["event"].as_str(), Some("interrupted"));
        }
    }
}
