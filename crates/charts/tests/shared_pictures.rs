//! Compares pictures that are shared or that show several runs with golden files: cards, badges, ranked bars, small
//! charts, and charts for narrow screens. `PLATEAU_BLESS=1` rewrites the golden files.

use std::path::Path;

use chartdata::ReadingHint;
use chartdata::exhibit::{Axis, Columns3d, Exhibit, Lines, Scale, Series};
use charts::card::{Card, CardFigure, Theme, Tone, badge, card};
use charts::{Content, Curves, HeatColumn, Panel, Ranked, RankedBar, Size, Strand, TimeLine};

#[track_caller]
fn is_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} differs from its golden file; PLATEAU_BLESS=1 rewrites it");
}

fn bars() -> Ranked {
    let bar = |run: usize, name: &str, value: Option<f64>| RankedBar {
        name: name.into(),
        run,
        value,
        interval: value.map(|value| (value * 0.9, value * 1.2)),
        text: value.map_or_else(|| "n/a".into(), |value| format!("{value:.1}")),
        is_baseline: run == 0,
        is_valid: run != 2,
    };
    let bars = vec![
        bar(2, "C unsteady", Some(31_200.4)),
        bar(0, "A baseline", Some(22_200.3)),
        bar(1, "B drive", Some(6_320.1)),
        bar(3, "D incomplete", None),
    ];
    Ranked { title: "IOPS RND 4KiB W (IOPS)".into(), bars, without: "n/a: E-H, J".into() }
}

/// The write saturation of three of four runs: C is missing.
fn of_runs() -> Lines {
    let axis = |label: &str| Axis { label: label.into(), scale: Scale::LinearFromZero };
    let series = |name: &str, level: f64| {
        let points = (0..=8).map(|minute| {
            (f64::from(minute) * 10.0, if minute < 3 { 3.0 * level } else { level + f64::from(minute) })
        });
        Series { name: name.into(), points: points.collect() }
    };
    Lines {
        reading: ReadingHint::OverlaidRuns,
        x: axis("Time (minutes)"),
        y: axis("IOPS"),
        series: vec![
            series("A baseline", 20_000.0),
            series("B drive", 6_000.0),
            series("D unsteady", 9_000.0),
        ],
        guides: Vec::new(),
        marked: None,
        bands: Vec::new(),
    }
}

fn content() -> Card {
    let figure = |name: &str, value: &str, unit: &str, note: &str| CardFigure {
        name: name.into(),
        value: value.into(),
        unit: unit.into(),
        note: note.into(),
        is_valid: note != "not steady",
    };
    let picture = charts::ranked(&bars(), 520.0);
    Card {
        device: "EXAMPLE SSD 3.84TB".into(),
        about: "3.8 TB · PCIe 4.0 x4 NVMe".into(),
        marks: vec!["SIMULATED: A-D".into(), "MODIFIED: A-D".into(), "NOT STEADY: C".into()],
        headlines: vec![
            (Tone::Good, "Steady state reached in 4 tests".into()),
            (Tone::Bad, "Does not conform to PTS-E 2.0".into()),
        ],
        figures: vec![
            figure("IOPS: RND 4KiB W", "22,200", "IOPS", "std. dev. of rounds 1.3 %"),
            figure("Latency: RND 4KiB R average", "0.181", "ms", "not steady"),
            figure("WSAT: RND 4KiB W, mean of the last 30 minutes, not judged", "23,938", "IOPS", ""),
        ],
        picture: Some(("The best first".into(), picture, Size { width: 520.0, height: bars().height() })),
        credit: "Plateau · run example".into(),
    }
}

#[test]
fn golden_pictures_to_share() {
    let size = |width: f64, height: f64| Size { width, height };
    is_golden("card_light.svg", &card(&content(), size(1200.0, 630.0), Theme::Light));
    is_golden("card_dark.svg", &card(&content(), size(1600.0, 900.0), Theme::Dark));
    is_golden("badge.svg", &badge("PTS-E 2.0", "steady state", Tone::Good));
}

#[test]
fn golden_pictures_of_several_runs() {
    let small = Size { width: 300.0, height: 170.0 };
    let caveats = [None, None, Some("NOT STEADY")];
    is_golden("ranked.svg", &charts::ranked(&bars(), 480.0));
    let wide = Size { width: 720.0, height: 300.0 };
    is_golden("lines_of_runs.svg", &charts::lines_of_runs(&of_runs(), &[0, 1, 3], &caveats, "Runs", wide));
    let each: Vec<String> =
        (0..3).map(|run| charts::multiple(&of_runs(), run, caveats[run], small)).collect();
    is_golden("multiples.svg", &charts::grid(&each, small, 2, "Runs").0);
}

#[test]
fn golden_pictures_for_narrow_screens() {
    let columns = Columns3d {
        reading: ReadingHint::Columns,
        x_label: "Block Size (KiB)".into(),
        depth_label: "R/W Mix".into(),
        height_label: "IOPS".into(),
        x: ["4", "64", "1024"].map(Into::into).into(),
        depth: ["0/100", "65/35", "100/0"].map(Into::into).into(),
        heights: vec![
            vec![Some(3147.0), Some(431.0), None],
            vec![Some(3779.3), Some(650.2), Some(70.0)],
            vec![Some(29_876.3), Some(5_100.0), Some(340.0)],
        ],
    };
    let narrow = |exhibit: &Exhibit| charts::narrow_picture(exhibit, "Narrow").unwrap();
    is_golden("narrow_columns.svg", &narrow(&Exhibit::Columns3d(columns)));
    is_golden("narrow_lines.svg", &narrow(&Exhibit::Lines(of_runs())));
}

/// A phone shows these pictures 358 pixels wide.
#[test]
fn letters_on_a_narrow_screen_have_at_least_nine_pixels() {
    let strand = |name: &str| Strand { name: name.into(), pieces: vec![vec![(0.0, 1.0), (240.0, 50_000.0)]] };
    let strands = ["measured", "preconditioning", "third"].map(strand);
    let curves = Curves { scale: Scale::LinearFromZero, room_for: Vec::new(), strands: strands.into() };
    let cells = vec![(0.5, 1.0, 0.5), (1.0, 2.0, 0.001)];
    let heat = vec![HeatColumn { from_minutes: 0.0, to_minutes: 240.0, cells }];
    let panel = |title: &str, content| Panel { title: title.into(), content };
    let line = TimeLine {
        to_minutes: 240.0,
        interruptions: Vec::new(),
        panels: vec![
            panel("IOPS", Content::Course(curves)),
            panel("Response time (ms)", Content::Heat(heat)),
            panel("A title that is too long to begin where the axis begins", Content::Heat(Vec::new())),
        ],
    };
    let timeline = charts::narrow_timeline(&line, "Narrow");
    is_golden("narrow_timeline.svg", &timeline);
    let eight = ["0.5", "4", "8", "16", "32", "64", "128", "1024"].map(Into::into);
    let columns = Columns3d {
        reading: ReadingHint::Columns,
        x_label: "Block Size (KiB)".into(),
        depth_label: "R/W Mix".into(),
        height_label: "IOPS".into(),
        x: eight.into(),
        depth: ["0/100", "65/35", "100/0"].map(Into::into).into(),
        heights: vec![vec![Some(987_654.0); 8]; 3],
    };
    let columns = charts::narrow_picture(&Exhibit::Columns3d(columns), "Narrow").unwrap();
    for svg in [timeline, columns] {
        let width: f64 =
            svg.split("viewBox=\"0 0 ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(11.0 * 358.0 / width > 9.0, "{width} units");
    }
}

/// If there is no room for all labels of an even axis, every second or third has one.
#[test]
fn the_labels_of_an_even_axis_are_even() {
    let axis = |label: &str| Axis { label: label.into(), scale: Scale::LinearFromZero };
    let points: Vec<(f64, f64)> = (0..128).map(|zone| (f64::from(zone) * 0.001_95, 100.0)).collect();
    let lines = Lines {
        reading: ReadingHint::ByBlockSize,
        x: axis("Position on the disk (GB)"),
        y: axis("IOPS"),
        series: vec![Series { name: "RND 4KiB R".into(), points }],
        guides: Vec::new(),
        marked: None,
        bands: Vec::new(),
    };
    let svg = charts::narrow_picture(&Exhibit::Lines(lines), "Narrow").unwrap();
    let texts = svg.split("</text>").filter_map(|part| part.rsplit('>').next());
    let mut labels: Vec<f64> =
        texts.filter_map(|text| text.parse().ok()).filter(|value| *value < 1.0).collect();
    labels.sort_by(f64::total_cmp);
    // Zero is a label of both axes.
    labels.dedup();
    let steps: Vec<f64> = labels.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.len() > 2 && steps.iter().all(|step| (step - steps[0]).abs() < 1e-9), "{labels:?}");
}

/// Lines may be anywhere in a plot, so a remark inside it would cover one.
#[test]
fn the_remark_on_zero_values_is_above_the_plot() {
    let axis = |label: &str, scale| Axis { label: label.into(), scale };
    let points = vec![(0.5, 192_050.0), (4.0, 90.0), (8.0, 0.0)];
    let lines = Lines {
        reading: ReadingHint::ByBlockSize,
        x: axis("Block Size (KiB)", Scale::Log2),
        y: axis("IOPS", Scale::Log10),
        series: vec![Series { name: "0/100".into(), points }],
        guides: Vec::new(),
        marked: None,
        bands: Vec::new(),
    };
    let svg = charts::narrow_picture(&Exhibit::Lines(lines), "Narrow").unwrap();
    let remark = svg.split("<text").find(|part| part.contains("1 zero value cannot be shown")).unwrap();
    let y: f64 = remark.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert!(y < 14.0, "{remark}");
}

/// A label that does not fit to the left of the axis starts at the edge of the picture.
#[test]
fn a_long_label_of_the_vertical_axis_is_not_cut_off() {
    let columns = |label: &str| {
        let columns = Columns3d {
            reading: ReadingHint::Columns,
            x_label: "Block Size (KiB)".into(),
            depth_label: "R/W Mix".into(),
            height_label: label.into(),
            x: vec!["4".into()],
            depth: vec!["0/100".into()],
            heights: vec![vec![Some(1.0)]],
        };
        charts::columns3d(&columns, "Columns", Size { width: 400.0, height: 300.0 })
    };
    let anchor = |label: &str| {
        let svg = columns(label);
        let tag = svg.split("<text").find(|tag| tag.contains(&format!(">{label}<"))).unwrap();
        tag.contains("text-anchor=\"end\"")
    };
    assert!(anchor("IOPS"));
    assert!(!anchor("99.999 % of the response times of all reads (ms)"));
}

/// The place of a run among all runs determines its colour: a missing run does not change the colours of the others.
#[test]
fn a_run_has_the_same_colour_in_all_charts() {
    let size = Size { width: 720.0, height: 300.0 };
    let colours = |places: &[usize]| {
        let svg = charts::lines_of_runs(&of_runs(), places, &[], "Runs", size);
        let lines = svg.split("<polyline").skip(1).filter_map(|line| {
            line.split("stroke=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
        });
        lines.collect::<Vec<_>>()
    };
    let (all, without_c) = (colours(&[]), colours(&[0, 1, 3]));
    assert_eq!(all.len(), 3);
    assert_eq!(all[..2], without_c[..2]);
    assert_ne!(all[2], without_c[2]);
}
