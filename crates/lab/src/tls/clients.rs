//! The certificates of hosts that send their runs, and the authority that must have issued them.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use stdx::files::{Links, ReadError, open};

use super::provider::provider;
use crate::error::{ServeError, Unusable};

/// Size limit of the file.
const MOST_BYTES: u64 = 256 << 10;
const ROOT: u32 = 0;
const OTHERS_MAY_WRITE: u32 = 0o022;

/// Verifies client certificates. Clients without a certificate are also accepted, because browsers have none; a client
/// with any other certificate is refused.
pub fn verifier(authority: &Path) -> Result<Arc<dyn ClientCertVerifier>, ServeError> {
    let failed = |why| ServeError::Certificate { path: authority.into(), why };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authority).map_err(failed)? {
        roots.add(certificate).map_err(|error| failed(Unusable::Rejected(error)))?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(provider()));
    // This fails only if there are no roots, and there is at least one.
    builder.allow_unauthenticated().build().map_err(|_| failed(Unusable::NoCertificate))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Unusable> {
    let file = open(path, Links::Followed)?;
    let found = file.metadata().map_err(ReadError::from)?;
    let (owner, mode) = (found.uid(), found.mode() & 0o7777);
    let acting = rustix::process::geteuid().as_raw();
    // Whoever can change this file decides who may send runs.
    if (owner != acting && owner != ROOT) || mode & OTHERS_MAY_WRITE != 0 {
        return Err(Unusable::Changeable { owner, mode });
    }
    let mut text = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(ReadError::from)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(ReadError::TooLarge { limit_bytes: MOST_BYTES }.into());
    }
    let found: Vec<_> = CertificateDer::pem_slice_iter(&text).collect::<Result<_, _>>().unwrap_or_default();
    if found.is_empty() { Err(Unusable::NoCertificate) } else { Ok(found) }
}
