//! Hosts that may send their runs to this server. Each has a token or a certificate. The server keeps only the SHA-256
//! digest of a token: tokens are random, so a digest without salt cannot be reversed.

use std::path::Path;

use record::Digest;
use serde::{Deserialize, Serialize};

use crate::error::ServeError;
use crate::owned_list::OwnedList;
use crate::secrets::{same, secret};
use crate::users::is_name;

const MOST_SENDERS: usize = 1000;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Sender {
    name: String,
    /// Digest of the token; None if the host has only a certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// The senders of a server.
#[derive(Debug, Clone)]
pub struct Senders {
    list: OwnedList,
}

impl Senders {
    /// Manages the senders in `folder`, which does not have to exist yet.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { list: OwnedList::at(folder, "senders.json", "senders.json.next") }
    }

    /// Adds a sender, or replaces the token of an existing sender. Returns the token, which cannot be shown again.
    ///
    /// # Errors
    /// Returns an error if the name is not valid, or if the file cannot be written.
    pub fn add(&self, name: &str) -> Result<String, ServeError> {
        let token = secret()?;
        self.put(name, Some(digest(&token)))?;
        Ok(token)
    }

    /// Adds a sender that has a certificate, or withdraws the token of an existing sender.
    ///
    /// # Errors
    /// Returns an error if the name is not valid, or if the file cannot be written.
    pub fn add_certified(&self, name: &str) -> Result<(), ServeError> {
        self.put(name, None)
    }

    fn put(&self, name: &str, sha256: Option<String>) -> Result<(), ServeError> {
        if !is_name(name) {
            return Err(ServeError::UserName { name: name.escape_debug().to_string() });
        }
        self.list.change(|senders: &mut Vec<Sender>| {
            senders.retain(|sender| sender.name != name);
            if senders.len() >= MOST_SENDERS {
                return Err(ServeError::TooManyUsers { most: MOST_SENDERS });
            }
            senders.push(Sender { name: name.into(), sha256 });
            senders.sort_by(|a, b| a.name.cmp(&b.name));
            Ok((true, ()))
        })
    }

    /// Removes a sender. Returns whether the sender existed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written.
    pub fn remove(&self, name: &str) -> Result<bool, ServeError> {
        if !self.list()?.iter().any(|known| known == name) {
            return Ok(false);
        }
        self.list.change(|senders: &mut Vec<Sender>| {
            let before = senders.len();
            senders.retain(|sender| sender.name != name);
            let is_removed = senders.len() != before;
            Ok((is_removed, is_removed))
        })
    }

    /// Returns the name of each sender.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if others may have written to it.
    pub fn list(&self) -> Result<Vec<String>, ServeError> {
        Ok(self.list.read::<Sender>()?.into_iter().map(|sender| sender.name).collect())
    }

    /// Returns the name of the sender with this token.
    pub fn of_token(&self, token: &str) -> Option<String> {
        let given = digest(token);
        let senders: Vec<Sender> = self.list.read().ok()?;
        let is_known = |sender: &Sender| sender.sha256.as_ref().is_some_and(|known| same(known, &given));
        senders.into_iter().find(is_known).map(|sender| sender.name)
    }

    /// Returns the name of the sender whose verified certificate contains these names; None if they match no sender,
    /// or more than one.
    pub fn of_certificate(&self, names: &[String]) -> Option<String> {
        let senders: Vec<Sender> = self.list.read().ok()?;
        let is_named = |sender: &Sender| names.iter().any(|name| name.eq_ignore_ascii_case(&sender.name));
        let mut found = senders.into_iter().filter(is_named);
        let name = found.next()?.name;
        found.next().is_none().then_some(name)
    }
}

fn digest(token: &str) -> String {
    Digest::of(token.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_until_it_is_replaced_or_its_sender_is_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let senders = Senders::at(&dir.path().join("lab"));
        assert_eq!(senders.of_token(""), None);
        let (rack7, rack8) = (senders.add("rack7").expect("added"), senders.add("rack8").expect("added"));
        assert_eq!(senders.of_token(&rack7).as_deref(), Some("rack7"));
        assert_eq!(senders.of_token(&rack8).as_deref(), Some("rack8"));
        assert_eq!(senders.of_token(&rack7[1..]), None);
        let next = senders.add("rack7").expect("a new token");
        assert_eq!((senders.of_token(&rack7), senders.of_token(&next).as_deref()), (None, Some("rack7")));
        let file = std::fs::read_to_string(dir.path().join("lab/senders.json")).expect("a file");
        assert!(!file.contains(&next) && !file.contains(&rack8));
        assert!(senders.remove("rack7").expect("removed") && !senders.remove("rack7").expect("unchanged"));
        assert_eq!(
            (senders.of_token(&next), senders.list().expect("a list")),
            (None, vec!["rack8".to_owned()])
        );
        assert!(senders.add("rack 9").is_err());
    }

    #[test]
    fn a_certificate_is_that_of_the_one_sender_that_it_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let senders = Senders::at(&dir.path().join("lab"));
        let of = |names: &[&str]| {
            senders.of_certificate(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["rack7"]), None, "nobody is admitted yet");
        senders.add_certified("rack7").expect("added");
        senders.add("rack8").expect("added");
        assert_eq!(of(&["other", "RACK7"]).as_deref(), Some("rack7"));
        assert_eq!(of(&["rack8"]).as_deref(), Some("rack8"));
        for names in [&[][..], &[""], &["rack"], &["rack7.example"], &["rack7", "rack8"]] {
            assert_eq!(of(names), None, "{names:?}");
        }
        for token in ["", "rack7"] {
            assert_eq!(
                senders.of_token(token),
                None,
                "a sender without a token has none that could be guessed"
            );
        }
        let token = senders.add("rack7").expect("a token");
        senders.add_certified("rack7").expect("its token is withdrawn");
        assert_eq!(senders.of_token(&token), None);
        assert!(senders.remove("rack7").expect("removed"));
        assert_eq!(of(&["rack7"]), None);
    }

    #[test]
    fn concurrent_changes_are_not_lost() {
        let dir = tempfile::tempdir().expect("a folder");
        let senders = Senders::at(&dir.path().join("lab"));
        let token = senders.add("removed").expect("added");
        std::thread::scope(|scope| {
            for number in 0..20 {
                let senders = &senders;
                scope.spawn(move || senders.add(&format!("rack{number}")).expect("added"));
            }
            scope.spawn(|| assert!(senders.remove("removed").expect("removed")));
        });
        assert_eq!(senders.list().expect("a list").len(), 20);
        assert_eq!(senders.of_token(&token), None);
    }
}
