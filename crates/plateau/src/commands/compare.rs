//! `plateau compare RUN RUN...`: results of several runs side by side, and whether they differ by more than noise.

use std::path::{Path, PathBuf};

use ::compare::{Authored, Candidate, Comparison, GroupBy, MINIMUM_RUNS, Threshold, ThresholdMatch};
use serde_json::json;
use stdx::units::grouped;

use crate::cli::{Cli, Compare};
use crate::failure::{Done, Exit, Failure};
use crate::output::extension;
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::report_file;
use crate::run::lifecycle;

pub fn run(cli: &Cli, options: &Compare) -> Done {
    let thresholds: Vec<Threshold> = options
        .fail_if
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, String>>()
        .map_err(|text| Failure::text(Exit::Usage, format!("--fail-if: {text}")))?;
    let files = [&options.html, &options.pdf, &options.csv];
    let files = || files.iter().filter_map(|path| path.as_deref());
    file::check(files(), cli.json)?;
    for (ends, path) in
        [(&["html", "htm"][..], &options.html), (&["pdf"], &options.pdf), (&["csv"], &options.csv)]
    {
        let Some(path) = path else { continue };
        extension::check_name(ends[0], ends, path).map_err(|text| Failure::text(Exit::Usage, text))?;
    }
    options.card.as_deref().map_or(Ok(()), file::check_folder_of_output)?;
    let (comparison, reports) = read(cli, options)?;
    let mut matched: Vec<ThresholdMatch> = Vec::new();
    for threshold in &thresholds {
        let found = threshold.matches(&comparison);
        matched.extend(found.map_err(|text| Failure::text(Exit::Usage, format!("--fail-if: {text}")))?);
    }
    write(options, &comparison, &reports)?;
    let mut document = ::compare::json(&comparison);
    document["fail_if"] = matched
        .iter()
        .map(
            |h| json!({ "key": h.key, "percent": h.percent, "value": h.value, "unit": h.unit, "run": h.run }),
        )
        .collect();
    document["html"] = json!(options.html.as_deref().map(places::text_of));
    document["pdf"] = json!(options.pdf.as_deref().map(places::text_of));
    document["csv"] = json!(options.csv.as_deref().map(places::text_of));
    document["card"] = json!(options.card.as_deref().map(places::text_of));
    let streamed = files().any(file::is_stdout);
    if !cli.json && !streamed {
        printer::print(&::compare::text(&comparison, options.all))?;
    } else if cli.json && matched.is_empty() {
        printer::print_json(&document)?;
    }
    if matched.is_empty() {
        if !thresholds.is_empty() && !cli.json && !streamed {
            printer::print(&format!("\nno --fail-if condition is met: {}", options.fail_if.join("; ")))?;
        }
        return Ok(());
    }
    let each: Vec<String> = matched.iter().map(in_words).collect();
    let problem = format!("a --fail-if condition is met: {}", each.join("; "));
    Err(Failure::text(Exit::Regressed, problem).with_document(document))
}

fn in_words(found: &ThresholdMatch) -> String {
    let what = match found.percent {
        Some(percent) => format!("{percent:+.*} %", found.decimals),
        None => format!("{} {}", grouped(found.value, found.decimals), found.unit),
    };
    format!("{} {what} ({})", found.key, found.run)
}

fn write(options: &Compare, comparison: &Comparison, reports: &[PathBuf]) -> Done {
    let authored = Authored {
        key_points: options.key_point.clone(),
        notes: options.note.clone(),
        watermark: options.watermark.clone(),
        links: Vec::new(),
    };
    if let Some(path) = &options.html {
        let links = reports.iter().map(|report| link(path, report)).collect();
        let page = ::compare::html(comparison, &Authored { links, ..authored.clone() });
        file::file(path, page.as_bytes())?;
    }
    if let Some(path) = &options.pdf {
        let bytes =
            ::compare::pdf(comparison, &authored).map_err(|text| Failure::text(Exit::Internal, text))?;
        file::file(path, &bytes)?;
    }
    if let Some(path) = &options.csv {
        file::file(path, ::compare::csv(comparison).as_bytes())?;
    }
    if let Some(path) = &options.card {
        let files =
            ::compare::card(comparison, &authored).map_err(|text| Failure::text(Exit::Internal, text))?;
        file::folder(path, &files)?;
    }
    Ok(())
}

/// Returns the address of `report` relative to `from`, the file that refers to it; `None` if there is no
/// report, or if `from` is standard output.
fn link(from: &Path, report: &Path) -> Option<String> {
    if file::is_stdout(from) || !report.is_file() {
        return None;
    }
    let folder = match from.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => folder.canonicalize().ok()?,
        None => std::env::current_dir().ok()?.canonicalize().ok()?,
    };
    Some(::compare::address(&folder, &report.canonicalize().ok()?))
}

/// Reads the runs. Returns the comparison, and the path where each run's report is expected.
fn read(cli: &Cli, options: &Compare) -> Done<(Comparison, Vec<PathBuf>)> {
    let library = places::library(cli.library.as_deref())?;
    let names: Vec<&String> = options.against.iter().chain(&options.runs).collect();
    if names.len() < MINIMUM_RUNS {
        let text = format!(
            "a comparison needs at least {MINIMUM_RUNS} runs, including those after --against, such as \
             `plateau compare latest latest~1`; {} specified",
            names.len()
        );
        return Err(Failure::text(Exit::Usage, text));
    }
    let (mut candidates, mut incomplete) = (Vec::with_capacity(names.len()), Vec::new());
    let mut reports = Vec::with_capacity(names.len());
    for name in names {
        let run = match library.find(name) {
            Err(_) if extension::by_extension(name.as_ref()).is_ok() => {
                let text =
                    format!("{name} is not a run; to write a file, use its option, such as --pdf {name}");
                return Err(Failure::text(Exit::Usage, text));
            }
            found => found?,
        };
        let loaded = run.load()?;
        if !lifecycle::is_complete(&loaded) {
            incomplete.push(run.file.id.clone());
        }
        reports.push(report_file::path(&run));
        let candidate = Candidate::of(&run.file, &loaded);
        candidates.push(candidate.map_err(|text| Failure::text(Exit::Run, text).of_run(&run.file.id))?);
    }
    let comparison = Comparison::of(candidates).map_err(|text| {
        let hint = match &incomplete[..] {
            [] => String::new(),
            ids => format!(" (not complete: {})", ids.join(", ")),
        };
        Failure::text(Exit::Usage, text + &hint)
    })?;
    let by = GroupBy::NAMES.iter().find(|(name, _)| options.group_by.as_deref() == Some(name));
    let comparison = match by {
        Some((_, by)) => comparison.grouped_by(*by),
        None => comparison,
    };
    Ok((comparison, reports))
}
