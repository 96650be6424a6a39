//! Decides which requests are served. Everything is denied unless the request names an allowed host and, except for
//! public routes, carries the cookie of a browser that has signed in with a link or a password. A read-only request may
//! carry a user name and a password instead. A change also needs the session's token, which only this server's pages
//! contain, and the operator role.
//!
//! A link is valid once. The cookie is `HttpOnly` and `SameSite=Strict`, so neither a script nor a page from
//! another origin can use it; the check of `Host` rejects foreign names that resolve to this server (DNS
//! rebinding).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::error::ServeError;
use crate::secrets::{same, secret};
use crate::senders::Senders;
use crate::sessions::Sessions;
use crate::users::{Account, Role, Users};

/// If this many logins within [`LOGINS_WITHIN`] have failed or are still being checked, further logins are refused.
const MOST_FAILED_LOGINS: usize = 10;
const LOGINS_WITHIN: Duration = Duration::from_secs(60);

/// Default ports, which browsers omit after the host name in requests.
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// How requests reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transport {
    /// Through a proxy, which may use another port and scheme.
    pub behind_proxy: bool,
    /// Over TLS connections that this server accepts itself.
    pub is_encrypted: bool,
}

/// Returns whether a host name ends with a port.
pub fn has_port(name: &str) -> bool {
    let ends = |end: &str| end.parse::<u16>().is_ok();
    // The groups of an IPv6 address are also separated by colons.
    match name.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").is_some_and(|(_, end)| ends(end)),
        None => name.rsplit_once(':').is_some_and(|(_, end)| ends(end)),
    }
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone who reaches the server by an allowed name: for the sign-in page, the style and the script.
    Public,
    /// Browsers that have signed in.
    Viewer,
    /// Browsers of users who may start and stop runs.
    Operator,
    /// Hosts with a token or certificate that permits them to send their runs. Browsers have no access.
    Sender,
}

/// The facts about a request that the gate needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub host: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub cookies: Option<&'a str>,
    /// The token that a request for a change carries.
    pub csrf: Option<&'a str>,
    /// The token of a host that sends its runs.
    pub bearer: Option<&'a str>,
    /// The names in the client's verified certificate; empty if it has none.
    pub certified: &'a [String],
    /// Whether the request is for a change.
    pub is_change: bool,
}

/// The sender of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// Name of the user; None for someone who signed in with the link printed on the terminal.
    pub user: Option<String>,
    pub role: Role,
    /// The token that forms of this visitor must contain.
    pub csrf: String,
}

impl Visitor {
    /// Returns the name for the journal of changes.
    pub fn name(&self) -> &str {
        self.user.as_deref().unwrap_or("(link)")
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    UnknownHost,
    ForeignOrigin,
    NotSignedIn,
    NotOperator,
    NoToken,
    TooManyLogins,
    WrongPassword,
    NotSender,
    NotCertified,
    ReadOnly,
}

impl Refusal {
    pub const fn status(self) -> u16 {
        match self {
            Self::UnknownHost => 421,
            Self::ForeignOrigin | Self::NotOperator | Self::NoToken | Self::ReadOnly => 403,
            Self::NotSignedIn | Self::WrongPassword | Self::NotSender | Self::NotCertified => 401,
            Self::TooManyLogins => 429,
        }
    }

    pub const fn text(self) -> &'static str {
        match self {
            Self::UnknownHost => "this server does not allow this host name; its operator can allow it",
            Self::ForeignOrigin => "requests from pages with another origin are refused",
            Self::NotSignedIn => {
                "open the link that `plateau serve` printed, or sign in with a name and a password; each link \
                 works once; after it is used, the server prints the next one"
            }
            Self::NotOperator => "only operators can do this, and you are signed in as a viewer",
            Self::NoToken => "the form is not from this session; reload its page and submit it again",
            Self::TooManyLogins => "too many logins have failed or are being checked; wait a minute",
            Self::WrongPassword => "unknown user name or wrong password",
            Self::NotSender => {
                "no valid token: the operator of this server creates one with `plateau sender add NAME`"
            }
            Self::NotCertified => {
                "no accepted certificate: this server receives runs only from hosts with a certificate of its authority, for \
                 a name that its operator has added with `plateau sender add NAME`"
            }
            Self::ReadOnly => "this server is read-only, so it does not receive runs",
        }
    }
}

/// The gate of one server.
pub struct Gate {
    /// `name:port` as browsers send it, in lower case.
    hosts: Vec<String>,
    schemes: &'static [&'static str],
    cookie: String,
    /// Attributes of the cookie.
    attributes: &'static str,
    /// Whether the server is read-only.
    read_only: bool,
    pub users: Users,
    /// Hosts that may send runs; None if this server does not receive any.
    senders: Option<Senders>,
    /// Whether hosts that send runs need a certificate rather than a token.
    needs_certificate: bool,
    secrets: Mutex<Secrets>,
    /// Times of logins that failed or are still being checked.
    attempts: Mutex<Vec<Duration>>,
    /// Time since a fixed point; it also advances while the host is suspended, and is never set back.
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
}

/// A login that is being checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt(Duration);

fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[derive(Default)]
struct Secrets {
    /// The token of the currently valid link.
    token: String,
    sessions: Sessions,
}

impl Gate {
    /// Creates the gate for a server on `port` with these `names`. Behind a proxy, browsers may use `https` and omit
    /// the port.
    pub fn new(
        names: &[String],
        port: u16,
        transport: Transport,
        read_only: bool,
        users: Users,
    ) -> Result<Self, ServeError> {
        let Transport { behind_proxy, is_encrypted } = transport;
        // Browsers omit the default port of the scheme.
        let is_usual = port == if is_encrypted { HTTPS_PORT } else { HTTP_PORT };
        let mut hosts = Vec::new();
        for name in names {
            let name = name.to_lowercase();
            if behind_proxy || is_usual {
                hosts.push(name.clone());
            }
            // A name with a port is used unchanged.
            hosts.push(if has_port(&name) { name } else { format!("{name}:{port}") });
        }
        let secrets = Mutex::new(Secrets { token: secret()?, sessions: Sessions::default() });
        let schemes: &[&str] = match (behind_proxy, is_encrypted) {
            (true, _) => &["https", "http"],
            (false, true) => &["https"],
            (false, false) => &["http"],
        };
        // Browsers send `Secure` cookies only over encrypted connections, whether these end at this server or at a
        // proxy.
        let attributes = if behind_proxy || is_encrypted { "; Secure" } else { "" };
        let cookie = format!("plateau_{port}");
        let (attempts, clock) = (Mutex::default(), Box::new(since_boot));
        Ok(Self {
            hosts,
            schemes,
            cookie,
            attributes,
            read_only,
            users,
            senders: None,
            needs_certificate: false,
            secrets,
            attempts,
            clock,
        })
    }

    /// Also admits hosts that send their runs, with a certificate or with a token.
    pub fn admitting(self, senders: Senders, needs_certificate: bool) -> Self {
        Self { senders: Some(senders), needs_certificate, ..self }
    }

    /// Decides whether a request to a route with this `access` is served; returns its sender, if known.
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
        if access == Access::Sender {
            return self.sender(facts).map(Some);
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

    /// Returns the sender of a request from another host.
    fn sender(&self, facts: &Facts<'_>) -> Result<Visitor, Refusal> {
        // Only browsers send an origin.
        if facts.origin.is_some() {
            return Err(Refusal::ForeignOrigin);
        }
        let senders = self.senders.as_ref().ok_or(Refusal::NotSender)?;
        let name = if self.needs_certificate {
            senders.of_certificate(facts.certified).ok_or(Refusal::NotCertified)?
        } else {
            facts.bearer.and_then(|token| senders.of_token(token)).ok_or(Refusal::NotSender)?
        };
        if self.read_only {
            return Err(Refusal::ReadOnly);
        }
        Ok(Visitor { user: Some(name), role: Role::Viewer, csrf: String::new() })
    }

    /// Returns the name of the cookie of a session.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    fn visitor(&self, cookies: Option<&str>) -> Option<Visitor> {
        let (account, csrf) = {
            let mut secrets = self.secrets();
            let session = secrets.sessions.used(self.cookies(cookies), (self.clock)())?;
            (session.account.clone(), session.csrf.clone())
        };
        let role = self.role(account.as_ref())?;
        let user = account.map(|account| account.name);
        Some(Visitor { user, role: if self.read_only { Role::Viewer } else { role }, csrf })
    }

    /// Returns the current role of someone who has signed in; None if the session has ended. A user who was removed
    /// or has a new role or password is signed out at once.
    fn role(&self, account: Option<&Account>) -> Option<Role> {
        account.map_or(Some(Role::Operator), |account| self.users.role(account))
    }

    /// Returns whether a visitor's session is still valid. This check does not extend the session.
    pub fn lasts(&self, visitor: &Visitor) -> bool {
        let account = {
            let secrets = self.secrets();
            let session = secrets.sessions.of_token(&visitor.csrf, (self.clock)());
            session.map(|session| session.account.clone())
        };
        account.is_some_and(|account| self.role(account.as_ref()).is_some())
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

    /// Counts a login until it succeeds or expires. This also bounds the number of logins that are checked at the same
    /// time.
    pub fn attempt(&self) -> Result<Attempt, Refusal> {
        let now = (self.clock)();
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.retain(|at| now.saturating_sub(*at) < LOGINS_WITHIN);
        if attempts.len() >= MOST_FAILED_LOGINS {
            return Err(Refusal::TooManyLogins);
        }
        attempts.push(now);
        Ok(Attempt(now))
    }

    /// Exchanges a name and a password for the value of `Set-Cookie`. Holds no lock while the password is checked.
    pub fn login(
        &self,
        attempt: Attempt,
        name: &str,
        password: &str,
    ) -> Result<Result<String, Refusal>, ServeError> {
        match self.checked(attempt, name, password) {
            Some(account) => self.admit(Some(account)).map(Ok),
            None => Ok(Err(Refusal::WrongPassword)),
        }
    }

    /// Returns the sender of a request that carries a name and a password, which give read-only access.
    pub fn reader(&self, attempt: Attempt, name: &str, password: &str) -> Result<Visitor, Refusal> {
        let account = self.checked(attempt, name, password).ok_or(Refusal::WrongPassword)?;
        // There is no session, so there is no token that would permit a change.
        Ok(Visitor { user: Some(account.name), role: Role::Viewer, csrf: String::new() })
    }

    /// Returns the account with this name and password; if it exists, the attempt no longer counts.
    fn checked(&self, attempt: Attempt, name: &str, password: &str) -> Option<Account> {
        let account = self.users.verify(name, password)?;
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(position) = attempts.iter().position(|at| *at == attempt.0) {
            attempts.swap_remove(position);
        }
        Some(account)
    }

    fn admit(&self, account: Option<Account>) -> Result<String, ServeError> {
        let secret = self.secrets().sessions.open(account, (self.clock)())?;
        Ok(format!("{}={secret}; Path=/; HttpOnly; SameSite=Strict{}", self.cookie, self.attributes))
    }

    /// Ends a visitor's session.
    pub fn leave(&self, visitor: &Visitor) {
        self.secrets().sessions.end(&visitor.csrf);
    }

    /// Returns the token of the currently valid link.
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
mod tests;
