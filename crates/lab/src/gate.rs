//! Decides which requests are served. Everything is denied unless the request names an allowed host and, except for
//! public routes, carries the cookie of a browser that has signed in with a link or a password. A read-only request may
//! carry name and password instead. A change also needs the token of the session, which only pages of this server
//! contain, and the role of an operator.
//!
//! A link is valid once. The cookie is `HttpOnly` and `SameSite=Strict`, so neither a script nor a page of another
//! origin can use it; the check of `Host` rejects foreign names that resolve to this server (DNS rebinding).

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

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone who reaches the server by an allowed name: for the sign-in page, the style and the script.
    Public,
    /// Browsers that have signed in.
    Viewer,
    /// Browsers of users who may start and stop runs.
    Operator,
    /// Hosts with a token that lets them send their runs. Browsers have no access.
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
    /// The name for the journal of changes.
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
    ReadOnly,
}

impl Refusal {
    pub const fn status(self) -> u16 {
        match self {
            Self::UnknownHost => 421,
            Self::ForeignOrigin | Self::NotOperator | Self::NoToken | Self::ReadOnly => 403,
            Self::NotSignedIn | Self::WrongPassword | Self::NotSender => 401,
            Self::TooManyLogins => 429,
        }
    }

    pub const fn text(self) -> &'static str {
        match self {
            Self::UnknownHost => "this server does not allow this host name; its operator can allow it",
            Self::ForeignOrigin => "requests from pages of another origin are refused",
            Self::NotSignedIn => {
                "not signed in: open the link that `plateau serve` printed, or sign in with a name and a \
                 password; each link works once; after it is used, the server prints the next one"
            }
            Self::NotOperator => "only operators can do this, and you are signed in as a viewer",
            Self::NoToken => "the form is not from this session; reload its page and submit it again",
            Self::TooManyLogins => "too many logins have failed or are being checked; wait a minute",
            Self::WrongPassword => "unknown user name or wrong password",
            Self::NotSender => {
                "no valid token: the operator of this server creates one with `plateau sender add NAME`"
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
        let secrets = Mutex::new(Secrets { token: secret()?, sessions: Sessions::default() });
        let schemes: &[&str] = if behind_proxy { &["https", "http"] } else { &["http"] };
        // Browsers send a cookie that is `Secure` only to the proxy, which encrypts the connection.
        let attributes = if behind_proxy { "; Secure" } else { "" };
        let cookie = format!("plateau_{port}");
        let (attempts, clock) = (Mutex::default(), Box::new(since_boot));
        let senders = None;
        Ok(Self { hosts, schemes, cookie, attributes, read_only, users, senders, secrets, attempts, clock })
    }

    /// Also admits hosts that send their runs.
    pub fn admitting(self, senders: Senders) -> Self {
        Self { senders: Some(senders), ..self }
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

    /// The sender of a request from another host.
    fn sender(&self, facts: &Facts<'_>) -> Result<Visitor, Refusal> {
        // Only browsers name an origin.
        if facts.origin.is_some() {
            return Err(Refusal::ForeignOrigin);
        }
        let name = facts
            .bearer
            .and_then(|token| self.senders.as_ref()?.of_token(token))
            .ok_or(Refusal::NotSender)?;
        if self.read_only {
            return Err(Refusal::ReadOnly);
        }
        Ok(Visitor { user: Some(name), role: Role::Viewer, csrf: String::new() })
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

    /// The current role of someone who has signed in; None if the session has ended. A user who was removed or has a
    /// new role or password is signed out at once.
    fn role(&self, account: Option<&Account>) -> Option<Role> {
        account.map_or(Some(Role::Operator), |account| self.users.role(account))
    }

    /// Whether a visitor's session is still valid. This check does not extend it.
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

    /// Counts a login until it succeeds or expires. The number of logins that are checked at the same time is therefore
    /// bounded as well.
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

    /// The sender of a request with its own name and password, who has read-only access.
    pub fn reader(&self, attempt: Attempt, name: &str, password: &str) -> Result<Visitor, Refusal> {
        let account = self.checked(attempt, name, password).ok_or(Refusal::WrongPassword)?;
        // There is no session, so there is no token that would permit a change.
        Ok(Visitor { user: Some(account.name), role: Role::Viewer, csrf: String::new() })
    }

    /// The account with this name and password; if it exists, the attempt no longer counts.
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

    /// The token of the currently valid link.
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::sessions::{LONGEST, LONGEST_IDLE, MOST_SESSIONS};

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
        let login = |name: &str, password: &str| {
            gate.attempt().and_then(|attempt| gate.login(attempt, name, password).expect("random bytes"))
        };
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
        assert_eq!(change(&bob, Some(&of_bob)), Err(Refusal::NotSignedIn), "he has a new role and password");
        let bob = login("bob", "battery staple").expect("a viewer");
        let of_bob = csrf(&bob);
        assert_eq!(change(&bob, Some(&of_bob)), Err(Refusal::NotOperator));
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
    fn a_token_of_a_sender_admits_to_its_routes_only() {
        let dir = tempfile::tempdir().expect("a folder");
        let senders = Senders::at(&dir.path().join("lab"));
        let token = senders.add("rack7").expect("added");
        let of = |read_only| {
            let gate = Gate::new(&["lab.example".into()], 7070, false, read_only, Users::none());
            gate.expect("random bytes").admitting(senders.clone())
        };
        let sent = |token| Facts { bearer: Some(token), ..facts("lab.example:7070", "") };
        let judged =
            of(false).judge(&sent(&token), Access::Sender).map(|visitor| visitor.expect("a sender").user);
        assert_eq!(judged, Ok(Some("rack7".into())));
        for access in [Access::Viewer, Access::Operator] {
            assert_eq!(of(false).judge(&sent(&token), access), Err(Refusal::NotSignedIn));
        }
        assert_eq!(of(false).judge(&sent("0"), Access::Sender), Err(Refusal::NotSender));
        let none = facts("lab.example:7070", "");
        assert_eq!(of(false).judge(&none, Access::Sender), Err(Refusal::NotSender));
        assert_eq!(of(true).judge(&sent(&token), Access::Sender), Err(Refusal::ReadOnly));
        let page = Facts { origin: Some("http://lab.example:7070"), ..sent(&token) };
        assert_eq!(of(false).judge(&page, Access::Sender), Err(Refusal::ForeignOrigin));
        let other = Facts { host: Some("evil.example:7070"), ..sent(&token) };
        assert_eq!(of(false).judge(&other, Access::Sender), Err(Refusal::UnknownHost));
        // A browser that has signed in is not a sender.
        let gate = of(false);
        let cookie = signed_in(&gate);
        let browser = Facts { cookies: Some(&cookie), ..facts("lab.example:7070", "") };
        assert_eq!(gate.judge(&browser, Access::Sender), Err(Refusal::NotSender));
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

    #[test]
    fn sessions_end_when_they_are_unused_or_old() {
        let seconds = Arc::new(AtomicU64::new(1));
        let now = Arc::clone(&seconds);
        let clock = Box::new(move || Duration::from_secs(now.load(Ordering::Relaxed)));
        let gate = Gate { clock, ..gate() };
        let wait = |duration: Duration| seconds.fetch_add(duration.as_secs(), Ordering::Relaxed);
        let visitor = |cookie: &str| gate.judge(&facts("localhost:7070", cookie), Access::Viewer);
        let second = Duration::from_secs(1);
        let (unused, used) = (signed_in(&gate), signed_in(&gate));
        let who = visitor(&unused).expect("signed in").expect("a visitor");
        wait(LONGEST_IDLE - second);
        assert!(visitor(&used).is_ok() && gate.lasts(&who), "asking whether it lasts is no use of it");
        wait(second);
        assert_eq!(visitor(&unused), Err(Refusal::NotSignedIn));
        assert!(!gate.lasts(&who));
        let mut uses = 0;
        while visitor(&used).is_ok() {
            uses += 1;
            wait(LONGEST_IDLE / 2);
        }
        let most = LONGEST.as_secs() / (LONGEST_IDLE / 2).as_secs();
        assert!((most - 3..=most).contains(&uses), "{uses} uses");
        assert_eq!(visitor(&used), Err(Refusal::NotSignedIn));
    }

    #[test]
    fn a_session_ends_with_its_user_its_password_and_its_logout() {
        let dir = tempfile::tempdir().expect("a folder");
        let users = Users::at(&dir.path().join("lab"));
        let gate = Gate::new(&["localhost".to_owned()], 7070, false, false, users.clone()).expect("bytes");
        let login = || {
            users.add("ann", Role::Operator, "correct horse").expect("added");
            let attempt = gate.attempt().expect("few attempts");
            let cookie = gate.login(attempt, "ann", "correct horse").expect("random bytes").expect("in");
            let judged = gate.judge(&facts("localhost:7070", &cookie), Access::Viewer);
            (judged.expect("signed in").expect("a visitor"), cookie)
        };
        let (ann, cookie) = login();
        assert!(gate.lasts(&ann));
        users.add("ann", Role::Operator, "battery staple").expect("a new password");
        assert!(!gate.lasts(&ann), "a new password ends her sessions");
        let judged = gate.judge(&facts("localhost:7070", &cookie), Access::Viewer);
        assert_eq!(judged, Err(Refusal::NotSignedIn));
        let (ann, _) = login();
        users.remove("ann").expect("removed");
        assert!(!gate.lasts(&ann));
        let (ann, _) = login();
        gate.leave(&ann);
        assert!(!gate.lasts(&ann));
    }

    #[test]
    fn logins_that_are_being_checked_count_and_block_nobody() {
        let gate = gate();
        let all: Vec<Attempt> =
            (0..MOST_FAILED_LOGINS).map(|_| gate.attempt().expect("few attempts")).collect();
        assert_eq!(gate.attempt(), Err(Refusal::TooManyLogins));
        assert!(gate.judge(&facts("localhost:7070", ""), Access::Public).is_ok());
        assert_eq!(gate.login(all[0], "ann", "x").expect("bytes"), Err(Refusal::WrongPassword));
        assert_eq!(gate.attempt(), Err(Refusal::TooManyLogins), "it failed");
    }

    #[test]
    fn only_a_proxy_makes_cookies_secure() {
        for behind_proxy in [false, true] {
            let gate =
                Gate::new(&["lab.example".into()], 7070, behind_proxy, false, Users::none()).expect("bytes");
            let cookie = gate.enter(&gate.token()).expect("random bytes").expect("the token is valid");
            assert_eq!(cookie.split("; ").any(|part| part == "Secure"), behind_proxy, "{cookie}");
        }
    }
}
