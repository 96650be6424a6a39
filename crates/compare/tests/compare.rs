//! Comparisons of runs with the figures of the four drives in the SNIA white paper of 2011.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use compare::{Authored, Candidate, Comparison, Finding, Threshold, csv, html, json, text};
use fixture::{Matrix, Scenario};

const MLC_A: &str = include_str!("data/iops_MLC-A.csv");
const MLC_B: &str = include_str!("data/iops_MLC-B.csv");
const SLC_A: &str = include_str!("data/iops_SLC-A.csv");
const SLC_B: &str = include_str!("data/iops_SLC-B.csv");

fn matrix(data: &str) -> Matrix {
    let mut matrix = [[0.0; 7]; 8];
    for (row, line) in matrix.iter_mut().zip(data.lines().skip(1)) {
        for (cell, text) in row.iter_mut().zip(line.split(',').skip(1)) {
            *cell = text.trim().parse().expect("a number");
        }
    }
    matrix
}

/// Returns a run on a drive whose constant results match the published figures.
fn published(id: &'static str, profile: &'static str, model: &str, data: &str) -> Scenario {
    Scenario { id, profile, model: Some(model.into()), settled_at: Some(matrix(data)), ..Scenario::default() }
}

fn compared(scenarios: &[Scenario]) -> Result<Comparison, String> {
    let root = fixture::folder();
    let candidate = |scenario: &Scenario| {
        let (run, loaded) = fixture::record(root.path(), scenario);
        Candidate::of(&run.file, &loaded).expect("a run of this version")
    };
    Comparison::of(scenarios.iter().map(candidate).collect())
}

fn client() -> Comparison {
    compared(&[
        published("mlc-a", "pts-c-1.0", "MLC-A", MLC_A),
        published("mlc-b", "pts-c-1.0", "MLC-B", MLC_B),
    ])
    .expect("two runs")
}

fn page(comparison: &Comparison) -> String {
    html(comparison, &Authored::default())
}

/// Returns the mean of a figure in each run.
fn means(comparison: &Comparison, key: &str) -> Vec<f64> {
    let line = comparison.line(key).unwrap_or_else(|| panic!("no {key}"));
    line.figures.iter().map(|figure| figure.as_ref().and_then(|f| f.mean()).expect("a mean")).collect()
}

#[test]
fn figures_are_those_of_the_data_and_not_of_the_slides() {
    let client = client();
    let [a, b] = means(&client, "iops.rnd4k.65")[..] else { panic!("two runs") };
    assert!((a - 3779.3).abs() < 0.05 && (b - 425.5).abs() < 0.05, "{a} {b}: the slide says 423");
    let printed = text(&client, true);
    assert!(printed.contains("3,779.3") && printed.contains("425.5"), "{printed}");
    let enterprise = compared(&[
        published("slc-a", "pts-e-1.0", "SLC-A", SLC_A),
        published("slc-b", "pts-e-1.0", "SLC-B", SLC_B),
    ])
    .expect("two runs");
    let [a, b] = means(&enterprise, "iops.rnd4k.65")[..] else { panic!("two runs") };
    assert!((a - 28018.6).abs() < 0.05 && (b - 29827.0).abs() < 0.05, "{a} {b}: the slide says 41,460");
}

#[test]
fn pages_share_the_larger_range_and_name_rescaled_runs() {
    let page = page(&client());
    assert!(page.contains("Shared axes: y of A MLC-A scaled to match B MLC-B"), "no such note");
    let columns =
        page.split("<section>").find(|section| section.contains("3D Columns")).expect("the columns");
    // Both scales extend to 70k, although MLC-A itself stays below 30k, in the wide and in the narrow pictures.
    assert_eq!(columns.matches("60k</text>").count(), 4, "{columns}");
    let asks = ["src=", "href=", "url("].into_iter().find(|text| page.contains(text));
    assert_eq!(asks, None, "the page makes no network requests");
}

#[test]
fn comparisons_and_reports_have_the_same_colours_light_and_dark() {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), &Scenario::default());
    let report = report::html(&report::fold(&run.file, &loaded).expect("a run of this version"));
    // Only the rules before the first one that applies to just one kind of page are compared.
    let colours = |page: &str| {
        let style = page.split("<style>").nth(1).expect("a style");
        style.split("@media print").next().expect("its start").to_owned()
    };
    assert!(
        colours(&report).contains("@media screen and (prefers-color-scheme: dark)"),
        "{}",
        colours(&report)
    );
    assert_eq!(colours(&page(&client())), colours(&report));
}

#[test]
fn different_classes_and_depths_are_compared_with_a_warning() {
    let mixed = compared(&[
        published("mlc-a", "pts-c-1.0", "MLC-A", MLC_A),
        published("slc-a", "pts-e-1.0", "SLC-A", SLC_A),
    ])
    .expect("two runs");
    let warns = |start: &str| mixed.warning_texts().any(|warning| warning.starts_with(start));
    assert!(warns("class differs: MLC-A: Client; SLC-A: Enterprise"), "{:?}", mixed.warnings);
    assert!(client().warning_texts().all(|warning| !warning.starts_with("class")));
}

#[test]
fn runs_without_steady_state_cause_a_warning() {
    let restless = Scenario { id: "restless", restless: true, ..Scenario::default() };
    let comparison = compared(&[Scenario::default(), restless]).expect("two runs");
    assert!(
        comparison.warnings.iter().any(|w| w.subject == "SS NOT ACHIEVED" && w.values[0].0 == [1]),
        "{:?}",
        comparison.warnings
    );
}

#[test]
fn differences_within_noise_are_not_ranked() {
    let comparison =
        compared(&[Scenario { id: "a", ..Scenario::default() }, Scenario { id: "b", ..Scenario::default() }]);
    let comparison = comparison.expect("two runs");
    let names: Vec<&str> = comparison.names().collect();
    assert!(names[0].ends_with("(1)") && names[1].ends_with("(2)"), "{names:?}");
    let findings: Vec<Finding> =
        comparison.lines.iter().filter_map(|line| line.differences[1].map(|d| d.finding)).collect();
    assert_eq!(findings.len(), 56);
    assert!(findings.iter().all(|finding| *finding == Finding::WithinNoise), "{findings:?}");
}

#[test]
fn thresholds_match_only_beyond_noise() {
    let client = client();
    let matches = |text: &str| text.parse::<Threshold>().expect("a condition").matches(&client);
    let found = matches("iops.rnd4k.w < -90%").expect("a figure");
    assert_eq!((found.len(), found[0].run.as_str()), (1, "MLC-B"));
    assert!(found[0].percent.is_some_and(|percent| (percent + 95.17).abs() < 0.01), "{found:?}");
    assert!(matches("iops.rnd4k.w < -99%").expect("a figure").is_empty());
    assert!(matches("iops.*.w < -50%").expect("figures").len() == 4, "0.5 to 16 KiB");
    assert!(matches("tp.* < 0%").expect_err("no such figure").contains("iops.rnd4k.w"));
    // The published values of both drives; absolute conditions do not apply to the baseline.
    let found = matches("iops.rnd4k.65 < 5_000 IOPS").expect("a figure");
    assert_eq!((found.len(), found[0].run.as_str(), found[0].percent), (1, "MLC-B", None));
    assert!(matches("iops.rnd4k.65 > 1000").expect("a figure").is_empty(), "only the baseline has more");
    assert!(matches("iops.rnd4k.65 > 1 ms").expect_err("another unit").contains("is in IOPS"));
}

#[test]
fn a_figure_missing_from_a_run_does_not_pass() {
    let both: &[&str] = &["iops", "lat"];
    let of = |id, tests| Scenario { id, profile: "pts-e-2.0", tests, ..Scenario::default() };
    let runs = compared(&[of("a", both), of("b", both), of("c", &["iops"])]).expect("three runs");
    let matches = |text: &str| text.parse::<Threshold>().expect("a condition").matches(&runs);
    assert_eq!(matches("iops.* < -5%"), Ok(Vec::new()), "every run has these");
    for condition in ["lat.* > 5%", "* < -5%", "lat.rnd4k.w > 1000 ms"] {
        let error = matches(condition).expect_err(condition);
        assert!(error.contains("(3) has no value of ") && error.contains("cannot be checked"), "{error}");
    }
}

#[test]
fn a_comparison_needs_two_runs_with_a_common_figure() {
    assert!(compared(&[Scenario::default()]).expect_err("one run").contains("at least 2"));
    let latency = Scenario { id: "latency", tests: &["lat"], ..Scenario::default() };
    assert!(
        compared(&[Scenario::default(), latency])
            .expect_err("nothing in common")
            .contains("figure in common")
    );
}

#[test]
fn data_formats_contain_every_figure_of_every_run() {
    let client = client();
    let table = csv(&client);
    assert_eq!(table.lines().count(), 1 + 56 * 2);
    assert!(table.contains("iops.rnd4k.65,IOPS RND 4KiB 65/35,IOPS,false,mlc-b,MLC-B,5,425.5,"), "{table}");
    let document = json(&client);
    assert_eq!(document["runs"][1]["name"], "MLC-B");
    assert_eq!(document["figures"].as_array().map(Vec::len), Some(56));
    assert_eq!(document["figures"][0]["runs"][0]["values"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_figure_covers_its_rounds_and_nothing_after_them() {
    let scenario = |id| Scenario { id, profile: "pts-e-2.0", tests: &["lat"], ..Scenario::default() };
    let compared = compared(&[scenario("this-year"), scenario("last-year")]).expect("two runs");
    let line = compared.line("lat.rnd4k.w").expect("the average of writes");
    let counts: Vec<usize> = line.figures.iter().flatten().map(|figure| figure.values.len()).collect();
    assert!(line.selected && counts == [5, 5], "{counts:?}");
    let printed = text(&compared, false);
    assert!(
        printed.contains(" 0.0 % (") && !printed.contains("+0.0") && !printed.contains("-0.0"),
        "{printed}"
    );
}

#[test]
fn long_names_and_differences_of_two_runs_fit_a_terminal_of_80_columns() {
    let scenario = |id| Scenario { id, tests: &["wsat", "iops"], ..Scenario::default() };
    let compared = compared(&[scenario("this-year"), scenario("last-year")]).expect("two runs");
    let printed = text(&compared, true);
    let long: Vec<&str> = printed.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
    assert!(printed.contains("\n  B vs. A: 0.0 % ("), "{printed}");
}

#[test]
fn a_sweep_over_outstanding_ios_is_one_chart_with_a_line_per_run() {
    let of = |id, model: &str| Scenario {
        id,
        profile: "pts-e-2.0",
        tests: &["dirth"],
        model: Some(model.into()),
        ..Scenario::default()
    };
    let runs = compared(&[of("one", "Drive 1"), of("two", "Drive 2"), of("three", "Drive 3")]).unwrap();
    let html = page(&runs);
    let section = html.split("<section>").find(|part| part.contains("by outstanding I/Os</h2>")).unwrap();
    assert!(section.contains("Comparing DIRTH - RND 8KiB 65/35 by outstanding I/Os"));
    let (wide, narrow) = section.split_once("<svg class=\"narrow\"").unwrap();
    let lines: Vec<&str> = wide.split("class=\"series ").skip(1).collect();
    let narrow = narrow.matches("class=\"series ").count();
    assert_eq!((lines.len(), narrow), (3, 3), "one line per run in both pictures");
    for (line, name) in lines.iter().zip(["A Drive 1", "B Drive 2", "C Drive 3"]) {
        assert!(line.contains(&format!("<title>{name}: Outstanding I/Os (TC x QD) 1024, ")), "{name}");
    }
    let rows: Vec<&str> =
        section.split("<tr><th scope=\"row\">").skip(1).filter_map(|row| row.split('<').next()).collect();
    assert_eq!((rows.len(), rows[0], rows[17]), (18, "1", "1024"), "each product of TC and QD");
    assert_eq!(html.matches("by outstanding I/Os</h2>").count(), 1);
    assert!(!page(&client()).contains("by outstanding I/Os"), "IOPS is not a sweep");
    assert!(compare::pdf(&runs, &Authored::default()).unwrap().starts_with(b"%PDF"));
}

/// The results include neither preconditioning nor cells that are not evaluated.
#[test]
fn figures_average_only_what_the_results_average() {
    let both = |scenario: &Scenario| {
        compared(&[scenario.clone(), Scenario { id: "other", ..scenario.clone() }]).expect("two runs")
    };
    let scenario = Scenario { profile: "pts-e-2.0", tests: &["dirth"], ..Scenario::default() };
    let dirth = both(&Scenario { adjust: |s| s.dirth.read_percent = Some(0), ..scenario });
    for (key, count) in [("dirth.rnd8k.w.tc32qd32", 5), ("dirth.rnd8k.w.tc1qd1", 5)] {
        let line = dirth.line(key).unwrap_or_else(|| panic!("no {key}"));
        assert_eq!(line.figures[0].as_ref().map(|figure| figure.values.len()), Some(count), "{key}");
    }
    // The drive is so slow that it reaches steady state, which ends the test, before four capacities are
    // written.
    let settled_at = Some([[1_000.0; 7]; 8]);
    let saturation =
        both(&Scenario { profile: "pts-e-2.0", tests: &["wsat"], settled_at, ..Scenario::default() });
    let line = saturation.line("wsat.rnd4k.w").expect("the steady minutes");
    assert_eq!(line.figures[0].as_ref().map(|figure| figure.values.len()), Some(5));
}

#[test]
fn different_write_caches_are_compared_with_a_warning() {
    let cached = |id, is_on| Scenario { id, write_cache: Some(is_on), ..Scenario::default() };
    let mixed = compared(&[cached("on", true), cached("off", false)]).expect("two runs");
    let warned =
        |comparison: &Comparison| comparison.warning_texts().find(|text| text.starts_with("write cache"));
    let warning = warned(&mixed).unwrap_or_else(|| panic!("{:?}", mixed.warnings));
    assert!(warning.contains(": WCE; ") && warning.ends_with(": WCD"), "{warning}");
    assert_eq!(warned(&compared(&[cached("on", true), cached("on-2", true)]).expect("two runs")), None);
}
