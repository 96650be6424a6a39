//! Determines whether a file has been used for another purpose since the run on it was interrupted.
//!
//! A run's confirmation covers only the data that the run itself wrote. A file's content can be replaced
//! without replacing the file itself: `mkfs`, `cp` and `dd` keep its inode.

use std::time::Duration;

use device::FileState;
use jiff::Timestamp;
use record::{Entry, Event};

/// Tolerance for file systems that store times in steps of up to 2 s (FAT).
const TIME_STEP: Duration = Duration::from_secs(2);

/// Returns why the file may contain other data; `None` if there is no evidence. After a crash, the modification
/// time proves nothing, because the run may have written to the file after its last record.
#[must_use]
pub fn evidence(now: &FileState, written_bytes: u64, entries: &[Entry]) -> Option<String> {
    if let Some(signature) = now.signatures.first() {
        return Some(signature.to_string());
    }
    if now.length_bytes < written_bytes {
        return Some(format!("it has {} B, but had at least {written_bytes} B", now.length_bytes));
    }
    // Use the time of the last change of any kind, including renaming, because tools such as `cp -p` set the
    // modification time back.
    let modified = Timestamp::try_from(now.modified).ok()?;
    let stopped = stopped(entries)?;
    (modified > stopped + TIME_STEP).then(|| {
        format!(
            "it was changed or renamed at {modified:.0}, after the interruption of the run at {stopped:.0}"
        )
    })
}

/// Returns the time when the run was stopped cleanly; `None` after a crash.
fn stopped(entries: &[Entry]) -> Option<Timestamp> {
    let since_resumed =
        entries.iter().rev().take_while(|entry| !matches!(entry.event, Event::Resumed { .. }));
    let mut since_resumed = since_resumed.peekable();
    let last = since_resumed.peek()?.wall;
    since_resumed.any(|entry| matches!(entry.event, Event::Interrupted { .. })).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    const BYTES: u64 = 1 << 24;

    fn entry(second: u64, event: Event) -> Entry {
        let wall = Timestamp::try_from(at(second)).expect("a time");
        Entry { seq: second, wall, event }
    }

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    fn interrupted() -> Event {
        Event::Interrupted { reason: "Ctrl-C".into() }
    }

    fn state(length_bytes: u64, second: u64) -> FileState {
        FileState { length_bytes, modified: at(second), signatures: Vec::new() }
    }

    #[test]
    fn a_file_that_was_changed_after_the_interruption_is_suspicious() {
        let stopped = [entry(10, Event::Closed), entry(20, interrupted()), entry(21, Event::Closed)];
        assert_eq!(evidence(&state(BYTES, 20), BYTES, &stopped), None);
        assert_eq!(evidence(&state(BYTES, 23), BYTES, &stopped), None, "coarse times");
        let later = evidence(&state(BYTES, 24), BYTES, &stopped).expect("changed");
        assert!(later.contains("00:00:24Z") && later.contains("00:00:21Z"), "{later}");
    }

    #[test]
    fn after_a_crash_only_content_and_length_count() {
        let resumed = [entry(20, interrupted()), entry(30, Event::Resumed { gap_ns: 1 })];
        for crashed in [&resumed[..], &[], &[entry(10, Event::Closed)]] {
            assert_eq!(evidence(&state(BYTES, 900), BYTES, crashed), None);
            assert!(evidence(&state(BYTES - 1, 5), BYTES, crashed).is_some());
        }
    }

    #[test]
    fn a_signature_is_always_suspicious() {
        let signatures = vec![device::Refusal::OfRun];
        assert!(evidence(&FileState { signatures, ..state(BYTES, 5) }, BYTES, &[]).is_some());
    }
}
