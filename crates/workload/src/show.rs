//! Shows the content of a trace, and derives a plan from it.

use report::parts::Shell;
use serde_json::{Value, json};
use trace::Characteristics;

use crate::answer::Answer;
use crate::args::{TracePlan, TraceShow};
use crate::error::WorkloadError;
use crate::files;

/// Shows a trace, or compares two.
///
/// # Errors
/// Returns an error if a trace cannot be read.
pub fn show(options: &TraceShow) -> Result<Answer, WorkloadError> {
    let first = (files::name(&options.trace), files::characterised(&options.trace)?);
    let second = match &options.other {
        Some(path) => Some((files::name(path), files::characterised(path)?)),
        None => None,
    };
    let all: Vec<&(String, Characteristics)> = std::iter::once(&first).chain(&second).collect();
    let html = options.html.iter().map(|path| (path.clone(), html(&all).into_bytes()));
    let csv = options.csv.iter().map(|path| (path.clone(), trace::csv(&first.1).into_bytes()));
    let (text, document) = match &second {
        None => (trace::summary(&first.1), trace::json(&first.1)),
        Some(second) => (
            trace::compared([&first.0, &second.0], [&first.1, &second.1]),
            json!({
                "traces": [trace::json(&first.1), trace::json(&second.1)],
                "streams_in_common_percent": trace::overlap_percent(&first.1, &second.1),
            }),
        ),
    };
    Ok(Answer { text, document, files: html.chain(csv).collect(), warnings: Vec::new() })
}

fn html(all: &[&(String, Characteristics)]) -> String {
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let title = format!("Workload of {}", names.join(" and "));
    let pages: Vec<_> = all.iter().map(|(name, one)| (name.clone(), trace::pages(one))).collect();
    let content = trace::html::content(&title, &pages);
    Shell { title: &title, style: trace::html::STYLE, class: "", content: &content, script: None }.html()
}

/// Derives a plan from the dominant streams of a trace.
///
/// # Errors
/// Returns an error if the trace cannot be read or has no streams that a plan can use.
pub fn plan(options: &TracePlan) -> Result<Answer, WorkloadError> {
    let characteristics = files::characterised(&options.trace)?;
    let composite = trace::composite(&characteristics)
        .map_err(|source| WorkloadError::NoPlan { path: options.trace.clone(), source })?;
    let native = trace::native(&characteristics, options.steps.map(usize::from));
    let plan = composite.plan(&files::name(&options.trace), &native);
    let stream = |part: &trace::Part| -> Value {
        json!({ "name": part.kind.to_string(), "share_percent": part.share_percent })
    };
    let document = json!({
        "plan": options.output.to_string_lossy(),
        "covered_percent": composite.covered_percent,
        "covered_bytes_percent": composite.covered_bytes_percent,
        "largest_error": composite.largest_error,
        "depths": composite.depths,
        "steps": native.steps.len(),
        "streams": composite.parts.iter().map(stream).collect::<Vec<_>>(),
    });
    let text = format!("{}\n{}", composite.quality(), options.output.display());
    let files = vec![(options.output.clone(), plan.into_bytes())];
    Ok(Answer { text, document, files, warnings: Vec::new() })
}
