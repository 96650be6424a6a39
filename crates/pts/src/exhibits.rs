//! Results as data for renderers: kinds of exhibit, and the pages that several tests share. Pages that only
//! one test has are in the folder of that test.

pub mod exhibit;
pub(crate) mod reading;
pub mod response;
pub(crate) mod sweep;
pub(crate) mod unit;
pub(crate) mod window_pages;
