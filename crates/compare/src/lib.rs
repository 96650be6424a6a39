//! Compares the figures of several runs, and determines whether the differences between them exceed the noise.
//! Also contains the pages and formats of comparisons. The first run is the baseline; no run is called better
//! without considering the spread of both runs.
//!
//! The `report` crate defines what a run is, and how it is evaluated, drawn and described.
#![forbid(unsafe_code)]

mod address;
mod authored;
mod candidate;
mod card;
mod comparison;
mod data;
mod devices;
mod group;
mod html;
mod noise;
mod overlays;
mod pdf;
mod sections;
mod selected;
mod statistics;
mod sweeps;
mod text;
mod threshold;
mod trend;
mod trend_data;
mod trend_page;
mod warnings;
mod wording;

pub use address::address;
pub use authored::Authored;
pub use candidate::Candidate;
pub use card::card;
pub use comparison::{Comparison, Line, MINIMUM_RUNS};
pub use data::{csv, json};
pub use group::{Group, GroupBy};
pub use html::{html, html_within};
pub use noise::{Difference, Finding};
pub use pdf::pdf;
pub use report::parts::Figure;
pub use statistics::Summary;
pub use text::text;
pub use threshold::{Limit, Operator, Threshold, ThresholdMatch};
pub use trend::{Control, Drift, FirmwareChange, Point, Trend, trend_text};
pub use trend_data::{trend_csv, trend_json};
pub use trend_page::trend_html;
pub use warnings::Warning;
pub use wording::difference;
