//! The data model of a run: every type that a run stores.
//!
//! A run is a directory that contains `run.json` ([`RunFile`]: what was requested, for which device, and on
//! which host) and an append-only journal of [`Event`]s. An event is on disk before it is shown to anyone;
//! everything that Plateau displays or decides is derived from the journal. `docs/reference/journal-format.md`
//! specifies the format.
#![forbid(unsafe_code)]

mod amounts;
mod annotations;
mod chain;
mod check;
mod choices;
mod columns_wire;
mod commands;
mod custom;
mod detail;
pub mod errno;
mod event;
mod exported;
mod exported_cell;
mod file_system;
mod histogram_wire;
mod host;
mod host_share;
mod imported;
mod injected_fault;
mod io_engine;
mod io_path;
mod journal;
mod label;
mod library;
mod library_journal;
mod order;
mod packed_wire;
mod path_choice;
mod plain;
mod plain_array;
mod power;
mod purge_evidence;
mod purge_offer;
mod reducible;
mod regime;
mod run_file;
pub mod run_files;
pub mod run_label;
mod segment;
mod sequence;
mod stated;
pub mod storage;
mod sync;
mod thinktime;
mod tolerated;
mod turn;
mod unknown_wire;
mod verified;
mod wall;
mod weight;
mod workload;
mod zoned;

pub use annotations::{Annotation, Annotations, Baseline, Change, Stamp};
pub use chain::Digest;
pub use check::{CacheChoice, Handling, HostCheck, HostVerdict};
pub use choices::{DirthChoice, SaturationChoice, SaturationLoad, SaturationMarks, SaturationUntil};
pub use commands::{
    Commands, DataPlacement, IoPriority, PriorityShare, ScsiCommands, ScsiWrite, WriteMode, WriteModeShare,
};
pub use custom::{
    CustomAverage, CustomCell, CustomFigure, CustomRounds, CustomStep, CustomTest, CustomWrite, OriginalStep,
    PlanFacts,
};
pub use detail::{PriorityTimes, SegmentDetail};
pub use event::{
    Entry, Estimated, Event, Expense, Health, Judgement, Note, Purged, TestEstimate, VariableJudgement,
};
pub use exported::{
    Exported, ExportedAxis, ExportedChart, ExportedMark, ExportedReason, ExportedRow, ExportedSeries,
    ExportedTable, ExportedVerdict, ExportedWindow,
};
pub use exported_cell::{
    CellPower, Driven, Efficiency, ExportedCell, ExportedFileSystem, ExportedMeter, FileShare, Uncertain,
    WorkloadEfficiency, WorkloadFileShare,
};
pub use file_system::{BelowDevice, BelowDisk, BelowLoad, FileSystemFacts, OnFile};
pub use host::{Ceiling, ClockFacts, CostPerIo, Effort, HostLoad};
pub use host_share::{DEPTH_KEPT_SHARE, HOST_LIMIT_SHARE};
pub use imported::{
    DirectionReading, IMPORTED_FROM, ImportedTest, MarkKind, Origin, Reading, StatedMark, Times, ToldFigure,
};
pub use injected_fault::InjectedFault;
pub use io_engine::IoEngine;
pub use io_path::{Fallback, IoPath, PathRemark};
pub use journal::{
    Detail, Journal, JournalError, Loaded, MAGIC as JOURNAL_MAGIC, MOST_JOURNAL_BYTES, MOST_LINE_BYTES,
    RESCUED as RESCUED_JOURNAL, TornTail, Unverified, VERSION as JOURNAL_VERSION, Verifier, parse_journal,
    read_journal,
};
pub use library::{
    Archived, Candidate, JOURNAL as JOURNAL_FILE, Library, LibraryError, MOST_RUN_FILE_BYTES, RUN_FILE, Run,
    begins_as_file_of_run, is_archive, is_id as is_run_id, is_reserved_id as is_reserved_run_id,
    parse_run_file,
};
pub use library_journal::{LIBRARY_JOURNAL, LibraryJournalError};
pub use order::{Misplaced, Order, check_order};
pub use path_choice::{MeasuredEngine, MeasuredRound, NotMeasured, PathChoice};
pub use plain::printable;
pub use power::{Power, PowerFacts, PowerSubject};
pub use purge_evidence::PurgeEvidence;
pub use purge_offer::{OtherNamespace, WhyNot};
pub use reducible::{Reducible, SharedSet, WorkingSet};
pub use regime::{Arrivals, Offsets, Process, Regime, Regions};
pub use run_file::{
    ArrayFacts, Concurrent, Driving, HostFacts, Labels, MemberFacts, Placement, RUN_FILE_VERSION, RunFile,
    Settings, SimulatedFacts, TargetFacts, TargetKind,
};
pub use segment::{Cut, Direction, ErrorCount, Gap, Segment, Series};
pub use sequence::Sequence;
pub use stated::{Link, Stated};
pub use sync::{EachWrite, Synced, Syncs};
pub use thinktime::ThinkTime;
pub use tolerated::{Errors, Tolerated};
pub use turn::{Turn, TurnError, note, noted, turn_of_run, turn_of_submission, turn_of_target};
pub use verified::{FailedIo, Verified, WrongData, WrongPlace};
pub use wall::{gap_ns, wall_now};
pub use workload::{
    Access, DataPattern, IoKind, Range, Until, Workload, WorkloadError, Zone, notation, read_percent_of,
};
pub use zoned::{EarlyResets, Zoned};
