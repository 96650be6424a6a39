//! The verdict as text for terminals.

use stdx::text::on_one_line;

use crate::verdict::{RuleOutcome, Verdict};

const WIDTH: usize = 80;
const INDENT: usize = 6;

/// Returns the verdict as text, at most 80 columns wide unless a single word is longer.
#[must_use]
pub fn text(verdict: &Verdict) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| out.push_str(&format!("{name:<9} {}\n", on_one_line(text)));
    let marks = verdict.marks.iter().map(String::as_str);
    let run: Vec<&str> = [verdict.run.as_str(), verdict.name.as_str()].into_iter().chain(marks).collect();
    line("run", &run.join("  "));
    if let Some(baseline) = &verdict.baseline {
        line("baseline", baseline);
    }
    line("rules", &verdict.rules_file);
    out.push('\n');
    for rule in &verdict.rules {
        let word = match rule.outcome {
            RuleOutcome::Passed => "pass",
            RuleOutcome::SpreadUnknown => "?",
            RuleOutcome::NoValue | RuleOutcome::Failed => "FAIL",
        };
        out.push_str(&format!("{word:<5} {}: {}\n", rule.list.name(), on_one_line(&rule.rule)));
        for reason in &rule.reasons {
            let note = match rule.outcome {
                RuleOutcome::SpreadUnknown | RuleOutcome::NoValue => format!(" ({})", rule.outcome.words()),
                RuleOutcome::Passed | RuleOutcome::Failed => String::new(),
            };
            let text = on_one_line(&reason.text).into_owned();
            let note = if text.ends_with(rule.outcome.words()) { "" } else { &note };
            out.push_str(&wrapped(&format!("{text}{note}")));
        }
    }
    out.push_str(&format!("\n{:<9} {}: {}\n", "gate", word(verdict), verdict.in_short()));
    out
}

/// Returns `passed` or `FAILED`.
pub(super) const fn word(verdict: &Verdict) -> &'static str {
    if verdict.passed { "passed" } else { "FAILED" }
}

/// Breaks `text` at spaces into indented lines.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used == 0 || used + 1 + length > WIDTH {
            if used > 0 {
                out.push('\n');
            }
            out.push_str(&format!("{:INDENT$}", ""));
            used = INDENT;
        } else {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out + "\n"
}
