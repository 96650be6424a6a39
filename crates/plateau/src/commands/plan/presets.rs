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
    if cli.json {
        printer::print_json(&document(&plan))
    } else {
        printer::print(&format!("{}checked   no errors found\n", plan.in_words()))
    }
}

fn document(plan: &Plan) -> Value {
    json!({
        "name": plan.name,
        "title": plan.title,
        "about": plan.about,
        "not_pts": plan.not_pts,
        "profile": plan.profile,
        "tests": plan.tests,
        "settings": plan.settings_in_words(),
    })
}
