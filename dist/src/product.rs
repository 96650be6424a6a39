//! The released program, and its build directory.

/// Name of the program, its package and its files.
pub const NAME: &str = "plateau";
/// Build directory, relative to the workspace root.
pub const FOLDER: &str = "target/dist";
