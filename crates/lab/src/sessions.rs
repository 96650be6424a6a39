//! Sessions of browsers that have signed in.

use std::time::Duration;

use crate::error::ServeError;
use crate::secrets::{same, secret};
use crate::users::Account;

/// Maximum number of signed-in browsers; if there are more, the oldest is signed out.
pub const MOST_SESSIONS: usize = 64;
/// Time after which a session ends, even if it is in use.
pub const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
/// Time without a request after which a session ends.
pub const LONGEST_IDLE: Duration = Duration::from_secs(12 * 3600);

/// The session of one browser.
pub struct Session {
    secret: String,
    /// The token that the session's forms must contain.
    pub csrf: String,
    /// The user; None for a visitor who used a link.
    pub account: Option<Account>,
    opened: Duration,
    used: Duration,
}

impl Session {
    fn is_over(&self, now: Duration) -> bool {
        now.saturating_sub(self.opened) >= LONGEST || now.saturating_sub(self.used) >= LONGEST_IDLE
    }
}

/// All sessions. Times are read from a clock that is never set back.
#[derive(Default)]
pub struct Sessions {
    /// Newest last.
    all: Vec<Session>,
}

impl Sessions {
    /// Starts a session; returns its secret.
    pub fn open(&mut self, account: Option<Account>, now: Duration) -> Result<String, ServeError> {
        let own = secret()?;
        let session = Session { secret: own.clone(), csrf: secret()?, account, opened: now, used: now };
        self.all.retain(|session| !session.is_over(now));
        if self.all.len() >= MOST_SESSIONS {
            self.all.remove(0);
        }
        self.all.push(session);
        Ok(own)
    }

    /// Returns the session that a request with these secrets belongs to, and marks it as used.
    pub fn used<'a>(
        &mut self,
        mut secrets: impl Iterator<Item = &'a str>,
        now: Duration,
    ) -> Option<&Session> {
        let of = |given: &str, all: &[Session]| {
            all.iter().position(|session| !session.is_over(now) && same(&session.secret, given))
        };
        let position = secrets.find_map(|given| of(given, &self.all))?;
        let session = &mut self.all[position];
        session.used = now;
        Some(session)
    }

    /// Returns the session whose forms contain this token.
    pub fn of_token(&self, csrf: &str, now: Duration) -> Option<&Session> {
        self.all.iter().find(|session| !session.is_over(now) && same(&session.csrf, csrf))
    }

    /// Ends the session whose forms contain this token.
    pub fn end(&mut self, csrf: &str) {
        self.all.retain(|session| !same(&session.csrf, csrf));
    }
}
