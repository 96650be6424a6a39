//! Reports of synthetic runs: what every page must contain, and what no page may contain.

mod fixture;

use std::sync::OnceLock;

use fixture::Scenario;
use pts::exhibit::{Cell, Exhibit, Page};
use pts::{Outcome, Replayed};
use record::{Entry, Event, HostCheck, HostVerdict, Loaded, Note, Run};

struct Recorded {
    scenario: Scenario,
    run: Run,
    loaded: Loaded,
    replayed: Replayed,
    html: String,
}

/// Records every scenario of the fixture once.
fn all() -> &'static [Recorded] {
    static ALL: OnceLock<Vec<Recorded>> = OnceLock::new();
    ALL.get_or_init(|| {
        let root = fixture::folder();
        fixture::scenarios().into_iter().map(|scenario| record(root.path(), scenario)).collect()
    })
}

fn record(root: &std::path::Path, scenario: Scenario) -> Recorded {
    let (run, loaded) = fixture::record(root, &scenario);
    let replayed = pts::replay(&run.file, &loaded.entries).unwrap();
    let html = fixture::html(&report::fold(&run.file, &loaded).unwrap());
    Recorded { scenario, run, loaded, replayed, html }
}

/// The pages of a report: an incomplete test omits those without results.
fn shown_pages(recorded: &Recorded) -> impl Iterator<Item = &Page> {
    let outcome = recorded.outcome();
    outcome.pages.iter().filter(|page| outcome.stop.is_none() || !page.is_blank())
}

fn named(id: &str) -> &'static Recorded {
    all().iter().find(|recorded| recorded.scenario.id == id).unwrap()
}

impl Recorded {
    fn sheets(&self) -> Vec<&str> {
        self.html.split("<section ").skip(1).collect()
    }

    fn plots(&self) -> Vec<&str> {
        self.sheets().into_iter().filter(|sheet| sheet.contains("<header class=\"pts")).collect()
    }

    fn outcome(&self) -> &Outcome {
        &self.replayed.outcomes[0]
    }
}

#[test]
fn the_client_bundle_of_1_0_has_26_pages_and_the_iops_summary_on_page_7() {
    let root = fixture::folder();
    let scenario = |id, profile, tests| Scenario { id, profile, tests, ..Scenario::default() };
    let bundle = record(root.path(), scenario("bundle", "pts-c-1.0", &["wsat", "iops", "tp-1024", "lat"]));
    let sheets = bundle.sheets();
    assert_eq!(sheets.len(), 26);
    for (number, title) in [
        (2, "Client WSAT (OPTIONAL) - Summary Page"),
        (7, "Client IOPS (REQUIRED) - Summary Page"),
        (14, "Client Throughput Test 1024KiB (REQUIRED) - Summary Page"),
        (20, "Client Latency (REQUIRED) - Summary Page"),
    ] {
        assert!(sheets[number - 1].contains(title), "page {number}");
    }
    assert!(bundle.replayed.outcomes.iter().all(|outcome| outcome.stop.is_none()));
}

#[test]
fn every_test_of_2_0_has_a_page_for_each_exhibit() {
    let root = fixture::folder();
    let tests = &["iops", "tp-1024", "tp-128", "lat", "wsat", "xsr", "dirth"];
    let bundle = record(
        root.path(),
        Scenario { id: "all", profile: "pts-e-2.0", tests, modified: true, ..Scenario::default() },
    );
    let pages: Vec<usize> = bundle.replayed.outcomes.iter().map(|outcome| outcome.pages.len()).collect();
    assert_eq!(pages, [8, 5, 5, 7, 5, 3, 15]);
    assert_eq!(bundle.plots().len(), pages.iter().sum::<usize>());
    assert!(!bundle.html.contains("NaN"));
}

#[test]
fn the_report_has_the_pages_of_the_profile() {
    for (id, pages) in [("enterprise", 6), ("client", 6), ("enterprise-2", 8)] {
        let sheets = named(id).sheets();
        assert_eq!(sheets.len(), 1 + 1 + pages, "{id}");
        for (i, sheet) in sheets.iter().enumerate() {
            let footer = format!("Page {} of {}</span></footer>", i + 1, sheets.len());
            assert!(sheet.contains(&footer), "{id}, page {}", i + 1);
        }
        for (i, plot) in named(id).plots().iter().enumerate() {
            assert!(
                plot.contains(&format!("<span>Page {} of {pages}</span></div>", i + 1)),
                "{id}, plot {i}"
            );
        }
    }
}

#[test]
fn the_same_journal_gives_the_same_bytes() {
    let root = fixture::folder();
    let (run, loaded) =
        fixture::record(root.path(), &Scenario { cut_after_cells: Some(60), ..Scenario::default() });
    let opened = record::Library::at(root.path()).find(run.file.id.as_str()).unwrap();
    let html = |run: &Run, loaded: &Loaded| fixture::html(&report::fold(&run.file, loaded).unwrap());
    assert!(html(&run, &loaded) == html(&opened, &opened.load().unwrap()));
    for recorded in all() {
        assert!(html(&recorded.run, &recorded.loaded) == recorded.html, "{}", recorded.scenario.id);
    }
}

#[test]
fn later_editions_have_four_columns_of_ten_rows() {
    let later: Vec<&Recorded> =
        all().iter().filter(|recorded| recorded.scenario.profile == "pts-e-2.0").collect();
    assert!(!later.is_empty());
    for recorded in later {
        for plot in recorded.plots() {
            let header = plot.split("</header>").next().unwrap();
            for heading in ["Test Platform", "Device Under Test", "Set Up Parameters", "Test Parameters"] {
                assert!(header.contains(&format!("<h3>{heading}</h3>")), "{heading}");
            }
            assert_eq!(header.matches("<dt>").count(), 40);
            for fact in [
                "<dt>RW Mix</dt><dd>Outer Loop</dd>",
                "<dt>Block Sizes</dt><dd>Inner Loop</dd>",
                "<dt>Duration</dt><dd>2X Device Capacity</dd>",
                "<span>Test Run Date Finish: <b>",
                "<span>Tested By: <b>n/a</b></span>",
            ] {
                assert!(header.contains(fact), "{}: {fact}", recorded.scenario.id);
            }
            let missed = recorded.outcome().converged == Some(false);
            assert_eq!(header.contains("(NOT ACHIEVED)"), missed, "{}", recorded.scenario.id);
        }
    }
}

#[test]
fn sponsor_auditor_notes_and_logo_are_printed() {
    let recorded = named("enterprise");
    let logo = report::Logo::of(b"\x89PNG\r\n\x1a\n".to_vec()).unwrap();
    let publication = report::Publication {
        sponsor: Some("Example & Sons".into()),
        auditor: Some("A. Person".into()),
        notes: vec!["The drive was a sample.".into()],
        logo: Some(logo),
    };
    let document = report::fold(&recorded.run.file, &recorded.loaded).unwrap().published(publication);
    let html = fixture::html(&document);
    for text in [
        "<dt>TEST SPONSOR</dt><dd>Example &amp; Sons</dd>",
        "<dt>AUDITOR</dt><dd>A. Person</dd>",
        "<td>The drive was a sample.</td>",
        "TEST SPONSOR: <b>Example &amp; Sons</b>",
        "<img class=\"logo\" alt=\"Example &amp; Sons\" src=\"data:image/png;base64,iVBORw0KGgo=\">",
    ] {
        assert!(html.contains(text), "{text}");
    }
    let long = report::Publication { sponsor: Some("Ä".repeat(500)), ..report::Publication::default() };
    let document = report::fold(&recorded.run.file, &recorded.loaded).unwrap().published(long);
    assert!(!fixture::html(&document).contains(&"Ä".repeat(121)), "the first page has no room for more");
}

#[test]
fn statements_of_the_operator_and_facts_of_the_host_are_on_the_pages() {
    let recorded = named("enterprise");
    let link = |name: &str, address: &str| record::Link { name: name.into(), address: address.into() };
    let mut file = recorded.run.file.clone();
    file.stated = record::Stated {
        company: Some("Labs & Co".into()),
        chassis: Some("Urban T81".into()),
        cooler: None,
        power_supply: Some("1500 W <Gold>".into()),
        links: vec![link("Chassis", "https://example.com/t81?a=1&b=2"), link("", "javascript:alert(1)")],
    };
    file.host.kernel_command_line = Some(format!("ro mitigations=off {}", "x".repeat(100)));
    let html = fixture::html(&report::fold(&file, &recorded.loaded).unwrap());
    assert_eq!(html.matches("<small>Tested by</small><b>Labs &amp; Co</b>").count(), 2, "both summaries");
    for text in [
        "<dt>SYSTEM</dt><dd>Supermicro X9DRi-LN4+, BIOS 3.3</dd>",
        "2.90GHz, microcode 0x71a</dd>",
        "<dt>CHASSIS</dt><dd>Urban T81</dd>",
        "<dt>POWER SUPPLY</dt><dd>1500 W &lt;Gold&gt;</dd>",
        "<td data-label=\"Item\">Microcode</td><td data-label=\"Value\">0x71a</td>",
        "<td data-label=\"Item\">Link: Chassis</td><td data-label=\"Value\"><a rel=\"noopener noreferrer\" href=\"https://example.com/t81?a=1&amp;b=2\">",
        "<td data-label=\"Item\">Link</td><td data-label=\"Value\">javascript:alert(1)</td>",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert_eq!(html.matches(&"x".repeat(100)).count(), 1, "shortened on the first page, complete in annex B");
    assert!(!html.contains("CPU COOLER"), "a fact that was not stated is not printed");
    let unread = record::HostFacts { bios_version: None, ..file.host.clone() };
    let without = record::RunFile { host: unread, ..file };
    let html = fixture::html(&report::fold(&without, &recorded.loaded).unwrap());
    assert!(html.contains("<td data-label=\"Item\">BIOS version</td><td data-label=\"Value\">n/a</td>"));
}

#[test]
fn the_summary_of_each_test_repeats_device_platform_software_and_dates() {
    for recorded in all() {
        let summaries =
            1 + recorded.sheets().iter().filter(|sheet| sheet.contains("Test Description")).count();
        for label in ["SERIAL NO.", "MOTHERBOARD/CPU", "SW TOOL", "TEST RUN"] {
            let found = recorded.html.matches(&format!("<dt>{label}</dt>")).count();
            assert_eq!(found, summaries, "{}: {label}", recorded.scenario.id);
        }
    }
}

#[test]
fn every_field_of_the_header_is_on_every_report_page() {
    for recorded in all().iter().filter(|recorded| recorded.scenario.profile.ends_with("1.0")) {
        let head = &recorded.outcome().header;
        let (depth, threads) = (head.queue_depth.unwrap().to_string(), head.threads.unwrap().to_string());
        let convergence = head.convergence.to_string();
        let fields = [
            ("Firmware Rev", None),
            ("Serial No.", None),
            ("Capacity", Some("100 GB")),
            ("NAND Type", None),
            ("Device I/F", None),
            ("Test Platform", None),
            ("Purge", Some(head.purge.as_str())),
            ("Workload Independent", Some(head.workload_independent.as_deref().unwrap_or("None"))),
            ("Workload Dep.", Some(&head.workload_dependent)),
            ("Data Pattern", Some(&head.data_pattern)),
            ("OIO/Thread (QD)", Some(&depth)),
            ("Thread Count (TC)", Some(&threads)),
            ("Convergence", Some(&convergence)),
            ("Rounds", Some(&head.rounds)),
            ("PC AR", Some(&head.pc_ar)),
            ("Test AR", Some(&head.test_ar)),
            ("AR AMOUNT", Some(&head.ar_amount)),
            ("AR Segments", Some(&head.ar_segments)),
        ];
        assert_eq!(recorded.plots().len(), shown_pages(recorded).count());
        for plot in recorded.plots() {
            for (label, value) in fields {
                let start = format!("<dt>{label}</dt><dd>{}", value.unwrap_or_default());
                assert!(plot.contains(&start), "{}: {start}", recorded.scenario.id);
            }
            for label in
                ["Test Run Date", "Report Run Date", "VENDOR", "SSD MODEL NO", "TEST SPONSOR", "Rev. PTS-"]
            {
                assert!(plot.contains(label), "{}: {label}", recorded.scenario.id);
            }
            let title = format!("IOPS ({}) - Report Page", head.requirement);
            assert!(plot.contains(&title), "{}: {title}", recorded.scenario.id);
            assert!(!plot.contains("<dd></dd>") && !plot.contains("<b></b>") && !plot.contains("<td></td>"));
        }
    }
}

#[test]
fn every_number_of_the_tables_is_in_the_report() {
    for recorded in all() {
        let exhibits = shown_pages(recorded).flat_map(|page| &page.exhibits);
        let mut cells = 0;
        for exhibit in exhibits {
            let Exhibit::Table(table) = exhibit else { continue };
            for cell in table.rows.iter().flat_map(|row| &row.cells) {
                cells += 1;
                let printed = match cell {
                    Cell::Value(value) => {
                        format!("<td>{}</td>", stdx::units::grouped(*value, table.decimals))
                    }
                    Cell::HostLimited(_) => panic!("no host drove the fixture"),
                    Cell::Absent(why) => format!("<td class=\"absent\">{why}</td>"),
                };
                assert!(recorded.html.contains(&printed), "{}: {printed}", recorded.scenario.id);
            }
        }
        assert_eq!(cells, if recorded.scenario.id == "cut-at-once" { 0 } else { 56 });
    }
}

#[test]
fn every_page_states_the_caveats_of_the_run() {
    for recorded in all() {
        let outcome = recorded.outcome();
        let marks = [
            (
                "<b>SIMULATED</b> not a real device: model sas-slc-2011 version 3, scale 1/64, seed 7",
                recorded.scenario.simulated,
            ),
            ("<b>modified:</b>", !recorded.replayed.modified.is_empty()),
            ("<b>SS NOT ACHIEVED</b>", outcome.converged == Some(false)),
            ("<b>NOT COMPLETE</b>", outcome.stop.is_some()),
            (
                "<b>INTERRUPTED</b>",
                !recorded.scenario.gaps_before_cells.is_empty()
                    || recorded.scenario.cut_after_cells.is_some(),
            ),
        ];
        for (i, sheet) in recorded.sheets().iter().enumerate() {
            for (mark, expected) in marks {
                assert_eq!(
                    sheet.contains(mark),
                    expected,
                    "{}, page {}: {mark}",
                    recorded.scenario.id,
                    i + 1
                );
            }
        }
    }
    let expected = |id: &str, mark: &str| assert!(named(id).html.contains(mark), "{id}: {mark}");
    expected("restless", "no steady state in 25 rounds");
    expected("cut", "after 2 completed rounds");
    expected("modified", "resumed after 12 min 34 s");
    expected("native-4k", "n/a (4Kn)");
}

#[test]
fn a_test_that_stopped_before_its_first_result_has_a_sentence_instead_of_empty_pages() {
    let cut = named("cut");
    let first =
        cut.loaded.entries.iter().position(|entry| matches!(entry.event, Event::Measured(_))).unwrap();
    let mut loaded = cut.loaded.clone();
    loaded.entries.truncate(first);
    let html = fixture::html(&report::fold(&cut.run.file, &loaded).unwrap());
    assert!(html.contains("There are no result pages, because nothing has been measured yet."));
    assert!(!html.contains("class=\"plot-title\""));
    let one_round = cut
        .loaded
        .entries
        .iter()
        .position(|e| matches!(e.event, Event::Noted(Note::RoundStarted { round: 2, .. })));
    let mut loaded = cut.loaded.clone();
    loaded.entries.truncate(one_round.unwrap());
    let html = fixture::html(&report::fold(&cut.run.file, &loaded).unwrap());
    assert!(html.contains("class=\"plot-title\"") && !html.contains("There are no result pages"));
    assert!(html.contains("health over the whole test"));
    let begun = cut.loaded.entries.iter().position(|e| matches!(e.event, Event::TestStarted { .. }));
    loaded.entries.truncate(begun.unwrap() + 1);
    let html = fixture::html(&report::fold(&cut.run.file, &loaded).unwrap());
    assert!(!html.contains("health over the whole test"), "empty axes");
}

#[test]
fn the_summary_lists_every_modification_and_the_whole_digest() {
    for recorded in all() {
        let before_tests = recorded.html.split("Test Description").next().unwrap().to_owned();
        let annex = recorded.html.split("Annex N:").nth(1).unwrap_or_default();
        let before_tests = before_tests + annex.split("</article>").next().unwrap();
        for text in &recorded.replayed.modified {
            assert!(
                before_tests.contains(&text.to_string().replace('\'', "&#39;")),
                "{}: {text}",
                recorded.scenario.id
            );
        }
        assert!(recorded.sheets()[0].contains(&recorded.loaded.digest.to_string()));
        assert!(recorded.sheets().iter().all(|s| s.contains(&recorded.loaded.digest.to_string()[..16])));
    }
}

#[test]
fn notes_that_do_not_fit_continue_in_an_annex_and_pages_keep_their_numbers() {
    let gaps = named("gaps");
    let sheets = gaps.sheets();
    assert_eq!(sheets.len(), 1 + 1 + 6);
    assert!(sheets[0].contains("in Annex N.") && sheets[0].contains("Page 1 of 8"));
    assert!(gaps.html.contains("Annex N: special notes, continued from page 1"));
    assert!(!named("enterprise").html.contains("Annex N:"), "all notes fit on page 1");
}

#[test]
fn health_is_drawn_on_the_axis_of_the_test_or_reported_as_unavailable() {
    let annex = |id: &str| named(id).html.split("Annex B:").nth(1).unwrap().to_owned();
    let talkative = annex("talkative");
    for title in [
        "IOPS",
        "Response time (ms)",
        "Temperature (°C)",
        "Power (W) of package-0",
        "Throttled (% of the time)",
        "Write amplification (flash / host bytes)",
    ] {
        assert!(talkative.contains(&format!(">{title}</text>")), "{title}");
    }
    assert!(
        talkative.contains("A dashed red line marks an interruption") && !talkative.contains("Not reported")
    );
    assert!(talkative.contains("Temperature (°C): 32.0 to 72.0."), "for readers who cannot see the chart");
    let silent = annex("enterprise");
    assert!(silent.contains(">IOPS</text>") && !silent.contains(">Temperature (°C)</text>"));
    assert!(silent.contains("no temperature, no power, no throttling, no bytes written to flash."));
}

#[test]
fn names_of_devices_are_text_and_never_markup() {
    let html = &named("restless").html;
    assert_eq!(html.matches("<script").count(), 1, "the report's own");
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;A drive"));
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    for recorded in all() {
        let html = recorded.html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        // Clipping refers to an element of the page itself.
        let html = html.replacen("<script>", "", 1).replace("`url(#${id})`", "");
        for forbidden in
            ["http:", "https:", "url(", "@import", "<link", "<script", "<img", "<iframe", " src="]
        {
            assert!(!html.contains(forbidden), "{}: {forbidden}", recorded.scenario.id);
        }
        assert!(
            html.split(" href=\"")
                .skip(1)
                .all(|rest| rest.starts_with("#page-") || rest.starts_with("#cover\"")),
            "{}",
            recorded.scenario.id
        );
    }
}

#[test]
fn identifiers_are_unique_and_every_link_has_a_target() {
    for recorded in all() {
        let ids: Vec<&str> =
            recorded.html.split(" id=\"").skip(1).filter_map(|r| r.split('"').next()).collect();
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), ids.len());
        for target in recorded.html.split(" href=\"#").skip(1).filter_map(|r| r.split('"').next()) {
            assert!(ids.contains(&target), "{target}");
        }
    }
}

#[test]
fn dates_are_those_of_the_journal() {
    let recorded = named("cut");
    let printed = |at: jiff::Timestamp| {
        at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%m/%d/%Y %I:%M %p UTC").to_string()
    };
    let entries = &recorded.loaded.entries;
    let begun = entries.iter().find(|e| matches!(e.event, record::Event::TestStarted { .. })).unwrap();
    for plot in recorded.plots() {
        assert!(plot.contains(&format!("Test Run Date: <b>{}</b>", printed(begun.wall))));
        assert!(plot.contains(&format!("Report Run Date: <b>{}</b>", printed(entries.last().unwrap().wall))));
    }
}

#[test]
fn a_run_without_started_tests_still_has_a_report() {
    let root = fixture::folder();
    let scenario = Scenario { cut_after_cells: Some(0), ..Scenario::default() };
    let (run, mut loaded) = fixture::record(root.path(), &scenario);
    loaded.entries.truncate(1);
    let html = fixture::html(&report::fold(&run.file, &loaded).unwrap());
    assert_eq!(html.matches("<section ").count(), 1);
    assert!(html.contains("IOPS - not started") && html.contains("<b>NOT COMPLETE</b> IOPS: not started"));
    loaded.entries.clear();
    assert!(fixture::html(&report::fold(&run.file, &loaded).unwrap()).contains("n/a"));
}

#[test]
fn each_member_of_an_array_is_named_and_the_first_page_does_not_overflow() {
    for id in ["array", "array-of-many"] {
        let Recorded { scenario: Scenario { members, .. }, html, .. } = named(id);
        for number in 1..=*members {
            assert!(
                html.contains(&format!("S455NY0M21{number:04}, 480.1 GB")),
                "member {number} of {members}"
            );
        }
        let block = html.split("DEVICE INFORMATION").nth(1).unwrap().split("</dl>").next().unwrap();
        assert!(block.matches("<dt>").count() <= 10, "{block}");
    }
}

#[test]
fn invalidating_findings_are_on_the_first_page_despite_many_notes() {
    let gaps = named("gaps");
    let mut loaded = gaps.loaded.clone();
    let check = HostCheck {
        name: "other load".into(),
        verdict: HostVerdict::WouldInvalidate,
        found: "CPUs are 100 % busy".into(),
        fix: None,
        tunable: false,
    };
    let last = loaded.entries.last().unwrap().clone();
    loaded.entries.push(Entry { event: Event::HostChecked { checks: vec![check] }, ..last });
    let html = fixture::html(&report::fold(&gaps.run.file, &loaded).unwrap());
    let first = html.split("Page 2 of").next().unwrap();
    let on_cover = "a host check failed, so results may reflect the host rather than the drive: other load";
    for text in ["CHECK FAILED", "other load: CPUs are 100 % busy", on_cover] {
        assert!(first.contains(text) && !gaps.html.contains(text), "{text}");
    }
}
