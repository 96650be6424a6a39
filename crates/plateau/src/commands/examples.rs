//! `plateau examples`: lists published figures of real drives, or adds them to the library as runs.

use import::examples::{EXAMPLES, Example};
use serde_json::json;

use super::import::store;
use crate::cli::{Cli, Examples};
use crate::failure::Done;
use crate::output::places;
use crate::output::printer;

pub fn run(cli: &Cli, options: &Examples) -> Done {
    match &options.install {
        None => list(cli),
        Some(names) => install(cli, names),
    }
}

fn list(cli: &Cli) -> Done {
    if cli.json {
        let one = |e: &Example| json!({ "name": e.name, "about": e.about, "run": e.run_id() });
        return printer::print_json(&EXAMPLES.iter().map(one).collect());
    }
    let mut out = String::from("Published figures of real drives, transcribed; not measured by Plateau.\n\n");
    for example in EXAMPLES {
        out.push_str(&format!("{:<12}  {}\n", example.name, example.about));
    }
    out.push_str("\n`plateau examples --install` adds them to the library as runs.");
    printer::print(&out)
}

fn install(cli: &Cli, names: &[String]) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let mut runs = Vec::new();
    for example in EXAMPLES.iter().filter(|e| names.is_empty() || names.iter().any(|name| name == e.name)) {
        let id = example.run_id();
        let is_new = !library.has(&id);
        if is_new {
            store(
                &library,
                example.text.as_bytes(),
                &format!("{}.toml", example.name),
                id.clone(),
                Some("published"),
            )?;
        }
        runs.push((id, is_new));
    }
    if cli.json {
        let one = |(id, is_new): &(String, bool)| json!({ "run": id, "installed": is_new });
        return printer::print_json(&runs.iter().map(one).collect());
    }
    let mut out = String::new();
    for (id, is_new) in &runs {
        out.push_str(&format!("{id}{}\n", if *is_new { "" } else { "  (already there)" }));
    }
    if let [(first, _), (second, _), ..] = &runs[..] {
        out.push_str(&format!(
            "\n`plateau compare {first} {second} --html compare.html` compares two of them"
        ));
    }
    printer::print(out.trim_end())
}
