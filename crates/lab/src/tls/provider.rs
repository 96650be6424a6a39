//! The cryptography of TLS connections: that of `ring`, without the parts that only clients need.
//!
//! The provider that rustls offers also verifies certificates, which makes the program larger. This server asks for no
//! certificate, so it verifies none.

use std::sync::Arc;

use rustls::crypto::ring::{cipher_suite as suites, kx_group, sign};
use rustls::crypto::{CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, WebPkiSupportedAlgorithms};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SupportedCipherSuite};

use crate::secrets::fill;

/// Suites of TLS 1.3, and of TLS 1.2 with forward secrecy and authenticated encryption, best first. Every client has
/// AES-GCM (RFC 8446, section 9.1); ChaCha20 would only make the program larger.
const SUITES: [SupportedCipherSuite; 6] = [
    suites::TLS13_AES_256_GCM_SHA384,
    suites::TLS13_AES_128_GCM_SHA256,
    suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    suites::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    suites::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
];

/// The cryptography of a server.
pub fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: SUITES.to_vec(),
        kx_groups: vec![kx_group::X25519, kx_group::SECP256R1],
        signature_verification_algorithms: WebPkiSupportedAlgorithms { all: &[], mapping: &[] },
        secure_random: &Kernel,
        key_provider: &Keys,
    }
}

/// Random bytes of the kernel.
#[derive(Debug)]
struct Kernel;

impl SecureRandom for Kernel {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        fill(bytes).map_err(|_| GetRandomFailed)
    }
}

/// RSA, ECDSA and Ed25519 keys.
#[derive(Debug)]
struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        sign::any_supported_type(&key)
    }
}
