//! The cryptography of TLS connections: rustls's `ring` provider without ChaCha20.

use std::sync::Arc;

use rustls::crypto::ring::{cipher_suite as suites, kx_group, sign};
use rustls::crypto::{CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, WebPkiSupportedAlgorithms};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme, SupportedCipherSuite};
use webpki::ring as algorithms;

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

/// The signatures of certificates, and of handshakes by clients that have one.
const SIGNATURES: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[
        algorithms::ECDSA_P256_SHA256,
        algorithms::ECDSA_P256_SHA384,
        algorithms::ECDSA_P384_SHA256,
        algorithms::ECDSA_P384_SHA384,
        algorithms::ED25519,
        algorithms::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
        algorithms::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
        algorithms::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
        algorithms::RSA_PKCS1_2048_8192_SHA256,
        algorithms::RSA_PKCS1_2048_8192_SHA384,
        algorithms::RSA_PKCS1_2048_8192_SHA512,
    ],
    mapping: &[
        // In TLS 1.2, the scheme does not determine the curve.
        (
            SignatureScheme::ECDSA_NISTP384_SHA384,
            &[algorithms::ECDSA_P384_SHA384, algorithms::ECDSA_P256_SHA384],
        ),
        (
            SignatureScheme::ECDSA_NISTP256_SHA256,
            &[algorithms::ECDSA_P256_SHA256, algorithms::ECDSA_P384_SHA256],
        ),
        (SignatureScheme::ED25519, &[algorithms::ED25519]),
        (SignatureScheme::RSA_PSS_SHA512, &[algorithms::RSA_PSS_2048_8192_SHA512_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA384, &[algorithms::RSA_PSS_2048_8192_SHA384_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA256, &[algorithms::RSA_PSS_2048_8192_SHA256_LEGACY_KEY]),
        (SignatureScheme::RSA_PKCS1_SHA512, &[algorithms::RSA_PKCS1_2048_8192_SHA512]),
        (SignatureScheme::RSA_PKCS1_SHA384, &[algorithms::RSA_PKCS1_2048_8192_SHA384]),
        (SignatureScheme::RSA_PKCS1_SHA256, &[algorithms::RSA_PKCS1_2048_8192_SHA256]),
    ],
};

/// Returns the cryptography of a server.
pub fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: SUITES.to_vec(),
        kx_groups: vec![kx_group::X25519, kx_group::SECP256R1],
        signature_verification_algorithms: SIGNATURES,
        secure_random: &Kernel,
        key_provider: &Keys,
    }
}

/// Random bytes from the kernel.
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
