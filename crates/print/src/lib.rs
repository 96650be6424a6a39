//! Draws pages and pictures: text in embedded fonts, lines and charts, as PDF or PNG.
//!
//! The `report` and `compare` crates determine a page's content; this crate handles only positions, tables,
//! fonts and colours. The same input produces the same bytes on every machine.
#![forbid(unsafe_code)]

mod drawn;
pub mod fonts;
pub mod grid;
mod press;
pub mod raster;
pub mod sheet;
pub mod writer;
