//! Comparisons of 2, 4, 8 and 20 runs: nothing is split or truncated, and the script changes exactly the expected
//! elements.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::path::Path;
use std::process::Command;

use compare::{Authored, Candidate, Comparison, GroupBy, csv, html, json, pdf, text};
use fixture::Scenario;

/// Returns a run on a drive whose constant results grow with `index`.
fn candidate(root: &Path, index: usize) -> Candidate {
    const IDS: [&str; 20] =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"];
    let scenario = Scenario {
        id: IDS[index],
        model: Some(format!("Drive {}", index + 1)),
        simulated: index % 5 == 1,
        modified: index % 5 == 2,
        restless: index % 5 == 3,
        ..Scenario::default()
    };
    let (mut run, loaded) = fixture::record(root, &scenario);
    run.file.target.serial = Some(format!("SERIAL-{index}"));
    Candidate::of(&run.file, &loaded).expect("a run")
}

fn compared(indices: &[usize]) -> Comparison {
    let root = fixture::folder();
    Comparison::of(indices.iter().map(|index| candidate(root.path(), *index)).collect()).expect("runs")
}

fn of(count: usize) -> Comparison {
    compared(&(0..count).collect::<Vec<_>>())
}

/// Returns the texts of cells with this class, without markup.
fn cells(page: &str, class: &str) -> Vec<String> {
    let cells = page.split("<td class=\"").skip(1).filter(|cell| cell.starts_with(class));
    let plain = |cell: &str| {
        let content = cell.split_once('>')?.1.split_once("</td>")?.0;
        let parts = content.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        Some(parts.collect::<String>())
    };
    cells.filter_map(plain).collect()
}

/// Returns the lines of text of a PDF: words with the same baseline, from left to right. `None` without
/// Poppler.
fn lines_of(pdf: &[u8]) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.pdf");
    std::fs::write(&path, pdf).expect("written");
    let Ok(output) = Command::new("pdftotext").arg("-bbox").arg(&path).arg("-").output() else {
        skips::without("pdftotext");
        return None;
    };
    let document = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = Vec::new();
    for page in document.split("<page ").skip(1) {
        let number = |word: &str, name: &str| -> f64 {
            let value = word.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            value.and_then(|value| value.parse().ok()).expect("a coordinate")
        };
        let mut words: Vec<(i64, f64, String)> = page
            .split("<word ")
            .skip(1)
            .map(|word| {
                let text = word.split_once('>').and_then(|(_, rest)| rest.split_once("</word>"));
                let text = text.expect("a word").0.replace('\u{a0}', " ");
                ((number(word, "yMax") * 2.0).round() as i64, number(word, "xMin"), text)
            })
            .collect();
        words.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).expect("numbers"));
        for line in words.chunk_by(|a, b| a.0 == b.0) {
            lines.push(line.iter().map(|word| word.2.as_str()).collect::<Vec<_>>().join(" "));
        }
    }
    Some(lines)
}

#[test]
fn no_number_or_unit_is_split_in_the_pdf() {
    for count in [2, 4, 8, 20] {
        let comparison = of(count);
        let page = html(&comparison, &Authored::default());
        let expected = cells(&page, "n ");
        assert_eq!(expected.len(), 56 * count, "every figure of every run");
        let Some(lines) = lines_of(&pdf(&comparison, &Authored::default()).expect("a PDF")) else { return };
        for text in expected {
            let is_whole = lines.iter().any(|line| line.contains(&text));
            assert!(is_whole, "{count} runs: '{text}' is split or missing");
        }
    }
}

#[test]
fn tables_of_differences_fit_on_paper() {
    let root = fixture::folder();
    let candidate = |id: &'static str| {
        let tests = &["iops", "tp-1024", "lat", "wsat", "hir"];
        let scenario = Scenario { id, profile: "pts-e-2.0", tests, ..Scenario::default() };
        let (run, loaded) = fixture::record(root.path(), &scenario);
        Candidate::of(&run.file, &loaded).expect("a run")
    };
    let comparison = Comparison::of(vec![candidate("a"), candidate("b")]).expect("runs");
    let page = html(&comparison, &Authored::default());
    let heads = page.split("<table class=\"matrix\"><thead>").skip(1);
    let columns: Vec<usize> = heads
        .map(|table| table.split("</thead>").next().unwrap_or_default().matches("<th>").count())
        .collect();
    assert!(columns.len() > 1 && columns.iter().all(|count| (2..=10).contains(count)), "{columns:?}");
}

#[test]
fn the_reading_of_bars_is_printed_once() {
    let pdf = pdf(&of(4), &Authored::default()).expect("a PDF");
    let Some(pages) = fixture::pages(&pdf) else { return };
    assert_eq!(pages.iter().map(|page| page.matches("Whiskers are").count()).sum::<usize>(), 1);
}

#[test]
fn marks_of_runs_are_never_cut() {
    let comparison = of(20);
    let page = html(&comparison, &Authored::default());
    let Some(lines) = lines_of(&pdf(&comparison, &Authored::default()).expect("a PDF")) else { return };
    let count = |mark: &str| lines.iter().map(|line| line.matches(mark).count()).sum::<usize>();
    for mark in ["SIMULATED", "MODIFIED", "NOT STEADY"] {
        // Each mark appears once in the run list, the test's table, the headings of all figures, and the
        // header.
        assert!(count(mark) >= 4 * 4, "{mark}: {}", count(mark));
        assert!(page.contains(&format!(">{mark}</b>")), "{mark}");
    }
    let cut: Vec<&String> =
        lines.iter().filter(|line| line.starts_with("SIMULATED: ") && line.contains('…')).collect();
    assert!(cut.is_empty(), "{cut:?}");
}

#[test]
fn warnings_follow_the_first_numbers() {
    let comparison = of(4);
    let page = html(&comparison, &Authored::default());
    let place = |page: &str, text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place(&page, "<h2>Selected performance</h2>") < place(&page, "<h2>Before you compare</h2>"));
    let printed = text(&comparison, false);
    assert!(place(&printed, "IOPS RND 4KiB W (IOPS)") < place(&printed, "Before you compare:"), "{printed}");
    let long: Vec<&str> = printed.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.iter().all(|line| !line.starts_with("  ")), "{long:?}");
}

#[test]
fn many_runs_are_ranked_and_drawn_as_small_multiples() {
    let page = html(&of(20), &Authored::default());
    let first = page.split("<svg").find(|svg| svg.contains("IOPS RND 4KiB W (IOPS)")).expect("bars");
    assert_eq!(first.matches("class=\"run r").count(), 20);
    let multiples = page.split("<div class=\"multiples\">").nth(1).expect("multiples");
    assert_eq!(multiples.split("</div>").next().unwrap_or_default().matches("<figure").count(), 20);
    assert!(!page.contains("3D Columns"), "nothing is side by side");
    let few = html(&of(2), &Authored::default());
    assert!(!few.contains("class=\"multiples\"") && few.contains("3D Columns"));
}

#[test]
fn cards_have_figures_differences_marks_and_bars_for_any_number_of_runs() {
    let notes = [(2, "B 0.0 % within noise"), (3, ">B, C within noise<"), (4, "others: "), (20, "others: ")];
    for (count, note) in notes {
        let comparison = of(count);
        let files = compare::card(&comparison, &Authored::default()).expect("cards");
        assert_eq!(files.len(), 12, "two sizes, three themes, SVG and PNG");
        let (_, svg) = files.iter().find(|(name, _)| name == "card-1200x630-light.svg").expect("a card");
        let svg = String::from_utf8(svg.clone()).expect("text");
        for part in ["A: IOPS RND 4KiB W", note, "SIMULATED: B", "Baseline: A Drive 1", "B: "] {
            assert!(svg.contains(part), "{count} runs: {part}");
        }
        // The card of a run that is not steady must not look like a card with valid results.
        assert_eq!(svg.contains("NOT STEADY"), count > 3, "{count}");
        assert_eq!(svg.contains("stroke-dasharray=\"6 4\""), count > 3, "{count}");
        let bars = svg.matches("class=\"run r").count();
        assert!(bars >= count.min(16) && bars.is_multiple_of(count.min(16)), "{count} runs: {bars} bars");
        let png =
            files.iter().find(|(name, _)| name == "card-1200x630-dark.png").map(|(_, bytes)| &bytes[..4]);
        assert_eq!(png, Some(&b"\x89PNG"[..]));
    }
}

#[test]
fn authors_add_texts_links_and_a_watermark() {
    let comparison = of(2);
    let authored = Authored {
        key_points: vec!["B <wins>".into()],
        notes: vec!["Room at 22 °C".into()],
        watermark: Some("DRAFT".into()),
        links: vec![Some("a/report.html".into()), None],
    };
    let page = html(&comparison, &authored);
    assert!(page.contains("<li>B &lt;wins&gt;</li>") && page.contains("Room at 22 °C"));
    assert!(page.contains("<a href=\"a/report.html\">a</a>") && page.contains("<span>b</span>"));
    assert!(page.contains("<div class=\"watermark\" aria-hidden=\"true\">DRAFT</div>"));
    let Some(lines) = lines_of(&pdf(&comparison, &authored).expect("a PDF")) else { return };
    for text in ["• B <wins>", "• Room at 22 °C", "Serial number"] {
        let escaped = charts::markup::escape(text);
        assert!(lines.iter().any(|line| line.contains(&escaped)), "{text}: {lines:?}");
    }
}

/// If another run becomes the baseline, the script computes the same values as the program does if that run
/// comes first.
#[test]
fn choosing_a_baseline_in_the_browser_matches_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.html");
    std::fs::write(&path, html(&compared(&[0, 2, 3]), &Authored::default())).expect("written");
    let arguments =
        ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--dump-dom"];
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let address = format!("file://{}#baseline=1&hide=2", path.display());
    let Ok(output) = Command::new("chromium").args(arguments).arg(profile).arg(address).output() else {
        skips::without("chromium");
        return;
    };
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("class=\"scripted\""), "{}", String::from_utf8_lossy(&output.stderr));
    // Runs A, B, C become B, A, C.
    let expected = cells(&html(&compared(&[2, 0, 3]), &Authored::default()), "difference");
    let found = cells(&shown, "difference");
    assert_eq!((found.len(), expected.len()), (3 * 8, 3 * 8), "four figures in a table and in the matrix");
    let table = |cells: &[String], of: [usize; 3], columns: std::ops::Range<usize>| -> Vec<String> {
        of.iter().flat_map(|run| cells[columns.start + run * 4..][..4].to_vec()).collect()
    };
    for start in [0, 12] {
        assert_eq!(
            table(&found, [1, 0, 2], start..start + 12),
            table(&expected, [0, 1, 2], start..start + 12)
        );
    }
    assert!(
        found.iter().any(|text| text.contains("within noise"))
            && shown.contains("vs. <span class=\"base\">B")
    );
    let hidden = shown.matches(" off\"").count();
    assert!(hidden >= 8, "run C is hidden: {hidden}");
}

/// Two drives of one model: means 100, 110 and 130; the standard deviation within the first drive is 7.07.
#[test]
fn statistics_distinguish_drives_and_runs() {
    let root = fixture::folder();
    let run = |id: &'static str, serial: &str, level: f64| {
        let scenario = Scenario { id, settled_at: Some([[level; 7]; 8]), ..Scenario::default() };
        let (mut run, loaded) = fixture::record(root.path(), &scenario);
        run.file.target.serial = Some(serial.into());
        Candidate::of(&run.file, &loaded).expect("a run")
    };
    let runs = vec![run("a", "one", 1000.0), run("b", "one", 1100.0), run("c", "two", 1300.0)];
    let comparison = Comparison::of(runs).expect("runs").grouped_by(GroupBy::Model);
    let line = comparison.line("iops.rnd4k.w").expect("a line");
    let [all] = &comparison.summaries(line)[..] else { panic!("one model") };
    let near = |value: Option<f64>, expected: f64| value.is_some_and(|v| (v / expected - 1.0).abs() < 2e-3);
    assert_eq!(all.counts, (2, 3));
    assert!(near(all.mean, 1175.0), "each drive counts once: {all:?}");
    assert!(near(all.between_drives_percent, 176.777 / 11.75), "{all:?}");
    assert!(near(all.between_runs_percent, 70.711 / 11.75), "{all:?}");
    assert!(near(all.interval.map(|(_, high)| high), 1175.0 + 12.706 * 125.0), "{all:?}");
    let document = json(&comparison);
    assert_eq!(document["groups"][0]["runs"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(document["figures"][0]["groups"][0]["drives"], 2);
    let drives = comparison.grouped_by(GroupBy::Drive);
    assert_eq!(drives.groups.len(), 2);
    assert!(text(&drives, false).contains("serial") || text(&drives, false).contains("one"), "names");
}

#[test]
fn outliers_are_named() {
    let root = fixture::folder();
    let level = [1000.0, 1010.0, 990.0, 1005.0, 995.0, 500.0];
    let ids = ["a", "b", "c", "d", "e", "slow"];
    let run = |(id, level): (&&'static str, &f64)| {
        let scenario = Scenario { id, settled_at: Some([[*level; 7]; 8]), ..Scenario::default() };
        let (run, loaded) = fixture::record(root.path(), &scenario);
        Candidate::of(&run.file, &loaded).expect("a run")
    };
    let comparison = Comparison::of(ids.iter().zip(&level).map(run).collect()).expect("runs");
    let comparison = comparison.grouped_by(GroupBy::Firmware);
    let line = comparison.line("iops.rnd4k.w").expect("a line");
    assert_eq!(comparison.summaries(line)[0].outliers, [5]);
    assert!(text(&comparison, false).contains("outliers: F "), "{}", text(&comparison, false));
    assert_eq!(csv(&comparison).lines().count(), 1 + 56 * 6);
}

#[test]
fn the_text_is_as_recorded() {
    for (name, comparison) in [("two_runs.txt", of(2)), ("four_runs.txt", of(4).grouped_by(GroupBy::Drive))] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        let found = text(&comparison, false);
        if std::env::var_os("PLATEAU_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, &found).expect("written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, expected, "{name}; PLATEAU_BLESS=1 accepts an intended change");
    }
}

#[test]
fn text_names_the_runs_without_a_figure_in_one_line_and_shortens_long_names() {
    let root = fixture::folder();
    let of_test = |id: &'static str, tests: &'static [&'static str]| {
        let model = Some("A model whose name is longer than a column".to_owned());
        let (run, loaded) =
            fixture::record(root.path(), &Scenario { id, tests, model, ..Scenario::default() });
        Candidate::of(&run.file, &loaded).expect("a run")
    };
    let runs = vec![
        of_test("a", &["iops"]),
        of_test("b", &["iops"]),
        of_test("c", &["lat"]),
        of_test("d", &["lat"]),
    ];
    let printed = text(&Comparison::of(runs).expect("runs"), false);
    let is_meant = |block: &&str| block.starts_with("IOPS RND 4KiB W (IOPS)\n");
    let block = printed.split("\n\n").find(is_meant).expect("a block");
    let lines: Vec<&str> = block.lines().collect();
    assert_eq!(lines.len(), 4, "{block}");
    assert_eq!(lines[3], "  n/a: C, D");
    assert!(lines[1].contains(" A model whose name is l…  "), "{block}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{block}");
}
