//! Host checks as text.

use record::{Entry, Event, HostCheck, HostVerdict};

/// Formats a check and its fix on one line.
pub fn line(check: &HostCheck) -> String {
    let fix = fix(check).map_or_else(String::new, |fix| format!("; {fix}"));
    format!("{}: {}: {}{fix}", check.verdict.words(), check.name, check.found)
}

/// Returns how to fix a check's finding.
fn fix(check: &HostCheck) -> Option<String> {
    let fix = check.fix.as_ref()?;
    Some(if check.tunable { format!("{fix}, or --tune") } else { fix.clone() })
}

/// Formats every check with its fix below it, the worst first.
pub fn text(checks: &[HostCheck]) -> String {
    let mut sorted: Vec<&HostCheck> = checks.iter().collect();
    sorted.sort_by_key(|check| std::cmp::Reverse(check.verdict));
    let mut out = String::new();
    for check in sorted {
        let words = check.verdict.words();
        let words =
            if check.verdict == HostVerdict::WouldInvalidate { words.to_uppercase() } else { words.into() };
        out.push_str(&format!("{words:<16} {:<22} {}\n", check.name, check.found));
        if let Some(fix) = fix(check) {
            out.push_str(&format!("{:<16} {:<22} fix: {fix}\n", "", ""));
        }
    }
    out
}

/// Counts the checks by verdict and lists those that are not ok.
pub fn summary(checks: &[HostCheck]) -> String {
    let named = |verdict| {
        let names: Vec<&str> =
            checks.iter().filter(|check| check.verdict == verdict).map(|check| check.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} {} ({})", names.len(), verdict.words(), names.join(", ")))
    };
    let ok = checks.iter().filter(|check| check.verdict == HostVerdict::Ok).count();
    let bad = [named(HostVerdict::Warn), named(HostVerdict::WouldInvalidate)];
    std::iter::once(format!("{ok} ok")).chain(bad.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

/// Returns the latest host checks from a run.
pub fn of_run(entries: &[Entry]) -> Option<&[HostCheck]> {
    entries.iter().rev().find_map(|entry| match &entry.event {
        Event::HostChecked { checks } => Some(&checks[..]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_comes_first_and_has_its_fix() {
        let check = |name: &str, verdict, fix: Option<&str>| HostCheck {
            name: name.into(),
            verdict,
            found: "as it is".into(),
            fix: fix.map(str::to_owned),
            tunable: name == "iostats",
        };
        let checks = [
            check("swap", HostVerdict::Ok, None),
            check("turbo", HostVerdict::NotHere, None),
            check("PCIe link", HostVerdict::WouldInvalidate, Some("seat it anew")),
            check("iostats", HostVerdict::Warn, Some("echo 0")),
        ];
        let text = text(&checks);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("WOULD INVALIDATE PCIe link "), "{text}");
        assert!(lines[1].ends_with("fix: seat it anew") && lines[5].starts_with("n/a"), "{text}");
        assert_eq!(summary(&checks), "1 ok, 1 warn (iostats), 1 would invalidate (PCIe link)");
        assert_eq!(line(&checks[3]), "warn: iostats: as it is; echo 0, or --tune");
    }
}
