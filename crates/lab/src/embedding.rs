//! What a service that embeds the server, to have its metrics scraped, adds to the metrics of the library.

/// A metric of the service, without labels.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Name, without the suffix of a counter.
    pub name: &'static str,
    /// One sentence that explains it.
    pub help: &'static str,
    /// The current value.
    pub value: f64,
    /// Whether the value only grows while the service runs.
    pub is_counter: bool,
}

/// Returns the current metrics of the service.
pub type ReadMetrics = Box<dyn Fn() -> Vec<Metric> + Send + Sync>;
