//! Annotations that a forge shows next to lines of the rules file.

use std::path::PathBuf;
use std::str::FromStr;

use record::Digest;
use serde_json::json;
use stdx::text::on_one_line;

use crate::verdict::{RuleOutcome, RuleVerdict, Verdict};

/// Annotations requested with `github`, `github=FILE`, `gitlab=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotations {
    /// The forge that shows the annotations.
    pub forge: Forge,
    /// Where they are written; `None` for standard output, after the verdict.
    pub file: Option<PathBuf>,
}

/// A forge that shows annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forge {
    /// GitHub, Gitea or Forgejo.
    Github,
    /// GitLab.
    Gitlab,
}

impl FromStr for Annotations {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => {
                (name, Some(PathBuf::from(file)).filter(|file| !file.as_os_str().is_empty()))
            }
            None => (text, None),
        };
        match (name.to_lowercase().as_str(), &file) {
            ("github", _) => Ok(Self { forge: Forge::Github, file }),
            ("gitlab", Some(_)) => Ok(Self { forge: Forge::Gitlab, file }),
            ("gitlab", None) => Err("GitLab reads a file: use gitlab=gl-code-quality-report.json".into()),
            _ => Err("use github or gitlab=FILE".into()),
        }
    }
}

fn message(rule: &RuleVerdict) -> String {
    let reasons: Vec<&str> = rule.reasons.iter().map(|reason| reason.text.as_str()).collect();
    on_one_line(&format!("{} ({})", reasons.join("; "), rule.outcome.words())).into_owned()
}

/// Returns workflow commands for GitHub Actions (also understood by Gitea and Forgejo), one line per rule that is
/// not met.
#[must_use]
pub fn github(verdict: &Verdict) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(&on_one_line(text)).replace(':', "%3A").replace(',', "%2C");
    let line = |rule: &RuleVerdict| {
        let is_warning = rule.outcome == RuleOutcome::SpreadUnknown && verdict.spread_unknown_is_met;
        let level = if is_warning { "warning" } else { "error" };
        let title = property(&format!("{}: {}", rule.list.name(), rule.rule));
        let file = property(&verdict.rules_file);
        format!("::{level} file={file},line={},title={title}::{}\n", rule.line, data(&message(rule)))
    };
    verdict.violated().map(line).collect()
}

/// Returns a Code Quality report for GitLab: an array with one entry per rule that is not met.
#[must_use]
pub fn gitlab(verdict: &Verdict) -> String {
    let path = verdict.rules_file.strip_prefix("./").unwrap_or(&verdict.rules_file);
    let entry = |rule: &RuleVerdict| {
        // A rule has the same fingerprint in every pipeline, regardless of its position in the file.
        let fingerprint = Digest::of(format!("{path}\n{}\n{}", rule.list.name(), rule.rule).as_bytes());
        let is_warning = rule.outcome == RuleOutcome::SpreadUnknown && verdict.spread_unknown_is_met;
        json!({
            "description": format!("{}: {}: {}", rule.list.name(), on_one_line(&rule.rule), message(rule)),
            "check_name": format!("plateau/{}", rule.list.name()),
            "fingerprint": fingerprint.to_string(),
            "severity": if is_warning { "minor" } else { "major" },
            "location": { "path": path, "lines": { "begin": rule.line } },
        })
    };
    let entries: serde_json::Value = verdict.violated().map(entry).collect();
    format!("{entries:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_may_be_written_to_a_file() {
        let of = |text: &str| text.parse::<Annotations>();
        assert_eq!(of("github"), Ok(Annotations { forge: Forge::Github, file: None }));
        assert_eq!(of("GitLab=a=b"), Ok(Annotations { forge: Forge::Gitlab, file: Some("a=b".into()) }));
        assert!(of("gitlab").is_err() && of("gitlab=").is_err() && of("gitea=x").is_err());
    }
}
