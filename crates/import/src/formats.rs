//! The formats of foreign files, one module and one entry in [`FORMATS`] each. The modules only parse; all of
//! them return the same type, `Imported`.

mod exported;
mod fio;
mod format;
mod openmetrics;
mod published;
mod tables;
mod tkperf;

pub use format::Format;

/// All formats, in the order in which they are tried.
pub const FORMATS: &[Format] =
    &[tkperf::FORMAT, exported::FORMAT, fio::FORMAT, openmetrics::FORMAT, published::FORMAT, tables::FORMAT];
