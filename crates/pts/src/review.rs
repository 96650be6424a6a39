//! Recorded runs as evaluated by this build: replayed for reports and compared with the recorded verdicts. A
//! review never accesses a drive; all results come from the journal.

pub mod replay;
pub mod standing;
pub mod verify;
