//! A table of a test's workloads as text.

/// Rows of cell texts, each starting with the name of the workload.
pub(crate) struct WorkloadTable {
    /// Describes the values.
    pub caption: String,
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Fractions of the width in print.
    pub shares: Vec<f64>,
}
