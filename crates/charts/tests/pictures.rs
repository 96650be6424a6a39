//! Compares charts with golden files, and draws difficult data. `PLATEAU_BLESS=1` rewrites the golden files.

use std::path::Path;

use chartdata::ReadingHint;
use chartdata::exhibit::{
    Axis, Band, Bars, Bin, Columns3d, Exhibit, Guide, GuideRole, Lines, ResponseTimes, Scale, Series,
};
use charts::{Content, Curves, HeatColumn, Panel, Plate, Size, Strand, TimeLine};

const SMALL: Size = Size { width: 640.0, height: 320.0 };

#[track_caller]
fn is_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PLATEAU_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} differs from its golden file; PLATEAU_BLESS=1 rewrites it");
}

fn axis(label: &str, scale: Scale) -> Axis {
    Axis { label: label.into(), scale }
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series { name: name.into(), points: points.into() }
}

fn convergence() -> Lines {
    Lines {
        reading: ReadingHint::Convergence,
        x: axis("Round", Scale::Rounds),
        y: axis("IOPS (R/W 0/100)", Scale::LinearFromZero),
        series: vec![
            series("0.5KiB", &[(1.0, 31_000.0), (2.0, 20_000.0), (3.0, 16_000.0)]),
            series("4KiB", &[(1.0, 32_000.0), (2.0, 21_000.0), (3.0, 16_500.0)]),
            series("8KiB", &[(1.0, 18_000.0), (2.0, 12_000.0), (3.0, 9_600.0)]),
        ],
        guides: Vec::new(),
        marked: None,
        bands: Vec::new(),
    }
}

fn window() -> Lines {
    let guide = |name: &str, from: f64, to: f64, role| Guide {
        name: name.into(),
        from: (1.0, from),
        to: (5.0, to),
        role,
    };
    let values = [3185.02, 3090.92, 3455.59, 3090.51, 2913.19];
    let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(values).collect();
    Lines {
        reading: ReadingHint::Determination,
        x: axis("Round", Scale::Rounds),
        y: axis("IOPS", Scale::LinearZoomed),
        series: vec![series("RND/4KiB", &points)],
        guides: vec![
            guide("Average", 3147.0, 3147.0, GuideRole::Mean),
            guide("110% x Average", 3461.7, 3461.7, GuideRole::DataBound),
            guide("90% x Average", 2832.3, 2832.3, GuideRole::DataBound),
            guide("105% x Average", 3304.4, 3304.4, GuideRole::SlopeBound),
            guide("Least squares fit", 3255.9, 3038.2, GuideRole::Fit),
        ],
        marked: Some((1.0, 5.0, "Measurement window".into())),
        bands: Vec::new(),
    }
}

fn by_block_size() -> Lines {
    Lines {
        reading: ReadingHint::ByBlockSize,
        x: axis("Block Size (KiB)", Scale::Log2),
        y: axis("IOPS", Scale::Log10),
        series: vec![
            series("0/100", &[(0.5, 15887.4), (4.0, 16563.0), (64.0, 1219.2), (1024.0, 74.8)]),
            series("100/0", &[(0.5, 95924.3), (4.0, 93707.0), (64.0, 8094.9), (1024.0, 514.6)]),
        ],
        guides: Vec::new(),
        marked: None,
        bands: Vec::new(),
    }
}

fn columns() -> Columns3d {
    Columns3d {
        reading: ReadingHint::Columns,
        x_label: "Block Size (KiB)".into(),
        x: ["0.5", "4", "1024"].map(String::from).into(),
        depth_label: "R/W Mix".into(),
        depth: ["0/100", "100/0"].map(String::from).into(),
        height_label: "IOPS".into(),
        heights: vec![vec![Some(15887.4), Some(16563.0), Some(74.8)], vec![None, Some(93707.0), Some(0.0)]],
    }
}

fn bars() -> Bars {
    Bars {
        reading: ReadingHint::Mixes,
        name_label: "R/W Mix".into(),
        value_label: "MB/s".into(),
        bars: vec![("0/100".into(), Some(245.1)), ("65/35".into(), None), ("100/0".into(), Some(412.5))],
    }
}

/// Returns two states of a drive; the second begins with the first state's line.
fn states() -> Lines {
    let band = |name: &str, from, to| Band { from, to, name: name.into() };
    Lines {
        bands: vec![band("5/5", 207.0, 240.0), band("5/10", 240.0, 300.0)],
        series: vec![
            series("bursts", &[(207.0, 480.0), (239.0, 485.0)]),
            series("return", &[(240.0, 470.0), (250.0, 460.0)]),
            series("bursts", &[(251.0, 482.0), (300.0, 483.0)]),
        ],
        ..Lines::plain(
            ReadingHint::Idling,
            ("Time (minutes)", Scale::Fitted),
            ("IOPS", Scale::LinearZoomed),
            Vec::new(),
        )
    }
}

fn tail() -> Lines {
    let points = [(2.0, 0.09), (10.0, 0.11), (100.0, 0.4), (1e3, 1.2), (1e4, 4.0), (1e5, 19.0)];
    Lines::plain(
        ReadingHint::Tail,
        ("Share of I/Os completed (%)", Scale::Nines),
        ("Response time (ms)", Scale::Log10),
        vec![series("RND 4KiB R", &points), series("RND 4KiB W", &points[..4])],
    )
}

fn plate() -> Plate {
    Plate {
        title: "Throughput <&>".into(),
        device: "Model · firmware 1.0 · 100 GB".into(),
        about: "Throughput (REQUIRED) · PTS-E 2.0 · TC 1 QD 32 · 2026-11-21".into(),
        marks: ["SIMULATED by a model", "NOT STEADY: no steady state in 25 rounds", "MODIFIED"]
            .map(String::from)
            .into(),
        finding: charts::finding(&Exhibit::Bars(bars())).unwrap(),
        reading: charts::sentence(ReadingHint::Mixes).into(),
        credit: "Plateau · run x · journal SHA-256 00".into(),
    }
}

fn times() -> ResponseTimes {
    let bin = |i: i32| {
        let from_ms = 0.02 * 1.125f64.powi(i);
        let ios = (2_000_000.0 * (-0.04 * f64::from((i - 9) * (i - 9))).exp()) as u64 + 3;
        Bin { from_ms, to_ms: from_ms * 1.125, ios }
    };
    ResponseTimes {
        caption: "RND 4KiB W, TC 1 QD 1: 16,300.4 IOPS, 66.8 MB/s, MRT 12.804 ms".into(),
        bins: (0..48).map(bin).collect(),
        confidence: vec![(0.03, 5.0), (0.05, 30.0), (0.06, 50.0), (0.11, 90.0), (0.4, 99.9), (2.1, 99.999)],
        markers: vec![
            ("ART".into(), Some(0.061)),
            ("99.9 %".into(), Some(0.4)),
            ("99.99 %".into(), Some(1.1)),
            ("99.999 %".into(), Some(2.1)),
        ],
        to_ms: 2.31,
    }
}

fn strip(title: &str, pieces: &[&[(f64, f64)]]) -> Panel {
    let strands =
        vec![Strand { name: String::new(), pieces: pieces.iter().map(|piece| piece.to_vec()).collect() }];
    let curves = Curves { scale: Scale::LinearZoomed, room_for: Vec::new(), strands };
    Panel { title: title.into(), content: Content::Strip(curves) }
}

fn whole_test() -> TimeLine {
    let strand =
        |name: &str, points: &[(f64, f64)]| Strand { name: name.into(), pieces: vec![points.to_vec()] };
    let strands = vec![
        strand("measured", &[(3.0, 90_000.0), (4.0, 20_000.0), (5.0, 15_000.0), (6.0, 15_500.0)]),
        strand("preconditioning", &[(0.0, 2000.0), (1.0, 1900.0), (2.0, 1850.0)]),
    ];
    let column = |from_minutes: f64, low: f64| HeatColumn {
        from_minutes,
        to_minutes: from_minutes + 1.0,
        cells: vec![
            (low, low * 1.25, 0.9),
            (low * 4.0, low * 5.0, 0.0999),
            (low * 90.0, low * 112.0, 0.000_01),
        ],
    };
    let curves = Curves { scale: Scale::Log10, room_for: Vec::new(), strands };
    let columns = vec![column(0.0, 2.0), column(3.0, 0.01), column(4.0, 0.06), column(5.0, 0.06)];
    TimeLine {
        to_minutes: 6.4,
        interruptions: vec![4.5],
        panels: vec![
            Panel { title: "IOPS".into(), content: Content::Course(curves) },
            Panel { title: "Response time (ms)".into(), content: Content::Heat(columns) },
            strip("Temperature (°C)", &[&[(0.0, 38.0), (2.0, 55.0)], &[(3.0, 61.0), (6.4, 70.0)]]),
            strip("Throttled (% of the time)", &[]),
        ],
    }
}

#[test]
fn golden_pictures() {
    is_golden("timeline.svg", &charts::timeline(&whole_test(), "The whole test"));
    is_golden("response_times.svg", &charts::response_times(&times(), "Histogram", SMALL));
    is_golden("lines_from_zero.svg", &charts::lines(&convergence(), "Convergence", SMALL));
    is_golden("lines_window.svg", &charts::lines(&window(), "Window", SMALL));
    is_golden("lines_logarithmic.svg", &charts::lines(&by_block_size(), "2D Plot", SMALL));
    is_golden("columns3d.svg", &charts::columns3d(&columns(), "3D Columns", SMALL));
    is_golden("matrix.svg", &charts::matrix(&columns(), "Map", SMALL));
    is_golden("bars.svg", &charts::bars(&bars(), "Bars", SMALL));
    is_golden("lines_bands.svg", &charts::lines(&states(), "States", SMALL));
    is_golden("lines_tail.svg", &charts::lines(&tail(), "Tail", SMALL));
    is_golden("columns3d_and_matrix.svg", &charts::columns3d_and_matrix(&columns(), "Both", Size::DEFAULT));
    is_golden("plate.svg", &charts::plate(&plate(), &charts::bars(&bars(), "Bars", SMALL), SMALL).0);
}

#[test]
fn guides_are_drawn_according_to_their_roles() {
    let svg = charts::lines(&window(), "Window", SMALL);
    let group = |name: &str| {
        let start = svg.find(&format!("<g><title>{name}</title>")).unwrap();
        svg[start..].split("</g>").next().unwrap().to_owned()
    };
    assert!(group("Average").contains("stroke=\"#1c2430\"") && !group("Average").contains("dasharray"));
    assert!(group("110% x Average").contains("dasharray=\"1.6 4\""));
    assert!(group("105% x Average").contains("dasharray=\"8 5\""));
    assert!(group("Least squares fit").contains("stroke=\"#d3202f\""));
    assert!(svg.contains(">Measurement window</text>"));
}

#[test]
fn each_block_size_has_a_tick_and_rounds_have_integer_ticks() {
    let svg = charts::lines(&by_block_size(), "2D Plot", SMALL);
    assert!([">0.5<", ">4<", ">64<", ">1024<", ">100k<"].iter().all(|tick| svg.contains(tick)));
    let svg = charts::lines(&convergence(), "Convergence", SMALL);
    assert!([">1<", ">2<", ">3<", ">30k<"].iter().all(|tick| svg.contains(tick)) && !svg.contains(">1.5<"));
}

/// In a small picture, the rows of eight block sizes are closer together than the height of their names.
#[test]
fn names_of_the_depth_axis_do_not_overlap() {
    let depth: Vec<String> =
        ["0.5", "4", "8", "16", "32", "64", "128", "1024"].map(|size| format!("{size}K")).into();
    let x: Vec<String> = ["0", "5", "35", "50", "65", "95", "100"].map(|reads| format!("{reads}%")).into();
    let heights = vec![vec![Some(1.0); x.len()]; depth.len()];
    let columns = Columns3d { x, depth, heights, ..columns() };
    for size in [Size { width: 560.0, height: 380.0 }, Size { width: 720.0, height: 400.0 }, Size::DEFAULT] {
        let svg = charts::columns3d(&columns, "3D Columns", size);
        let baseline = |name: &String| -> f64 {
            let tag = svg.split("<text ").find(|tag| tag.contains(&format!(">{name}</text>"))).unwrap();
            tag.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().parse().unwrap()
        };
        let places: Vec<f64> = columns.depth.iter().map(baseline).collect();
        // The letters are 12 units high.
        assert!(places.windows(2).all(|pair| pair[0] - pair[1] >= 12.0), "{size:?}: {places:?}");
        assert!(places.iter().all(|y| (12.0..size.height).contains(y)), "{size:?}: {places:?}");
    }
}

#[test]
fn a_line_that_may_not_be_valid_is_dashed_and_its_legend_says_why() {
    let svg = charts::lines_of_runs(&convergence(), &[], &[None, Some("NOT STEADY")], "Runs", SMALL);
    is_sound(&svg);
    let groups = |class: &str| -> Vec<String> {
        let start = format!("<g class=\"{class}\">");
        svg.split(&start).skip(1).map(|group| group.split("<g class").next().unwrap().to_owned()).collect()
    };
    for (index, is_dashed) in [false, true, false].into_iter().enumerate() {
        for class in [format!("series s{index}"), format!("key s{index}")] {
            let [group] = &groups(&class)[..] else { panic!("{class}: {svg}") };
            assert_eq!(group.contains("stroke-dasharray"), is_dashed, "{class}: {group}");
        }
        assert_eq!(groups(&format!("key s{index}"))[0].contains(">NOT STEADY</text>"), is_dashed, "{svg}");
    }
}

/// Asserts that the SVG is well-formed and contains only finite coordinates.
#[track_caller]
fn is_sound(svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert!(svg.contains("role=\"img\"") && svg.contains("<desc>"));
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn degenerate_lines_still_yield_a_picture() {
    let long = "<b>&\"'".repeat(14);
    let point_sets: [&[(f64, f64)]; 8] = [
        &[],
        &[(1.0, 0.0)],
        &[(1.0, 5.0), (1.0, 5.0)],
        &[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0)],
        &[(1.0, 1.0), (2.0, 1e15), (3.0, 2.0)],
        &[(0.0, -5.0), (-1.0, 3.0)],
        &[(f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 3.0)],
        &[(1e-12, 1e-12), (1e12, 1e12)],
    ];
    for scale_x in [Scale::Integer, Scale::Log2, Scale::LinearFromZero] {
        for scale_y in [Scale::LinearFromZero, Scale::LinearZoomed, Scale::Log10] {
            for points in point_sets {
                for count in [1, 40] {
                    let lines = Lines {
                        reading: ReadingHint::Window,
                        x: axis(&long, scale_x),
                        y: axis(&long, scale_y),
                        series: vec![series(&long, points); count],
                        guides: Vec::new(),
                        marked: Some((1.0, 5.0, long.clone())),
                        bands: Vec::new(),
                    };
                    is_sound(&charts::lines(&lines, &long, SMALL));
                }
            }
        }
    }
    let nothing = Lines { series: Vec::new(), ..convergence() };
    let svg = charts::lines(&nothing, "", SMALL);
    is_sound(&svg);
    assert!(svg.contains("No values"));
}

#[test]
fn degenerate_timelines_still_yield_a_picture() {
    let sets: [&[&[(f64, f64)]]; 5] = [
        &[],
        &[&[], &[(0.0, 0.0)]],
        &[&[(f64::NAN, 1.0), (1.0, f64::INFINITY)], &[(2.0, -3.0), (1e12, 1e-12)]],
        &[&[(-5.0, 1.0), (9e9, 2.0)]],
        &[&[(1.0, 1e15), (2.0, 1e15)]],
    ];
    for pieces in sets {
        for to_minutes in [0.0, 1e-6, 5.0, 1e9, f64::NAN, f64::INFINITY] {
            for count in [0, 1, 9] {
                let panels = vec![strip(&"<b>&\"'".repeat(30), pieces); count];
                let line = TimeLine { to_minutes, interruptions: vec![-1.0, f64::NAN, 3.0], panels };
                is_sound(&charts::timeline(&line, "<&>"));
            }
        }
    }
    let heat = |cells| vec![HeatColumn { from_minutes: f64::NAN, to_minutes: 1.0, cells }];
    for cells in [vec![], vec![(0.0, 0.0, f64::NAN)], vec![(1e-9, 1e12, 2.0)]] {
        let panels = vec![Panel { title: String::new(), content: Content::Heat(heat(cells)) }];
        is_sound(&charts::timeline(&TimeLine { to_minutes: 1.0, interruptions: Vec::new(), panels }, ""));
    }
}

#[test]
fn all_panels_of_a_timeline_have_the_same_edges() {
    let svg = charts::timeline(&whole_test(), "");
    let frames: Vec<&str> =
        svg.lines().filter(|l| l.starts_with("<polyline") && l.contains("#8b95a1")).collect();
    let ends = |frame: &str| {
        let points: Vec<&str> = frame.split('"').nth(1).unwrap().split([' ', ',']).collect();
        (points[0].to_owned(), points[4].to_owned())
    };
    assert_eq!(frames.len(), 4);
    assert!(frames.iter().all(|frame| ends(frame) == ends(frames[0])), "{frames:?}");
    assert_eq!(svg.matches("interrupted at minute 4.500").count(), 4);
}

#[test]
fn degenerate_columns_still_yield_a_picture() {
    let heights: [Vec<Vec<Option<f64>>>; 6] = [
        Vec::new(),
        vec![vec![None; 3]; 2],
        vec![vec![Some(0.0); 3]; 2],
        vec![vec![Some(1.0)]],
        vec![vec![Some(1e15), Some(1.0), Some(f64::NAN)]; 5],
        vec![vec![Some(-4.0); 3]; 2],
    ];
    for heights in heights {
        is_sound(&charts::columns3d(&Columns3d { heights, ..columns() }, "<&>", SMALL));
    }
    let long = "name ".repeat(16);
    let named = Columns3d { x: vec![long.clone(); 12], depth: vec![long; 12], ..columns() };
    is_sound(&charts::columns3d(&named, "", SMALL));
    is_sound(&charts::columns3d(&Columns3d { x: Vec::new(), depth: Vec::new(), ..columns() }, "", SMALL));
}

#[test]
fn degenerate_response_times_still_yield_a_picture() {
    let bin = |from_ms: f64, ios: u64| Bin { from_ms, to_ms: from_ms * 1.1, ios };
    for bins in [vec![], vec![bin(0.0, 1)], vec![bin(0.1, u64::MAX), bin(1e9, 1)], vec![bin(f64::NAN, 5)]] {
        for to_ms in [0.0, 1e-9, 2.0, f64::NAN, f64::INFINITY] {
            for value in [None, Some(0.0), Some(1.9), Some(1e12), Some(f64::NAN)] {
                let markers = vec![("<&> ".repeat(12), value); 6];
                let confidence = vec![(0.1, 50.0), (1e30, 99.0), (f64::NAN, 1.0)];
                let caption = "\"RND\" & <more> ".repeat(20);
                let times = ResponseTimes { caption, bins: bins.clone(), confidence, markers, to_ms };
                is_sound(&charts::response_times(&times, "<&>", SMALL));
            }
        }
    }
    let svg = charts::response_times(&ResponseTimes::default(), "", SMALL);
    assert!(svg.contains("No values"));
    let few = ResponseTimes { markers: vec![("99.999 %".into(), None)], ..times() };
    assert!(charts::response_times(&few, "", SMALL).contains("99.999 %: n/a"));
}

#[test]
fn degenerate_maps_and_bars_still_yield_a_picture() {
    let heights: [Vec<Vec<Option<f64>>>; 5] = [
        Vec::new(),
        vec![vec![None; 3]; 2],
        vec![vec![Some(0.0); 3]; 2],
        vec![vec![Some(1e15), Some(1.0), Some(f64::NAN)]; 5],
        vec![vec![Some(-4.0); 3]; 2],
    ];
    for heights in heights {
        is_sound(&charts::matrix(&Columns3d { heights, ..columns() }, "<&>", SMALL));
    }
    for values in
        [vec![], vec![None; 3], vec![Some(0.0)], vec![Some(f64::NAN), Some(1e15)], vec![Some(1.0); 40]]
    {
        let named = values.into_iter().map(|value| ("<&> ".repeat(9), value)).collect();
        is_sound(&charts::bars(&Bars { bars: named, ..bars() }, "<&>", SMALL));
    }
}

#[test]
fn series_of_one_name_share_colour_and_legend_entry() {
    let svg = charts::lines(&states(), "", SMALL);
    assert_eq!((svg.matches("class=\"key s").count(), svg.matches("class=\"series s0\"").count()), (2, 2));
    assert!(svg.contains(">5/5</text>") && svg.contains(">5/10</text>"));
    assert!(svg.contains("this axis does not start at zero"));
    assert!(!charts::lines(&convergence(), "", SMALL).contains("does not start at zero"));
}

#[test]
fn an_access_group_that_is_not_shown_keeps_its_colour_but_has_no_legend_entry() {
    let (x, y) = (("Time (minutes)", Scale::Fitted), ("MB/s", Scale::LinearFromZero));
    let drawn = |first: &[(f64, f64)]| {
        let groups = vec![series("AG1", first), series("AG2", &[(3.0, 2.0), (4.0, 2.5)])];
        charts::lines(&Lines::plain(ReadingHint::AccessGroups, x, y, groups), "", SMALL)
    };
    let (both, second) = (drawn(&[(1.0, 5.0), (2.0, 6.0)]), drawn(&[]));
    let of = |svg: &str| {
        svg.split("class=\"series s1\"").nth(1).unwrap().split("stroke=\"").nth(1).unwrap()[..7].to_owned()
    };
    assert_eq!(of(&both), of(&second));
    assert_eq!((both.matches("class=\"key s").count(), second.matches("class=\"key s").count()), (2, 1));
    assert!(!second.contains(">AG1</text>") && second.contains(">AG2</text>"));
}

#[test]
fn panels_of_a_page_have_the_same_edges_and_the_same_horizontal_axis() {
    let panel = |name: &str, values: &[(f64, f64)]| {
        let series = vec![series(name, values)];
        let (x, y) = (("Time (minutes)", Scale::Fitted), ("y", Scale::LinearFromZero));
        Exhibit::Lines(Lines::plain(ReadingHint::AccessGroups, x, y, series))
    };
    let page = [
        panel("short", &[(1.0, 5.0), (90.0, 6.0)]),
        panel("a much longer name", &[(10.0, 5e8), (100.0, 9e8)]),
    ];
    let plots: Vec<String> = page
        .iter()
        .map(|exhibit| charts::picture_of_page(exhibit, &page, "", SMALL).unwrap())
        .map(|svg| {
            let attributes = svg.split("<g class=\"plot\" ").nth(1).unwrap().split(" data-y").next().unwrap();
            attributes.to_owned()
        })
        .collect();
    assert_eq!(plots[0], plots[1]);
    assert!(plots[0].contains("data-x=\"linear 1 100\""), "{}", plots[0]);
}

#[test]
fn long_series_keep_their_line_and_lose_some_markers() {
    let points: Vec<(f64, f64)> = (1..=1440).map(|i| (f64::from(i), 1000.0 + f64::from(i % 7))).collect();
    let lines = Lines { series: vec![series("RND 4KiB W", &points)], ..convergence() };
    let svg = charts::lines(&lines, "", SMALL);
    assert!(svg.matches("<circle").count() <= 62);
    is_sound(&svg);
}
