//! User name and password in the `Authorization` header (RFC 7617), for programs that send them with each request,
//! such as Prometheus and curl. Such a request has the permissions of a viewer and does not start a session; changes
//! need a session.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// User name and password in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    pub name: String,
    pub password: String,
}

impl Credentials {
    /// Parses the value of the header; None for other schemes and malformed values.
    pub fn parse(header: &str) -> Option<Self> {
        let (scheme, encoded) = header.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
        let (name, password) = decoded.split_once(':')?;
        Some(Self { name: name.into(), password: password.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_password_are_decoded() {
        // The example in RFC 7617, section 2.
        let parsed = Credentials::parse("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==").expect("credentials");
        assert_eq!((parsed.name.as_str(), parsed.password.as_str()), ("Aladdin", "open sesame"));
        assert!(Credentials::parse("basic YTpiOmM=").is_some_and(|parsed| parsed.password == "b:c"));
        for other in [
            "",
            "Basic",
            "Basic ",
            "Basic !",
            "Basic YWJj",
            "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "Basic /w==",
        ] {
            assert_eq!(Credentials::parse(other), None, "{other}");
        }
    }
}
