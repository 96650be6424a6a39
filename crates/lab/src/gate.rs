//! Decides which requests are answered. Everything is denied unless the request names an allowed host and, except for
//! public routes, carries the cookie of a browser that has signed in with a link or a password. A change also needs the
//! token of the session, which only pages of this server contain, and the role of an operator.
//!
//! A link is valid once. The cookie is `HttpOnly` and `SameSite=Strict`, so neither a script nor a page of another
//! origin can use it; the check of `Host` keeps names that resolve to this server (DNS rebinding) out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::error::ServeError;
use crate::secrets::{same, secret};
use crate::users::{Role, Users};

/// Limit on signed-in browsers; beyond it, the oldest is signed out.
const MOST_SESSIONS: usize = 64;
/// Number of failed logins within [`LOGINS_WITHIN`] after which further ones are refused.
const MOST_FAILED_LOGINS: usize = 10;
const LOGINS_WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone who reaches the server by an allowed name: sign-in page, style and script.
    Public,
    /// Browsers that have signed in.
    Viewer,
    /// Browsers of users who may start and stop runs.
    Operator,
}

/// What the gate needs to know about a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub host: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub cookies: Option<&'a str>,
    /// The token that a request for a change carries.
    pub csrf: Option<&'a str>,
    /// Whether the request is for a change.
    pub is_change: bool,
}

/// Who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// Name of the user; None for someone who signed in with the link printed on the terminal.
    pub user: Option<String>,
    pub role: Role,
    /// The token that forms of this visitor must contain.
    pub csrf: String,
}

impl Visitor {
    /// The name for the journal of changes.
    pub fn name(&self) -> &str {
        self.user.as_deref().unwrap_or("(link)")
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    UnknownHost,
    ForeignOrigin,
    NotSignedIn,
    NotOperator,
    NoToken,
    TooManyLogins,
    WrongPassword,
}

impl Refusal {
    pub const fn status(self) -> u16 {
        match self {
            Self::UnknownHost => 421,
            Self::ForeignOrigin | Self::NotOperator | Self::NoToken => 403,
            Self::NotSignedIn | Self::WrongPassword => 401,
            Self::TooManyLogins => 429,
        }
    }

    pub const fn text(self) -> &'static str {
        match self {
            Self::UnknownHost => "this server was not started for this name: its operator can allow it",
            Self::ForeignOrigin => "requests of pages of another origin are refused",
            Self::NotSignedIn => {
                "not signed in: open the link that `plateau serve` printed, or sign in with a name and a password; each \
                 link works once, and the server prints the next one when it has been used"
            }
            Self::NotOperator => "only operators can do this, and you are signed in as a viewer",
            Self::NoToken => {
                "the form is not from this session; reload the page that contains it and submit it again"
            }
            Self::TooManyLogins => "too many failed logins; wait a minute",
            Self::WrongPassword => "there is no user with this name and password",
        }
    }
}

/// The gate of one server.
pub struct Gate {
    /// `name:port` as browsers send it, in lower case.
    hosts: Vec<String>,
    schemes: &'static [&'static str],
    cookie: String,
    /// Whether the server is read-only.
    read_only: bool,
    pub users: Users,
    secrets: Mutex<Secrets>,
    /// Times of failed logins. Passwords are checked one at a time.
    failed: Mutex<Vec<Timestamp>>,
}

#[derive(Default)]
struct Secrets {
    /// The token of the link that is valid now.
    token: String,
    /// Newest last.
    sessions: Vec<Session>,
}

struct Session {
    secret: String,
    csrf: String,
    user: Option<String>,
}

impl Gate {
    /// A gate for a server on `port` with these `names`. Behind a proxy, browsers may use `https` and omit the port.
    pub fn new(
        names: &[String],
        port: u16,
        behind_proxy: bool,
        read_only: bool,
        users: Users,
    ) -> Result<Self, ServeError> {
        let mut hosts = Vec::new();
        for name in names {
            let name = name.to_lowercase();
            if behind_proxy {
                hosts.push(name.clone());
            }
            // A name with a port is used unchanged.
            let has_port = name.rsplit_once(':').is_some_and(|(_, end)| end.parse::<u16>().is_ok());
            hosts.push(if has_port && !name.starts_with('[') { name } else { format!("{name}:{port}") });
        }
        let secrets = Mutex::new(Secrets { token: secret()?, sessions: Vec::new() });
        let schemes: &[&str] = if behind_proxy { &["https", "http"] } else { &["http"] };
        let cookie = format!("plateau_{port}");
        Ok(Self { hosts, schemes, cookie, read_only, users, secrets, failed: Mutex::default() })
    }

    /// Decides whether a request to a route with this `access` is answered; returns its sender, if known.
    pub fn judge(&self, facts: &Facts<'_>, access: Access) -> Result<Option<Visitor>, Refusal> {
        let host = facts.host.map(str::to_lowercase).ok_or(Refusal::UnknownHost)?;
        if !self.hosts.contains(&host) {
            return Err(Refusal::UnknownHost);
        }
        let own = |origin: &str| {
            self.schemes.iter().any(|scheme| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")))
        };
        if facts.origin.is_some_and(|origin| !own(origin)) {
            return Err(Refusal::ForeignOrigin);
        }
        if access == Access::Public {
            // A login has no session yet, so only its origin shows that the form came from this server.
            let is_own = !facts.is_change || facts.origin.is_some();
            return if is_own { Ok(None) } else { Err(Refusal::ForeignOrigin) };
        }
        let visitor = self.visitor(facts.cookies).ok_or(Refusal::NotSignedIn)?;
        if access == Access::Operator && visitor.role != Role::Operator {
            return Err(Refusal::NotOperator);
        }
        if facts.is_change && !facts.csrf.is_some_and(|given| same(&visitor.csrf, given)) {
            return Err(Refusal::NoToken);
        }
        Ok(Some(visitor))
    }

    fn visitor(&self, cookies: Option<&str>) -> Option<Visitor> {
        let (user, csrf) = {
            let secrets = self.secrets();
            let mut found = self
                .cookies(cookies)
                .filter_map(|found| secrets.sessions.iter().find(|known| same(&known.secret, found)));
            let session = found.next()?;
            (session.user.clone(), session.csrf.clone())
        };
        // Removing a user or changing a role takes effect immediately.
        let role = match &user {
            Some(name) => self.users.role(name)?,
            None => Role::Operator,
        };
        Some(Visitor { user, role: if self.read_only { Role::Viewer } else { role }, csrf })
    }

    /// Exchanges a valid token for the value of `Set-Cookie` and invalidates the token.
    pub fn enter(&self, token: &str) -> Result<Option<String>, ServeError> {
        let next = secret()?;
        {
            let mut secrets = self.secrets();
            if !same(&secrets.token, token) {
                return Ok(None);
            }
            secrets.token = next;
        }
        self.admit(None).map(Some)
    }

    /// Exchanges a name and a password for the value of `Set-Cookie`.
    pub fn login(&self, name: &str, password: &str) -> Result<Result<String, Refusal>, ServeError> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let now = record::wall_now();
        failed.retain(|at| now.duration_since(*at).abs() < LOGINS_WITHIN);
        if failed.len() >= MOST_FAILED_LOGINS {
            return Ok(Err(Refusal::TooManyLogins));
        }
        if !self.users.verify(name, password) {
            failed.push(now);
            return Ok(Err(Refusal::WrongPassword));
        }
        self.admit(Some(name.to_owned())).map(Ok)
    }

    fn admit(&self, user: Option<String>) -> Result<String, ServeError> {
        let session = Session { secret: secret()?, csrf: secret()?, user };
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, session.secret);
        let mut secrets = self.secrets();
        if secrets.sessions.len() == MOST_SESSIONS {
            secrets.sessions.remove(0);
        }
        secrets.sessions.push(session);
        Ok(cookie)
    }

    /// Ends the session of a visitor.
    pub fn leave(&self, visitor: &Visitor) {
        self.secrets().sessions.retain(|session| session.csrf != visitor.csrf);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate::new(&["127.0.0.1".into(), "localhost".into()], 7070, false, false, Users::none())
            .expect("random bytes")
    }

    fn facts<'a>(host: &'a str, cookies: &'a str) -> Facts<'a> {
        Facts { host: Some(host), cookies: Some(cookies), ..Facts::default() }
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
        assert!(gate.judge(&facts("127.0.0.1:7070", &cookie), Access::Viewer).is_ok());
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
            assert_eq!(gate.judge(&facts, Access::Public), Ok(None));
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
            assert_eq!(gate.judge(&facts, Access::Viewer).map(|_| ()), expected, "{origin}");
        }
        let none = Facts { cookies: Some(&cookie), ..Facts::default() };
        assert_eq!(gate.judge(&none, Access::Public), Err(Refusal::UnknownHost));
    }

    #[test]
    fn a_change_needs_the_token_of_its_session_and_the_role() {
        let dir = tempfile::tempdir().expect("a folder");
        let users = Users::at(&dir.path().join("lab"));
        users.add("ann", Role::Viewer, "correct horse").expect("added");
        users.add("bob", Role::Operator, "battery staple").expect("added");
        let names = ["localhost".to_owned()];
        let gate = Gate::new(&names, 7070, false, false, users.clone()).expect("random bytes");
        let login = |name: &str, password: &str| gate.login(name, password).expect("random bytes");
        let change = |cookie: &str, csrf: Option<&str>| {
            let facts = Facts { csrf, is_change: true, ..facts("localhost:7070", cookie) };
            gate.judge(&facts, Access::Operator).map(|_| ())
        };
        let ann = login("ann", "correct horse").expect("a viewer");
        let bob = login("bob", "battery staple").expect("an operator");
        let csrf = |cookie: &str| {
            let judged = gate.judge(&facts("localhost:7070", cookie), Access::Viewer);
            judged.expect("signed in").expect("a visitor").csrf
        };
        let (of_ann, of_bob) = (csrf(&ann), csrf(&bob));
        assert_eq!(change(&bob, Some(&of_bob)), Ok(()));
        assert_eq!(change(&bob, Some(&of_ann)), Err(Refusal::NoToken));
        assert_eq!(change(&bob, Some("")), Err(Refusal::NoToken));
        assert_eq!(change(&bob, None), Err(Refusal::NoToken));
        assert_eq!(change(&ann, Some(&of_ann)), Err(Refusal::NotOperator));
        assert_eq!(change("", Some(&of_bob)), Err(Refusal::NotSignedIn));
        users.add("bob", Role::Viewer, "battery staple").expect("changed");
        assert_eq!(change(&bob, Some(&of_bob)), Err(Refusal::NotOperator), "the role changes at once");
        users.remove("bob").expect("removed");
        assert_eq!(change(&bob, Some(&of_bob)), Err(Refusal::NotSignedIn));
        let login_form = Facts { is_change: true, ..facts("localhost:7070", "") };
        assert_eq!(gate.judge(&login_form, Access::Public), Err(Refusal::ForeignOrigin), "no origin");
        for _ in 0..MOST_FAILED_LOGINS {
            assert_eq!(login("ann", "wrong horse"), Err(Refusal::WrongPassword));
        }
        assert_eq!(login("ann", "correct horse"), Err(Refusal::TooManyLogins));
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let gate = gate();
        let first = signed_in(&gate);
        let others: Vec<String> = (0..MOST_SESSIONS).map(|_| signed_in(&gate)).collect();
        let judged = |cookie: &str| gate.judge(&facts("localhost:7070", cookie), Access::Viewer).map(|_| ());
        assert_eq!(judged(&first), Err(Refusal::NotSignedIn));
        assert!(others.iter().all(|cookie| judged(cookie).is_ok()));
    }
}
