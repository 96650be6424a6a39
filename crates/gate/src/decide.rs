//! The decision: a function of the rules, the run and its baseline.

use compare::{Finding, Limit, Threshold, difference};
use stdx::nearest;
use stdx::units::grouped;

use crate::baseline::{Baseline, Compared};
use crate::facts::{Facts, Value, family};
use crate::rules::{Condition, Rule, Rules, SpreadUnknown};
use crate::verdict::{List, Reason, RuleOutcome, RuleVerdict, SCHEMA_VERSION, Verdict};
use crate::words::Check;
use stdx::Mistake;

/// Evaluates a run against rules.
///
/// # Errors
/// Returns every rule that refers to a nonexistent figure or a missing baseline.
pub fn decide(rules: &Rules, facts: &Facts, baseline: Option<&Baseline>) -> Result<Verdict, Vec<Mistake>> {
    let judge = Judge { facts, baseline };
    let (mut judged, mut mistakes) = (Vec::new(), Vec::new());
    for rule in &rules.rules {
        match judge.rule(rule) {
            Ok(verdict) => judged.push(verdict),
            Err(problem) => mistakes.push(rules.mistake(rule, problem)),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let is_met = |rule: &RuleVerdict| match rule.outcome {
        RuleOutcome::Passed => true,
        RuleOutcome::SpreadUnknown => rules.spread_unknown == SpreadUnknown::Warn,
        RuleOutcome::NoValue | RuleOutcome::Failed => false,
    };
    Ok(Verdict {
        schema_version: SCHEMA_VERSION,
        run: facts.run.clone(),
        name: facts.name.clone(),
        marks: facts.marks.clone(),
        baseline: baseline.map(|baseline| baseline.facts.run.clone()),
        rules_file: rules.file.clone(),
        passed: judged.iter().all(is_met),
        spread_unknown_is_met: rules.spread_unknown == SpreadUnknown::Warn,
        rules: judged,
    })
}

struct Judge<'a> {
    facts: &'a Facts,
    baseline: Option<&'a Baseline>,
}

impl Judge<'_> {
    fn rule(&self, rule: &Rule) -> Result<RuleVerdict, String> {
        let (list, found) = match &rule.condition {
            Condition::Word(word) => (List::Require, vec![self.word(word.name)]),
            Condition::Within(threshold) => (List::Require, self.values(threshold, true)?),
            Condition::Never(threshold) if rule.is_relative() => (List::FailIf, self.differences(threshold)?),
            Condition::Never(threshold) => (List::FailIf, self.values(threshold, false)?),
        };
        let outcome = found.iter().map(|reason| reason.outcome).max().unwrap_or(RuleOutcome::NoValue);
        let reasons = match outcome {
            RuleOutcome::Passed => vec![in_one(found)],
            _ => found.into_iter().filter(|reason| reason.outcome != RuleOutcome::Passed).collect(),
        };
        Ok(RuleVerdict { rule: rule.text.clone(), list, line: rule.line, outcome, reasons })
    }

    fn word(&self, name: &str) -> Reason {
        let check = self.facts.words.iter().find(|(known, _)| *known == name).map(|(_, check)| check);
        let (outcome, text) = match check {
            Some(Check::Holds(text)) => (RuleOutcome::Passed, text.clone()),
            Some(Check::Fails(text)) => (RuleOutcome::Failed, text.clone()),
            Some(Check::Absent(text)) => (RuleOutcome::NoValue, text.clone()),
            None => (RuleOutcome::NoValue, "not determined".to_owned()),
        };
        Reason { key: None, value: None, unit: None, difference_percent: None, outcome, text }
    }

    /// Evaluates every matching value; `must_hold` says whether the condition has to be true or false.
    fn values(&self, threshold: &Threshold, must_hold: bool) -> Result<Vec<Reason>, String> {
        let Limit::Value(limit, _) = threshold.limit else { return Ok(Vec::new()) };
        let matching: Vec<&Value> =
            self.facts.values.iter().filter(|value| threshold.is_about(&value.key)).collect();
        if matching.is_empty() {
            return self.without_figures(threshold).map(|reason| vec![reason]);
        }
        matching.iter().try_for_each(|value| threshold.check_unit(&value.key, value.unit))?;
        let judged = |found: &&Value| {
            let outcome = match found.value {
                None => RuleOutcome::NoValue,
                Some(value) if threshold.operator.holds(value, limit) == must_hold => RuleOutcome::Passed,
                Some(_) => RuleOutcome::Failed,
            };
            of_value(found, outcome)
        };
        Ok(matching.iter().map(judged).collect())
    }

    fn differences(&self, threshold: &Threshold) -> Result<Vec<Reason>, String> {
        let Limit::Percent(limit) = threshold.limit else { return Ok(Vec::new()) };
        let baseline =
            self.baseline.ok_or("this rule needs a baseline; add `baseline = \"RUN\"` to the file")?;
        let is_about = |key: &str| threshold.is_about(key);
        let compared = baseline.differences.iter().filter(|compared| is_about(&compared.key));
        let mut found: Vec<Reason> = compared
            .map(|compared| {
                of_difference(compared, self.value(&compared.key), |percent| {
                    threshold.operator.holds(percent, limit)
                })
            })
            .collect();
        // A rule must not pass if its figure is in the baseline but not in the run.
        let is_compared = |key: &str| baseline.differences.iter().any(|compared| compared.key == key);
        let lost = baseline.facts.values.iter().filter(|value| value.value.is_some() && is_about(&value.key));
        found.extend(lost.filter(|value| !is_compared(&value.key)).map(|value| Reason {
            text: format!("{}: the baseline has a value, the run has none", value.name),
            ..of_value(&Value { value: None, ..value.clone() }, RuleOutcome::NoValue)
        }));
        if found.is_empty() { self.without_figures(threshold).map(|reason| vec![reason]) } else { Ok(found) }
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.facts.values.iter().find(|value| value.key == key)
    }

    /// For a key that matches no figure, returns an error if it is mistyped, or a reason if it belongs to a
    /// test that the run does not contain.
    fn without_figures(&self, threshold: &Threshold) -> Result<Reason, String> {
        let key = threshold.key.as_str();
        let all = || {
            let baseline = self.baseline.iter().flat_map(|baseline| &baseline.facts.values);
            self.facts.values.iter().chain(baseline).map(|value| value.key.as_str())
        };
        let wanted = family(key);
        let is_known = self.facts.families.iter().any(|known| known == wanted);
        let is_elsewhere = all().any(|known| threshold.is_about(known));
        if wanted.contains('*') || is_elsewhere || (is_known && !self.facts.has_values_of(wanted)) {
            return Ok(Reason {
                key: Some(key.to_owned()),
                value: None,
                unit: None,
                difference_percent: None,
                outcome: RuleOutcome::NoValue,
                text: self.lacking(threshold),
            });
        }
        let families = || self.facts.families.iter().map(String::as_str);
        Err(match nearest(key, all()) {
            Some(meant) => format!("no figure '{key}'; did you mean '{meant}'?"),
            None if !is_known => match nearest(wanted, families()) {
                Some(meant) => format!("no figure '{key}'; did you mean '{meant}' instead of '{wanted}'?"),
                None => format!("no figure '{key}'; figures of the run: {}", listed(all())),
            },
            None => format!(
                "no figure '{key}'; figures of the run: {}",
                listed(all().filter(|k| family(k) == wanted))
            ),
        })
    }

    /// Says which of the two runs has no matching figure.
    fn lacking(&self, threshold: &Threshold) -> String {
        let key = &threshold.key;
        if self.facts.values.iter().any(|value| value.value.is_some() && threshold.is_about(&value.key)) {
            return format!("the run has a value of '{key}', the baseline has none");
        }
        format!("the run has no figure '{key}' that can be compared")
    }
}

fn listed<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let mut keys: Vec<&str> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    let more = keys.len().saturating_sub(MOST);
    keys.truncate(MOST);
    let all = keys.join(", ");
    if more > 0 { format!("{all} and {more} more") } else { all }
}

/// Summarizes the figures of a rule that is met; a single figure is returned unchanged.
fn in_one(mut found: Vec<Reason>) -> Reason {
    if found.len() == 1 {
        return found.swap_remove(0);
    }
    let text = format!("{} figures are within the limit", found.len());
    Reason {
        key: None,
        value: None,
        unit: None,
        difference_percent: None,
        outcome: RuleOutcome::Passed,
        text,
    }
}

fn of_value(found: &Value, outcome: RuleOutcome) -> Reason {
    let text = match found.value {
        Some(value) => {
            let number = pts::host_limit::marked(printed(value), found.host_limited);
            format!("{}: {number} {}", found.name, found.unit).trim_end().to_owned()
        }
        None => format!("{}: not measured or not reported", found.name),
    };
    Reason {
        key: Some(found.key.clone()),
        value: found.value,
        unit: Some(found.unit.to_owned()),
        difference_percent: None,
        outcome,
        text,
    }
}

/// Formats whole numbers without decimals, and small numbers with three.
fn printed(value: f64) -> String {
    let decimals = if value.fract() == 0.0 {
        0
    } else if value.abs() < 10.0 {
        3
    } else {
        1
    };
    grouped(value, decimals)
}

fn of_difference(compared: &Compared, value: Option<&Value>, exceeds: impl Fn(f64) -> bool) -> Reason {
    let (outcome, text) = match &compared.difference {
        None => (RuleOutcome::NoValue, "the baseline's value is 0".to_owned()),
        Some(found) => {
            let outcome = match found.finding {
                _ if !exceeds(found.percent) => RuleOutcome::Passed,
                Finding::WithinNoise => RuleOutcome::Passed,
                Finding::SpreadUnknown => RuleOutcome::SpreadUnknown,
                Finding::Better | Finding::Worse => RuleOutcome::Failed,
            };
            (outcome, difference(found))
        }
    };
    Reason {
        key: Some(compared.key.clone()),
        value: value.and_then(|value| value.value),
        unit: value.map(|value| value.unit.to_owned()),
        difference_percent: compared.difference.map(|found| found.percent),
        outcome,
        text: format!("{}: {text}", compared.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use compare::Difference;

    fn value(key: &str, value: Option<f64>) -> Value {
        Value { key: key.into(), name: key.to_uppercase(), unit: "IOPS", value, host_limited: false }
    }

    fn facts() -> Facts {
        Facts {
            run: "a".into(),
            values: vec![
                value("iops.rnd4k.w", Some(500.5)),
                value("iops.rnd4k.r", Some(900.0)),
                value("iops.rnd8k.r", None),
            ],
            words: vec![("steady", Check::Holds("yes".into())), ("conforms", Check::Fails("no".into()))],
            families: ["iops", "lat"].map(str::to_owned).to_vec(),
            ..Facts::default()
        }
    }

    fn baseline(percent: f64, finding: Finding) -> Baseline {
        let difference = Some(Difference { percent, interval_percent: None, finding });
        let compared = Compared { key: "iops.rnd4k.w".into(), name: "IOPS".into(), difference };
        let facts = Facts {
            run: "b".into(),
            values: vec![value("iops.rnd4k.w", Some(600.0)), value("iops.rnd64k.w", Some(9.0))],
            ..facts()
        };
        Baseline { facts, differences: vec![compared] }
    }

    fn outcomes(text: &str, baseline: Option<&Baseline>) -> (bool, Vec<RuleOutcome>) {
        let (rules, mistakes) = Rules::read("r.toml", text);
        assert_eq!(mistakes, []);
        let verdict = decide(&rules, &facts(), baseline).expect("a verdict");
        (verdict.passed, verdict.rules.iter().map(|rule| rule.outcome).collect())
    }

    fn problem(text: &str, baseline: Option<&Baseline>) -> String {
        let (rules, _) = Rules::read("r.toml", text);
        let mistakes = decide(&rules, &facts(), baseline).expect_err("a mistake");
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn required_values_and_words_must_hold() {
        use RuleOutcome::{Failed, NoValue, Passed};
        let of = |rule: &str| outcomes(&format!("require = ['{rule}']"), None).1[0];
        assert_eq!([of("steady"), of("conforms"), of("accepted")], [Passed, Failed, NoValue]);
        assert_eq!([of("iops.rnd4k.w > 500"), of("iops.rnd4k.w > 501")], [Passed, Failed]);
        assert_eq!([of("iops.rnd4k.w >= 500.5 iops"), of("iops.rnd4k.* > 600")], [Passed, Failed]);
        assert_eq!([of("iops.rnd8k.r > 1"), of("lat.rnd4k.w < 1")], [NoValue, NoValue]);
        assert!(!outcomes("require = ['lat.rnd4k.w < 1']", None).0, "what cannot be checked is not met");
        let of = |rule: &str| outcomes(&format!("fail-if = ['{rule}']"), None).1[0];
        assert_eq!([of("iops.rnd4k.w < 500"), of("iops.rnd4k.w < 501")], [Passed, Failed]);
    }

    #[test]
    fn differences_count_only_beyond_noise() {
        use RuleOutcome::{Failed, NoValue, Passed, SpreadUnknown};
        let of = |percent, finding, rule: &str| {
            outcomes(&format!("fail-if = ['{rule}']"), Some(&baseline(percent, finding)))
        };
        assert_eq!(of(-9.0, Finding::Worse, "iops.rnd4k.w < -5%"), (false, vec![Failed]));
        assert_eq!(of(-9.0, Finding::WithinNoise, "iops.rnd4k.w < -5%"), (true, vec![Passed]));
        assert_eq!(of(-4.0, Finding::Worse, "iops.rnd4k.w < -5%"), (true, vec![Passed]));
        assert_eq!(of(-9.0, Finding::SpreadUnknown, "iops.rnd4k.w < -5%"), (false, vec![SpreadUnknown]));
        assert_eq!(of(-4.0, Finding::Worse, "iops.* < -5%"), (false, vec![NoValue]), "a figure was lost");
        assert_eq!(of(-4.0, Finding::Worse, "lat.* < -5%"), (false, vec![NoValue]));
    }

    #[test]
    fn a_figure_that_only_the_run_has_is_reported() {
        let (rules, _) = Rules::read("r.toml", "fail-if = ['iops.rnd4k.r < -5%', 'lat.* < -5%']");
        let baseline = baseline(-1.0, Finding::WithinNoise);
        let verdict = decide(&rules, &facts(), Some(&baseline)).expect("a verdict");
        let texts: Vec<&str> = verdict.rules.iter().map(|rule| &*rule.reasons[0].text).collect();
        let expected = [
            "the run has a value of 'iops.rnd4k.r', the baseline has none",
            "the run has no figure 'lat.*' that can be compared",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_file_may_let_an_unknown_spread_pass() {
        let text = "spread-unknown = 'warn'\nfail-if = ['iops.rnd4k.w < -5%']";
        let found = outcomes(text, Some(&baseline(-9.0, Finding::SpreadUnknown)));
        assert_eq!(found, (true, vec![RuleOutcome::SpreadUnknown]));
    }

    #[test]
    fn rules_that_no_run_can_meet_are_mistakes() {
        let typed = "require = ['iops.rnd4k.ww > 1',\n 'ipos.rnd512k.w > 1', 'iops.rnd4k.w > 1 ms']";
        let expected = "r.toml:1:12: no figure 'iops.rnd4k.ww'; did you mean 'iops.rnd4k.w'?\n\
                        r.toml:2:2: no figure 'ipos.rnd512k.w'; did you mean 'iops.rnd4k.w'?\n\
                        r.toml:2:24: iops.rnd4k.w is in IOPS, not in ms";
        assert_eq!(problem(typed, None), expected);
        assert_eq!(
            problem("fail-if = ['iops.* < -5%']", None),
            "r.toml:1:12: this rule needs a baseline; add `baseline = \"RUN\"` to the file"
        );
        let other = problem("require = ['sharpness.of.x > 1']", None);
        assert!(other.ends_with("figures of the run: iops.rnd4k.r, iops.rnd4k.w, iops.rnd8k.r"), "{other}");
    }
}
