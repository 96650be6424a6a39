//! Creates reports from journals.
//!
//! A report is a function of a run and its journal: the same journal yields the same bytes. This crate performs no
//! I/O and reads no clock. The crate distinguishes kinds of exhibits but not individual tests.
//!
//! From journal to document: `facts` are read from the journal, [`fold()`] collects them in a [`Document`],
//! `pages` determine the text of each page, and [`formats`] write them as HTML, PDF and data. The `charts`
//! crate draws the charts; the `compare` crate builds on [`parts`].
#![forbid(unsafe_code)]

pub mod formats;
pub mod parts;

mod document;
mod facts;
mod pages;

pub use document::contents::Document;
pub use document::findings::{Findings, findings};
pub use document::fold::fold;
pub use document::publication::{Logo, Publication};
pub use facts::conformance::{Clause, Conformance, Verdict};
pub use facts::supplement::latest::{Latest, latest};
pub use formats::html::{Around, html, html_within};
pub use formats::pdf::pdf;
pub use formats::text::text_table;
