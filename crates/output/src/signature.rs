//! A run's authenticity: an Ed25519 signature over the digest of its journal, which covers the whole run.

use std::path::Path;

use anyhow::Context as _;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use record::Run;
use serde_json::{Value, json};
use stdx::files::Links;

use crate::file;
use failure::{Done, Exit, Failure};
use record::run_files::SIGNATURE;

/// Maximum size of the file: keys and signatures are short.
const MOST_BYTES: u64 = 1 << 16;

/// Returns the signed message. The digest covers every record, and the first record covers `run.json`.
fn message(run: &Run, digest: &str) -> String {
    format!("plateau signature 1\n{}\n{digest}\n", run.file.id)
}

fn read(path: &Path) -> Done<String> {
    let text = stdx::files::read_text(path, Links::Followed, MOST_BYTES);
    let text = text.with_context(|| format!("cannot read {}", path.display()));
    text.map_err(|error| Failure::new(Exit::Usage, error))
}

fn bad_key(path: &Path, kind: &str, how: &str) -> Failure {
    Failure::text(
        Exit::Usage,
        format!(
            "{} is not a {kind} Ed25519 key in PEM format; create one with `openssl {how}`",
            path.display()
        ),
    )
}

/// Signs `run` with the private key in the `key` file and stores the signature next to the journal.
pub fn sign(run: &Run, digest: &str, key: &Path) -> Done {
    let pem = read(key)?;
    let signing = private_key(&pem)
        .ok_or_else(|| bad_key(key, "private", "genpkey -algorithm ed25519 -out key.pem"))?;
    let signature = signing.sign(message(run, digest).as_bytes());
    let document = json!({
        "version": 1,
        "run": run.file.id,
        "journal_sha256": digest,
        "public_key": hex(signing.verifying_key().as_bytes()),
        "signature": hex(&signature.to_bytes()),
    });
    file::of_run(run, SIGNATURE.as_ref(), format!("{document:#}\n").as_bytes())
}

/// Checks that `run` is unchanged since the holder of `key` signed it.
pub fn check(run: &Run, digest: &str, key: &Path) -> Done {
    let pem = read(key)?;
    let verifying =
        public_key(&pem).ok_or_else(|| bad_key(key, "public", "pkey -in key.pem -pubout -out public.pem"))?;
    let path = run.dir.join(SIGNATURE);
    let wrong = |text: String| Failure::text(Exit::Run, text).of_run(&run.file.id);
    let text = run.read_text(SIGNATURE, MOST_BYTES).map_err(|error| {
        wrong(format!(
            "run {} has no readable signature ({error}); create one with `plateau report RUN --sign KEY`",
            run.file.id
        ))
    })?;
    let signature = parse(&text).map_err(|why| wrong(format!("{} {why}", path.display())))?;
    verifying.verify_strict(message(run, digest).as_bytes(), &signature).map_err(|_| {
        wrong(format!(
            "the signature of run {} does not match {} and this journal: another key signed it, or the \
             journal was changed or continued afterwards",
            run.file.id,
            key.display()
        ))
    })
}

/// Parses the signature in a `signature.json`; the error says what is wrong with it.
pub fn parse(text: &str) -> Result<Signature, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("is not a signature: {error}"))?;
    let signature =
        document["signature"].as_str().and_then(bytes).and_then(|bytes| Signature::from_slice(&bytes).ok());
    signature.ok_or_else(|| "contains no signature".into())
}

/// Parses a private key in PEM format.
pub fn private_key(pem: &str) -> Option<SigningKey> {
    SigningKey::from_pkcs8_pem(pem).ok()
}

/// Parses a public key in PEM format.
pub fn public_key(pem: &str) -> Option<VerifyingKey> {
    VerifyingKey::from_public_key_pem(pem).ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    if digits.len().is_multiple_of(2) { digits.chunks(2).map(pair).collect() } else { None }
}
