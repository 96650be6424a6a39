//! One check, and the group of those in one file.

use super::lab::Lab;

/// Related checks in one file.
pub struct Group {
    /// Name that FILTER matches.
    pub name: &'static str,
    /// A guest command that succeeds if the program has the checked feature.
    pub needs: Option<&'static str>,
    pub checks: &'static [Check],
}

/// One check.
pub struct Check {
    /// What it proves.
    pub name: &'static str,
    /// Whether `cargo xtask ci` runs it.
    pub ci: bool,
    pub run: fn(&mut Lab) -> anyhow::Result<()>,
}

/// Options for a short test, except for the cell length, which each check sets.
pub const SHORT: &str = "--profile pts-e-1.0 --max-rounds 5 --tc 1 --qd 2";
