//! The conformance statement: which tests conform, are modified or do not conform, and where the verdict is printed.

mod fixture;

use fixture::Scenario;
use report::{Clause, Conformance, Document, Verdict};

fn document(scenario: &Scenario) -> (Document, record::Loaded) {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), scenario);
    (report::fold(&run.file, &loaded).unwrap(), loaded)
}

fn of(scenario: &Scenario) -> (Conformance, record::Loaded) {
    let (document, loaded) = document(scenario);
    (document.conformance()[0].clone(), loaded)
}

fn clause<'c>(conformance: &'c Conformance, name: &str) -> &'c Clause {
    conformance.clauses.iter().find(|clause| clause.clause == name).unwrap()
}

#[test]
fn the_findings_of_a_run_are_those_of_its_report_and_do_not_depend_on_the_course_of_its_workloads() {
    let root = fixture::folder();
    for scenario in fixture::scenarios() {
        let (run, mut loaded) = fixture::record(root.path(), &scenario);
        let document = report::fold(&run.file, &loaded).unwrap();
        let compared = |loaded: &record::Loaded| {
            let findings = report::findings(&run.file, loaded).unwrap();
            assert_eq!(findings.outcomes(), document.outcomes(), "{}", scenario.id);
            assert_eq!(findings.modified(), document.modified(), "{}", scenario.id);
            assert_eq!(findings.conformance(), document.conformance(), "{}", scenario.id);
            assert_eq!(findings.run_verdict(), document.run_verdict(), "{}", scenario.id);
            let entries = &loaded.entries;
            let figures = findings.comparable_figures(&run.file, entries);
            assert_eq!(figures, document.comparable_figures(entries), "{}", scenario.id);
            figures.len()
        };
        let figures = compared(&loaded);
        for entry in &mut loaded.entries {
            if let record::Event::Measured(segment) | record::Event::Preconditioned(segment) =
                &mut entry.event
            {
                segment.series.times = None;
            }
        }
        assert_eq!(compared(&loaded), figures);
    }
}

#[test]
fn an_unmodified_run_conforms_and_names_its_records() {
    let (conformance, loaded) = of(&Scenario::default());
    assert_eq!(conformance.verdict, Verdict::Conforms);
    let event = |record: u64| &loaded.entries[record as usize].event;
    let purge = clause(&conformance, "Purge");
    assert!(matches!(event(purge.records[0]), record::Event::Purged(_)));
    let prepared = clause(&conformance, "Workload-independent preconditioning");
    assert!(matches!(event(prepared.records[0]), record::Event::Preconditioned(_)));
    let steady = clause(&conformance, "Steady state");
    assert!(matches!(event(steady.records[0]), record::Event::Noted(record::Note::Judged(j)) if j.steady));
    assert_eq!(clause(&conformance, "Write cache").verdict, None, "the journal does not record it");
}

#[test]
fn every_deviation_has_its_clause() {
    let cases = [
        (Scenario { modified: true, ..Scenario::default() }, "Purge", Verdict::Modified),
        (
            Scenario { modified: true, ..Scenario::default() },
            "Workload-independent preconditioning",
            Verdict::Modified,
        ),
        (
            Scenario { modified: true, ..Scenario::default() },
            "Durations, amounts, range, demand",
            Verdict::Modified,
        ),
        (Scenario { gaps_before_cells: vec![150], ..Scenario::default() }, "Course", Verdict::Modified),
        (Scenario { gap_before_preconditioning: true, ..Scenario::default() }, "Course", Verdict::Modified),
        (Scenario { fails_in_cell: Some(150), ..Scenario::default() }, "I/O errors", Verdict::Modified),
        (Scenario { cut_after_cells: Some(70), ..Scenario::default() }, "Course", Verdict::DoesNotConform),
        (Scenario { simulated: true, ..Scenario::default() }, "Device under test", Verdict::DoesNotConform),
    ];
    for (scenario, name, verdict) in cases {
        let (conformance, _) = of(&scenario);
        assert_eq!(clause(&conformance, name).verdict, Some(verdict), "{name}: {conformance:?}");
        assert!(conformance.verdict >= verdict);
        let (plain, _) = of(&Scenario::default());
        assert_eq!(clause(&plain, name).verdict, Some(Verdict::Conforms), "{name}");
    }
}

#[test]
fn failed_ios_are_counted_where_the_run_was_repeated() {
    let (conformance, loaded) = of(&Scenario { fails_in_cell: Some(150), ..Scenario::default() });
    let errors = clause(&conformance, "I/O errors");
    assert_eq!(errors.done, "32");
    let cut = &loaded.entries[errors.records[0] as usize].event;
    assert!(matches!(cut, record::Event::Cut(cut) if cut.errors[0].count == 32));
    let (document, _) = document(&Scenario { fails_in_cell: Some(150), ..Scenario::default() });
    assert!(fixture::html(&document).contains("32 I/O errors in "), "the pages say so as well");
}

#[test]
fn resources_shared_by_concurrent_runs_are_in_the_statement() {
    let shared = "the link of pcie 0000:3b may be saturated";
    let (conformance, _) = of(&Scenario { shared: Some(shared), ..Scenario::default() });
    let others = clause(&conformance, "Other deviations");
    assert_eq!((others.done.as_str(), others.verdict), (shared, Some(Verdict::Modified)));
    assert_eq!(conformance.verdict, Verdict::Modified);
}

/// The write cache may be changed when a run is resumed; pages and statement agree on which states were in effect.
#[test]
fn every_state_of_the_write_cache_during_the_test_is_stated() {
    let statement = |write_cache, from: Option<(usize, bool)>| {
        let scenario = Scenario { write_cache, write_cache_from_cell: from, ..Scenario::default() };
        let (document, _) = document(&scenario);
        let cache = clause(&document.conformance()[0], "Write cache").clone();
        (cache.done, cache.verdict, fixture::html(&document).contains("write cache WCE (WCD in the profile)"))
    };
    let [on, off] = ["enabled (WCE)", "disabled (WCD)"].map(str::to_owned);
    assert_eq!(statement(Some(false), None), (off.clone(), Some(Verdict::Conforms), false));
    assert_eq!(statement(Some(true), None), (on.clone(), Some(Verdict::Modified), true));
    let resumed = statement(Some(true), Some((60, false)));
    assert_eq!(resumed, (format!("{on}, then {off}"), Some(Verdict::Modified), true));
}

/// Preconditioning and demand variation are evaluated separately, so either may fail.
#[test]
fn the_loop_that_is_not_steady_is_named_with_its_rounds() {
    // The drive fluctuates throughout preconditioning, which takes 25 rounds of 30 minutes.
    let scenario =
        Scenario { profile: "pts-e-2.0", tests: &["dirth"], settles_in: 15, ..Scenario::default() };
    let (document, _) = document(&scenario);
    let done = &clause(&document.conformance()[0], "Steady state").done;
    let expected = "preconditioning: not reached in 25 rounds: the operator stopped; demand variation: reached in rounds 2-6";
    assert_eq!(done, expected);
    let html = fixture::html(&document);
    assert!(
        html.contains("no steady state in 25 rounds of preconditioning") && !html.contains("in 6 rounds")
    );
}

#[test]
fn a_saturation_that_wrote_four_capacities_before_its_fifth_sample_conforms() {
    // The test writes 100 GB four times in 80 minutes, but the fifth sample would be at minute 155.
    let settled_at = Some([[20_346.0; 7]; 8]);
    for profile in ["pts-e-1.0", "pts-e-1.1", "pts-e-2.0"] {
        let scenario = Scenario { profile, tests: &["wsat"], settled_at, ..Scenario::default() };
        let (conformance, _) = of(&scenario);
        let end = clause(&conformance, "End of the test");
        assert_eq!((end.verdict, conformance.verdict), (Some(Verdict::Conforms), Verdict::Conforms));
        assert!(end.done.starts_with("4 x capacity written after"), "{}", end.done);
        let whole = format!("{conformance:?}");
        assert!(!whole.contains("25 rounds") && !whole.contains("not reached"), "{whole}");
        let html = fixture::html(&document(&scenario).0);
        assert!(!html.contains("NOT ACHIEVED") && !html.contains("<p class=\"mark"), "{profile}");
    }
}

#[test]
fn writes_between_the_steps_of_a_demand_variation_are_not_preconditioning() {
    for (profile, tests) in [("pts-e-1.1", &["ecw"]), ("pts-e-2.0", &["cbw"]), ("pts-e-2.0", &["dirth"])] {
        let (conformance, loaded) = of(&Scenario { profile, tests, ..Scenario::default() });
        let writes = loaded.entries.iter().filter(|e| matches!(e.event, record::Event::Preconditioned(_)));
        assert!(writes.count() >= 8, "writes precede five rounds and three histograms");
        let prepared = clause(&conformance, "Workload-independent preconditioning");
        assert_eq!((prepared.required.as_str(), prepared.done.as_str()), ("none", "none"));
        assert_eq!((prepared.verdict, conformance.verdict), (Some(Verdict::Conforms), Verdict::Conforms));
    }
}

#[test]
fn a_version_that_is_not_fully_sourced_says_what_is_missing() {
    let statement = |profile| fixture::html(&document(&Scenario { profile, ..Scenario::default() }).0);
    assert!(statement("pts-c-1.1").contains("No source was found for its clause numbers, "));
    assert!(statement("pts-c-1.1").contains(" and the state of the write cache; here, Plateau follows"));
    assert!(statement("pts-c-1.2").contains("No source was found for any difference from PTS-C 1.1"));
    assert!(!statement("pts-c-1.0").contains("No source was found"));
}

#[test]
fn the_statement_is_in_the_report_and_no_page_hides_a_verdict() {
    for scenario in fixture::scenarios() {
        let (document, _) = document(&scenario);
        let html = fixture::html(&document);
        let worst = document.conformance().iter().map(|c| c.verdict).max().unwrap();
        assert!(html.contains(&format!("Conformance: {}", worst.words())), "{}", scenario.id);
        for clause in document.conformance().iter().flat_map(|c| &c.clauses) {
            assert!(html.contains(&format!("<th scope=\"row\">{}</th>", clause.clause)), "{}", clause.clause);
        }
        for (number, sheet) in html.split("<section ").skip(1).enumerate() {
            let banners = sheet.split("<header").next().unwrap();
            let has_verdict = banners.contains("does not conform to PTS-");
            assert_eq!(has_verdict, worst == Verdict::DoesNotConform, "{}, page {}", scenario.id, number + 1);
            let has_mark = worst != Verdict::Conforms || scenario.restless;
            assert_eq!(banners.contains("<p class=\"mark"), has_mark, "{}", scenario.id);
        }
    }
}

/// The PTS leaves it to the operator to continue or to stop after 25 rounds without steady state.
#[test]
fn to_continue_and_to_stop_after_25_rounds_both_conform() {
    let until =
        |max_rounds, settles_in| Scenario { settles_in, max_rounds: Some(max_rounds), ..Scenario::default() };
    for (scenario, verdict, done) in [
        (until(100, 12), Verdict::Conforms, "reached in rounds 12-16"),
        (
            until(100, 27),
            Verdict::Conforms,
            "reached in rounds 27-31: the operator continued after 25 rounds",
        ),
        (until(25, 99), Verdict::Conforms, "not reached in 25 rounds: the operator stopped"),
        (until(30, 99), Verdict::Conforms, "not reached in 30 rounds: the operator continued, then stopped"),
        (until(10, 99), Verdict::Modified, "not reached in 10 rounds: the operator stopped early"),
    ] {
        let (conformance, _) = of(&scenario);
        let steady = clause(&conformance, "Steady state");
        assert_eq!((steady.verdict, steady.done.as_str()), (Some(verdict), done));
        assert!(steady.required.ends_with("may continue or stop after 25 rounds"), "{}", steady.required);
        assert_eq!(conformance.verdict, verdict);
    }
}

/// A lower limit on rounds is not a deviation if the test reaches steady state within the limit.
#[test]
fn fewer_rounds_deviate_only_where_they_ended_a_test() {
    let deviations = |settles_in| {
        let (document, _) = document(&Scenario { settles_in, max_rounds: Some(10), ..Scenario::default() });
        let html = fixture::html(&document);
        (document.conformance()[0].verdict, html.contains("IOPS ended with 10 rounds without steady state"))
    };
    assert_eq!(deviations(1), (Verdict::Conforms, false));
    assert_eq!(deviations(99), (Verdict::Modified, true));
}

#[test]
fn only_the_judged_minute_of_each_preconditioning_round_is_in_annex_b() {
    let scenario = Scenario { profile: "pts-e-2.0", tests: &["dirth"], ..Scenario::default() };
    let html =
        fixture::html(&document(&Scenario { adjust: |s| s.dirth.read_percent = Some(0), ..scenario }).0);
    let annex = html.split("Annex B").nth(1).unwrap();
    let ios = |name: &str| {
        let row = annex.split("<tr>").find(|row| row.contains(name)).unwrap_or_else(|| panic!("no {name}"));
        let mut cells = row.split(name).nth(1).unwrap().split(['>', '<']);
        cells.find_map(|cell| cell.replace(',', "").parse::<f64>().ok()).unwrap()
    };
    // Each workload lasts five minutes at this rate; while the drive is fresh, the rate is up to twice as high.
    for name in ["RND 8KiB W, TC 32 QD 32<", "RND 8KiB W, TC 32 QD 32, preconditioning<"] {
        let minutes = ios(name) / 60.0 / 9_559.8;
        assert!((4.5..10.0).contains(&minutes), "{name}: {minutes}");
    }
}

#[test]
fn percentiles_stop_where_too_few_ios_lie_beyond() {
    let html = fixture::html(&document(&Scenario::default()).0);
    let annex = html.split("Annex B").nth(1).unwrap();
    let row = |name: &str| annex.split("<tr>").find(|row| row.contains(name)).unwrap().to_owned();
    // 75 IOPS for five minutes are 22,000 I/Os, which are enough for 99.9 % but not for 99.99 %.
    assert_eq!(row("RND 1024KiB W").matches("n/a").count(), 2);
    assert_eq!(row("RND 4KiB W").matches("n/a").count(), 0);
}
