//! The form to start a run, and the changes that operators make.

use launch::{Plan, Request, Start, Target, TargetProblem};
use maud::{Markup, html};
use pts::{PROFILES, TESTS};
use stdx::text::on_one_line;
use stdx::units::{amount_base2, parse_size};

use super::account::token;
use super::actions::times_resumed;
use super::edition::Edition;
use super::frame::{Page, moment, problem};
use super::opened::with_snapshot;
use super::started;
use crate::app::{Answer, App, Call};
use crate::starts::{Stage, Unchanged, Unplanned};

/// Default profile, as on the command line.
const USUAL_PROFILE: &str = "pts-e-2.0";
/// Default values: a run that takes seconds, like `plateau demo`.
const USUAL_SCALE: &str = "1/16";

/// Labels of the fields that messages name.
const TARGET: &str = "Target";
const SIZE: &str = "Size of a new file";
const SCALE: &str = "Scale of a simulated drive";

/// `/start`
pub fn form(app: &App, call: &Call) -> Answer {
    // Links can prefill the form.
    let earlier = call.query("again").and_then(|name| app.starts.one(name));
    let form = earlier.and_then(|entry| filled_in(app, &entry.request)).unwrap_or_else(|| call.query.clone());
    let call = Call { form, ..call.clone() };
    shown(app, &call, &[])
}

/// Returns the form fields with which an earlier run was planned; None if it was not started with the form.
fn filled_in(app: &App, request: &Request) -> Option<Vec<(String, String)>> {
    let Request::Start(Start { plan, target, .. }) = request else { return None };
    let is_listed = || app.devices.all().iter().flatten().any(|device| device.path == target.path);
    let field = if target.is_simulated() || is_listed() { "target" } else { "file" };
    let mut form = vec![(field, target.path.as_str())];
    form.extend(target.scale.as_deref().map(|scale| ("scale", scale)));
    form.extend(target.size.as_deref().map(|size| ("size", size)));
    match plan {
        Plan::Tests { tests, profile } => {
            form.extend([("kind", "tests"), ("profile", profile)]);
            form.extend(tests.iter().map(|test| ("tests", test.as_str())));
        }
        Plan::Preset(preset) => form.extend([("kind", "preset"), ("preset", preset)]),
        Plan::Text(text) => form.extend([("kind", "text"), ("plan", text)]),
    }
    Some(form.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

fn shown(app: &App, call: &Call, mistakes: &[String]) -> Answer {
    let entries = app.starts.all();
    let content = html! {
        h1 { "Start a run" }
        @if call.is_operator() {
            @if !mistakes.is_empty() {
                div.mistakes role="alert" {
                    p { b { "This plan cannot be run:" } }
                    ul { @for mistake in mistakes { li { (mistake) } } }
                }
            }
            (fields(app, call))
        } @else {
            p { "Only operators can start runs, and you are signed in as a viewer." }
        }
        @if !entries.is_empty() {
            section {
                h2 { "Planned and started here" }
                ul.plain {
                    @for entry in entries.iter().take(50) {
                        li {
                            span class={ "badge " (entry.stage.word()) } { (entry.stage.word()) } " "
                            @match &entry.stage {
                                Stage::Begun(run) => a href=(format!("/runs/{run}")) { (run) },
                                _ => a href=(format!("/start/{}", entry.name)) { (started::subject(entry)) },
                            }
                            " " span.soft { (moment(entry.at)) " by " (entry.user) }
                        }
                    }
                }
            }
        }
    };
    let status = if mistakes.is_empty() { 200 } else { 422 };
    Answer {
        status,
        ..Answer::html(
            Page { title: "Start", section: "Start", follows: None, edition: Edition::Server, content }
                .html(),
        )
    }
}

fn fields(app: &App, call: &Call) -> Markup {
    html! {
        form.start action="/start" method="post" {
            (token(call))
            (drive(app, call))
            (plans_of(call))
            p { button.primary { "Estimate" } " " span.soft { "Nothing will be started or changed yet." } }
        }
    }
}

fn drive(app: &App, call: &Call) -> Markup {
    let devices = app.devices.all();
    let target = call.form("target");
    let scale = if call.form.is_empty() { USUAL_SCALE } else { call.form("scale") };
    html! {
        fieldset {
            legend { "1. Drive" }
            div.fields {
                label { (TARGET)
                    select name="target" {
                        optgroup label="Simulated drives" {
                            @for model in &app.models {
                                @let path = format!("sim:{model}");
                                option value=(path) selected[path == target] { (path) }
                            }
                        }
                        optgroup label="Block devices of this host" {
                            @for device in devices.iter().flatten() {
                                option value=(device.path) disabled[!device.refusals.is_empty()] selected[device.path == target] {
                                    (device.path) " " (device.model.as_deref().unwrap_or(&device.kind))
                                    @if let Some(first) = device.refusals.first() { ": " (first) }
                                }
                            }
                        }
                    }
                }
                label { "or a file (absolute path)" input name="file" value=(call.form("file")) placeholder="/mnt/drive/target.bin" autocomplete="off"; }
                label { (SIZE) input name="size" value=(call.form("size")) placeholder="16GiB" autocomplete="off"; }
                label { (SCALE) input name="scale" value=(scale) placeholder="1/16" pattern="\\s*(1\\s*/\\s*)?\\d{1,4}\\s*" title="1/N, such as 1/16" autocomplete="off"; }
            }
            @if let Err(why) = &devices { p.soft { (why) } }
        }
    }
}

fn plans_of(call: &Call) -> Markup {
    let kind = if call.form("kind").is_empty() { "tests" } else { call.form("kind") };
    let is_test = |name: &str| call.form.iter().any(|(key, value)| key == "tests" && value == name);
    let is_first = !call.form.iter().any(|(key, _)| key == "tests");
    let profile = if call.form("profile").is_empty() { USUAL_PROFILE } else { call.form("profile") };
    html! {
        fieldset {
            legend { "2. Plan" }
            div.choice {
                label.pick { input type="radio" name="kind" value="tests" checked[kind == "tests"]; "Tests of a version of the specification" }
                div.fields {
                    label { "Version"
                        select name="profile" {
                            @for known in PROFILES { option value=(known.name) selected[known.name == profile] { (known.name) } }
                        }
                    }
                }
                div.tests {
                    @for test in TESTS {
                        label title=(test.about) {
                            input type="checkbox" name="tests" value=(test.name) checked[is_test(test.name) || (is_first && test.name == "iops")];
                            (test.name)
                        }
                    }
                }
            }
            div.choice {
                label.pick { input type="radio" name="kind" value="preset" checked[kind == "preset"]; "A preset" }
                div.fields {
                    label { "Preset"
                        select name="preset" {
                            @for preset in plans::PRESETS {
                                option value=(preset.name) selected[preset.name == call.form("preset")] { (preset.name) ": " (preset.plan().about) }
                            }
                        }
                    }
                }
            }
            div.choice {
                label.pick { input type="radio" name="kind" value="text" checked[kind == "text"]; "Your own plan" }
                label { "Plan (TOML)" textarea name="plan" rows="8" spellcheck="false" placeholder="tests = [\"iops\"]" { (call.form("plan")) } }
            }
        }
    }
}

/// `/start`, submitted.
pub fn plan(app: &App, call: &Call) -> Answer {
    let given = |name: &str| Some(call.form(name).trim().to_owned()).filter(|value| !value.is_empty());
    let path = given("file").or_else(|| given("target")).unwrap_or_default();
    let is_simulated = path.starts_with("sim:");
    let is_file = given("file").is_some();
    let target = Target {
        path,
        scale: given("scale").filter(|_| is_simulated),
        size: given("size").filter(|_| is_file),
    };
    let tests = call.form.iter().filter(|(name, _)| name == "tests").map(|(_, value)| value.clone());
    let plan = match call.form("kind") {
        "preset" => Plan::Preset(call.form("preset").into()),
        "text" => Plan::Text(call.form("plan").replace("\r\n", "\n")),
        _ => Plan::Tests { tests: tests.collect(), profile: call.form("profile").into() },
    };
    // Checked here, because `plateau plan` would name the option instead of the field.
    if let Some(Err(why)) = target.size.as_deref().map(parse_size) {
        return shown(app, call, &[format!("'{SIZE}': {}.", on_one_line(&why))]);
    }
    match app.starts.plan(call.user(), plan, target) {
        Ok(name) => Answer::see(format!("/start/{name}")),
        Err(why) => shown(app, call, &mistakes(why)),
    }
}

/// Says why a plan was not estimated, and which field of the form to change.
fn mistakes(why: Unplanned) -> Vec<String> {
    let (path, problem) = match why {
        Unplanned::Mistakes(mistakes) => return mistakes,
        Unplanned::Target { path, problem } => (path, problem),
    };
    let path = on_one_line(&path);
    vec![match problem {
        TargetProblem::NoDevice => {
            format!("{path}: no such device. '{TARGET}' lists the devices of this host.")
        }
        TargetProblem::NoFile => format!("{path} does not exist. To create it, enter its size in '{SIZE}'."),
        TargetProblem::EmptyFile => {
            format!("{path} is empty. Enter the size that it is to have in '{SIZE}'.")
        }
        TargetProblem::SizeTooSmall { bytes, least_bytes } => format!(
            "A size of {bytes} B is too small; the smallest target has {}. Enter more in '{SIZE}', with its unit, such as \
             16GiB.",
            amount_base2(least_bytes)
        ),
        TargetProblem::SizeOfDrive => {
            format!("{path} is a drive, which is always tested as a whole. Leave '{SIZE}' empty.")
        }
        TargetProblem::SizeOfSimulated => format!(
            "{path} is a simulated drive, which has the size of its model. Omit the size from the plan, and use '{SCALE}' \
             for a smaller drive."
        ),
        TargetProblem::ScaleOfReal => {
            format!("{path} is not a simulated drive, and only those have a scale. Omit it from the plan.")
        }
    }]
}

/// `/start/{id}`
pub fn page(app: &App, call: &Call) -> Answer {
    started::page(app, call, None)
}

/// `/start/{id}`, submitted.
pub fn confirm(app: &App, call: &Call) -> Answer {
    let name = call.name().to_owned();
    match app.starts.confirm(call.user(), &name, call.form("identity")) {
        Ok(()) => Answer::see(format!("/start/{name}")),
        Err(why) => started::page(app, call, Some(&why)),
    }
}

/// `/start/{id}/withdraw`
pub fn withdraw(app: &App, call: &Call) -> Answer {
    match app.starts.withdraw(call.user(), call.name()) {
        Ok(()) => Answer::see("/start".into()),
        Err(why) => refused(&why),
    }
}

/// `/runs/{id}/stop`
pub fn stop(app: &App, call: &Call) -> Answer {
    with_snapshot(app, call, |snapshot| {
        let id = &snapshot.run.file.id;
        match app.starts.stop_run(call.user(), id, times_resumed(snapshot)) {
            Ok(()) => Answer::see(format!("/runs/{id}")),
            Err(why) => refused(&why),
        }
    })
}

/// `/runs/{id}/resume`
pub fn resume(app: &App, call: &Call) -> Answer {
    continued(app, call, Request::Resume { run: call.name().into(), identity: identity(call) })
}

/// `/runs/{id}/restart`
pub fn restart(app: &App, call: &Call) -> Answer {
    continued(app, call, Request::Restart { run: call.name().into(), identity: identity(call) })
}

fn identity(call: &Call) -> Option<String> {
    Some(call.form("identity").to_owned()).filter(|typed| !typed.is_empty())
}

fn continued(app: &App, call: &Call, request: Request) -> Answer {
    match app.starts.continue_run(call.user(), request) {
        Ok(name) => Answer::see(format!("/start/{name}")),
        Err(why) => refused(&why),
    }
}

fn refused(why: &Unchanged) -> Answer {
    Answer { status: why.status(), ..Answer::html(problem("Nothing was changed", why.text())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_name_fields_of_the_form_instead_of_options() {
        let of = |problem| mistakes(Unplanned::Target { path: "/x".into(), problem }).join("\n");
        let small = TargetProblem::SizeTooSmall { bytes: 2, least_bytes: 16 << 20 };
        for (problem, expected) in [
            (TargetProblem::NoDevice, "'Target'"),
            (TargetProblem::NoFile, "enter its size in 'Size of a new file'"),
            (TargetProblem::EmptyFile, "in 'Size of a new file'"),
            (small, "2 B is too small; the smallest target has 16 MiB. Enter more in 'Size of a new file'"),
            (TargetProblem::SizeOfDrive, "Leave 'Size of a new file' empty"),
            (TargetProblem::SizeOfSimulated, "'Scale of a simulated drive'"),
            (TargetProblem::ScaleOfReal, "is not a simulated drive"),
        ] {
            let text = of(problem);
            assert!(text.contains(expected) && !text.contains("--"), "{problem:?}: {text}");
        }
        let others = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(mistakes(Unplanned::Mistakes(others.clone())), others);
    }
}
