//! The conclusions of a test or a run: its outcome, its page header, and its deviations from the profile.
//! Conclusions are data, and each kind is formatted in one place. This module runs no tests.

pub(crate) mod acceptance;
pub(crate) mod deviation;
pub(crate) mod ending;
pub(crate) mod failures;
pub(crate) mod header;
pub(crate) mod incidents;
pub(crate) mod judged_loop;
pub mod mark;
pub(crate) mod modified;
pub(crate) mod outcome;
pub(crate) mod write_cache;
