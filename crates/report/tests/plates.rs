//! Exported pictures are self-contained: each says what was measured, on which device, when and by whom, with all
//! caveats.

mod fixture;

use fixture::Scenario;
use report::formats::{FORMATS, Files, Make, Source};

fn pictures(scenario: &Scenario) -> Vec<(String, String)> {
    let root = fixture::folder();
    let (run, loaded) = fixture::record(root.path(), scenario);
    let document = report::fold(&run.file, &loaded).unwrap();
    let source = Source { document: &document, entries: &loaded.entries };
    let Make::Folder(make) = FORMATS.iter().find(|format| format.name == "svg").unwrap().make else {
        panic!()
    };
    let files: Files = make(source).unwrap();
    assert!(files.len() > 4, "{}", files.len());
    files.into_iter().map(|(name, svg)| (name, String::from_utf8(svg).unwrap())).collect()
}

#[track_caller]
fn all_say(pictures: &[(String, String)], words: &[&str]) {
    for (name, svg) in pictures {
        for words in words {
            assert!(svg.contains(words), "{name} lacks {words}");
        }
    }
}

/// Returns all texts of a picture.
fn texts(svg: &str) -> Vec<&str> {
    svg.split("</text>").filter_map(|part| part.rsplit_once('>').map(|(_, text)| text)).collect()
}

#[test]
fn every_picture_names_test_device_firmware_demand_date_and_origin() {
    let scenario = Scenario { id: "plates", tests: &["iops", "lat"], ..Scenario::default() };
    let all = pictures(&scenario);
    all_say(&all, &["MACH16 M16ISD2-100UCP · firmware ", " · journal SHA-256 ", "run plates", " UTC"]);
    for (name, svg) in &all {
        let test =
            if name.starts_with("iops") { "IOPS (REQUIRED) · PTS-" } else { "Latency (REQUIRED) · PTS-" };
        let demand = if name.starts_with("iops") { "TC 2/QD 16" } else { "TC 1/QD 1" };
        assert!(
            texts(svg).iter().any(|text| text.starts_with(test) && text.contains(demand)),
            "{name}: {svg}"
        );
    }
}

#[test]
fn a_chart_says_what_it_shows_and_how_to_read_it() {
    let all = pictures(&Scenario { id: "captions", tests: &["iops"], ..Scenario::default() });
    let (_, svg) = all.iter().find(|(name, _)| name.contains("2d-plot")).unwrap();
    let texts = texts(svg);
    assert!(texts.iter().any(|text| text.starts_with("IOPS: highest ")), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("Mean of each workload, by block size")), "{texts:?}");
}

#[test]
fn no_picture_of_an_invalid_result_lacks_its_mark() {
    let simulated = Scenario { id: "marked-simulated", simulated: true, ..Scenario::default() };
    all_say(&pictures(&simulated), &["SIMULATED sas-slc-2011", "DOES NOT CONFORM to PTS-"]);
    let restless = Scenario { id: "marked-restless", restless: true, ..Scenario::default() };
    all_say(&pictures(&restless), &["NOT STEADY: no steady state in 25 rounds"]);
    let modified = Scenario { id: "marked-modified", modified: true, ..Scenario::default() };
    all_say(&pictures(&modified), &["MODIFIED: "]);
    let cut = Scenario { id: "marked-cut", cut_after_cells: Some(70), ..Scenario::default() };
    all_say(&pictures(&cut), &["NOT COMPLETE: ", "DOES NOT CONFORM to PTS-"]);
}

#[test]
fn a_conforming_picture_has_no_mark() {
    for (name, svg) in pictures(&Scenario { id: "unmarked", ..Scenario::default() }) {
        for mark in ["SIMULATED", "IMPORTED", "NOT STEADY", "NOT COMPLETE", "CONFORM", "HOST-LIMITED"] {
            assert!(!svg.contains(mark), "{name}: {mark}");
        }
    }
}
