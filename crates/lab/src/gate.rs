//! Decides which requests are answered. Everything is denied unless the request names an allowed host and, except for
//! public routes, carries the cookie of a browser that entered with a valid link.
//!
//! A link is valid once. The cookie is `HttpOnly` and `SameSite=Strict`, so neither a script nor a page of another
//! origin can use it; the check of `Host` keeps names that resolve to this server (DNS rebinding) out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::ServeError;

/// Random bytes of a token or session.
const SECRET_BYTES: usize = 32;
/// Number of browsers that can be signed in; the oldest is signed out.
const MOST_SESSIONS: usize = 64;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody who reaches the server by an allowed name: the entrance, style and script.
    Public,
    /// Browsers that have entered.
    Viewer,
}

/// What the gate needs to know about a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub host: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub cookies: Option<&'a str>,
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    UnknownHost,
    ForeignOrigin,
    NotSignedIn,
}

impl Refusal {
    pub const fn status(self) -> u16 {
        match self {
            Self::UnknownHost => 421,
            Self::ForeignOrigin => 403,
            Self::NotSignedIn => 401,
        }
    }

    pub const fn text(self) -> &'static str {
        match self {
            Self::UnknownHost => "this server was not started for this name: its operator can allow it",
            Self::ForeignOrigin => "requests of pages of another origin are refused",
            Self::NotSignedIn => {
                "not signed in: open the link that `plateau serve` printed; each link works once, and the server \
                 prints the next one when it has been used"
            }
        }
    }
}

/// The gate of one server.
pub struct Gate {
    /// `name:port` as browsers send it, in lower case.
    hosts: Vec<String>,
    schemes: &'static [&'static str],
    cookie: String,
    secrets: Mutex<Secrets>,
}

#[derive(Default)]
struct Secrets {
    /// The token of the link that is valid now.
    token: String,
    /// Newest last.
    sessions: Vec<String>,
}

impl Gate {
    /// A gate for a server on `port` with these `names`. Behind a proxy, browsers may use `https` and omit the port.
    pub fn new(names: &[String], port: u16, behind_proxy: bool) -> Result<Self, ServeError> {
        let mut hosts = Vec::new();
        for name in names {
            let name = name.to_lowercase();
            if behind_proxy {
                hosts.push(name.clone());
            }
            // A name with a port is taken as it is.
            let has_port = name.rsplit_once(':').is_some_and(|(_, end)| end.parse::<u16>().is_ok());
            hosts.push(if has_port && !name.starts_with('[') { name } else { format!("{name}:{port}") });
        }
        let secrets = Mutex::new(Secrets { token: secret()?, sessions: Vec::new() });
        let schemes: &[&str] = if behind_proxy { &["https", "http"] } else { &["http"] };
        Ok(Self { hosts, schemes, cookie: format!("plateau_{port}"), secrets })
    }

    /// Judges a request to a route with this `access`.
    pub fn judge(&self, facts: &Facts<'_>, access: Access) -> Result<(), Refusal> {
        let host = facts.host.map(str::to_lowercase).ok_or(Refusal::UnknownHost)?;
        if !self.hosts.contains(&host) {
            return Err(Refusal::UnknownHost);
        }
        if let Some(origin) = facts.origin {
            let own = |scheme: &&str| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}"));
            if !self.schemes.iter().any(own) {
                return Err(Refusal::ForeignOrigin);
            }
        }
        let is_signed_in = || {
            let secrets = self.secrets();
            self.cookies(facts.cookies).any(|found| secrets.sessions.iter().any(|known| same(known, found)))
        };
        if access == Access::Public || is_signed_in() { Ok(()) } else { Err(Refusal::NotSignedIn) }
    }

    /// Exchanges a valid token for the value of `Set-Cookie`; the token is invalid from then on.
    pub fn enter(&self, token: &str) -> Result<Option<String>, ServeError> {
        let (next, session) = (secret()?, secret()?);
        let mut secrets = self.secrets();
        if !same(&secrets.token, token) {
            return Ok(None);
        }
        secrets.token = next;
        if secrets.sessions.len() == MOST_SESSIONS {
            secrets.sessions.remove(0);
        }
        secrets.sessions.push(session.clone());
        Ok(Some(format!("{}={session}; Path=/; HttpOnly; SameSite=Strict", self.cookie)))
    }

    /// The token of the link that is valid now.
    pub fn token(&self) -> String {
        self.secrets().token.clone()
    }

    fn cookies<'a>(&'a self, header: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        let pairs = header.unwrap_or_default().split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value)
    }

    fn secrets(&self) -> MutexGuard<'_, Secrets> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Random text that cannot be guessed.
fn secret() -> Result<String, ServeError> {
    let mut bytes = [0; SECRET_BYTES];
    let mut filled = 0;
    while filled < SECRET_BYTES {
        let flags = rustix::rand::GetRandomFlags::empty();
        filled += rustix::rand::getrandom(&mut bytes[filled..], flags).map_err(ServeError::Random)?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares two secrets in a time that does not depend on where they differ.
fn same(known: &str, given: &str) -> bool {
    let difference = known.bytes().zip(given.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    !known.is_empty() && known.len() == given.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate::new(&["127.0.0.1".into(), "localhost".into()], 7070, false).expect("random bytes")
    }

    fn facts<'a>(host: &'a str, cookies: &'a str) -> Facts<'a> {
        Facts { host: Some(host), origin: None, cookies: Some(cookies) }
    }

    fn signed_in(gate: &Gate) -> String {
        let cookie = gate.enter(&gate.token()).expect("random bytes").expect("the token is valid");
        cookie.split(';').next().expect("a pair").to_owned()
    }

    #[test]
    fn a_link_admits_one_browser() {
        let gate = gate();
        let token = gate.token();
        let cookie = signed_in(&gate);
        assert_eq!(gate.judge(&facts("127.0.0.1:7070", &cookie), Access::Viewer), Ok(()));
        assert_eq!(gate.enter(&token).expect("random bytes"), None, "it was used");
        assert_ne!(gate.token(), token);
        assert_eq!(gate.enter("").expect("random bytes"), None);
    }

    #[test]
    fn without_the_cookie_only_public_routes_are_answered() {
        let gate = gate();
        for cookies in ["", "plateau_7070=", "plateau_7070=0", "plateau_7071=x; other"] {
            let facts = facts("localhost:7070", cookies);
            assert_eq!(gate.judge(&facts, Access::Viewer), Err(Refusal::NotSignedIn), "{cookies}");
            assert_eq!(gate.judge(&facts, Access::Public), Ok(()));
        }
    }

    #[test]
    fn other_names_and_origins_are_refused_even_with_the_cookie() {
        let gate = gate();
        let cookie = signed_in(&gate);
        for host in ["evil.example:7070", "127.0.0.1", "127.0.0.1:7071", "localhost.evil.example:7070", ""] {
            let judged = gate.judge(&facts(host, &cookie), Access::Public);
            assert_eq!(judged, Err(Refusal::UnknownHost), "{host}");
        }
        for (origin, expected) in [
            ("http://localhost:7070", Ok(())),
            ("http://127.0.0.1:7070", Err(Refusal::ForeignOrigin)),
            ("https://localhost:7070", Err(Refusal::ForeignOrigin)),
            ("http://localhost:70701", Err(Refusal::ForeignOrigin)),
            ("null", Err(Refusal::ForeignOrigin)),
        ] {
            let facts = Facts { origin: Some(origin), ..facts("localhost:7070", &cookie) };
            assert_eq!(gate.judge(&facts, Access::Viewer), expected, "{origin}");
        }
        let none = Facts { cookies: Some(&cookie), ..Facts::default() };
        assert_eq!(gate.judge(&none, Access::Public), Err(Refusal::UnknownHost));
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let gate = gate();
        let first = signed_in(&gate);
        let others: Vec<String> = (0..MOST_SESSIONS).map(|_| signed_in(&gate)).collect();
        let judged = |cookie: &str| gate.judge(&facts("localhost:7070", cookie), Access::Viewer);
        assert_eq!(judged(&first), Err(Refusal::NotSignedIn));
        assert!(others.iter().all(|cookie| judged(cookie).is_ok()));
    }
}
