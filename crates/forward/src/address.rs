//! The address of a server: where to send runs, and whether a token may be sent there.

use std::net::IpAddr;
use std::str::FromStr;

/// Length limit of an address.
const MOST_BYTES: usize = 1_000;

/// Why an address is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is not the address of a server.
    #[error("'{0}' is not the address of a server; write it as https://HOST:PORT")]
    Malformed(String),
    /// Everyone on the way to the server could read the token.
    #[error(
        "'{0}' is not encrypted, so others could read the token; use https://, or a tunnel to a loopback address: \
         `ssh -L 7070:127.0.0.1:7070 HOST`"
    )]
    Unencrypted(String),
}

/// The address of a server, without a path: `https://lab.example:7070`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Returns the address as a URL without a trailing slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the connection is encrypted. If it is not, the address is a loopback address.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || AddressError::Malformed(stdx::text::short(text));
        let (scheme, rest) = text.split_once("://").ok_or_else(malformed)?;
        let scheme = scheme.to_ascii_lowercase();
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let host = host_of(authority).ok_or_else(malformed)?;
        if text.len() > MOST_BYTES || !matches!(scheme.as_str(), "http" | "https") {
            return Err(malformed());
        }
        if scheme == "http" && !is_loopback(host) {
            return Err(AddressError::Unencrypted(stdx::text::short(text)));
        }
        Ok(Self(format!("{scheme}://{authority}")))
    }
}

/// Returns the host in `HOST`, `HOST:PORT` or `[IPV6]:PORT`; None if there is anything else, such as a user name or
/// a path.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, port)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            (&authority[..end], &authority[end..])
        }
    };
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    (is_port && !host.is_empty() && host.chars().all(is_plain)).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_sent_only_over_encrypted_or_loopback_connections() {
        for (text, expected) in [
            ("https://lab.example", "https://lab.example"),
            ("HTTPS://lab.example:7070/", "https://lab.example:7070"),
            ("http://127.0.0.1:7070", "http://127.0.0.1:7070"),
            ("http://localhost:7070/", "http://localhost:7070"),
            ("http://[::1]:7070", "http://[::1]:7070"),
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!(address.as_str(), expected);
            assert_eq!(address.is_encrypted(), expected.starts_with("https"));
        }
        for text in [
            "http://lab.example",
            "http://10.0.0.1:7070",
            "http://localhost.evil.example",
            "http://127.1.2.3.4",
        ] {
            assert!(matches!(text.parse::<Address>(), Err(AddressError::Unencrypted(_))), "{text}");
        }
        for text in [
            "",
            "lab.example",
            "ftp://lab.example",
            "https://",
            "https://a b",
            "https://user@lab.example",
            "https://lab.example/path",
            "https://lab.example?x",
            "https://lab.example:port",
            "https://lab.example:70707",
            "https://[lab]:1",
            "https://a\"\nurl=file:///etc/passwd",
        ] {
            assert!(matches!(text.parse::<Address>(), Err(AddressError::Malformed(_))), "{text}");
        }
    }
}
