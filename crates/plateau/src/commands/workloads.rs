//! `plateau trace`, `plateau capture` and `plateau replay`: real workloads.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use prepare::models;
use stdx::Flow;
use workload::{Answer, Capture, Replay, TraceCommand, WorkloadError};

use crate::cli::Cli;
use crate::failure::{Done, Exit, Failure};
use crate::output::{file, places, printer};
use crate::run::signals;

/// Interval at which the tracer's buffers are read.
const VISIT: Duration = Duration::from_millis(20);

pub fn trace(cli: &Cli, action: &TraceCommand) -> Done {
    match action {
        TraceCommand::Import(options) => {
            let stop = signals::watch()?;
            written(cli, &options.output, |output| workload::import(options, output, &stop))
        }
        TraceCommand::Anonymise(options) => {
            written(cli, &options.output, |output| workload::anonymise(options, output))
        }
        TraceCommand::Sample(options) => {
            written(cli, &options.output, |output| workload::sample(options, output))
        }
        TraceCommand::Show(options) => {
            let files = [&options.html, &options.csv].into_iter().filter_map(|path| path.as_deref());
            file::check(files, cli.json)?;
            shown(cli, &workload::show(options)?)
        }
        TraceCommand::Plan(options) => {
            file::check([options.output.as_path()], cli.json)?;
            shown(cli, &workload::plan(options)?)
        }
    }
}

pub fn capture(cli: &Cli, options: &Capture) -> Done {
    let (stop, begun) = (signals::watch()?, Instant::now());
    let mut wait = |_| {
        std::thread::sleep(VISIT.min(options.length.saturating_sub(begun.elapsed())));
        let is_over = begun.elapsed() >= options.length || stop.load(Ordering::Relaxed);
        if is_over { Flow::Stop } else { Flow::Continue }
    };
    written(cli, &options.output, |output| workload::capture(options, output, &mut wait))
}

pub fn replay(cli: &Cli, options: &Replay) -> Done {
    let target = models::target(&options.target)?;
    let stop = signals::watch()?;
    shown(cli, &workload::replay(options, &target, places::libraries(cli.library.as_deref()), &stop)?)
}

/// Runs a command that writes a trace.
fn written(cli: &Cli, output: &Path, write: impl FnOnce(&mut File) -> Result<Answer, WorkloadError>) -> Done {
    if file::is_stdout(output) {
        return Err(Failure::text(Exit::Usage, "a trace is not text; specify a file with --output"));
    }
    file::check([output], false)?;
    shown(cli, &file::stream(output, |file| Ok(write(file)?))?)
}

/// Writes a result's files and prints the result.
fn shown(cli: &Cli, answer: &Answer) -> Done {
    answer.files.iter().try_for_each(|(path, bytes)| file::file(path, bytes))?;
    if answer.files.iter().any(|(path, _)| file::is_stdout(path)) {
        return Ok(());
    }
    if cli.json {
        return printer::print_json(&answer.document);
    }
    answer.warnings.iter().for_each(|line| printer::print_line(line));
    printer::print(&answer.text)
}
