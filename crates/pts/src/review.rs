//! Recorded runs, judged by this build: replayed for reports, and compared with the recorded verdicts.
//! A review never asks a drive; its answers are those of the journal.

pub mod replay;
pub mod verify;
