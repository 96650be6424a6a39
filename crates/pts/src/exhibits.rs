//! Results as data for renderers: kinds of exhibit, and the pages that several tests share. Pages that only
//! one test has are in the folder of that test.

pub mod exhibit;
pub mod response;
pub(crate) mod window_pages;
