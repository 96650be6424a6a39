//! Compares the pages of each test with the list in docs/reference/tests.md. `PLATEAU_BLESS=1` rewrites the
//! list.

mod support;

use std::fmt::Write as _;
use std::path::Path;

use pts::exhibit::Exhibit;
use pts::{Profile, TESTS, Test};
use support::{Fake, run_on, target};

const BEGIN: &str = "<!-- pages: written by a test -->\n";
const END: &str = "<!-- end of pages -->\n";
/// One profile per edition; client and enterprise profiles have the same pages.
const EDITIONS: [(&str, &str); 3] = [("pts-e-1.0", "1.0"), ("pts-e-1.1", "1.1"), ("pts-e-2.0", "2.0")];

fn kind(exhibit: &Exhibit) -> &'static str {
    match exhibit {
        Exhibit::Lines(_) => "lines",
        Exhibit::Table(_) => "table",
        Exhibit::Facts(_) => "facts",
        Exhibit::Columns3d(_) => "3D columns",
        Exhibit::HeatMap(_) => "heat map",
        Exhibit::Bars(_) => "bars",
        Exhibit::ResponseTimes(_) => "histogram",
    }
}

fn pages(test: &Test, profile: &str) -> Vec<String> {
    let outcome = run_on(test.name, profile, &target(512), &mut Fake::new(|_, _| 1_000));
    let page = |page: &pts::exhibit::Page| {
        let mut kinds: Vec<&str> = page.exhibits.iter().map(kind).collect();
        kinds.dedup();
        // The list is made with a drive that takes no CPU time.
        let kinds = if kinds.is_empty() {
            "a chart, or a sentence on simulated drives".into()
        } else {
            kinds.join(", ")
        };
        format!("{} ({kinds})", page.title)
    };
    let beyond = outcome.beyond.iter().map(|beyond| format!("annex B: {}", page(beyond)));
    outcome.pages.iter().map(page).chain(beyond).collect()
}

fn list() -> String {
    let mut text = String::new();
    for test in TESTS {
        let mut shown: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
        let listed = |profile| Profile::named(profile).unwrap().listed(test.family).is_some();
        let in_none = EDITIONS.iter().all(|(profile, _)| !listed(profile));
        for (profile, edition) in EDITIONS {
            if !listed(profile) && !in_none {
                continue;
            }
            let pages = pages(test, profile);
            match shown.iter_mut().find(|(_, known)| *known == pages) {
                Some((editions, _)) => editions.push(edition),
                None => shown.push((vec![edition], pages)),
            }
        }
        for (editions, pages) in shown {
            let place = if in_none { "no version".to_owned() } else { editions.join(", ") };
            writeln!(text, "\n`{}` in {place}:\n", test.name).unwrap();
            pages.iter().enumerate().for_each(|(i, page)| writeln!(text, "{}. {page}", i + 1).unwrap());
        }
    }
    text
}

#[test]
fn the_document_lists_the_pages_that_there_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/tests.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = document.split_once(BEGIN).expect("the beginning of the list");
    let (listed, tail) = rest.split_once(END).expect("the end of the list");
    let list = format!("{}\n", list());
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{list}{END}{tail}")).unwrap();
        return;
    }
    let differs = list.lines().zip(listed.lines()).find(|(found, listed)| found != listed);
    assert!(list == listed, "the list differs; PLATEAU_BLESS=1 rewrites it: {differs:?}");
}
