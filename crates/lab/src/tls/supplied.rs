//! A certificate and a key that the operator supplies, as PEM files.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};
use stdx::files::{Links, ReadError, open, read};

use super::provider::provider;
use crate::error::{ServeError, Unusable};

/// Size limits of the files; a chain has a few certificates of about 2 KiB each.
const MOST_CHAIN_BYTES: u64 = 256 << 10;
const MOST_KEY_BYTES: u64 = 64 << 10;

/// Reads a chain of certificates, the server's first, and the key of the server's certificate.
pub fn load(certificate: &Path, key: &Path) -> Result<CertifiedKey, ServeError> {
    let failed = |path: &Path, why: Unusable| ServeError::Certificate { path: path.into(), why };
    let chain = chain(certificate).map_err(|why| failed(certificate, why))?;
    let key_der = private_key(key).map_err(|why| failed(key, why))?;
    certified(chain, key_der).map_err(|why| match why {
        why @ Unusable::NotTheKey => failed(key, why),
        why => failed(certificate, why),
    })
}

/// Returns a certificate with its key, if they belong together and are of a kind that can be used.
pub fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<CertifiedKey, Unusable> {
    let provider = provider();
    let key = provider.key_provider.load_private_key(key).map_err(|_| Unusable::NotTheKey)?;
    let pair = CertifiedKey { cert: chain, key: Arc::clone(&key), ocsp: None };
    match pair.keys_match() {
        Ok(()) => Ok(pair),
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(Unusable::NotTheKey),
        Err(error) => Err(Unusable::Rejected(error)),
    }
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, Unusable> {
    let text = read(path, Links::Followed, MOST_CHAIN_BYTES)?;
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&text).collect::<Result<_, _>>().unwrap_or_default();
    if chain.is_empty() { Err(Unusable::NoCertificate) } else { Ok(chain) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Unusable> {
    // Whoever can replace a symbolic link or the folder that it leads to could choose the key.
    let file = open(path, Links::Refused)?;
    check_private(&file)?;
    let mut text = Vec::new();
    file.take(MOST_KEY_BYTES + 1).read_to_end(&mut text).map_err(ReadError::from)?;
    if text.len() as u64 > MOST_KEY_BYTES {
        return Err(ReadError::TooLarge { limit_bytes: MOST_KEY_BYTES }.into());
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| Unusable::NoKey)
}

/// Checks that only the acting user and root can use a key.
pub fn check_private(file: &File) -> Result<(), Unusable> {
    let found = file.metadata().map_err(ReadError::from)?;
    let (owner, mode) = (found.uid(), found.mode() & 0o7777);
    if is_private(owner, mode, rustix::process::geteuid().as_raw()) {
        return Ok(());
    }
    Err(Unusable::Exposed { owner, mode })
}

/// Returns whether a key is private. Root may grant a service access to a key through the file's group, as with
/// PostgreSQL.
const fn is_private(owner: u32, mode: u32, acting: u32) -> bool {
    if owner == acting { mode & 0o077 == 0 } else { owner == 0 && mode & 0o037 == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_private_to_its_owner_or_granted_by_root_to_a_group() {
        for (owner, mode, is_allowed) in [
            (7, 0o600, true),
            (7, 0o400, true),
            (7, 0o640, false),
            (7, 0o604, false),
            (7, 0o602, false),
            (0, 0o640, true),
            (0, 0o440, true),
            (0, 0o660, false),
            (0, 0o644, false),
            (8, 0o600, false),
            (8, 0o640, false),
        ] {
            assert_eq!(is_private(owner, mode, 7), is_allowed, "owner {owner}, mode {mode:o}");
        }
        assert!(!is_private(0, 0o640, 0), "root needs no group");
    }
}
