//! A check, and a group of checks in one file.

use vmlab::Lab;

/// Related checks in one file.
pub struct Group {
    /// Name of the group, for FILTER.
    pub name: &'static str,
    /// A guest command that succeeds if the program has the feature to be checked.
    pub needs: Option<&'static str>,
    pub checks: &'static [Check],
}

/// One check.
pub struct Check {
    /// The property that the check verifies.
    pub name: &'static str,
    /// Whether `cargo xtask ci` runs it.
    pub ci: bool,
    pub run: fn(&mut Lab) -> anyhow::Result<()>,
}

/// Options for a short test; each check adds the cell length.
pub const SHORT: &str = "--profile pts-e-1.0 --max-rounds 5 --tc 1 --qd 2";
