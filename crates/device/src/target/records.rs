//! Records of runs, which must not be overwritten: recognized by their content and by their libraries.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::usage::{self, Thing};

/// Alignment that is sufficient for direct I/O on every device.
const ALIGNMENT_BYTES: usize = 4096;

/// Returns whether a file or device starts like one of a run's files, wherever it is stored.
pub(super) fn begins_as_record(file: impl AsFd) -> bool {
    let mut aligned = vec![0u8; 2 * ALIGNMENT_BYTES];
    let start = aligned.as_ptr().align_offset(ALIGNMENT_BYTES);
    let buffer = &mut aligned[start..start + ALIGNMENT_BYTES];
    let read = rustix::io::pread(file, &mut *buffer, 0).unwrap_or(0);
    record::begins_as_file_of_run(&buffer[..read])
}

/// Returns whether the file is in one of the libraries, or in a run's directory in a library.
pub(super) fn are_in(libraries: &[PathBuf], file: Thing) -> bool {
    libraries.iter().any(|library| is_in(library, file))
}

fn is_in(library: &Path, file: Thing) -> bool {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let files = entries(library).into_iter().flat_map(|path| {
        let inside = if path.join("run.json").is_file() { entries(&path) } else { Vec::new() };
        inside.into_iter().chain([path])
    });
    files.into_iter().any(|path| usage::thing_at(&path) == Some(file))
}
