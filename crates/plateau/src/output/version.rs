//! The Plateau version. The build script determines the commit (`crates/plateau/build.rs`).

/// The version of the package.
pub const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// Text that `--version` prints after the program's name.
pub const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("PLATEAU_BUILD_COMMIT_TEXT"),
    "\ntarget: ",
    env!("PLATEAU_BUILD_TARGET")
);

/// Returns the git commit that the program was built from, marked if the sources differed from it; `None` if
/// unknown, as in debug builds.
#[must_use]
pub fn commit() -> Option<&'static str> {
    Some(env!("PLATEAU_BUILD_COMMIT")).filter(|commit| !commit.is_empty())
}
