//! The document contains everything that a report needs, extracted once from a run and its journal, and the
//! caveats that must accompany its numbers. It contains facts, not layout; pages, formats and comparisons
//! only read it.

pub(crate) mod contents;
pub(crate) mod findings;
pub(crate) mod fold;
pub(crate) mod marks;
mod per_watt;
pub(crate) mod publication;
