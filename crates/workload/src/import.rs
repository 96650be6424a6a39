//! Imports another tool's trace.

use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use stdx::Flow;
use trace::{Choice, FORMATS};

use crate::answer::Answer;
use crate::args::TraceImport;
use crate::error::WorkloadError;
use crate::files;

/// Imports a file, or standard input, to `output`.
///
/// # Errors
/// Returns an error if the input cannot be read or contains no I/O.
pub fn import(options: &TraceImport, output: &mut File, stop: &AtomicBool) -> Result<Answer, WorkloadError> {
    let input: Box<dyn Read> = if options.file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(files::open_any(&options.file)?)
    };
    let format = options.format.as_deref();
    let choice = Choice {
        format: FORMATS.iter().find(|known| Some(known.name) == format),
        volume: options.volume.as_deref(),
        name: &files::name(&options.file),
    };
    let on_progress = &mut |_| if stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue };
    let imported = trace::import(input, BufWriter::new(output), &choice, on_progress);
    let (_, imported) = imported.map_err(|error| files::of_trace(&options.file, error))?;
    let summary = imported.summary;
    let document = json!({
        "trace": options.output.to_string_lossy(),
        "format": imported.format.name,
        "volume": imported.volume,
        "ios": summary.ios,
        "completed": summary.completed,
        "read_bytes": summary.read_bytes,
        "written_bytes": summary.written_bytes,
        "length_ns": summary.end_ns,
        "end_bytes": summary.end_bytes,
        "lost_events": summary.lost_events,
        "moved": summary.moved,
        "lines": imported.lines,
        "bad_lines": imported.bad_lines,
        "complaints": imported.complaints.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "unmatched": imported.unmatched,
        "other_volumes": imported.other_volumes,
    });
    let text = format!("{}\n{}", imported.text(), options.output.display());
    Ok(Answer { warnings: imported.warnings(), text, document, files: Vec::new() })
}
