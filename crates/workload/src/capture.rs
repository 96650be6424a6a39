//! Captures the I/Os of a device.

use std::fs::File;
use std::io::BufWriter;

use ::capture::Subject;
use serde_json::json;
use stdx::Flow;
use stdx::units::grouped;

use crate::answer::Answer;
use crate::args::Capture;
use crate::error::WorkloadError;

/// Captures the I/Os of a device to `output` until `wait` stops the capture. `wait` is called repeatedly, and pauses
/// for a short time.
///
/// # Errors
/// Returns an error if the device cannot be captured or has no I/O.
pub fn capture(
    options: &Capture,
    output: &mut File,
    wait: &mut dyn FnMut(u64) -> Flow,
) -> Result<Answer, WorkloadError> {
    let failed = |source| WorkloadError::Capture { path: options.device.clone(), source };
    let subject = Subject::at(&options.device).map_err(failed)?;
    let captured = ::capture::capture(&subject, options.buffer * 1024, BufWriter::new(output), wait);
    let (_, captured) = captured.map_err(failed)?;
    let summary = captured.summary;
    if summary.ios == 0 {
        return Err(WorkloadError::NothingCaptured { path: options.device.clone() });
    }
    let count = |count: u64| grouped(count as f64, 0);
    let mut warnings = Vec::new();
    if summary.lost_events > 0 {
        let lost = count(summary.lost_events);
        warnings.push(format!("{lost} events were lost because a buffer was full; use a larger buffer"));
    }
    if captured.unmatched > 0 {
        let unmatched = count(captured.unmatched);
        warnings.push(format!("{unmatched} completions belong to I/Os that were issued before the capture"));
    }
    if summary.completed < summary.ios {
        let open = count(summary.ios - summary.completed);
        warnings.push(format!("{open} I/Os had not completed at the end of the capture"));
    }
    let document = json!({
        "trace": options.output.to_string_lossy(),
        "ios": summary.ios,
        "completed": summary.completed,
        "read_bytes": summary.read_bytes,
        "written_bytes": summary.written_bytes,
        "length_ns": summary.end_ns,
        "lost_events": summary.lost_events,
        "unmatched": captured.unmatched,
    });
    let text = format!(
        "{}; {} events lost\n{}",
        summary.text(),
        count(summary.lost_events),
        options.output.display()
    );
    Ok(Answer { warnings, text, document, files: Vec::new() })
}
