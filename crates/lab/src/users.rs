//! Users who sign in with a name and a password. The user file is readable only by its owner. The file
//! contains Argon2id hashes; passwords cannot be recovered from them in a reasonable time.

use std::path::Path;
use std::str::FromStr;

use argon2::Argon2;
use serde::{Deserialize, Serialize};

use crate::error::ServeError;
use crate::owned_list::OwnedList;
use crate::secrets::{hex, random, same};

const FILE: &str = "users.json";
/// Name of the file while it is being written.
const NEXT: &str = "users.json.next";
const MOST_USERS: usize = 1000;
const MOST_NAME_BYTES: usize = 64;
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;
/// Length limits of a password.
const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 8..=1024;

/// Permissions of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May read everything.
    Viewer,
    /// May also start, stop and resume runs.
    Operator,
}

impl Role {
    /// Returns the role as a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
        }
    }
}

impl FromStr for Role {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = [Self::Viewer, Self::Operator].into_iter().find(|role| role.word() == word);
        known.ok_or("a role is viewer or operator")
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct User {
    name: String,
    role: Role,
    salt: String,
    hash: String,
}

/// A user with the password that was valid at sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    /// Salt of the password's hash, which changes with every new password.
    salt: String,
}

#[cfg(test)]
impl Account {
    /// An account that no file contains.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), salt: String::new() }
    }
}

/// The users of a server.
#[derive(Debug, Clone)]
pub struct Users {
    list: OwnedList,
}

impl Users {
    /// Manages the users in `folder`, which does not have to exist yet.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { list: OwnedList::at(folder, FILE, NEXT) }
    }

    /// No users.
    #[cfg(test)]
    pub fn none() -> Self {
        Self::at(Path::new("/nonexistent/users"))
    }

    /// Returns the name and role of each user.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if others may have written to it.
    pub fn list(&self) -> Result<Vec<(String, Role)>, ServeError> {
        Ok(self.read()?.into_iter().map(|user| (user.name, user.role)).collect())
    }

    /// Returns whether there are users, or may be because the file cannot be read or others may have written to
    /// it.
    pub fn may_exist(&self) -> bool {
        self.read().map_or(true, |users| !users.is_empty())
    }

    /// Adds a user, or changes the password and role of an existing user and ends that user's sessions.
    ///
    /// # Errors
    /// Returns an error if the name or the password is not usable, or if the file cannot be written.
    pub fn add(&self, name: &str, role: Role, password: &str) -> Result<(), ServeError> {
        if !is_name(name) {
            return Err(ServeError::UserName { name: name.escape_debug().to_string() });
        }
        if !PASSWORD_BYTES.contains(&password.len()) {
            return Err(ServeError::Password { least: *PASSWORD_BYTES.start(), most: *PASSWORD_BYTES.end() });
        }
        let salt = hex(&random::<SALT_BYTES>()?);
        let hash = hash(password, &salt).ok_or(ServeError::Hash)?;
        self.list.change(|users: &mut Vec<User>| {
            users.retain(|user| user.name != name);
            if users.len() >= MOST_USERS {
                return Err(ServeError::TooManyUsers { most: MOST_USERS });
            }
            users.push(User { name: name.into(), role, salt, hash });
            users.sort_by(|a, b| a.name.cmp(&b.name));
            Ok((true, ()))
        })
    }

    /// Removes a user. Returns whether the user existed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written.
    pub fn remove(&self, name: &str) -> Result<bool, ServeError> {
        if !self.read()?.iter().any(|user| user.name == name) {
            return Ok(false);
        }
        self.list.change(|users: &mut Vec<User>| {
            let before = users.len();
            users.retain(|user| user.name != name);
            let is_removed = users.len() != before;
            Ok((is_removed, is_removed))
        })
    }

    /// Returns the role of a user; None if the user was removed or has a new password, or if the file cannot be
    /// trusted.
    pub fn role(&self, account: &Account) -> Option<Role> {
        let users = self.read().ok()?;
        let is_same = |user: &User| user.name == account.name && user.salt == account.salt;
        users.into_iter().find(is_same).map(|user| user.role)
    }

    /// Returns the account of a user, if the password is correct. Checking takes the same time for unknown
    /// users.
    pub fn verify(&self, name: &str, password: &str) -> Option<Account> {
        let users = self.read().unwrap_or_default();
        let known = users.iter().find(|user| user.name == name);
        let nobody = "00000000000000000000000000000000";
        let given = hash(password, known.map_or(nobody, |user| &user.salt)).unwrap_or_default();
        let user =
            known.filter(|user| PASSWORD_BYTES.contains(&password.len()) && same(&user.hash, &given))?;
        Some(Account { name: user.name.clone(), salt: user.salt.clone() })
    }

    fn read(&self) -> Result<Vec<User>, ServeError> {
        self.list.read()
    }
}

/// Returns whether a user or a sender can have this name.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    (1..=MOST_NAME_BYTES).contains(&name.len()) && name.chars().all(is_plain)
}

/// Returns the hash of a password, with the parameters that OWASP recommends, which are the library's defaults.
fn hash(password: &str, salt: &str) -> Option<String> {
    let mut hash = [0; HASH_BYTES];
    let hashed = Argon2::default().hash_password_into(password.as_bytes(), salt.as_bytes(), &mut hash);
    hashed.ok().map(|()| hex(&hash))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn users_sign_in_with_their_password_until_they_are_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let users = Users::at(&dir.path().join("lab"));
        assert!(!users.may_exist());
        assert_eq!(users.verify("ann", "correct horse"), None);
        users.add("ann", Role::Viewer, "correct horse").expect("added");
        users.add("bob", Role::Operator, "battery staple").expect("added");
        assert!(users.may_exist());
        let ann = users.verify("ann", "correct horse").expect("her password");
        let bob = users.verify("bob", "battery staple").expect("his password");
        assert_eq!(users.verify("ann", "battery staple"), None);
        assert_eq!(users.verify("ann", ""), None);
        assert_eq!((users.role(&ann), users.role(&bob)), (Some(Role::Viewer), Some(Role::Operator)));
        users.add("ann", Role::Operator, "another one").expect("changed");
        assert_eq!(users.role(&ann), None, "she signed in with her old password");
        assert_eq!(users.verify("ann", "correct horse"), None);
        let ann = users.verify("ann", "another one").expect("her password");
        assert_eq!(users.role(&ann), Some(Role::Operator));
        let file = dir.path().join("lab").join(FILE);
        let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&file).expect("a file");
        assert!(!text.contains("another one"));
        assert!(users.remove("ann").expect("removed") && !users.remove("ann").expect("unchanged"));
        assert_eq!(users.role(&ann), None);
        assert!(users.add("a b", Role::Viewer, "correct horse").is_err());
        assert!(users.add("a", Role::Viewer, "short").is_err());
        users.remove("bob").expect("removed");
        assert!(!users.may_exist());
        std::fs::write(&file, "{").expect("a damaged file");
        assert!(users.may_exist(), "in doubt, there are some");
    }
}
