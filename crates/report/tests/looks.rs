//! Page appearance: compares printed pages that are hard to lay out with small golden images. `PLATEAU_BLESS=1`
//! rewrites the images that differ; inspect them afterwards. The test is skipped if `pdftoppm` is not
//! installed.

mod fixture;
mod golden_page;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fixture::Scenario;
use golden_page::{difference_of_page, has_poppler, page_with};

/// Page of the PDF.
#[derive(Clone, Copy)]
enum Place {
    /// By number: 1 is the cover.
    Number(usize),
    /// The first page that contains these words.
    Words(&'static str),
}

use Place::{Number, Words};

/// Name of the picture (what is hard to lay out, or the kind of page), run, and page of the PDF.
const PAGES: [(&str, &str, Place); 41] = [
    ("cover", "enterprise", Number(1)),
    ("cover-of-several-tests", "missing", Number(1)),
    ("cover-not-steady", "restless", Number(1)),
    ("summary", "enterprise", Number(2)),
    ("header-of-four-columns", "enterprise-2", Number(4)),
    ("long-model-name", "restless", Number(2)),
    ("not-converged-in-25-rounds", "restless", Number(4)),
    ("not-converged-determination", "restless", Number(5)),
    ("no-blocks-of-512-bytes", "native-4k", Number(7)),
    ("tests-that-were-not-begun", "missing", Number(2)),
    ("cut-in-its-first-round", "cut-at-once", Number(3)),
    ("one-round-convergence", "one-round", Number(4)),
    ("one-round-table", "one-round", Number(7)),
    ("no-io-at-all-table", "dead", Number(7)),
    ("no-io-at-all-columns", "dead", Number(9)),
    ("huge-values", "huge", Number(7)),
    ("huge-values-columns", "huge", Number(9)),
    ("tiny-values", "tiny", Number(7)),
    ("many-interruptions", "gaps", Number(2)),
    ("simulated", "simulated", Number(8)),
    ("whole-test-with-health", "talkative", Words("Write amplification")),
    ("array-of-four-members", "array", Number(2)),
    ("array-of-many-members", "array-of-many", Number(2)),
    ("throughput-bars", "kinds", Words("Throughput - ALL RW Mix & BS - 2D Plot")),
    ("latency-columns", "kinds", Words("AVE Latency v BS and R/W Mix - 3D Plot")),
    ("response-time-histogram", "kinds", Words("Response Time Histogram - Confidence Level Plot")),
    ("write-saturation", "kinds", Words("WSAT IOPS v TGBW")),
    ("host-idle-recovery", "kinds", Words("IOPS v Time - All Wait States")),
    ("cross-stimulus-recovery", "kinds", Words("TP, ART and MRT v Time")),
    ("demand-variation", "kinds", Words("Demand Variation")),
    ("demand-intensity", "kinds", Words("Demand Intensity")),
    ("total-outstanding", "kinds", Words("IOPS v Total OIO")),
    ("conformance-statement", "kinds", Words("Annex A: conformance statement")),
    ("response-time-tail", "kinds", Words("Response Time Tail")),
    ("rounds-overlaid", "kinds", Words("Rounds Overlaid")),
    ("demand-maps", "map", Words("TC x QD Map")),
    ("knee", "map", Words("Demand Intensity - Knee")),
    ("client-write", "client-write", Number(4)),
    ("burn-in", "burn-in", Number(4)),
    ("jesd219", "jesd219", Number(4)),
    ("zones", "hdd-iops", Number(4)),
];

/// Tests that are not part of the PTS, each in a run of its own.
const OTHERS: [&[&str]; 4] = [&["client-write"], &["burn-in"], &["jesd219"], &["hdd-iops"]];

fn scenario(id: &str) -> Scenario {
    let missing = Scenario {
        id: "missing",
        tests: &["iops", "tp-1024", "lat"],
        cut_after_cells: Some(9),
        ..Scenario::default()
    };
    // One test of each kind.
    let kinds = Scenario {
        id: "kinds",
        profile: "pts-e-2.0",
        tests: &["iops", "tp-1024", "lat", "wsat", "hir", "xsr", "cbw"],
        ..Scenario::default()
    };
    let map = Scenario { id: "map", tests: &["map"], mapped: &[100, 0], ..Scenario::default() };
    let others =
        OTHERS.map(|tests| Scenario { id: tests[0], profile: "pts-e-2.0", tests, ..Scenario::default() });
    fixture::scenarios()
        .into_iter()
        .chain([missing, kinds, map])
        .chain(others)
        .find(|scenario| scenario.id == id)
        .unwrap()
}

/// Writes the PDF of a run with fixed dates.
fn printed(scenario: &Scenario, folder: &Path) -> PathBuf {
    let (run, mut loaded) = fixture::record(folder, scenario);
    for (minute, entry) in (0..).zip(&mut loaded.entries) {
        entry.wall = jiff::Timestamp::from_second(1_795_241_366 + 60 * minute).unwrap();
    }
    loaded.digest = record::Digest::of(scenario.id.as_bytes());
    let pdf = report::pdf(&report::fold(&run.file, &loaded).unwrap()).unwrap();
    let path = folder.join(format!("{}.pdf", scenario.id));
    std::fs::write(&path, pdf).unwrap();
    path
}

#[test]
fn pages_that_are_hard_to_lay_out_look_as_they_did() {
    if !has_poppler() {
        return;
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/pages");
    let folder = fixture::folder();
    let mut ids: Vec<&str> = PAGES.iter().map(|(_, id, _)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    // Check the pages in parallel: both programs are CPU-bound, and the pages are independent.
    let next = AtomicUsize::new(0);
    let look = || {
        let mut wrong = Vec::new();
        while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
            let pdf = printed(&scenario(id), folder.path());
            for (name, _, page) in PAGES.iter().filter(|(_, of, _)| of == id) {
                let page = match page {
                    Number(number) => *number,
                    Words(words) => page_with(words, &pdf),
                };
                wrong.extend(difference_of_page(&golden.join(format!("{name}.png")), &pdf, page));
            }
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads = [scope.spawn(look), scope.spawn(look)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong:#?}; PLATEAU_BLESS=1 rewrites these images; inspect them afterwards");
}
