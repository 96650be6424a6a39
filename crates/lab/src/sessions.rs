//! Sessions of browsers that have signed in.

use std::time::Duration;

use crate::error::ServeError;
use crate::secrets::{same, secret};
use crate::users::Account;

/// Maximum number of signed-in browsers; if there are more, one of them is signed out.
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
            let place = self.least_used(session.account.as_ref());
            self.all.remove(place);
        }
        self.all.push(session);
        Ok(own)
    }

    /// Returns the place of the session to end: the one that has been unused for the longest time, first among those
    /// of the same account, so that a program that signs in again and again signs out only itself.
    fn least_used(&self, account: Option<&Account>) -> usize {
        let name = account.map(|account| &account.name);
        let is_own = |session: &Session| session.account.as_ref().map(|account| &account.name) == name;
        let order = |place: &usize| {
            let session = &self.all[*place];
            (!is_own(session), session.used)
        };
        (0..self.all.len()).min_by_key(order).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn logins_of_one_account_do_not_end_the_sessions_of_others() {
        let mut sessions = Sessions::default();
        let open = |sessions: &mut Sessions, name: &str, at| {
            sessions.open(Some(Account::named(name)), second(at)).expect("random bytes")
        };
        let page = open(&mut sessions, "olga", 0);
        let (unused, used) = (open(&mut sessions, "script", 1), open(&mut sessions, "script", 2));
        let is_known = |sessions: &mut Sessions, secret: &str, at| {
            sessions.used([secret].into_iter(), second(at)).is_some()
        };
        while sessions.all.len() < MOST_SESSIONS {
            open(&mut sessions, "script", 3);
        }
        assert!(is_known(&mut sessions, &used, 4));
        open(&mut sessions, "script", 5);
        assert_eq!(sessions.all.len(), MOST_SESSIONS);
        assert!(!is_known(&mut sessions, &unused, 6), "the least recently used session of the same account");
        for at in 7..200 {
            open(&mut sessions, "script", at);
        }
        assert!(is_known(&mut sessions, &page, 200), "it was opened first, and used by nobody since");
        assert!(!is_known(&mut sessions, &used, 200));
        // An account without sessions takes the place of the least recently used one.
        open(&mut sessions, "vera", 201);
        assert_eq!((sessions.all.len(), is_known(&mut sessions, &page, 202)), (MOST_SESSIONS, true));
    }
}
