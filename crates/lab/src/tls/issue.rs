//! Issues self-signed certificates (RFC 5280): one P-256 key, for TLS servers only.

use std::net::IpAddr;

use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use rustls::SignatureScheme;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::der::{
    BIT_STRING, BOOLEAN, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET, UTF8_STRING, element,
    field, string_field, time,
};
use super::provider::provider;
use crate::error::ServeError;
use crate::secrets::random;

// Object identifiers, encoded.
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];

/// Number of random bytes in a serial number. Browsers refuse a second certificate with the same issuer and
/// serial number.
const SERIAL_BYTES: usize = 16;
const VERSION_3: u8 = 2;

/// A name of a server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    Ip(IpAddr),
    /// In lower case, ASCII only.
    Host(String),
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ip(ip) => ip.fmt(f),
            Self::Host(name) => f.write_str(name),
        }
    }
}

/// A certificate and its private key.
pub struct Issued {
    pub certificate: Vec<u8>,
    /// In PKCS #8.
    pub key: Vec<u8>,
}

/// Generates a key and a certificate for these names that is valid for this period.
pub fn issue(names: &[Name], from: Timestamp, until: Timestamp) -> Result<Issued, ServeError> {
    let failed = |_| ServeError::KeyGeneration;
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new())
        .map_err(failed)?;
    let key = document.as_ref().to_vec();
    let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.clone()));
    let failed = |_| ServeError::KeyGeneration;
    let pair = provider().key_provider.load_private_key(der).map_err(failed)?;
    let public = pair.public_key().ok_or(ServeError::KeyGeneration)?;
    let signer =
        pair.choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256]).ok_or(ServeError::KeyGeneration)?;
    let body = body(names, (from, until), &random()?, &public);
    let signature = signer.sign(&body).map_err(failed)?;
    // A zero byte comes first: the last byte has no unused bits.
    let certificate = sequence(&[&body, &algorithm(), &element(BIT_STRING, &[&[0], &signature])]);
    Ok(Issued { certificate, key })
}

/// The part of a certificate that is signed.
fn body(
    names: &[Name],
    (from, until): (Timestamp, Timestamp),
    serial: &[u8; SERIAL_BYTES],
    public_key: &[u8],
) -> Vec<u8> {
    // The first two bits keep the number positive and its length constant.
    let mut serial = *serial;
    serial[0] = serial[0] & 0x3f | 0x40;
    let name = name("Plateau, self-signed");
    sequence(&[
        &element(field(0), &[&element(INTEGER, &[&[VERSION_3]])]),
        &element(INTEGER, &[&serial]),
        &algorithm(),
        &name,
        &sequence(&[&time(from), &time(until)]),
        &name,
        public_key,
        &element(field(3), &[&extensions(names)]),
    ])
}

fn extensions(names: &[Name]) -> Vec<u8> {
    let critical = element(BOOLEAN, &[&[0xff]]);
    let names: Vec<u8> = names.iter().flat_map(alternative).collect();
    // The certificate is not an authority's: clients that trust it must not trust other certificates signed
    // with its key.
    sequence(&[
        &extension(BASIC_CONSTRAINTS, &critical, &sequence(&[])),
        &extension(EXTENDED_KEY_USAGE, &[], &sequence(&[&identifier(SERVER_AUTH)])),
        &extension(SUBJECT_ALT_NAME, &[], &sequence(&[&names])),
    ])
}

fn extension(kind: &[u8], critical: &[u8], value: &[u8]) -> Vec<u8> {
    sequence(&[&identifier(kind), critical, &element(OCTET_STRING, &[value])])
}

fn alternative(name: &Name) -> Vec<u8> {
    match name {
        Name::Host(name) => element(string_field(2), &[name.as_bytes()]),
        Name::Ip(IpAddr::V4(ip)) => element(string_field(7), &[&ip.octets()]),
        Name::Ip(IpAddr::V6(ip)) => element(string_field(7), &[&ip.octets()]),
    }
}

fn name(common_name: &str) -> Vec<u8> {
    let text = element(UTF8_STRING, &[common_name.as_bytes()]);
    sequence(&[&element(SET, &[&sequence(&[&identifier(COMMON_NAME), &text])])])
}

fn algorithm() -> Vec<u8> {
    sequence(&[&identifier(ECDSA_WITH_SHA256)])
}

fn identifier(encoded: &[u8]) -> Vec<u8> {
    element(OBJECT_IDENTIFIER, &[encoded])
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(SEQUENCE, parts)
}
