//! Results as data for renderers: kinds of exhibit, and the pages that several tests share. Pages that only
//! one test has are in the folder of that test.

pub mod response;
pub(crate) mod sweep;
pub(crate) mod tail;
pub(crate) mod window_pages;

pub use chartdata::exhibit;

pub(crate) mod reading {
    //! How to read a chart.
    pub use chartdata::ReadingHint;
}

pub(crate) mod unit {
    //! Units of figures.
    pub use chartdata::Unit;
}
