//! A summary in Markdown, for a forge's job summaries and comments.

use stdx::text::on_one_line;

use super::text::word;
use crate::verdict::{RuleOutcome, Verdict};

/// Returns the verdict as a heading and a table.
#[must_use]
pub fn markdown(verdict: &Verdict) -> String {
    let mut out = format!("## Plateau gate {}: {}\n\n", word(verdict), verdict.in_short());
    let marks =
        if verdict.marks.is_empty() { String::new() } else { format!(", {}", verdict.marks.join(", ")) };
    out.push_str(&format!("Run {} ({}{marks})", code(&verdict.run), escaped(&verdict.name)));
    if let Some(baseline) = &verdict.baseline {
        out.push_str(&format!(", compared with {}", code(baseline)));
    }
    out.push_str(".\n\n| outcome | rule | found |\n|---|---|---|\n");
    for rule in &verdict.rules {
        let outcome = match rule.outcome {
            RuleOutcome::Passed => "pass".to_owned(),
            other => format!("**{}**", other.words()),
        };
        let found: Vec<String> = rule.reasons.iter().map(|reason| escaped(&reason.text)).collect();
        let condition = format!("{}: {}", rule.list.name(), code(&rule.rule));
        out.push_str(&format!("| {outcome} | {condition} | {} |\n", found.join("<br>")));
    }
    out
}

/// Formats text as code in a table cell with an HTML element, because a code span could not contain backticks.
fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Escapes text so that it contains no markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in on_one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
