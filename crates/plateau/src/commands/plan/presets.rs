//! `plateau plan --list` and `plateau plan --check FILE`: plans without a target.

use std::path::Path;

use plans::{PRESETS, Plan, Preset};
use serde_json::{Value, json};

use crate::cli::Cli;
use crate::cli::plan_file;
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;

pub fn list(cli: &Cli) -> Done {
    let plans: Vec<Plan> = PRESETS.iter().map(Preset::plan).collect();
    if cli.json {
        return printer::print_json(&Value::Array(plans.iter().map(document).collect()));
    }
    let line = |plan: &Plan| format!("{:<20} {}\n", plan.name, plan.about);
    printer::print(&plans.iter().map(line).collect::<String>())
}

pub fn check(cli: &Cli, path: &Path) -> Done {
    let plan = match plan_file::read(path)? {
        Ok(plan) => plan,
        Err(errors) => {
            let found = json!({ "errors": errors.iter().map(|error| json!({
                "file": error.file,
                "line": error.line,
                "column": error.column,
                "key": error.key,
                "problem": error.problem,
            })).collect::<Vec<_>>() });
            return Err(Failure::text(Exit::Usage, plan_file::lines(&errors)).with_document(found));
        }
    };
    if cli.json { printer::print_json(&document(&plan)) } else { printer::print(&text(&plan)) }
}

fn document(plan: &Plan) -> Value {
    json!({
        "name": plan.name,
        "title": plan.title,
        "about": plan.about,
        "not_pts": plan.not_pts,
        "profile": plan.profile,
        "tests": plan.tests,
    })
}

fn text(plan: &Plan) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| out.push_str(&format!("{name:<9} {text}\n"));
    line("plan", &plan.title);
    line("about", if plan.about.is_empty() { "n/a" } else { &plan.about });
    if let Some(why) = &plan.not_pts {
        line("not PTS", why);
    }
    line("profile", plan.profile.as_deref().unwrap_or("from the command line"));
    line("tests", &plan.tests.join(", "));
    for test in &plan.custom_tests {
        let times = match test.rounds {
            record::CustomRounds::Fixed(1) => "1 round".into(),
            record::CustomRounds::Fixed(rounds) => format!("{rounds} rounds"),
            record::CustomRounds::UntilSteady => "rounds until steady state".into(),
        };
        line("custom test", &format!("{}: {}, {} cells in {times}", test.name, test.title, test.cells.len()));
    }
    line("checked", "no mistakes found");
    out
}
