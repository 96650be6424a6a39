//! Loop devices over images created by a test.

#[path = "../../../device/tests/support/loop_device.rs"]
mod shared;

use std::path::Path;

pub use shared::Loop;

use super::Bench;

pub const SIZE: u64 = 32 << 20;

/// Attaches a loop device over a new image of [`SIZE`]. If that is impossible, prints the reason and returns
/// `None`.
pub fn attach(image: &Path, options: &[&str]) -> Option<Loop> {
    std::fs::File::create(image).and_then(|f| f.set_len(SIZE)).expect("an image");
    Loop::over(image, options)
}

/// Returns the identity that confirms the erasure of `device`.
pub fn identity(bench: &Bench, device: &str) -> String {
    bench.json(&["info", device])["target"]["identity"].as_str().expect("an identity").to_owned()
}
