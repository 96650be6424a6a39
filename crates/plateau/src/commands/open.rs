//! `plateau open [RUN]`: opens the report in the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::{Cli, Open};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::report_file;

/// Programs that pass a file to the user's browser exit immediately. A program that is still running after this
/// time displays the file itself.
const PATIENCE: Duration = Duration::from_secs(2);

pub fn run(cli: &Cli, options: &Open) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let run = library.find(&options.run)?;
    let report = report_file::write(&run)?;
    let browser = options.browser.clone().or_else(preferred).unwrap_or_else(|| "xdg-open".into());
    show(&browser, &report)?;
    if cli.json {
        return printer::print_json(&json!({ "run": run.file.id, "report": places::text_of(&report) }));
    }
    printer::print(&report.display().to_string())
}

/// Returns the first program in $BROWSER, a colon-separated list.
fn preferred() -> Option<PathBuf> {
    let list = std::env::var("BROWSER").ok()?;
    list.split(':').find(|program| !program.is_empty() && !program.contains('%')).map(PathBuf::from)
}

fn show(browser: &Path, report: &Path) -> Done {
    let failed = |why: String| {
        let text = format!(
            "{} does not show {} ({why}); open that file in a browser, or specify one with --browser",
            browser.display(),
            report.display()
        );
        Failure::text(Exit::Run, text)
    };
    let mut command = Command::new(browser);
    command.arg(report).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(failed(status.to_string())),
            None if Instant::now() >= deadline => return Ok(()),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
