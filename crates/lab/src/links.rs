//! Addresses by which browsers reach the server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::gate::has_port;

/// Formats an IP address as the host of a URL (IPv6 in brackets).
pub fn host_of(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// Returns an address by which the host itself reaches the server.
pub fn own(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

/// Returns the origin of links. A server with TLS on all addresses is reached by its first name.
pub fn origin(address: SocketAddr, is_encrypted: bool, names: &[String]) -> String {
    let scheme = if is_encrypted { "https" } else { "http" };
    let named = names.first().filter(|_| is_encrypted && address.ip().is_unspecified());
    match named {
        Some(name) if has_port(name) => format!("{scheme}://{name}"),
        Some(name) => format!("{scheme}://{name}:{}", address.port()),
        None => format!("{scheme}://{}:{}", host_of(own(address.ip())), address.port()),
    }
}

pub fn link(origin: &str, token: &str) -> String {
    format!("{origin}/enter?token={token}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_use_an_address_or_a_name_that_leads_to_the_server() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (address, is_encrypted, allowed, expected) in [
            ("127.0.0.1:7070", false, &[][..], "http://127.0.0.1:7070"),
            ("127.0.0.1:7070", true, &["lab.example"], "https://127.0.0.1:7070"),
            ("0.0.0.0:7070", false, &["lab.example"], "http://127.0.0.1:7070"),
            ("0.0.0.0:7070", true, &[], "https://127.0.0.1:7070"),
            ("0.0.0.0:7070", true, &["lab.example", "other"], "https://lab.example:7070"),
            ("[::]:7070", true, &["lab.example:443"], "https://lab.example:443"),
            ("[::]:7070", true, &[], "https://[::1]:7070"),
            ("10.0.0.5:443", true, &["lab.example"], "https://10.0.0.5:443"),
        ] {
            let address = address.parse().expect("an address");
            assert_eq!(origin(address, is_encrypted, &names(allowed)), expected);
        }
    }
}
