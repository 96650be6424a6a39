//! The output of `--verbose`: each step that changes a drive, the host or a journal, after it has been
//! performed.

use log::{LevelFilter, Log, Metadata, Record};

use crate::printer;

struct ToStandardError;

impl Log for ToStandardError {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Messages from third-party libraries are not about the drive.
        let of_us = metadata.target().split("::").next();
        of_us.is_some_and(|part| ["admin", "device", "engine", "plateau", "record"].contains(&part))
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            printer::print_line(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Enables verbose output.
pub fn begin() {
    // No other logger is set in this process.
    let _ = log::set_logger(&ToStandardError);
    log::set_max_level(LevelFilter::Info);
}
