//! JUnit XML, which most CI systems display: one test case per rule.

use charts::markup::escape;

use crate::verdict::{RuleOutcome, RuleVerdict, Verdict};

/// Returns the verdict as a JUnit document. The document follows Jenkins's schema (junit-10.xsd): a rule that is
/// violated or cannot be checked is a failure. A rule whose spread is unknown is also a failure, unless the rules
/// file allows an unknown spread; then it is skipped.
#[must_use]
pub fn junit(verdict: &Verdict) -> String {
    let cases: String = verdict.rules.iter().map(|rule| case(verdict, rule)).collect();
    let failures = verdict.rules.iter().filter(|rule| is_failure(verdict, rule)).count();
    let skipped = verdict.count(RuleOutcome::Passed);
    let (all, skipped) = (verdict.rules.len(), verdict.rules.len() - skipped - failures);
    let counts = format!("tests=\"{all}\" failures=\"{failures}\" errors=\"0\"");
    let property = |name: &str, value: &str| {
        format!("      <property name=\"{}\" value=\"{}\"/>\n", escape(name), escape(value))
    };
    let mut properties = property("run", &verdict.run) + &property("name", &verdict.name);
    properties.extend(verdict.baseline.iter().map(|baseline| property("baseline", baseline)));
    properties.push_str(&property("marks", &verdict.marks.join(", ")));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plateau gate\" {counts} time=\"0\">\n  \
         <testsuite name=\"plateau gate\" {counts} skipped=\"{skipped}\" time=\"0\">\n    <properties>\n\
         {properties}    </properties>\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

fn is_failure(verdict: &Verdict, rule: &RuleVerdict) -> bool {
    match rule.outcome {
        RuleOutcome::Passed => false,
        // The rules file determines whether an unknown spread is a failure; if the gate passes, it is not.
        RuleOutcome::SpreadUnknown => !verdict.spread_unknown_is_met,
        RuleOutcome::NoValue | RuleOutcome::Failed => true,
    }
}

fn case(verdict: &Verdict, rule: &RuleVerdict) -> String {
    let name = escape(&format!("{}: {}", rule.list.name(), rule.rule));
    let head = format!("    <testcase classname=\"{}\" name=\"{name}\" time=\"0\"", escape(&verdict.run));
    let texts: Vec<String> = rule.reasons.iter().map(|reason| escape(&reason.text)).collect();
    let (first, all) = (texts.first().cloned().unwrap_or_default(), texts.join("\n"));
    if is_failure(verdict, rule) {
        let kind = rule.outcome.words();
        format!(
            "{head}>\n      <failure type=\"{kind}\" message=\"{first}\">{all}</failure>\n    </testcase>\n"
        )
    } else if rule.outcome == RuleOutcome::Passed {
        format!("{head}/>\n")
    } else {
        format!("{head}>\n      <skipped message=\"{first}\"/>\n    </testcase>\n")
    }
}
