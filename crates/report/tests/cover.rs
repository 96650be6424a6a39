//! The cover and the cards must not show more than the results of the run support.

mod fixture;

use fixture::Scenario;
use report::Document;
use report::formats::{FORMATS, Files, Make, Source};

struct Shown {
    html: String,
    cards: Files,
    outcomes: Vec<pts::Outcome>,
}

fn shown(scenario: &Scenario) -> Shown {
    shown_until(scenario, |_| false)
}

/// Shows a run whose journal ends before the first event of one kind.
fn shown_until(scenario: &Scenario, is_end: fn(&record::Event) -> bool) -> Shown {
    let root = fixture::folder();
    let (run, mut loaded) = fixture::record(root.path(), scenario);
    if let Some(end) = loaded.entries.iter().position(|entry| is_end(&entry.event)) {
        loaded.entries.truncate(end);
    }
    let document: Document = report::fold(&run.file, &loaded).unwrap();
    let html = report::html(&document);
    let (_, after) = html.split_once("<article").unwrap();
    let format = FORMATS.iter().find(|format| format.name == "card").unwrap();
    let Make::Folder(make) = format.make else { panic!("one file") };
    let cards = make(Source { document: &document, entries: &loaded.entries }).unwrap();
    let outcomes = pts::replay(&run.file, &loaded.entries).unwrap().outcomes;
    Shown { html: after.split_once("</article>").unwrap().0.to_owned(), cards, outcomes }
}

impl Shown {
    /// Returns the SVG drawings: every card and the badge.
    fn drawings(&self) -> Vec<(&str, &str)> {
        let svg = self.cards.iter().filter(|(name, _)| name.ends_with(".svg"));
        svg.map(|(name, bytes)| (name.as_str(), std::str::from_utf8(bytes).unwrap())).collect()
    }
}

fn named(id: &str) -> Scenario {
    fixture::scenarios().into_iter().find(|scenario| scenario.id == id).unwrap()
}

#[test]
fn a_steady_run_shows_its_figures_with_their_spread() {
    let run = shown(&Scenario::default());
    assert!(run.html.contains("Steady state reached"), "{}", run.html);
    let figures = &run.outcomes[0].key_figures;
    assert!(!figures.is_empty() && figures.len() <= 6);
    for figure in figures {
        let value = stdx::units::grouped(figure.value.unwrap(), figure.decimals);
        assert!(run.html.contains(&format!("<strong>{value}</strong>")), "{value}: {}", run.html);
        for (name, svg) in run.drawings().into_iter().filter(|(name, _)| name.starts_with("card")) {
            assert!(svg.contains(&format!(">{value}<")), "{value} in {name}");
        }
    }
    assert_eq!(run.html.matches(">std. dev. of rounds ").count(), figures.len(), "{}", run.html);
    assert!(!run.html.contains("doubtful"));
    assert_eq!(run.html.matches("<figure>").count(), 1);
}

#[test]
fn an_unsteady_run_has_no_figure_that_looks_valid() {
    let run = shown(&named("restless"));
    assert!(run.html.contains("No steady state: IOPS"), "{}", run.html);
    let figures = run.outcomes[0].key_figures.len();
    assert_eq!(run.html.matches("<div class=\"doubtful\">").count(), figures);
    assert!(run.html.contains("has no complete steady-state result in this run"), "{}", run.html);
    for (name, svg) in run.drawings() {
        if name.starts_with("card") {
            assert_eq!(svg.matches("stroke-dasharray=\"6 4\"").count(), figures, "{name}");
            assert!(svg.contains("SS NOT ACHIEVED"), "{name}");
        } else {
            assert!(svg.contains("No steady state"), "{svg}");
        }
    }
}

#[test]
fn an_interrupted_run_states_its_progress() {
    let cut = Scenario {
        id: "cut",
        tests: &["iops", "tp-1024", "lat"],
        cut_after_cells: Some(9),
        ..Scenario::default()
    };
    let run = shown(&cut);
    assert!(run.html.contains("0 of 3 tests complete"), "{}", run.html);
    assert!(run.html.contains("not complete: "), "{}", run.html);
    assert!(!run.html.contains("Steady state reached"));
    assert!(!run.html.contains("<figure>"), "a chart without values says nothing");
}

#[test]
fn everything_of_a_simulated_drive_is_labelled() {
    let run = shown(&named("simulated"));
    assert!(run.html.contains("(simulated) in steady state: "), "{}", run.html);
    let drawings = run.drawings();
    assert_eq!(drawings.len(), 7);
    for (name, svg) in drawings {
        assert!(svg.contains("SIMULATED"), "{name}: {svg}");
    }
}

#[test]
fn at_most_six_figures_and_each_test_is_among_them() {
    let tests = &["wsat", "iops", "tp-1024", "lat"];
    let run = shown(&Scenario { id: "bundle", profile: "pts-c-1.0", tests, ..Scenario::default() });
    assert_eq!(run.html.matches("<strong>").count(), 6, "{}", run.html);
    for outcome in &run.outcomes {
        assert!(run.html.contains(&format!("<span>{}: ", outcome.subject)), "{}", outcome.subject);
        assert!(run.html.contains(&format!("<th scope=\"row\">{}</th>", outcome.title)));
    }
    // For a write saturation test, the figures at its end are shown. A test that was not evaluated is
    // never called steady.
    assert!(run.html.contains("mean of the last 30 minutes, not judged</span>"), "{}", run.html);
    let (_, sentence) = run.html.split_once("<p class=\"sentence\">").unwrap();
    assert!(
        sentence.starts_with("Measured on MACH16 M16ISD2-100UCP in steady state: ")
            && !sentence.split_once("</p>").unwrap().0.contains("not judged")
    );
}

#[test]
fn cards_have_the_sizes_that_their_names_promise() {
    let run = shown(&Scenario::default());
    let pictures: Vec<_> = run.cards.iter().filter(|(name, _)| name.ends_with(".png")).collect();
    assert_eq!(pictures.len(), 6);
    for (name, bytes) in pictures {
        let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert!(name.contains(&format!("-{}x{}-", side(16), side(20))), "{name}");
    }
}

#[test]
fn the_spread_of_a_figure_fits_on_cards_of_both_sizes() {
    let constant = Scenario { settled_at: Some([[1000.0; 7]; 8]), ..Scenario::default() };
    for (scenario, end) in [(Scenario::default(), " %</text>"), (constant, " &lt; 0.1 %</text>")] {
        for (name, svg) in
            shown(&scenario).drawings().into_iter().filter(|(name, _)| name.starts_with("card"))
        {
            let notes: Vec<&str> = svg.split(">std. dev.").skip(1).map(|rest| &rest[..40]).collect();
            assert!(notes.len() == 4 && notes.iter().all(|note| note.contains(end)), "{name}: {notes:?}");
        }
    }
}

#[test]
fn a_run_with_a_missing_test_does_not_conform() {
    let run = shown_until(&Scenario::default(), |event| matches!(event, record::Event::TestStarted { .. }));
    assert!(run.html.contains("Does not conform to PTS-E 1.0"), "{}", run.html);
    let drawings = run.drawings();
    assert!(drawings.iter().all(|(_, svg)| !svg.contains("Conforms to")));
}

#[test]
fn cards_carry_all_caveats() {
    let run = shown(&Scenario { busy: true, ..Scenario::default() });
    assert!(run.html.contains("the host may have limited"), "{}", run.html);
    for (name, svg) in run.drawings().into_iter().filter(|(name, _)| name.starts_with("card")) {
        assert!(svg.contains("HOST-LIMITED"), "{name}");
    }
}
