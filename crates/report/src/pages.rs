//! The pages of a report in the order of reading, and what each says as plain text. Every layout, HTML and PDF alike,
//! takes titles, banners, tables and notes from here, so that all of them say the same.

pub(crate) mod annexes;
pub(crate) mod banners;
pub(crate) mod cells;
pub(crate) mod front;
pub(crate) mod header;
pub(crate) mod list;
pub(crate) mod notes;
pub(crate) mod remarks;
pub(crate) mod test_summary;
pub(crate) mod titles;
pub(crate) mod values;
