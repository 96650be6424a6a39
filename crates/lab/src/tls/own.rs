//! The self-signed certificate of a server. It is generated once and kept, so that browsers that trust it continue
//! to do so; it is replaced when the names of the server have changed or it is about to expire.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use serde::{Deserialize, Serialize};
use stdx::files::OwnedFolder;

use super::der;
use super::issue::{Issued, Name, issue};
use super::supplied::{certified, check_private};
use crate::error::ServeError;

/// The key with its certificate.
const FILE: &str = "tls.json";
/// The certificate alone, for browsers and programs that should trust it.
const PUBLIC_FILE: &str = "tls-certificate.pem";
/// Name of a file while it is being written.
const NEXT: &str = "tls.next";
const MOST_FILE_BYTES: u64 = 1 << 20;

/// Some systems do not accept certificates that are valid for more than 825 days.
const VALID: SignedDuration = SignedDuration::from_hours(820 * 24);
/// The clocks of browsers' hosts may be slow.
const BEFORE: SignedDuration = SignedDuration::from_hours(24);
/// Remaining validity at which a certificate is replaced.
const RENEW: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A kept certificate.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Names for which the certificate was issued, in order.
    names: Vec<String>,
    /// PEM.
    certificate: String,
    /// PEM.
    key: String,
}

/// Returns the path of the file that contains only the certificate.
pub fn public_file(folder: &Path) -> PathBuf {
    folder.join(PUBLIC_FILE)
}

/// Returns the kept certificate, or a new one if there is none that is for these names and remains valid long
/// enough.
pub fn load_or_issue(folder: &Path, names: &[Name], now: Timestamp) -> Result<CertifiedKey, ServeError> {
    if let Some(kept) = kept(folder, names)?.filter(|pair| !is_due(pair, now)) {
        return Ok(kept);
    }
    let from = now.checked_sub(BEFORE).unwrap_or(Timestamp::MIN);
    let issued = issue(names, from, now.checked_add(VALID).unwrap_or(Timestamp::MAX))?;
    let kept = Kept {
        names: names.iter().map(Name::to_string).collect(),
        certificate: pem("CERTIFICATE", &issued.certificate),
        key: pem("PRIVATE KEY", &issued.key),
    };
    keep(folder, &kept).map_err(|source| ServeError::KeepCertificate { path: folder.join(FILE), source })?;
    let Issued { certificate, key } = issued;
    let key = PrivateKeyDer::try_from(key).map_err(|_| ServeError::KeyGeneration)?;
    certified(vec![CertificateDer::from(certificate)], key).map_err(|_| ServeError::KeyGeneration)
}

/// Returns whether a certificate must be replaced because it is not valid or will soon expire.
pub fn is_due(pair: &CertifiedKey, now: Timestamp) -> bool {
    let validity = pair.cert.first().and_then(|certificate| der::validity(certificate));
    let renew = |until: Timestamp| until.checked_sub(RENEW).unwrap_or(Timestamp::MIN);
    validity.is_none_or(|(from, until)| now < from || now >= renew(until))
}

/// Returns the kept certificate; None if there is none for these names, or if the file is damaged.
fn kept(folder: &Path, names: &[Name]) -> Result<Option<CertifiedKey>, ServeError> {
    let path = folder.join(FILE);
    let failed = |source: std::io::Error| ServeError::KeepCertificate { path: path.clone(), source };
    let Some(opened) = OwnedFolder::open(folder).map_err(|error| failed(error.into()))? else {
        return Ok(None);
    };
    let Some(file) = opened.file(FILE).map_err(|error| failed(error.into()))? else { return Ok(None) };
    // Whoever has read the key can impersonate the server.
    check_private(&file).map_err(|why| ServeError::Certificate { path: path.clone(), why })?;
    let mut text = Vec::new();
    file.take(MOST_FILE_BYTES).read_to_end(&mut text).map_err(failed)?;
    let Ok(kept) = serde_json::from_slice::<Kept>(&text) else { return Ok(None) };
    if !names.iter().map(Name::to_string).eq(kept.names.iter().cloned()) {
        return Ok(None);
    }
    let certificate = CertificateDer::from_pem_slice(kept.certificate.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(kept.key.as_bytes());
    let (Ok(certificate), Ok(key)) = (certificate, key) else { return Ok(None) };
    Ok(certified(vec![certificate], key).ok())
}

fn keep(folder: &Path, kept: &Kept) -> std::io::Result<()> {
    let folder = OwnedFolder::make(folder)?;
    let replace = |name: &str, mode: u32, text: &[u8]| -> std::io::Result<()> {
        folder.remove(NEXT)?;
        let mut file = folder.new_file(NEXT)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(text)?;
        file.sync_all()?;
        folder.rename(NEXT, name)?;
        Ok(folder.sync()?)
    };
    replace(FILE, 0o600, &serde_json::to_vec_pretty(kept)?)?;
    replace(PUBLIC_FILE, 0o644, kept.certificate.as_bytes())
}

fn pem(label: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    const LINE_BYTES: usize = 64;
    let encoded = base64::prelude::BASE64_STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, next) = rest.split_at(rest.len().min(LINE_BYTES));
        text.push_str(line);
        text.push('\n');
        rest = next;
    }
    text + &format!("-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Unusable;

    fn names(all: &[&str]) -> Vec<Name> {
        all.iter().map(|name| Name::Host((*name).into())).collect()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_certificate_is_kept_until_its_names_or_its_expiry_demand_another() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("lab");
        let get = |names: &[Name], now: Timestamp| {
            let pair = load_or_issue(&folder, names, now).expect("a certificate");
            pair.cert[0].to_vec()
        };
        let (one, two) = (names(&["localhost"]), names(&["lab.example", "localhost"]));
        let begun = at("2026-03-01T12:00:00Z");
        let first = get(&one, begun);
        assert_eq!(der::validity(&first), Some((begun - BEFORE, begun + VALID)));
        let mode = std::fs::metadata(folder.join(FILE)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(get(&one, begun), first);
        let last = begun + VALID - RENEW;
        assert_eq!(get(&one, last - SignedDuration::from_secs(1)), first);
        let renewed = get(&one, last);
        assert_ne!(renewed, first, "it would expire soon");
        let late = last + VALID + SignedDuration::from_secs(1);
        assert_ne!(get(&one, late), renewed, "it has expired");
        let early = get(&one, begun);
        assert_eq!(
            der::validity(&early),
            Some((begun - BEFORE, begun + VALID)),
            "the kept one is not yet valid"
        );
        let other = get(&two, begun);
        assert_ne!(other, early, "the server has another name");
        assert_eq!(get(&two, begun), other);
        let public = std::fs::read(public_file(&folder)).expect("a file");
        assert_eq!(CertificateDer::from_pem_slice(&public).expect("a certificate").to_vec(), other);
    }

    #[test]
    fn a_damaged_file_is_replaced_and_a_readable_key_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("lab");
        let now = at("2026-03-01T12:00:00Z");
        let get = || load_or_issue(&folder, &names(&["localhost"]), now);
        let first = get().expect("a certificate").cert[0].to_vec();
        let file = folder.join(FILE);
        let text = std::fs::read_to_string(&file).expect("a file");
        // The key of another certificate.
        let other = issue(&[], now, now + VALID).expect("a certificate");
        let mut kept: Kept = serde_json::from_str(&text).expect("JSON");
        kept.key = pem("PRIVATE KEY", &other.key);
        for damaged in ["", "{", &text.replace("BEGIN", "END"), &serde_json::to_string(&kept).expect("JSON")]
        {
            std::fs::write(&file, damaged).expect("a file");
            assert_ne!(get().expect("a new certificate").cert[0].to_vec(), first, "{damaged}");
        }
        for mode in [0o640, 0o604] {
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).expect("permissions");
            let error = get().map(|_| ()).expect_err("others may read the key");
            let is_exposed = matches!(&error, ServeError::Certificate { why: Unusable::Exposed { mode: found, .. }, .. } if *found == mode);
            assert!(is_exposed, "{error}");
        }
    }
}
