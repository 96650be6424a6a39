//! Appearance of printed comparisons: compares pages of each kind with small golden images. `PLATEAU_BLESS=1` rewrites the
//! images that differ; inspect them afterwards. The test is skipped if Poppler is not installed.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;
#[path = "../../report/tests/golden_page/mod.rs"]
mod golden_page;

use std::path::{Path, PathBuf};

use compare::{Authored, Candidate, Comparison, pdf};
use fixture::Scenario;
use golden_page::{difference_of_page, has_poppler, page_with};

/// Name of the picture, number of runs, and the first page that contains these words.
const PAGES: [(&str, usize, &str); 7] = [
    ("ranked-bars", 4, "Selected performance"),
    ("differences", 4, "Differences from A"),
    ("overlaid-curves", 4, "ALL RW Mix & BS - 2D Plot"),
    ("side-by-side", 2, "ALL RW Mix & BS - 3D"),
    ("every-figure-of-twenty", 20, "Every figure"),
    ("multiples-of-twenty", 20, "ALL RW Mix & BS - 2D Plot"),
    ("devices", 2, "The devices"),
];

fn candidate(root: &Path, index: usize) -> Candidate {
    const IDS: [&str; 20] =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"];
    let scenario = Scenario {
        id: IDS[index],
        model: Some(format!("Drive {}", index + 1)),
        simulated: index % 4 == 1,
        modified: index % 4 == 2,
        restless: index % 4 == 3,
        ..Scenario::default()
    };
    let (run, mut loaded) = fixture::record(root, &scenario);
    for (minute, entry) in (0..).zip(&mut loaded.entries) {
        entry.wall = jiff::Timestamp::from_second(1_795_241_366 + 60 * minute).unwrap();
    }
    loaded.digest = record::Digest::of(scenario.id.as_bytes());
    Candidate::of(&run.file, &loaded).expect("a run")
}

/// Writes the comparison of this many runs.
fn printed(count: usize, folder: &Path) -> PathBuf {
    let root = fixture::folder();
    let runs = (0..count).map(|index| candidate(root.path(), index)).collect();
    let comparison = Comparison::of(runs).expect("runs");
    let path = folder.join(format!("{count}.pdf"));
    std::fs::write(&path, pdf(&comparison, &Authored::default()).expect("a PDF")).unwrap();
    path
}

#[test]
fn pages_of_each_kind_look_as_they_did() {
    if !has_poppler() {
        return;
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/pages");
    let folder = fixture::folder();
    let mut wrong = Vec::new();
    for count in [2, 4, 20] {
        let file = printed(count, folder.path());
        for (name, _, words) in PAGES.iter().filter(|(_, of, _)| *of == count) {
            let page = page_with(words, &file);
            wrong.extend(difference_of_page(&golden.join(format!("{name}.png")), &file, page));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}; PLATEAU_BLESS=1 rewrites these images; inspect them afterwards");
}
