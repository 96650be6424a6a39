//! The table of settings: names, limits and precedence.

use super::super::literal::Literal;
use super::super::lookup::{setting, typed};
use super::super::setting::{Given, RunSettings};
use super::*;
use pts::PROFILES;

fn applied(all: &[(&str, &str)]) -> Result<RunSettings, String> {
    let mut run = RunSettings::of(PROFILES[0].settings(1));
    let all: Vec<Given> = all.iter().map(|(name, value)| typed(name, value)).collect::<Result<_, _>>()?;
    run.apply(&all)?;
    run.check().map(|()| run)
}

#[test]
fn names_are_unique_and_excluded_settings_exist() {
    for (index, each) in SETTINGS.iter().enumerate() {
        let names = [each.name].into_iter().chain(each.aliases.iter().copied());
        for name in names {
            let rest = &SETTINGS[index + 1..];
            assert!(rest.iter().all(|o| o.name != name && !o.aliases.contains(&name)), "{name}");
        }
        assert!(each.excludes.iter().all(|name| setting(name).is_some()), "{}", each.name);
        assert!(!each.about().contains('{'), "{} lacks limits", each.name);
    }
}

#[test]
fn errors_name_the_nearest_valid_value() {
    for (given, hint) in [
        (&[("tc", "0")][..], "use 1 to 256 (nearest: 1)"),
        (&[("tc", "257")], "nearest: 256"),
        (&[("qd", "0")], "nearest: 1"),
        (&[("qd", "1025")], "nearest: 1024"),
        (&[("max-rounds", "4")], "use 5 to 25 (nearest: 5)"),
        (&[("max-rounds", "26")], "nearest: 25"),
        (&[("precondition", "0")], "nearest: 1"),
        (&[("cell-seconds", "NaN")], "use a number of seconds"),
        (&[("cell-seconds", "1e9")], "nearest: 86400"),
        (&[("test-ar", "101")], "nearest: 100"),
        (&[("pc-ar", "0")], "nearest: 1"),
        (&[("ar-amount", "much")], "or all"),
        (&[("ar-segments", "20000")], "nearest: 16384"),
        (&[("ar-amount", "all"), ("ar-segments", "8")], "requires --ar-amount"),
        (&[("wsat-capacities", "101")], "nearest: 100"),
        (&[("wsat-hours", "25")], "use 1 to 24 (nearest: 24)"),
        (&[("wsat-until", "last")], "expected one of \"first\""),
        (&[("wsat-workload", "mail")], "expected one of \"oltp\""),
        (&[("dirth-bs", "1000")], "use a multiple of 512 bytes"),
        (&[("dirth-bs", "2MiB")], "at most 1MiB"),
        (&[("dirth-rwmixread", "101")], "nearest: 100"),
        (&[("burn-in-hours", "0")], "nearest: 1"),
        (&[("burn-in-load", "client")], "expected one of \"mixed\""),
        (&[("burn-in-spare", "101")], "nearest: 100"),
        (&[("burn-in-temperature", "200")], "nearest: 150"),
        (&[("write-cache", "of")], "expected one of \"profile\""),
        (&[("company", " ")], "is empty"),
        (&[("chassis", "a\nb")], "use one line"),
        (&[("link", "example.com")], "begins with https://"),
    ] {
        let message = applied(given).expect_err(hint);
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn the_last_setting_takes_precedence() {
    let range = applied(&[("ar-amount", "8GiB"), ("test-ar", "75"), ("cell-seconds", "0.5")]).unwrap();
    assert_eq!(range.settings.active_range_amount_bytes, Some(8 << 30));
    assert_eq!((range.settings.test_range_percent, range.settings.cell_ns), (75, 500_000_000));
    let is_chosen = |name| applied(&[(name, "2")]).unwrap().settings.demand_is_chosen;
    assert!(is_chosen("tc") && is_chosen("qd") && !range.settings.demand_is_chosen);
    let whole = applied(&[("ar-amount", "8GiB"), ("ar-amount", "all")]).unwrap();
    assert_eq!(whole.settings.active_range_amount_bytes, None);
    let flag = |name| Given::new(setting(name).unwrap(), Literal::Flag(true)).unwrap();
    let mut run = applied(&[("max-rounds", "10"), ("sim-fault", "power:after=1s")]).unwrap();
    run.apply(&[flag("keep-going"), flag("no-sim-faults")]).unwrap();
    assert_eq!((run.settings.max_rounds, run.sim_faults), (100, Some(Vec::new())));
}
