//! A rules file: TOML with the `require` and `fail-if` lists. All errors are reported at once.

use compare::{Limit, Threshold};
use stdx::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::health;
use crate::words::{self, Word};
use stdx::Mistake;

/// The rules in a file.
#[derive(Debug, Default)]
pub struct Rules {
    /// Path as opened.
    pub file: String,
    /// The run to compare with, unless the command line names a run.
    pub baseline: Option<String>,
    /// How to treat a difference whose spread is unknown.
    pub spread_unknown: SpreadUnknown,
    pub(crate) rules: Vec<Rule>,
}

/// The verdict if a difference exceeds its limit but its spread is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpreadUnknown {
    /// The gate fails, as if the difference were beyond noise.
    #[default]
    Fail,
    /// The gate passes; the outputs contain a warning.
    Warn,
}

/// A rule as written, with its position.
#[derive(Debug)]
pub(crate) struct Rule {
    pub text: String,
    pub line: usize,
    pub column: usize,
    pub condition: Condition,
}

/// A rule's condition.
#[derive(Debug)]
pub(crate) enum Condition {
    /// One of [`words::WORDS`] must hold.
    Word(&'static Word),
    /// Every matching value must satisfy the condition.
    Within(Threshold),
    /// No matching value or difference from the baseline may meet the condition.
    Never(Threshold),
}

const KEYS: [&str; 4] = ["baseline", "spread-unknown", "require", "fail-if"];
/// Limit on the number of rules; no reasonable file contains as many.
const MOST_RULES: usize = 1000;

impl Rules {
    /// Reads a rules file with this path and text. Valid rules are returned along with the errors, so that they can
    /// still be checked.
    #[must_use]
    pub fn read(file: &str, text: &str) -> (Self, Vec<Mistake>) {
        let mut reader = Reader { file, text, mistakes: Vec::new() };
        let mut rules = Self { file: file.into(), ..Self::default() };
        match DeTable::parse(text) {
            Ok(table) => reader.whole(table.get_ref(), &mut rules),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                reader.mistake(at, error.message().trim().replace('\n', "; "));
            }
        }
        rules.rules.sort_by_key(|rule| (rule.line, rule.column));
        (rules, reader.mistakes)
    }

    /// Returns whether a rule needs a baseline.
    #[must_use]
    pub fn needs_baseline(&self) -> bool {
        self.rules.iter().any(|rule| rule.is_relative())
    }

    pub(crate) fn mistake(&self, rule: &Rule, problem: String) -> Mistake {
        Mistake { file: self.file.clone(), line: rule.line, column: rule.column, problem }
    }
}

impl Rule {
    pub fn is_relative(&self) -> bool {
        matches!(&self.condition, Condition::Never(Threshold { limit: Limit::Percent(_), .. }))
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    fn mistake(&mut self, at: usize, problem: impl Into<String>) {
        let (line, column) = self.position(at);
        self.mistakes.push(Mistake { file: self.file.into(), line, column, problem: problem.into() });
    }

    fn whole(&mut self, table: &DeTable<'_>, rules: &mut Rules) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            match &**name.get_ref() {
                "baseline" => rules.baseline = self.string(value),
                "spread-unknown" => self.spread_unknown(value, rules),
                "require" => self.list(value, rules, required),
                "fail-if" => self.list(value, rules, forbidden),
                unknown => {
                    let text = match nearest(unknown, KEYS.into_iter()) {
                        Some(meant) => format!("unknown key '{unknown}'; did you mean '{meant}'?"),
                        None => format!("unknown key '{unknown}'; available keys: {}", KEYS.join(", ")),
                    };
                    self.mistake(name.span().start, text);
                }
            }
        }
        if rules.rules.is_empty() && self.mistakes.is_empty() {
            self.mistake(0, "no rules; a file has at least one in `require` or `fail-if`");
        }
    }

    fn string(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned).filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.mistake(value.span().start, "must be a string in quotes, and not empty");
        }
        text
    }

    fn spread_unknown(&mut self, value: &Spanned<DeValue<'_>>, rules: &mut Rules) {
        match value.get_ref().as_str() {
            Some("fail") => rules.spread_unknown = SpreadUnknown::Fail,
            Some("warn") => rules.spread_unknown = SpreadUnknown::Warn,
            _ => self.mistake(value.span().start, "spread-unknown is \"fail\" or \"warn\""),
        }
    }

    fn list(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        rules: &mut Rules,
        parse: fn(&str) -> Result<Condition, String>,
    ) {
        let Some(items) = value.get_ref().as_array() else {
            return self.mistake(value.span().start, "must be a list of strings: [\"steady\", ...]");
        };
        for item in items {
            let Some(text) = self.string(item) else { continue };
            if rules.rules.len() == MOST_RULES {
                return self.mistake(item.span().start, format!("more than {MOST_RULES} rules"));
            }
            match parse(&text) {
                Ok(condition) => {
                    let (line, column) = self.position(item.span().start);
                    rules.rules.push(Rule { text, line, column, condition });
                }
                Err(problem) => self.mistake(item.span().start, problem),
            }
        }
    }
}

fn is_comparison(text: &str) -> bool {
    text.contains(['<', '>'])
}

fn required(text: &str) -> Result<Condition, String> {
    if !is_comparison(text) {
        return words::named(text).map(Condition::Word);
    }
    let threshold: Threshold = text.parse()?;
    health::check_key(&threshold.key)?;
    match threshold.limit {
        Limit::Value(..) => Ok(Condition::Within(threshold)),
        Limit::Percent(_) => {
            Err(format!("'{text}': percentage differences are allowed in `fail-if`, but not in `require`"))
        }
    }
}

fn forbidden(text: &str) -> Result<Condition, String> {
    if !is_comparison(text) && words::named(text).is_ok() {
        return Err(format!("'{text}' is a condition of `require`, not of `fail-if`"));
    }
    let threshold: Threshold = text.parse()?;
    health::check_key(&threshold.key)?;
    if matches!(threshold.limit, Limit::Percent(_)) && health::is_health(&threshold.key) {
        return Err(format!("'{text}': health is not compared with a baseline; use a value without %"));
    }
    Ok(Condition::Never(threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(text: &str) -> Vec<String> {
        Rules::read("r.toml", text).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rules_have_their_lines_and_order() {
        let text = "spread-unknown = \"warn\"\nrequire = [\n  \"steady\",\n  \"iops.rnd4k.w > 500000\",\n]\n\
                    fail-if = [\"iops.* < -5%\"]\n";
        let (rules, mistakes) = Rules::read("r.toml", text);
        assert_eq!(mistakes, []);
        let lines: Vec<(usize, &str)> = rules.rules.iter().map(|r| (r.line, r.text.as_str())).collect();
        assert_eq!(lines, [(3, "steady"), (4, "iops.rnd4k.w > 500000"), (6, "iops.* < -5%")]);
        assert_eq!((rules.spread_unknown, rules.needs_baseline()), (SpreadUnknown::Warn, true));
        assert!(!Rules::read("r.toml", "fail-if = [\"a.b < 5\"]").0.needs_baseline());
    }

    #[test]
    fn all_mistakes_are_reported_with_line_and_nearest_word() {
        let text = "requires = [\"steady\"]\nrequire = [\"stedy\", \"iops.rnd4k.w > 5%\", 7, \"health.usd < 5\"]\n\
                    fail-if = [\"steady\", \"iops < -5\", \"less\", \"health.used > 5%\"]\nspread-unknown = \"maybe\"\n";
        let found = mistakes(text);
        let expected = [
            "r.toml:1:1: unknown key 'requires'; did you mean 'require'?",
            "r.toml:2:12: unknown condition 'stedy'; did you mean 'steady'?",
            "r.toml:2:21: 'iops.rnd4k.w > 5%': percentage differences are allowed in",
            "r.toml:2:42: must be a string in quotes",
            "r.toml:2:45: no health value 'health.usd'; did you mean 'health.used'?",
            "r.toml:3:12: 'steady' is a condition of `require`",
            "r.toml:3:22: 'iops < -5': no figure is negative; did you mean 'iops < -5%'?",
            "r.toml:3:35: 'less' is not a condition",
            "r.toml:3:43: 'health.used > 5%': health is not compared",
            "r.toml:4:18: spread-unknown is \"fail\" or \"warn\"",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found} is not {expected}");
        }
    }

    #[test]
    fn files_that_are_not_rules_are_refused() {
        assert_eq!(mistakes(""), ["r.toml:1:1: no rules; a file has at least one in `require` or `fail-if`"]);
        assert_eq!(mistakes("require = 5"), ["r.toml:1:11: must be a list of strings: [\"steady\", ...]"]);
        assert!(mistakes("require = [").first().is_some_and(|text| text.starts_with("r.toml:1:")));
        assert!(mistakes("baseline = \"\"\nrequire = [\"steady\"]")[0].contains("not empty"));
    }
}
