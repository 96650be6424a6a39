//! TLS for connections to PostgreSQL: the server's certificate is always verified.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use stdx::files::{Links, read};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::client::TlsStream as Encrypted;
use tokio_rustls::{Connect, TlsConnector};

use crate::error::StoreError;

/// Where Linux distributions keep the certificates of the authorities that the host trusts.
const SYSTEM_ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// The certificates of all public authorities take a quarter of this.
const MOST_BYTES: u64 = 4 << 20;

/// Makes encrypted connections.
#[derive(Clone)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the authorities in `file`, or those that the host trusts.
    ///
    /// # Errors
    /// Returns an error if there is no such file or it contains no certificates.
    pub fn trusting(file: Option<&Path>) -> Result<Self, StoreError> {
        let system = || SYSTEM_ROOTS.iter().map(PathBuf::from).find(|path| path.exists());
        let Some(path) = file.map(PathBuf::from).or_else(system) else {
            return Err(StoreError::NoAuthorities);
        };
        let failed = |source| StoreError::Authorities { path: path.clone(), source };
        let text = read(&path, Links::Followed, MOST_BYTES).map_err(|error| failed(Box::new(error)))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&text) {
            // A bundle may contain certificates of a form that is not supported.
            let _ = roots.add(certificate.map_err(|error| failed(Box::new(error)))?);
        }
        if roots.is_empty() {
            return Err(failed("it contains no certificate".into()));
        }
        let versions = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(Box::new(error)))?;
        Ok(Self(Arc::new(versions.with_root_certificates(roots).with_no_client_auth())))
    }
}

/// Connects to one host.
pub struct Connector {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Connector;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Connector, InvalidDnsNameError> {
        let host = ServerName::try_from(host)?.to_owned();
        Ok(Connector { config: Arc::clone(&self.0), host })
    }
}

impl TlsConnect<Socket> for Connector {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Handshake;

    fn connect(self, socket: Socket) -> Handshake {
        Handshake(TlsConnector::from(self.config).connect(self.host, socket))
    }
}

/// A connection that is being encrypted.
pub struct Handshake(Connect<Socket>);

impl Future for Handshake {
    type Output = io::Result<Stream>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map_ok(|stream| Stream(Box::new(stream)))
    }
}

/// An encrypted connection.
pub struct Stream(Box<Encrypted<Socket>>);

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        // Channel binding would protect passwords from a server with a forged certificate that is trusted
        // nevertheless. Its value depends on the signature algorithm of the certificate, which would have to be
        // parsed.
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}
