//! Generates random secrets, and compares them.

use crate::error::ServeError;

/// Number of random bytes in a token or a session secret.
const SECRET_BYTES: usize = 32;

/// Returns random text that cannot be guessed.
pub fn secret() -> Result<String, ServeError> {
    Ok(hex(&random::<SECRET_BYTES>()?))
}

/// Returns random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], ServeError> {
    let mut bytes = [0; N];
    fill(&mut bytes).map_err(ServeError::Random)?;
    Ok(bytes)
}

/// Fills `bytes` with random bytes.
pub fn fill(bytes: &mut [u8]) -> rustix::io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        let flags = rustix::rand::GetRandomFlags::empty();
        filled += rustix::rand::getrandom(&mut bytes[filled..], flags)?;
    }
    Ok(())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares two secrets in a time that does not depend on where they differ.
pub fn same(known: &str, given: &str) -> bool {
    let difference = known.bytes().zip(given.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    !known.is_empty() && known.len() == given.len() && difference == 0
}
