//! The pages' content as JSON, and the exports of a run.

use std::sync::Arc;

use compare::{Candidate, Comparison};
use record::{Annotation, Change};
use report::formats::{FORMATS, Make, Source};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::app::{Answer, App, Call, HTML};
use crate::catalogue::{Row, State};
use crate::document::{POLICY, document};
use crate::drives::{History, drives};
use crate::live::{Live, Place};
use crate::pages::edition::Edition;
use crate::pages::frame::problem;
use crate::pages::library::Selection;
use crate::pages::opened::{opened, with_snapshot};
use crate::pages::reported;
use crate::snapshot::Snapshot;
use crate::starts::Stage;

/// `/api/runs`
pub fn runs(app: &App, call: &Call) -> Answer {
    let selection = Selection::of(call);
    match app.catalogue.rows() {
        Ok(rows) => Answer::json(&Runs(selection.of_rows(&rows))),
        Err(why) => Answer::error(500, why),
    }
}

/// `/api/runs/{id}`
pub fn run(app: &App, call: &Call) -> Answer {
    match opened(app, call) {
        Ok(snapshot) => Answer::json(&of_snapshot(&snapshot)),
        Err(unopened) => unopened.answer(),
    }
}

/// `/api/drives`
pub fn tested(app: &App, _: &Call) -> Answer {
    let rows = match app.catalogue.rows() {
        Ok(rows) => rows,
        Err(why) => return Answer::error(500, why),
    };
    let all = drives(&rows).into_iter().map(|drive| {
        json!({
            "id": drive.id,
            "model": drive.model(),
            "runs": drive.runs.iter().map(|row| &row.file.id).collect::<Vec<_>>(),
            "figures": drive.histories().iter().map(History::document).collect::<Vec<_>>(),
        })
    });
    Answer::json(&all.collect::<Value>())
}

/// `/api/devices`
pub fn devices(app: &App, _: &Call) -> Answer {
    let devices = match app.devices.all() {
        Ok(devices) => devices,
        Err(why) => return Answer::error(500, why),
    };
    let all = devices.into_iter().map(|device| {
        json!({
            "path": device.path,
            "kind": device.kind,
            "identity": device.identity,
            "model": device.model,
            "capacity_bytes": device.capacity_bytes,
            "refusals": device.refusals,
        })
    });
    Answer::json(&all.collect::<Value>())
}

/// `/api/changes`: what users have added to runs later or removed, with its author, in order of time.
pub fn changes(app: &App, _: &Call) -> Answer {
    match app.catalogue.changes() {
        Ok(changes) => Answer::json(&changes.iter().map(change).collect::<Value>()),
        Err(why) => Answer::error(500, why.to_string()),
    }
}

fn change(annotation: &Annotation) -> Value {
    let (kind, run, text, baseline) = match &annotation.change {
        Change::Tagged { run, tag } => ("tag", Some(run), Some(tag), None),
        Change::Untagged { run, tag } => ("untag", Some(run), Some(tag), None),
        Change::Noted { run, text } => ("note", Some(run), Some(text), None),
        Change::Named { run, name } => ("name", Some(run), name.as_ref(), None),
        Change::Archived { run } => ("archive", Some(run), None, None),
        Change::Unarchived { run } => ("unarchive", Some(run), None, None),
        Change::BaselineSet { baseline, run } => ("baseline", Some(run), None, Some(baseline)),
        Change::BaselineRemoved { baseline } => ("baseline_removed", None, None, Some(baseline)),
    };
    let (wall, who) = (annotation.wall.to_string(), &annotation.who);
    json!({ "seq": annotation.seq, "wall": wall, "who": who, "kind": kind, "run": run, "text": text, "baseline": baseline })
}

/// `/api/starts`
pub fn starts(app: &App, _: &Call) -> Answer {
    let all = app.starts.all().into_iter().map(|entry| {
        json!({
            "name": entry.name,
            "user": entry.user,
            "at": entry.at.to_string(),
            "stage": entry.stage.word(),
            "run": match &entry.stage { Stage::Begun(run) => Some(run), _ => None },
            "problem": match &entry.stage { Stage::Failed(why) => Some(why), _ => None },
            "waits_for": match entry.stage { Stage::Waiting => entry.waits_for.as_deref(), _ => None },
            "warnings": entry.warnings,
            "command": app.starts.command(&entry.request, &entry.name),
            "plan": entry.document,
            "checks": entry.checks,
        })
    });
    Answer::json(&all.collect::<Value>())
}

/// `/runs/{id}/report`: the report as `plateau report` writes it, with its own content security policy.
pub fn report(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| match document(snapshot) {
        Ok(document) => Answer { policy: Some(POLICY.into()), ..Answer::of(HTML, report::html(&document)) },
        Err(why) => Answer::error(500, why),
    })
}

/// `/compare?run=...&run=...`: the comparison as `plateau compare --html` writes it, after the lab's navigation. The first
/// run is the baseline.
pub fn compare(app: &App, call: &Call) -> Answer {
    match comparison(app, call) {
        Ok(comparison) => {
            let links = ids(call).map(|id| Some(format!("/runs/{id}"))).collect();
            let page = reported::compared(&comparison, links, Edition::Server);
            Answer { policy: Some(POLICY.into()), ..Answer::of(HTML, page) }
        }
        Err(why) => {
            let text = format!("{why}. Select at least two complete runs in the list of runs.");
            Answer { status: 422, ..Answer::html(problem("These runs cannot be compared", &text)) }
        }
    }
}

/// `/api/compare?run=...&run=...`: the comparison as `plateau compare --json` prints it.
pub fn compared(app: &App, call: &Call) -> Answer {
    match comparison(app, call) {
        Ok(comparison) => Answer::json(&compare::json(&comparison)),
        Err(why) => Answer::error(422, why),
    }
}

fn comparison(app: &App, call: &Call) -> Result<Comparison, String> {
    let candidate = |id: &str| {
        let run = app.catalogue.run(id).ok_or_else(|| format!("there is no run {id} in this library"))?;
        let snapshot = app.snapshots.of(run)?;
        Candidate::of(&snapshot.run.file, &snapshot.loaded)
    };
    ids(call).map(candidate).collect::<Result<_, _>>().and_then(Comparison::of)
}

/// Returns the runs to compare.
fn ids(call: &Call) -> impl Iterator<Item = &str> {
    call.query.iter().filter(|(name, _)| name == "run").map(|(_, value)| value.as_str())
}

/// `/runs/{id}/export/{format}`
pub fn export(app: &App, call: &Call) -> Answer {
    let wanted = call.path.get(1).map_or("", String::as_str);
    let Some(format) = FORMATS.iter().find(|format| format.name == wanted) else {
        return Answer::error(404, format!("there is no export '{wanted}'"));
    };
    let Make::File(make) = format.make else {
        return Answer::error(404, format!("'{wanted}' consists of several files; use `plateau report`"));
    };
    with_snapshot(app, call, |snapshot| {
        let document = match document(snapshot) {
            Ok(document) => document,
            Err(why) => return Answer::error(500, why),
        };
        match make(Source { document: &document, entries: &snapshot.loaded.entries }) {
            Ok(bytes) => {
                let save_as = Some(format.output_name(&snapshot.run.file.id));
                Answer { save_as, ..Answer::of("application/octet-stream", bytes) }
            }
            Err(why) => Answer::error(422, why),
        }
    })
}

/// A list of runs. Their documents are made one by one, because all of them take several times the memory of their text.
struct Runs<'a>(Vec<&'a Arc<Row>>);

impl Serialize for Runs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|row| of_row(row)))
    }
}

fn of_row(row: &Row) -> Value {
    let file = &row.file;
    json!({
        "run": file.id,
        "created": file.created.to_string(),
        "tests": file.tests,
        "profile": file.profile,
        "target": file.target_line(),
        "drive": row.drive(),
        "state": row.state.word(),
        "problem": match &row.state { State::Unreadable(why) => Some(why), State::Known(_) => None },
        "marks": row.marks(),
        "records": row.records,
        "last_record": row.last_record.map(|at| at.to_string()),
        "name": file.labels.name,
        "tags": file.labels.tags,
        "notes": file.labels.notes,
        "archived": row.archived,
        "figures": row.figures.iter().map(|figure| json!({
            "test": &*figure.test,
            "name": &*figure.name,
            "value": figure.value,
            "unit": figure.unit.symbol(),
            "host_limited": figure.host_limited,
        })).collect::<Vec<_>>(),
    })
}

fn of_snapshot(snapshot: &Snapshot) -> Value {
    let live = Live::of(snapshot);
    let file = &snapshot.run.file;
    json!({
        "run": file.id,
        "created": file.created.to_string(),
        "tests": file.tests,
        "profile": file.profile,
        "target": file.target,
        "settings": file.settings,
        "state": State::Known(snapshot.standing).word(),
        "sentence": live.sentence,
        "phase": live.phase.to_string(),
        "steps": live.steps.iter().map(|step| json!({
            "name": step.name,
            "place": match step.place { Place::Done => "done", Place::Now => "now", Place::Ahead => "ahead" },
        })).collect::<Vec<_>>(),
        "last_record": snapshot.last_record(),
        "journal_sha256": snapshot.loaded.digest.to_string(),
        "latest": live.latest.map(|segment| json!({
            "workload": segment.workload.to_string(),
            "iops": segment.iops(),
            "megabytes_per_second": segment.megabytes_per_second(),
            "mean_latency_ms": segment.mean_latency_ms(),
            "host_limited": segment.is_host_limited(),
        })),
        "variables": live.variables.iter().map(|variable| json!({
            "name": variable.name,
            "values": variable.values.iter().map(|(round, value)| json!({ "round": round, "value": value }))
                .collect::<Vec<_>>(),
            "range_share": variable.shares.map(|shares| shares.0),
            "slope_share": variable.shares.map(|shares| shares.1),
            "steady": variable.steady,
            "text": variable.text,
        })).collect::<Vec<_>>(),
        "written_bytes": live.written_bytes,
        "expected_written_bytes": live.expected_written_bytes,
        "left_ns": live.left_ns,
        "health": live.health,
        "modified": pts::texts(&snapshot.replayed.modified),
        "events": format!("/api/runs/{}/events", file.id),
    })
}
