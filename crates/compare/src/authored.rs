//! Content that the author adds to a comparison. It never changes a figure.

/// Notes, key points, a watermark, and links to the reports of the runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authored {
    /// The author's conclusions, shown before the figures.
    pub key_points: Vec<String>,
    /// Notes, shown after the figures.
    pub notes: Vec<String>,
    /// A watermark for every page, such as DRAFT.
    pub watermark: Option<String>,
    /// Address of each run's report, relative to the HTML file; None if it has none. May be empty.
    pub links: Vec<Option<String>>,
}
