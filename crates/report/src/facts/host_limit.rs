//! The remark that accompanies charts of tests with host-limited cells.

/// Returns the remark below charts of a test with `count` host-limited cells.
pub(crate) fn chart_remark(count: &str) -> String {
    format!("HOST-LIMITED: {count} of this test; in charts they may reflect the host rather than the drive.")
}
