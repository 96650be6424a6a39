use std::path::Path;

use jiff::Timestamp;
use pts::{Standing, Unit};
use record::SimulatedFacts;

use super::*;
use crate::catalogue::Shared;
use crate::pages::drives::{of_drive, published};
use crate::pages::edition::Edition;

/// A run of the IOPS test that was created `day` days after the first one, with its figure.
fn run(folder: &Path, day: i64, iops: f64) -> Row {
    let (run, _journal) = crate::followed::example(&folder.join(day.to_string()));
    let mut file = Shared::default().facts(&run.file);
    file.id = format!("run-{day}");
    file.created = Timestamp::from_second(1_700_000_000 + day * 86_400).expect("a time");
    let figure = Figure {
        test: "iops".into(),
        name: "4 KiB random write".into(),
        value: iops,
        unit: Unit::Iops,
        decimals: 0,
        host_limited: false,
    };
    Row {
        file: Arc::new(file),
        state: State::Known(Standing::Steady),
        records: 9,
        last_record: None,
        figures: vec![figure],
        deviations: 0,
        archived: false,
    }
}

/// Changes the facts about the run of a row.
fn with(mut row: Row, change: impl FnOnce(&mut Facts)) -> Row {
    change(Arc::make_mut(&mut row.file));
    row
}

/// Groups runs, which are passed oldest first, and returns the only drive.
fn drive(rows: Vec<Row>) -> Drive {
    let rows: Vec<Arc<Row>> = rows.into_iter().rev().map(Arc::new).collect();
    let mut drives = drives(&rows);
    assert_eq!(drives.len(), 1);
    drives.remove(0)
}

/// Returns the settings and the values of each history.
fn trends(drive: &Drive) -> Vec<(String, Vec<f64>)> {
    let values = |history: &History| history.values().map(|value| value.figure.value).collect();
    drive.histories().iter().map(|history| (history.settings.text(), values(history))).collect()
}

#[test]
fn values_measured_with_different_settings_are_different_trends() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = |day, iops| run(dir.path(), day, iops);
    let drive = drive(vec![
        run(1, 100.0),
        with(run(2, 900.0), |file| file.profile = "pts-c-2.0".into()),
        with(run(3, 400.0), |file| file.demand.as_mut().expect("settings").1 = 7),
        run(4, 110.0),
        with(run(5, 5.0), |file| file.demand = None),
    ]);
    let own = Settings::of(&run(6, 0.0).file).text();
    let (threads, depth) = Settings::of(&run(7, 0.0).file).demand.expect("settings");
    assert_eq!(own, format!("pts-e-2.0, TC {threads}, QD {depth}"));
    let mut found = trends(&drive);
    found.sort_by(|a, b| a.1[0].total_cmp(&b.1[0]));
    let of = |text: String, values: &[f64]| (text, values.to_vec());
    let expected = [
        of("pts-e-2.0".into(), &[5.0]),
        of(own, &[100.0, 110.0]),
        of(format!("pts-e-2.0, TC {threads}, QD 7"), &[400.0]),
        of(format!("pts-c-2.0, TC {threads}, QD {depth}"), &[900.0]),
    ];
    assert_eq!(found, expected);
    let latest = drive.most_recent().expect("a history");
    assert_eq!(latest.latest.row.file.id, "run-5");
    assert!(drive.histories().contains(&latest));
}

#[test]
fn scales_of_a_simulated_drive_are_different_trends() {
    let dir = tempfile::tempdir().expect("a folder");
    let scaled = |day, iops, scale_divisor| {
        with(run(dir.path(), day, iops), |file| {
            Arc::make_mut(&mut file.target).simulated = Some(SimulatedFacts {
                model: "tlc-client".into(),
                model_version: 1,
                scale_divisor,
                seed: 1,
                faults: Vec::new(),
            });
        })
    };
    let drive = drive(vec![scaled(1, 10.0, 64), scaled(2, 40.0, 16), scaled(3, 11.0, 64)]);
    let found = trends(&drive);
    assert_eq!(
        found.iter().map(|(_, values)| values.clone()).collect::<Vec<_>>(),
        [vec![40.0], vec![10.0, 11.0]]
    );
    assert!(found[0].0.ends_with(", scale 1/16") && found[1].0.ends_with(", scale 1/64"), "{found:?}");
}

/// The name of a figure, whose amount is not separated from its unit.
const FIGURE: &str = "4\u{a0}KiB random write";

#[test]
fn figures_are_shown_with_the_marks_of_their_own_runs() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut modified = run(dir.path(), 1, 100.0);
    modified.deviations = 1;
    modified.figures[0].host_limited = true;
    let mut incomplete = run(dir.path(), 2, 90.0);
    incomplete.state = State::Known(Standing::Incomplete);
    let drive = drive(vec![modified, incomplete]);
    let list = published(std::slice::from_ref(&drive)).into_string();
    let cell = |text: &str, from: &str| {
        let begin = text.find(from).expect("the figure");
        text[begin..begin + text[begin..].find("</tr>").expect("the end of the row")].to_owned()
    };
    let state = list.find("NOT COMPLETE").expect("the mark of the latest run");
    let figure = list.find(FIGURE).expect("the figure of the run before it");
    assert!(state < figure, "{list}");
    let marked = |row: &str| row.contains("MODIFIED") && row.contains(">*<") && !row.contains("NOT COMPLETE");
    assert!(marked(&cell(&list, FIGURE)), "{list}");
    let page = of_drive(&drive, Edition::Server).into_string();
    assert!(marked(&cell(&page, "4 KiB random write")), "{page}");
    let document = drive.histories()[0].document();
    assert_eq!(
        document["values"][0],
        json!({ "run": "run-1", "value": 100.0, "marks": ["MODIFIED"], "host_limited": true })
    );
    assert_eq!(document["profile"], "pts-e-2.0");
}

#[test]
fn figures_are_in_the_order_of_their_numbers() {
    let mut names = ["Wait State 10, 5/50", "Wait State 2, 5/10", "RND 4KiB W", "Wait State 1, 5/5", "2"];
    names.sort_by_key(|name| counting_key(name));
    assert_eq!(names, ["2", "RND 4KiB W", "Wait State 1, 5/5", "Wait State 2, 5/10", "Wait State 10, 5/50"]);
}
