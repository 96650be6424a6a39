//! `/metrics`: the runs in progress for Prometheus, in the OpenMetrics text format.

use pts::Standing;

use crate::app::{Answer, App, Call};
use crate::catalogue::State;
use crate::live::Live;

const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// `/metrics`
pub fn metrics(app: &App, _: &Call) -> Answer {
    let rows = match app.catalogue.rows() {
        Ok(rows) => rows,
        Err(why) => return Answer::error(500, why),
    };
    let mut out =
        String::from("# TYPE plateau_runs gauge\n# HELP plateau_runs Runs in the library by state.\n");
    for word in State::WORDS {
        let count = rows.iter().filter(|row| row.state.word() == word).count();
        out.push_str(&format!("plateau_runs{{state=\"{word}\"}} {count}\n"));
    }
    let now = record::wall_now();
    let mut families: [(&str, &str, String); 4] = [
        ("plateau_run_info", "gauge", String::new()),
        ("plateau_run_record_age_seconds", "gauge", String::new()),
        ("plateau_run_latest_iops", "gauge", String::new()),
        ("plateau_run_temperature_celsius", "gauge", String::new()),
    ];
    for row in rows.iter().filter(|row| row.state == State::Known(Standing::Running)) {
        let id = &row.file.id;
        let mut add = |index: usize, labels: &str, value: f64| {
            let name = families[index].0;
            families[index].2.push_str(&format!("{name}{{run=\"{id}\"{labels}}} {value}\n"));
        };
        let labels = format!(
            ",drive=\"{}\",target=\"{}\",tests=\"{}\"",
            label(&row.drive()),
            label(&row.file.target.path),
            label(&row.file.tests.join(","))
        );
        add(0, &labels, 1.0);
        if let Some(last) = row.last_record {
            add(1, "", now.duration_since(last).as_secs_f64().max(0.0));
        }
        let snapshot = app.catalogue.run(id).and_then(|run| app.snapshots.of(run).ok());
        if let Some(snapshot) = snapshot {
            let live = Live::of(&snapshot);
            live.latest.iter().for_each(|segment| add(2, "", segment.iops()));
            let celsius = live.health.and_then(|health| health.temperature_celsius);
            celsius.iter().for_each(|celsius| add(3, "", f64::from(*celsius)));
        }
    }
    for (name, kind, samples) in families {
        out.push_str(&format!("# TYPE {name} {kind}\n{samples}"));
    }
    Answer::of(TEXT, out + "# EOF\n")
}

/// Escapes the value of a label.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
