//! The verdict in each format, including text that would be interpreted as markup if it were not escaped.

use gate::formats::{badge, github, gitlab, junit, markdown, text};
use gate::{List, Reason, RuleOutcome, RuleVerdict, Verdict};

const HOSTILE: &str = "<b>\"|`%0A::error,x&\u{1b}[2J\u{202e}\n@all";

fn reason(outcome: RuleOutcome, text: &str) -> Reason {
    Reason {
        key: Some("iops.rnd4k.w".into()),
        value: Some(1.5),
        unit: Some("IOPS".into()),
        difference_percent: None,
        outcome,
        text: text.into(),
    }
}

fn verdict(spread_unknown_is_met: bool) -> Verdict {
    let rule = |line, list, outcome, text: &str| RuleVerdict {
        rule: format!("rule {line} {text}"),
        list,
        line,
        outcome,
        reasons: vec![reason(outcome, text)],
    };
    Verdict {
        schema_version: 1,
        run: "20260101-000000-abcd".into(),
        name: HOSTILE.into(),
        marks: vec!["SIMULATED".into()],
        baseline: Some("base".into()),
        rules_file: "./ci/rules,1.toml".into(),
        passed: false,
        spread_unknown_is_met,
        rules: vec![
            rule(2, List::Require, RuleOutcome::Passed, "met"),
            rule(3, List::Require, RuleOutcome::Failed, HOSTILE),
            rule(5, List::FailIf, RuleOutcome::SpreadUnknown, "one value"),
            rule(6, List::FailIf, RuleOutcome::NoValue, "not measured"),
        ],
    }
}

#[test]
fn junit_counts_what_is_not_met_and_is_valid_xml() {
    for (is_met, failures, skipped) in [(false, "3", "0"), (true, "2", "1")] {
        let xml = junit(&verdict(is_met));
        let document = roxmltree::Document::parse(&xml).expect("XML");
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
        let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name));
        assert_eq!(counts, [Some("4"), Some(failures), Some("0"), Some(skipped)]);
        let count =
            |tag: &str| document.descendants().filter(|node| node.has_tag_name(tag)).count().to_string();
        assert_eq!(
            (count("testcase"), count("failure"), count("skipped")),
            ("4".into(), failures.into(), skipped.into())
        );
        let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
        assert!(failure.attribute("message").is_some_and(|text| text.starts_with("<b>\"|`%0A::error")));
    }
}

#[test]
fn annotations_of_github_are_one_line_per_rule_and_cannot_be_forged() {
    let lines = github(&verdict(true));
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let begin = "::error file=./ci/rules%2C1.toml,line=3,title=require%3A rule 3 <b>";
    assert!(lines[0].starts_with(begin), "{}", lines[0]);
    assert!(lines[0].contains("%250A") && !lines[0].contains('\u{1b}'), "{}", lines[0]);
    assert!(lines[1].starts_with("::warning ") && lines[1].contains("line=5"), "{}", lines[1]);
    assert!(lines[2].ends_with("::not measured (no value)"), "{}", lines[2]);
}

#[test]
fn the_report_for_gitlab_has_what_gitlab_requires() {
    let entries: serde_json::Value = serde_json::from_str(&gitlab(&verdict(true))).expect("JSON");
    let entries = entries.as_array().expect("an array");
    assert_eq!(entries.len(), 3);
    for entry in entries {
        assert!(entry["description"].is_string() && entry["check_name"].is_string(), "{entry}");
        assert_eq!(entry["fingerprint"].as_str().map(str::len), Some(64), "{entry}");
        assert_eq!(entry["location"]["path"], "ci/rules,1.toml");
        assert!(entry["location"]["lines"]["begin"].is_u64(), "{entry}");
    }
    let severities: Vec<_> = entries.iter().map(|entry| entry["severity"].as_str()).collect();
    assert_eq!(severities, [Some("major"), Some("minor"), Some("major")]);
    assert_ne!(entries[0]["fingerprint"], entries[1]["fingerprint"]);
}

#[test]
fn text_cannot_break_out_of_its_line() {
    let printed = text(&verdict(false));
    assert!(printed.ends_with("gate      FAILED: 3 of 4 rules are not met\n"), "{printed}");
    assert!(
        printed.contains("?     fail-if: rule 5 one value\n      one value (spread unknown)\n"),
        "{printed}"
    );
    assert!(!printed.contains('\u{1b}') && !printed.contains('\u{202e}'), "{printed}");
    let page = markdown(&verdict(false));
    let rows = page.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(rows, 5, "a header and a row per rule: {page}");
    assert!(!page.contains("<b>") && !page.contains("@all"), "{page}");
}

#[test]
fn badges_of_simulated_drives_say_so() {
    let picture = badge(&verdict(false));
    let document = roxmltree::Document::parse(&picture).expect("SVG");
    let texts: Vec<_> =
        document.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).collect();
    assert_eq!(texts, ["plateau (SIMULATED)", "failed"]);
}
