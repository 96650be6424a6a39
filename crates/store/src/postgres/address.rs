//! The address of a shared store. It may contain a password, so it is never printed as typed.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::password::{self, For, Found};
use crate::error::StoreError;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// Where Debian and Red Hat put the server's socket.
const SOCKETS: &str = "/var/run/postgresql";
const PORT: u16 = 5432;
/// Limit on the time for connecting to one address of the server.
const CONNECT: Duration = Duration::from_secs(5);
/// A server that does not acknowledge what was sent is unreachable after this time.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Parameters after the `?`.
const PARAMETERS: &[&str] = &[
    "application_name",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "load_balance_hosts",
    "password",
    "port",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// The address of a store, and how to log in to it.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    /// The file with the certificates of the authorities to trust, if it was specified.
    pub(super) authorities: Option<PathBuf>,
    /// The problem that kept a password from being found, if any.
    pub(super) no_password: Option<String>,
    /// Without the password.
    shown: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown.fmt(f)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

impl Address {
    /// Reads an address of the form `postgres://USER@HOST:PORT/DATABASE?sslrootcert=FILE`. If it contains no password,
    /// the password is taken from the user's password file.
    ///
    /// # Errors
    /// Returns an error if it is not valid. The error quotes no part of the address.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        let invalid = |why: &str| StoreError::Address(why.to_owned());
        if !SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            return Err(invalid("it does not begin with postgres://"));
        }
        let (place, parameters) = text.split_once('?').unwrap_or((text, ""));
        if place.matches('@').count() > 1 {
            return Err(invalid("an @ in a user name or password must be written as %40"));
        }
        let parameters = Parameters::parse(parameters)?;
        let url = match &*parameters.others {
            "" => place.to_owned(),
            others => format!("{place}?{others}"),
        };
        // The parser's message could contain a part of a password.
        let mut config: Config = url.parse().map_err(|_| {
            invalid("characters such as @ : / ? % in a user name or password must be written as %40 %3A %2F %3F %25")
        })?;
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(invalid("an @ in a user name or password must be written as %40"));
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host_path(SOCKETS);
        }
        if config.get_user().is_none() {
            config.user(stdx::login_name());
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        if config.get_application_name().is_none() {
            config.application_name("plateau");
        }
        let is_local = config.get_hostaddrs().is_empty()
            && config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        config.ssl_mode(if is_local || parameters.is_unencrypted {
            SslMode::Disable
        } else {
            SslMode::Require
        });
        let shown = shown(&config);
        let no_password = add_password(&mut config)?;
        Ok(Self { config, authorities: parameters.authorities, no_password, shown })
    }

    /// Returns whether connections are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }
}

/// The parameters that this program handles itself, and the others.
#[derive(Default)]
struct Parameters {
    is_unencrypted: bool,
    authorities: Option<PathBuf>,
    others: String,
}

impl Parameters {
    fn parse(text: &str) -> Result<Self, StoreError> {
        let mut found = Self::default();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            // A plus sign is not a space here, unlike in forms.
            let escaped = pair.replace('+', "%2B");
            let decoded =
                form_urlencoded::parse(escaped.as_bytes()).next().map(|(_, value)| value.into_owned());
            match name {
                "sslmode" => found.is_unencrypted = is_unencrypted(value)?,
                "sslrootcert" => found.authorities = decoded.map(PathBuf::from),
                known if PARAMETERS.contains(&known) => {
                    let separator = if found.others.is_empty() { "" } else { "&" };
                    found.others.push_str(&format!("{separator}{pair}"));
                }
                // The name could be a part of a password.
                unknown => {
                    let hint = match stdx::nearest(unknown, PARAMETERS.iter().copied()) {
                        Some(meant) => format!("did you mean '{meant}'?"),
                        None => format!("the parameters are {}", PARAMETERS.join(", ")),
                    };
                    return Err(StoreError::Address(format!(
                        "it has an unknown parameter after the ?; {hint}"
                    )));
                }
            }
        }
        Ok(found)
    }
}

fn is_unencrypted(mode: &str) -> Result<bool, StoreError> {
    match mode {
        "disable" => Ok(true),
        "require" | "verify-ca" | "verify-full" => Ok(false),
        _ => Err(StoreError::Address(
            "sslmode is verify-full (the default: TLS with a verified certificate) or disable (no TLS)"
                .into(),
        )),
    }
}

fn shown(config: &Config) -> String {
    let host = |(at, host): (usize, &Host)| {
        let port = config.get_ports().get(at).or_else(|| config.get_ports().first()).copied().unwrap_or(PORT);
        let name = match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        if port == PORT { name } else { format!("{name}:{port}") }
    };
    let mut hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    format!("postgres://{user}@{}/{database}", hosts.join(","))
}

/// Adds the password from the user's password file; returns the reason if there is none.
fn add_password(config: &mut Config) -> Result<Option<String>, StoreError> {
    if config.get_password().is_some() {
        return Ok(None);
    }
    let user = config.get_user().unwrap_or_default();
    let names = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.to_string_lossy().into_owned(),
    });
    let mut hosts: Vec<String> = names.collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    let ports = config.get_ports();
    let found = hosts.iter().enumerate().map(|(at, host)| {
        password::find(&For {
            host,
            port: ports.get(at).or_else(|| ports.first()).copied().unwrap_or(PORT),
            database: config.get_dbname().unwrap_or(user),
            user,
        })
    });
    match common(found)? {
        Found::Password(password) => {
            config.password(password);
            Ok(None)
        }
        Found::None(why) => Ok(why),
    }
}

/// Returns the password of all hosts, any of which may be asked to check it.
fn common(of_hosts: impl Iterator<Item = Found>) -> Result<Found, StoreError> {
    let mut all = of_hosts;
    let first = all.next().unwrap_or(Found::None(None));
    let is_same = |other: Found| match (&first, other) {
        (Found::Password(first), Found::Password(other)) => *first == other,
        (Found::None(_), Found::None(_)) => true,
        _ => false,
    };
    if all.all(is_same) {
        return Ok(first);
    }
    Err(StoreError::Address(
        "it names several hosts that do not have the same password in the password file; name one of them"
            .into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (typed, expected) in [
            ("postgres://writer:s3cret@db.lab/plateau", "postgres://writer@db.lab/plateau"),
            ("postgresql://w:s3cret@db:5433/p?sslmode=disable", "postgres://w@db:5433/p"),
            ("postgres://w@%2Frun%2Fpg/p?password=s3cret", "postgres://w@/run/pg/p"),
            ("postgres://w@/p?host=/run/pg&connect_timeout=3", "postgres://w@/run/pg/p"),
            ("postgres://w:s3cret@", "postgres://w@/var/run/postgresql/w"),
            ("postgres://w:s3cret@a,b:1/p", "postgres://w@a,b:1/p"),
        ] {
            let address = Address::parse(typed).expect("an address");
            assert_eq!(address.to_string(), expected);
            assert!(!format!("{address:?}").contains("s3cret"), "{address:?}");
        }
    }

    #[test]
    fn invalid_addresses_are_explained_without_their_content() {
        for typed in [
            "",
            "s3cret",
            "mysql://u:s3cret@host",
            "postgres://u:p@s3cret@host/db",
            "postgres://u:p@s3cret/x@host/db",
            "postgres://u:p@host:s3cret/db",
            "postgres://u@h/db?s3cret",
            "postgres://u@h/db?password=a&s3cret=b",
            "postgres://u@h/db?sslmode=s3cret",
            "postgres://u@h/db?sslmode=prefer",
            "postgres://u@h/db?connect_timeout=s3cret",
        ] {
            let error = Address::parse(typed).expect_err("refused");
            let StoreError::Address(why) = &error else { panic!("{error:?}") };
            assert!(!why.is_empty() && !format!("{error} {error:?}").contains("s3cret"), "{typed}: {error}");
        }
        let mistyped = Address::parse("postgres://u@h/db?sslrootcrt=x").expect_err("refused");
        assert!(mistyped.to_string().contains("sslrootcert"), "{mistyped}");
    }

    #[test]
    fn only_sockets_and_explicitly_unencrypted_addresses_have_no_tls() {
        for (typed, expected) in [
            ("postgres://u@h/db", true),
            ("postgres://u@127.0.0.1/db", true),
            ("postgres://u@/db?hostaddr=127.0.0.1", true),
            ("postgres://u@h/db?sslmode=require&sslrootcert=%2Fca.pem", true),
            ("postgres://u@h/db?sslmode=disable", false),
            ("postgres://u@%2Frun%2Fpg/db", false),
        ] {
            let address = Address::parse(typed).expect("an address");
            assert_eq!(address.is_encrypted(), expected, "{typed}");
        }
        let address = Address::parse("postgres://u@h/db?sslrootcert=%2Fca.pem").expect("an address");
        assert_eq!(address.authorities, Some(PathBuf::from("/ca.pem")));
    }

    #[test]
    fn no_host_receives_the_password_of_another() {
        let password = |text: &str| Found::Password(text.into());
        let is_refused = |all: Vec<Found>| match common(all.into_iter()) {
            Err(StoreError::Address(why)) => !why.contains("s3cret"),
            _ => false,
        };
        assert!(matches!(common([password("a"), password("a")].into_iter()), Ok(Found::Password(_))));
        assert!(matches!(common([Found::None(None), Found::None(None)].into_iter()), Ok(Found::None(_))));
        assert!(is_refused(vec![password("s3cret"), password("b")]));
        assert!(is_refused(vec![password("s3cret"), Found::None(None)]));
        assert!(is_refused(vec![Found::None(None), password("s3cret")]));
    }
}
