//! What a machine needs and this host lacks.

/// A missing requirement, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub String);
