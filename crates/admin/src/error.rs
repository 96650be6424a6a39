//! Errors of administrative commands.
//!
//! Every message is a lowercase fragment: what happened, the likely cause, the next step.

/// A command, or a sequence of them, failed or is not possible.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The device is no longer the one that may be erased, or it is now in use.
    #[error(transparent)]
    Recheck(Box<dyn std::error::Error + Send + Sync>),
    /// The device does not support this purge, or any purge.
    #[error("no purge available: {0}")]
    NoPurge(String),
    /// More than the device would be erased, and this was not confirmed.
    #[error("{0}")]
    AlsoErased(String),
    /// The device failed.
    #[error("{0}")]
    Device(String),
    /// Cancelled while waiting for the device, which continues by itself.
    #[error("{0}")]
    Stopped(String),
    /// The device does not support the request.
    #[error("{0}")]
    Invalid(String),
}

impl AdminError {
    pub(crate) fn device(what: impl Into<String>) -> Self {
        Self::Device(what.into())
    }
}
