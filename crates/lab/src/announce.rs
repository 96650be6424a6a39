//! What a running server reports to whoever started it.

use std::sync::Arc;
use std::time::Duration;

use record::wall_now;

use crate::error::ServeError;
use crate::tls::{Certificate, Certificates};

/// Interval at which the files of the certificate and its expiry are checked.
const CHECK_CERTIFICATE_EVERY: Duration = Duration::from_secs(2);

/// What a running server reports.
#[derive(Debug)]
pub enum Announcement<'a> {
    /// The link for the next browser.
    Link(&'a str),
    /// New connections use another certificate.
    Certificate(&'a Certificate),
    /// The certificate was to be replaced, but the new one cannot be used; the previous one remains in use.
    CertificateKept(&'a ServeError),
}

/// Receives what the server reports.
pub type Announce = Arc<dyn Fn(Announcement<'_>) + Send + Sync>;

/// Replaces the certificate when its files have changed or it is about to expire.
pub async fn keep_current(certificates: Arc<Certificates>, announce: Announce) {
    let mut failed = None;
    loop {
        tokio::time::sleep(CHECK_CERTIFICATE_EVERY).await;
        let checked = Arc::clone(&certificates);
        let refreshed = tokio::task::spawn_blocking(move || checked.refresh(wall_now())).await;
        match refreshed {
            Ok(Ok(false)) => {}
            Ok(Ok(true)) => {
                failed = None;
                announce(Announcement::Certificate(&certificates.certificate()));
            }
            // A persistent failure is reported only once.
            Ok(Err(error)) => {
                let text = Some(error.to_string());
                if text != failed {
                    announce(Announcement::CertificateKept(&error));
                    failed = text;
                }
            }
            Err(_) => return,
        }
    }
}
