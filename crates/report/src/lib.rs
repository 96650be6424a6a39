//! Journal in, document out.
//!
//! A report is a function of a run and its journal: same journal, same bytes. This crate does no I/O,
//! reads no clock, and knows kinds of exhibits but no test by name; [`fold`] judges the journal with
//! [`pts::replay()`], [`html`] lays the outcomes out as the report pages of the PTS, [`chart`] draws.
#![forbid(unsafe_code)]

pub mod chart;
pub mod compare;
pub mod export;

mod answers;
mod beyond;
mod care;
mod conformance;
mod content;
mod document;
mod markup;
mod notes;
mod page;
mod pages;
mod pdf;
mod publication;
mod shell;
mod text;

pub use conformance::{Clause, Conformance, Verdict};
pub use document::{Document, fold};
pub use page::html;
pub use pdf::pdf;
pub use publication::{Logo, Publication};
pub use text::text_table;
