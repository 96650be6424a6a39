//! Detects reads of holes in sparse files, which the kernel itself serves at memory speed.

use std::fs::File;

use record::{TargetFacts, TargetKind, Workload};
use rustix::fs::{Mode, OFlags, SeekFrom};

/// Returns a warning if workloads read a file with holes or with space that was allocated but never written.
pub fn warning<'a>(facts: &TargetFacts, workloads: impl IntoIterator<Item = &'a Workload>) -> Option<String> {
    if facts.kind != TargetKind::File || !workloads.into_iter().any(|workload| workload.read_percent > 0) {
        return None;
    }
    // The file may have been replaced, for example by a pipe; do not wait for the pipe's other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(&facts.path, flags, Mode::empty()).ok()?);
    // The end of a file counts as a hole.
    let first_hole = rustix::fs::seek(&file, SeekFrom::Hole(0)).ok()?;
    (first_hole < file.metadata().ok()?.len()).then(|| {
        format!(
            "warning: {} has holes, and reads of holes do not reach the device; write the whole file first",
            facts.path
        )
    })
}
