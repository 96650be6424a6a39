//! The formats of foreign files, one module and one entry in [`FORMATS`] each. A module only parses: what it finds is the
//! same `Imported` for all formats.

mod fio;
mod format;
mod published;
mod tkperf;

pub use format::Format;

/// All formats, in the order in which they are tried.
pub const FORMATS: &[Format] = &[tkperf::FORMAT, fio::FORMAT, published::FORMAT];
