//! TLS: which certificate the server presents, and when it is replaced.

pub mod clients;
mod der;
mod issue;
mod own;
mod provider;
mod supplied;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use follow::Stamp;
use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::error::ServeError;
pub use der::names as names_of_certificate;
use issue::Name;

/// How connections are encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// The server does not encrypt connections.
    Off,
    /// With a supplied certificate.
    Files {
        /// The certificate and those of the authorities that issued it, as PEM.
        certificate: PathBuf,
        /// Its private key, as PEM.
        key: PathBuf,
    },
    /// With a certificate that the server generates.
    SelfSigned,
}

/// The certificate that a server presents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// File with the certificate.
    pub file: PathBuf,
    /// SHA-256 of the certificate, as browsers and OpenSSL show it.
    pub fingerprint: String,
    /// End of its validity; None if that cannot be determined.
    pub expires: Option<Timestamp>,
    /// Whether the server generated it.
    pub is_self_signed: bool,
}

impl Certificate {
    /// Returns whether browsers refuse the certificate because it has expired.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Length and modification time of a supplied certificate and its key.
type Stamps = [Option<Stamp>; 2];

#[derive(Debug)]
enum Source {
    Files { certificate: PathBuf, key: PathBuf },
    Own { folder: PathBuf, names: Vec<Name> },
}

/// The current certificate of a server.
#[derive(Debug)]
pub struct Certificates {
    source: Source,
    current: RwLock<Arc<CertifiedKey>>,
    looks: Mutex<Looks>,
}

/// What is known about supplied files.
#[derive(Debug)]
struct Looks {
    /// The stamps of the files when they were last read and used.
    read: Stamps,
    /// The stamps of the files when they were last checked.
    last: Stamps,
}

impl Looks {
    /// Returns whether the files have changed since they were read but not since the last check: two files are not
    /// replaced at the same moment.
    fn have_changed(&mut self, now: Stamps) -> bool {
        let are_still = now == self.last;
        self.last = now;
        are_still && now != self.read
    }
}

impl Certificates {
    /// Returns the certificate that the options specify; None without TLS. `hosts` are the names of the server.
    pub fn of(
        tls: &Tls,
        hosts: &[String],
        folder: &Path,
        now: Timestamp,
    ) -> Result<Option<Arc<Self>>, ServeError> {
        let source = match tls {
            Tls::Off => return Ok(None),
            Tls::Files { certificate, key } => {
                Source::Files { certificate: certificate.clone(), key: key.clone() }
            }
            Tls::SelfSigned => Source::Own { folder: folder.into(), names: names(hosts)? },
        };
        let stamps = source.stamps();
        let current = RwLock::new(Arc::new(source.load(now)?));
        Ok(Some(Arc::new(Self { source, current, looks: Mutex::new(Looks { read: stamps, last: stamps }) })))
    }

    /// Returns the configuration of connections: TLS 1.2 and 1.3, HTTP/1.1, and client certificates, which `clients`
    /// verifies.
    pub fn config(
        self: &Arc<Self>,
        clients: Option<Arc<dyn ClientCertVerifier>>,
    ) -> Result<ServerConfig, ServeError> {
        let builder = ServerConfig::builder_with_provider(Arc::new(provider::provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(ServeError::Tls)?;
        let has_clients = clients.is_some();
        let builder = match clients {
            Some(clients) => builder.with_client_cert_verifier(clients),
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_cert_resolver(Arc::<Self>::clone(self));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if has_clients {
            // A resumed session would skip the verification of the client's certificate.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(config)
    }

    /// Returns the current certificate.
    pub fn certificate(&self) -> Certificate {
        let pair = self.pair();
        let der = pair.cert.first().map(AsRef::as_ref).unwrap_or_default();
        let digest = ring::digest::digest(&ring::digest::SHA256, der);
        let pairs: Vec<String> = digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
        let (file, is_self_signed) = match &self.source {
            Source::Files { certificate, .. } => (certificate.clone(), false),
            Source::Own { folder, .. } => (own::public_file(folder), true),
        };
        let expires = der::validity(der).map(|(_, until)| until);
        Certificate { file, fingerprint: pairs.join(":"), expires, is_self_signed }
    }

    /// Uses supplied files that have changed, or a new certificate if the server's own is about to expire. Returns
    /// whether the certificate was replaced. After an error, the previous certificate remains in use, and the next call
    /// tries again: the cause, such as wrong permissions, may disappear without a change to the files.
    pub fn refresh(&self, now: Timestamp) -> Result<bool, ServeError> {
        let stamps = self.source.stamps();
        let is_due = match &self.source {
            Source::Files { .. } => self.looks().have_changed(stamps),
            Source::Own { .. } => own::is_due(&self.pair(), now),
        };
        if !is_due {
            return Ok(false);
        }
        let pair = Arc::new(self.source.load(now)?);
        self.looks().read = stamps;
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = pair.cert != current.cert;
        *current = pair;
        Ok(is_other)
    }

    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pair(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.pair())
    }
}

impl Source {
    fn load(&self, now: Timestamp) -> Result<CertifiedKey, ServeError> {
        match self {
            Self::Files { certificate, key } => supplied::load(certificate, key),
            Self::Own { folder, names } => own::load_or_issue(folder, names, now),
        }
    }

    fn stamps(&self) -> Stamps {
        match self {
            // Certificates may be symbolic links, which are followed.
            Self::Files { certificate, key } => {
                [certificate, key].map(|path| path.canonicalize().ok().and_then(|path| Stamp::of(&path)))
            }
            Self::Own { .. } => [None, None],
        }
    }
}

/// Returns the names of a server without ports, sorted. Names for the local host are included, because every
/// server can be reached from its own host.
fn names(hosts: &[String]) -> Result<Vec<Name>, ServeError> {
    let mut names = vec![Name::Ip(Ipv4Addr::LOCALHOST.into()), Name::Ip(Ipv6Addr::LOCALHOST.into())];
    for host in hosts {
        names.push(name(host).ok_or_else(|| ServeError::HostName { name: host.escape_debug().to_string() })?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Parses a name as browsers send it, with or without a port; None if it is not a name.
fn name(host: &str) -> Option<Name> {
    const MOST_BYTES: usize = 253;
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']')?.0.parse::<Ipv6Addr>().ok().map(|ip| Name::Ip(ip.into()));
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) => port.parse::<u16>().ok().map(|_| name)?,
        None => host,
    };
    if let Ok(ip) = name.parse::<IpAddr>() {
        return Some(Name::Ip(ip));
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let is_name = name.len() <= MOST_BYTES && name.split('.').all(is_label);
    is_name.then(|| Name::Host(name.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_port_and_appear_once() {
        let hosts =
            ["127.0.0.1", "LAB.example:443", "lab.example", "[fe80::1]:7070", "10.0.0.5:7070", "localhost"];
        let names = names(&hosts.map(String::from)).expect("names");
        let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["10.0.0.5", "127.0.0.1", "::1", "fe80::1", "lab.example", "localhost"]);
        for other in
            ["", ".", "a..b", "a b", "b\u{fc}cher.example", "lab.example:", "a:b", "[::1", "*.example", "a/b"]
        {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn supplied_files_are_read_again_once_they_have_stopped_changing() {
        let stamp = |text: &str| {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), text).expect("writable");
            Stamp::of(file.path())
        };
        let [one, two, three] = ["1", "12", "123"].map(stamp);
        let mut looks = Looks { read: [one, one], last: [one, one] };
        let states = [
            [one, one],
            [two, one],
            [two, three],
            [two, three],
            [two, three],
            [None, three],
            [None, three],
            [None, three],
        ];
        let answers = states.map(|stamps| {
            let have_changed = looks.have_changed(stamps);
            if have_changed && stamps == [two, three] {
                looks.read = stamps;
            }
            have_changed
        });
        assert_eq!(
            answers,
            [false, false, false, true, false, false, true, true],
            "tried again until they are used"
        );
    }
}
