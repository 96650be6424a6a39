//! The formats, one module each.

mod fio;
mod format;
mod published;
mod tkperf;

pub use format::Format;

/// All formats, in the order in which they are tried.
pub const FORMATS: &[Format] = &[tkperf::FORMAT, fio::FORMAT, published::FORMAT];
