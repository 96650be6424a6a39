//! Page appearance: compares printed pages that are hard to lay out with small golden images. `PLATEAU_BLESS=1`
//! rewrites the images that differ; inspect them afterwards. The test is skipped if `pdftoppm` is not
//! installed.

mod fixture;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use fixture::Scenario;
use resvg::tiny_skia::Pixmap;

/// Dots per inch: enough to detect overlaps and to read most of the text.
const RESOLUTION: &str = "40";
/// Side, in pixels, of the squares whose means are compared. Means are insensitive to differences in text
/// smoothing between versions of Poppler.
const SQUARE: u32 = 10;
/// Maximum difference between two means, out of 255. A word that moves by a line, or a missing chart, exceeds
/// it.
const TOLERANCE: f64 = 20.0;

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
const PAGES: [(&str, &str, Place); 35] = [
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
];

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
    fixture::scenarios().into_iter().chain([missing, kinds]).find(|scenario| scenario.id == id).unwrap()
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

/// Returns the first page that contains `words`, according to `pdftotext`.
fn page_with(words: &str, pdf: &Path) -> usize {
    let text = Command::new("pdftotext").arg(pdf).arg("-").output().unwrap().stdout;
    String::from_utf8_lossy(&text).split('\x0c').position(|page| page.contains(words)).unwrap() + 1
}

fn picture_of(pdf: &Path, page: usize) -> Vec<u8> {
    let page = page.to_string();
    let arguments = ["-r", RESOLUTION, "-gray", "-png", "-singlefile", "-f", &page, "-l", &page];
    let output = Command::new("pdftoppm").args(arguments).arg(pdf).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Divides an image into squares. Returns the mean value of each, and the number of squares per row.
fn squares(png: &[u8]) -> Option<(u32, Vec<f64>)> {
    let pixels = Pixmap::decode_png(png).ok()?;
    let (across, down) = (pixels.width().div_ceil(SQUARE), pixels.height().div_ceil(SQUARE));
    let mut sums = vec![(0.0, 0.0); (across * down) as usize];
    for (index, pixel) in (0u32..).zip(pixels.pixels()) {
        let (x, y) = (index % pixels.width() / SQUARE, index / pixels.width() / SQUARE);
        let (sum, count) = &mut sums[(y * across + x) as usize];
        (*sum, *count) = (*sum + f64::from(pixel.red()), *count + 1.0);
    }
    Some((across, sums.into_iter().map(|(sum, count)| sum / count).collect()))
}

/// Describes the difference between two images; `None` if they match.
fn difference(golden: &[u8], found: &[u8]) -> Option<String> {
    let (Some((across, golden)), Some((_, found))) = (squares(golden), squares(found)) else {
        return Some("there is no golden picture".into());
    };
    if golden.len() != found.len() {
        return Some("its size differs".into());
    }
    let differences = golden.iter().zip(&found).map(|(a, b)| (a - b).abs());
    let (index, most) = (0u32..).zip(differences).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (x, y) = (index % across * SQUARE, index / across * SQUARE);
    (most > TOLERANCE).then(|| format!("at ({x}, {y}), its mean differs by {most:.0} of 255"))
}

#[test]
fn pages_that_are_hard_to_lay_out_look_as_they_did() {
    if ["pdftoppm", "pdftotext"].iter().any(|program| Command::new(program).arg("-v").output().is_err()) {
        return skips::without("pdftoppm");
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
                let found = picture_of(&pdf, page);
                let path = golden.join(format!("{name}.png"));
                let Some(text) = difference(&std::fs::read(&path).unwrap_or_default(), &found) else {
                    continue;
                };
                if std::env::var_os("PLATEAU_BLESS").is_some() {
                    std::fs::write(&path, &found).unwrap();
                } else {
                    wrong.push(format!("{name}: {text}"));
                }
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

#[test]
fn a_moved_line_is_detected() {
    let page = |y: f32| {
        let mut pixels = Pixmap::new(120, 60).unwrap();
        pixels.fill(resvg::tiny_skia::Color::WHITE);
        let word = resvg::tiny_skia::Rect::from_xywh(20.0, y, 40.0, 6.0).unwrap();
        pixels.fill_rect(word, &Default::default(), Default::default(), None);
        pixels.encode_png().unwrap()
    };
    assert_eq!(difference(&page(20.0), &page(20.0)), None);
    assert!(difference(&page(20.0), &page(32.0)).unwrap().starts_with("at ("));
    assert!(difference(b"", &page(20.0)).unwrap().contains("no golden"));
}
