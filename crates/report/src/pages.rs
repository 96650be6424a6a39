//! The pages of a report in reading order, and the plain text of each. HTML and PDF both take their titles,
//! banners, tables and notes from these modules, so that their content is the same.

pub(crate) mod annexes;
pub(crate) mod banners;
pub(crate) mod cells;
pub(crate) mod cover;
pub(crate) mod front;
pub(crate) mod header;
pub(crate) mod list;
pub(crate) mod notes;
pub(crate) mod remarks;
pub(crate) mod test_summary;
pub(crate) mod titles;
pub(crate) mod values;
