//! `plateau load --merge`: combines the results of several hosts. The `fio` crate decides whether they can be combined.

use std::path::Path;
use std::time::Duration;

use fio::hosts::{self, Given, Problem};
use serde_json::{Value, json};
use stdx::files::{Links, ReadError};

use super::plan::usage;
use crate::cli::{Cli, Load, OutputFormat};
use crate::failure::{Done, Exit, Failure};
use crate::output::{places, printer};

/// Maximum size of a result. A job has at most about 15,000 bins of about 25 bytes each.
const MOST_BYTES: u64 = 64 << 20;
/// Default of `--skew-limit`: several times the usual difference between the clocks of hosts in one network.
const SKEW_LIMIT: Duration = Duration::from_millis(100);
/// Maximum number of results, which are compared in pairs.
const MOST_RESULTS: usize = 1_000;

/// Combines the results in the files that `--merge` specifies.
pub fn run(cli: &Cli, options: &Load) -> Done {
    check(options)?;
    let count = options.merge.len();
    if let Some(hosts) = options.hosts.filter(|hosts| *hosts != count) {
        let text =
            format!("the results are not merged, because --hosts is {hosts}, but there are {count} results");
        return Err(Failure::text(Exit::Regressed, text));
    }
    let given: Vec<Given> = options.merge.iter().map(|path| read(path)).collect();
    let combined = hosts::combine(&given, options.skew_limit.unwrap_or(SKEW_LIMIT))
        .map_err(|problems| invalid(&problems))?;
    if cli.json || options.output_format == OutputFormat::Json {
        return printer::print_document(&combined.document());
    }
    printer::print(&combined.text())
}

/// Rejects load options, which would have no effect.
fn check(options: &Load) -> Done {
    if options.merge.is_empty() {
        let option = if options.hosts.is_some() { "hosts" } else { "skew-limit" };
        return Err(usage(format!("--{option} applies to results that are merged; add --merge")));
    }
    let fios =
        options.words.given().iter().map(|(name, _)| *name).chain(options.words.ignored().iter().copied());
    let simulated = (!options.sim_faults.given().is_empty()).then_some("sim-fault");
    if let Some(name) = fios.chain(simulated).next() {
        return Err(usage(format!("--{name} has no effect on results that are merged; remove it")));
    }
    if options.output_format == OutputFormat::Terse {
        return Err(usage("merged results have no terse form; use --json".into()));
    }
    if !(2..=MOST_RESULTS).contains(&options.merge.len()) {
        return Err(usage(format!("--merge combines 2 to {MOST_RESULTS} results")));
    }
    Ok(())
}

fn read(path: &Path) -> Given {
    let content = stdx::files::read_text(path, Links::Followed, MOST_BYTES);
    let content = content.map_err(|error| match error {
        ReadError::System(error) => record::errno::reason(&error),
        other => other.to_string(),
    });
    Given { file: places::text_of(path), content }
}

fn invalid(problems: &[Problem]) -> Failure {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    let listed: Vec<Value> = problems
        .iter()
        .map(|problem| json!({ "file": problem.file, "problem": problem.trouble.to_string() }))
        .collect();
    let text = format!(
        "the results are not merged, because a result that lacks a host is not valid: {}",
        lines.join("; ")
    );
    Failure::text(Exit::Regressed, text).with_document(json!({ "problems": listed }))
}
