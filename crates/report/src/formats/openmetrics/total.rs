//! Amounts of a test: as measured or, for an imported run, as stated in the file.

use record::{Event, ImportedTest};

use super::super::format::Source;
use crate::facts::answers::answers;

/// Amounts of a test; None if they are not known, as for most files from other tools.
pub(super) struct Total {
    pub written_bytes: Option<u64>,
    pub io_errors: Option<u64>,
}

pub(super) fn of_test(source: Source<'_>, test: &str) -> Total {
    if source.document.run.origin.is_some() {
        let mut all = source.entries.iter().filter_map(|entry| match &entry.event {
            Event::Imported(imported) if imported.test == test => Some(imported),
            _ => None,
        });
        return all.next().map_or(Total { written_bytes: None, io_errors: None }, stated);
    }
    let all = answers(source.entries);
    let mut of_test = all.iter().filter(|answer| answer.test == test).peekable();
    let is_started = of_test.peek().is_some();
    let written_bytes = of_test.map(|answer| answer.segment.write.bytes).sum();
    let failed = pts::failures(test, source.entries);
    Total {
        written_bytes: is_started.then_some(written_bytes),
        io_errors: Some(failed.iter().map(|failed| failed.count).sum()),
    }
}

/// Returns the totals stated in the file. If the file contains no total, the bytes written are summed over all
/// workloads.
fn stated(test: &ImportedTest) -> Total {
    let exported = test.exported.as_ref();
    let each = test.readings.iter().map(|reading| reading.write.as_ref().map(|way| way.bytes));
    let sum = || each.sum::<Option<u64>>().filter(|_| !test.readings.is_empty());
    Total {
        written_bytes: exported.and_then(|exported| exported.written_bytes).or_else(sum),
        io_errors: exported.and_then(|exported| exported.io_errors),
    }
}
