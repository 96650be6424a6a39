//! What the operator says about the tester and the test platform. None of it can be read from the host, and none of it
//! affects a result.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the operator says; a field is `None` if the operator does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Company that ran the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    /// Chassis of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chassis: Option<String>,
    /// CPU cooler of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooler: Option<String>,
    /// Power supply of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_supply: Option<String>,
    /// Web pages about components, the test platform or the drive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

/// A web page and its subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Subject of the page, such as `Chassis`; empty if none is given.
    pub name: String,
    /// Address of the page.
    pub address: String,
}

impl Stated {
    /// Returns whether all fields are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Link {
    /// Returns whether the address is that of a web page; an untrusted file can contain any text.
    #[must_use]
    pub fn is_web(&self) -> bool {
        let host = ["https://", "http://"].iter().find_map(|scheme| self.address.strip_prefix(scheme));
        let is_plain = |character: char| !character.is_whitespace() && !character.is_control();
        host.is_some_and(|host| !host.is_empty() && host.chars().all(is_plain))
    }
}

impl FromStr for Link {
    type Err = String;

    /// Parses `ADDRESS` or `NAME=ADDRESS`.
    fn from_str(text: &str) -> Result<Self, String> {
        let start = text.find("https://").or_else(|| text.find("http://"));
        let parts = start.map(|start| text.split_at(start)).and_then(|(before, address)| {
            let name = if before.is_empty() { "" } else { before.strip_suffix('=')? };
            Some(Self { name: name.trim().into(), address: address.into() })
        });
        parts.filter(Self::is_web).ok_or_else(|| {
            "use an address that begins with https:// or http://, or NAME=ADDRESS, such as \
             Chassis=https://example.com/chassis"
                .into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_an_address_with_or_without_a_name() {
        let link = |text: &str| text.parse::<Link>().map(|link| (link.name, link.address));
        let address = "https://example.com/t81?a=b".to_owned();
        assert_eq!(link("https://example.com/t81?a=b"), Ok((String::new(), address.clone())));
        assert_eq!(link("CPU cooler=https://example.com/t81?a=b"), Ok(("CPU cooler".into(), address)));
        for text in ["", "example.com", "https://", "javascript:https://x", "a=https://x y", "ftp://x", "a=b"]
        {
            assert!(text.parse::<Link>().is_err(), "{text}");
        }
    }
}
