//! What a running server reports to whoever started it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use record::wall_now;
use transfer::TransferError;
use transfer::protocol::{Kind, Problem};

use crate::error::ServeError;
use crate::tls::{Certificate, Certificates};

/// Interval at which the certificate's files and expiry are checked.
const CHECK_CERTIFICATE_EVERY: Duration = Duration::from_secs(2);

/// Shortest time between two reports of runs that could not be stored. Senders try again at least every minute.
const REPORT_TROUBLE_EVERY: Duration = Duration::from_secs(60);

/// What a running server reports.
#[derive(Debug)]
pub enum Announcement<'a> {
    /// The link for the next browser.
    Link(&'a str),
    /// New connections use another certificate.
    Certificate(&'a Certificate),
    /// The certificate was to be replaced, but the new one cannot be used; the previous one remains in use.
    CertificateKept(&'a ServeError),
    /// A run sent by another host could not be stored.
    NotStored {
        /// Name of the sender.
        sender: &'a str,
        /// The reason.
        error: &'a TransferError,
    },
}

/// Receives what the server reports.
pub type Announce = Arc<dyn Fn(Announcement<'_>) + Send + Sync>;

/// Reports runs that could not be stored, but not every attempt by every sender.
pub struct Troubles {
    announce: Announce,
    last: Mutex<Option<Instant>>,
}

impl Troubles {
    pub fn reported_to(announce: Announce) -> Self {
        Self { announce, last: Mutex::default() }
    }

    /// Reports an error that exceeds one of the server's limits, or that has its cause in the server, because
    /// the sender does not learn that cause.
    pub fn report(&self, sender: &str, error: &TransferError) {
        let is_limit = matches!(error, TransferError::TooLarge { .. });
        if !is_limit && Problem::of(error).problem != Kind::Unavailable {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= REPORT_TROUBLE_EVERY) {
            *last = Some(Instant::now());
            (self.announce)(Announcement::NotStored { sender, error });
        }
    }
}

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
