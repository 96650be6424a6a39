//! Traces of real workloads: which I/Os an application issued, when, and how long each took.
//!
//! A trace is a compact, checksummed file ([`Writer`], [`Reader`]). [`import`] converts other tools' traces
//! line by line, and [`anonymise`] hides which addresses were accessed. Everything is streamed: memory use does
//! not depend on the length of a trace. Files are untrusted: each length is bounded, and damage is an error,
//! never a panic. This crate opens no file and reads no clock.
#![forbid(unsafe_code)]

mod anonymise;
mod assembly;
mod characteristics;
mod compare;
mod error;
mod file;
mod formats;
pub mod html;
mod import;
mod io;
mod lines;
mod native;
mod numbers;
mod order;
mod pages;
mod pairs;
mod plan;
mod replay;
mod ring;
mod sample;
mod shares;
mod sink;
mod tables;
mod text;

pub use anonymise::anonymise;
pub use assembly::Assembly;
pub use characteristics::{
    Burst, Characteristics, Idle, Region, Reuse, Served, Step, Stream, StreamKind, characterise,
};
pub use compare::{compared, overlap_percent};
pub use error::TraceError;
pub use file::{MAGIC, Origin, Reader, Summary, Writer};
pub use formats::{FORMATS, Format};
pub use import::{Choice, Complaint, Imported, import};
pub use io::{Io, Op};
pub use native::{Native, NativeStep, native};
pub use pages::pages;
pub use plan::{Composite, NoComposite, composite};
pub use replay::{Mapping, NoReplay, ReplayPlan};
pub use ring::{Event, EventLayout, Role, events_of_page};
pub use sample::sample;
pub use shares::Part;
pub use tables::{csv, json, summary};
