//! Results as data for renderers: exhibit types, and pages shared by several tests. Pages specific to one test are in
//! that test's folder.

pub mod response;
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
