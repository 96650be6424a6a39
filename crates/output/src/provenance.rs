//! Reports that a run in the library is a copy, or that its directory was renamed.

use record::Run;

/// Returns how the run differs from one recorded in this library, one line per difference; empty for most runs.
pub fn provenance(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    match transfer::mark_of(run) {
        Ok(mark) => lines.extend(mark.map(|mark| mark.words())),
        Err(_) => lines.push(format!("a copy, but {} cannot be read", transfer::COPIED)),
    }
    if !run.has_own_name() {
        let name = run.name().to_string_lossy();
        lines.push(format!("its directory has another name: {}", stdx::text::on_one_line(&name)));
    }
    lines
}
