//! Screens and plain text of runs in progress. To accept an intended change to a screen, run `PLATEAU_BLESS=1
//! cargo xtask test watch/screens` and review the difference.

mod fixture;

use std::path::Path;

use fixture::InProgress;
use jiff::SignedDuration;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use record::{Labels, Library, RunFile, SimulatedFacts};
use stdx::text::is_unprintable;
use watch::{Item, Key, Paint, Source, State, Which, draw, plain};

const ID: &str = "7m2k9q-iops-nvme0n1";

/// Returns a library's runs in progress, 12 s after their latest record, with their activity at that moment.
fn items(library: &Path) -> Vec<Item> {
    let mut items = Source::of(&Library::at(library), Which::InProgress).look();
    for item in &mut items {
        let shown = item.shown.as_mut().expect("it can be read");
        let last = shown.snapshot.loaded.entries.last().expect("a record").wall;
        shown.now = last + SignedDuration::from_secs(12);
        shown.live = Some(fixture::live(&item.id, shown.now));
    }
    items
}

fn screen(items: &[Item], state: &State, size: (u16, u16)) -> String {
    drawn(items, state, size).0
}

/// Returns the screen and the number of lines that do not fit on it.
fn drawn(items: &[Item], state: &State, (width, height): (u16, u16)) -> (String, usize) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    let mut last = 0;
    terminal.draw(|frame| last = draw(frame, items, state, Paint::PLAIN)).expect("drawn");
    let buffer = terminal.backend().buffer();
    let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    ((0..height).map(row).collect::<Vec<_>>().join("\n") + "\n", last)
}

fn compare(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(&path, found).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

fn one(library: &Path) -> InProgress {
    fixture::run(library, ID, |_| {})
}

#[test]
fn a_run_fits_on_a_small_and_on_a_large_terminal() {
    let dir = tempfile::tempdir().expect("a folder");
    let _run = one(dir.path());
    let items = items(dir.path());
    compare("one-80x24.txt", &screen(&items, &State::default(), (80, 24)));
    compare("one-200x60.txt", &screen(&items, &State::default(), (200, 60)));
    compare("plain.txt", &plain(&items, 80));
}

#[test]
fn the_last_line_of_a_run_is_the_end_of_scrolling() {
    let dir = tempfile::tempdir().expect("a folder");
    let _run = one(dir.path());
    let items = items(dir.path());
    let (_, last) = drawn(&items, &State::default(), (80, 10));
    assert!(last > 0, "it does not fit");
    let (end, same) = drawn(&items, &State { scroll: last, ..State::default() }, (80, 10));
    let beyond = screen(&items, &State { scroll: last + 9, ..State::default() }, (80, 10));
    assert_eq!((&end, same), (&beyond, last));
    let before = screen(&items, &State { scroll: last - 1, ..State::default() }, (80, 10));
    assert_ne!(before, end);
    assert_eq!(drawn(&items, &State::default(), (200, 60)).1, 0, "everything fits");
}

#[test]
fn round_and_cell_are_stated_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let _run = one(dir.path());
    let mut items = items(dir.path());
    let shown = items[0].shown.as_mut().expect("it can be read");
    let mut live = shown.live.take().expect("it is live");
    let from_the_journal = plain(&items, 80);
    assert!(from_the_journal.contains("round 5, cell 31 of 56. Steady state is"), "{from_the_journal}");
    // What the run reports about the current second differs from its journal.
    live.cell = Some(29);
    items[0].shown.as_mut().expect("it can be read").live = Some(live);
    let text = plain(&items, 80);
    assert!(text.contains("cell 29 of 56") && !text.contains("cell 31"), "{text}");
    assert!(text.contains("Steady state is evaluated over 5 rounds"), "{text}");
}

#[test]
fn the_last_hour_is_drawn_on_one_axis_and_gaps_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let _run = one(dir.path());
    let text = plain(&items(dir.path()), 200);
    let line = |name: &str| {
        text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {text}"))
    };
    for (name, values) in [
        ("Temperature (\u{b0}C)", "36.0 to 44.0"),
        ("Power (W) of package-0", "20.0 to 23.0"),
        ("Write amplification", "3.00 to 3.00"),
    ] {
        assert!(line(name).contains(values), "{}", line(name));
    }
    assert!(line("Response time (ms)").contains('\u{2588}'), "{text}");
    assert!(line("last hour").contains("60 min"), "{text}");
    assert!(line("not reported").contains("not reported: throttling"), "{text}");
    assert!(line("command").contains("plateau run iops /dev/nvme0n1"), "{text}");
    // All charts have the same width.
    let column = |name: &str| line(name).chars().position(|c| c.is_ascii_digit());
    assert_eq!(column("Temperature"), column("Power (W)"));
}

#[test]
fn a_terminal_without_unicode_gets_ascii_charts() {
    let dir = tempfile::tempdir().expect("a folder");
    let _run = one(dir.path());
    let ascii: fn(&str) -> String = |text| {
        let is_block = |c: char| ('\u{2580}'..='\u{259f}').contains(&c) || c == '\u{2500}';
        text.chars()
            .map(|c| {
                if is_block(c) {
                    '#'
                } else if c.is_ascii() {
                    c
                } else {
                    '?'
                }
            })
            .collect()
    };
    let mut terminal = Terminal::new(TestBackend::new(200, 60)).expect("a terminal");
    let paint = Paint { colour: false, ascii: Some(ascii) };
    terminal.draw(|frame| _ = draw(frame, &items(dir.path()), &State::default(), paint)).expect("drawn");
    let buffer = terminal.backend().buffer();
    assert!(buffer.content().iter().all(|cell| cell.symbol().is_ascii()), "{buffer:?}");
}

#[test]
fn a_full_window_says_what_is_not_steady() {
    let dir = tempfile::tempdir().expect("a folder");
    let _run = fixture::run_after(5, dir.path(), ID, |file| {
        file.target.model = Some("EXAMPLE ENTERPRISE PERFORMANCE 960".into());
        file.tests =
            ["wsat", "iops", "tp-128", "tp-1024", "lat", "hir", "xsr", "csr"].map(str::to_owned).to_vec();
    });
    let mut items = items(dir.path());
    let live = items[0].shown.as_mut().expect("it can be read").live.as_mut().expect("it is live");
    live.round = Some(6);
    compare("full-80x24.txt", &screen(&items, &State::default(), (80, 24)));
    compare("full-200x60.txt", &screen(&items, &State::default(), (200, 60)));
}

#[test]
fn several_runs_are_a_list_and_the_selected_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let simulated = |file: &mut RunFile| {
        let facts = r#"{"model": "sas-slc-2011", "model_version": 1, "scale_divisor": 16, "seed": 1}"#;
        file.target.simulated = Some(serde_json::from_str::<SimulatedFacts>(facts).expect("facts"));
    };
    let _runs = [one(dir.path()), fixture::run(dir.path(), "b1c2d3-iops-sim", simulated)];
    let items = items(dir.path());
    let mut state = State::default();
    state.press(Key::Down, &items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>());
    compare("two-80x24.txt", &screen(&items, &state, (80, 24)));
}

#[test]
fn a_run_without_a_process_says_so_and_shows_its_latest_cell() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = one(dir.path()).interrupt();
    let library = Library::at(dir.path());
    let text = plain(&Source::of(&library, Which::One(Box::new(run))).look(), 80);
    assert!(text.contains("not complete") && text.contains("plateau resume"), "{text}");
    assert!(text.contains("latest      RND"), "{text}");
    assert!(Source::of(&library, Which::InProgress).look().is_empty());
}

#[test]
fn a_process_that_has_stopped_writing_is_noticed() {
    let dir = tempfile::tempdir().expect("a folder");
    let _run = one(dir.path());
    let mut items = items(dir.path());
    let shown = items[0].shown.as_mut().expect("it can be read");
    assert!(shown.present().is_some());
    shown.now += SignedDuration::from_secs(6);
    assert!(shown.present().is_none());
    assert!(plain(&items, 80).contains("no news from the process"));
}

#[test]
fn every_terminal_size_can_be_drawn() {
    let dir = tempfile::tempdir().expect("a folder");
    let _runs = [one(dir.path()), fixture::run(dir.path(), "second", |_| {})];
    let items = items(dir.path());
    for width in (1..30).chain([79, 139, 140, 141]) {
        for height in [1, 2, 3, 5, 9] {
            let scrolled = State { scroll: usize::MAX, ..State::default() };
            assert_eq!(screen(&items, &scrolled, (width, height)).lines().count(), usize::from(height));
        }
        assert!(plain(&items, width.into()).lines().all(|line| line.chars().count() <= usize::from(width)));
    }
    assert!(screen(&[], &State::default(), (80, 24)).contains("No run is in progress"));
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().expect("a folder");
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}<script>\r\n".to_owned() + &"x".repeat(4_000);
    let change = |file: &mut RunFile| {
        file.target.model = Some(hostile.clone());
        file.target.identity.clone_from(&hostile);
        file.labels = Labels { name: Some(hostile.clone()), ..Labels::default() };
    };
    let _run = fixture::run(dir.path(), ID, change);
    let mut items = items(dir.path());
    let live = items[0].shown.as_mut().expect("it can be read").live.as_mut().expect("it is live");
    live.step = Some(hostile.clone());
    let drawn = screen(&items, &State::default(), (80, 24));
    let printed = plain(&items, 80);
    for text in [drawn, printed] {
        assert!(!text.chars().any(|c| c != '\n' && is_unprintable(c)), "{text:?}");
        assert!(text.contains("<script>") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
