//! Journal in, document out.
//!
//! A report is a function of a run and its journal: the same journal yields the same bytes. This crate performs no I/O,
//! reads no clock, and knows kinds of exhibits but no individual tests. [`fold`] judges the journal with
//! [`pts::replay()`], [`html`] lays out the outcomes as PTS report pages, and [`chart`] draws.
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
