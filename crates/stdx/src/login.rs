//! The names of this host and of the user who runs this program.

use std::path::Path;

use crate::files::{Links, read_text};

const HOST: &str = "/proc/sys/kernel/hostname";
const USERS: &str = "/etc/passwd";
/// Limit on the size of the user list, which has about 60 bytes per user.
const MOST_BYTES: u64 = 4 << 20;
const MOST_CHARACTERS: usize = 100;

/// Returns the login name of the user who runs this program (the one who called sudo, if any), or the user id if the
/// user has no name on this host. It is not proof of identity.
#[must_use]
pub fn login_name() -> String {
    let uid = rustix::process::getuid().as_raw();
    let by_sudo = (uid == 0).then(|| std::env::var("SUDO_USER").ok()).flatten();
    if let Some(name) = by_sudo.filter(|name| is_name(name)) {
        return name;
    }
    let users = read_text(Path::new(USERS), Links::Followed, MOST_BYTES).unwrap_or_default();
    name_of(&users, uid).map_or_else(|| format!("user {uid}"), str::to_owned)
}

/// Returns this host's name; empty if the kernel does not report it.
#[must_use]
pub fn host_name() -> String {
    std::fs::read_to_string(HOST).unwrap_or_default().trim().to_owned()
}

fn name_of(users: &str, uid: u32) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| is_name(name))?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().count() <= MOST_CHARACTERS
        && !name.chars().any(crate::text::is_unprintable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_as_in_the_list_of_users() {
        let users = "root:x:0:0:root:/root:/bin/sh\n# broken\nalice:x:1000:1000::/srv:/bin/sh\n";
        assert_eq!(name_of(users, 1000), Some("alice"));
        assert_eq!(name_of(users, 0), Some("root"));
        assert_eq!(name_of(users, 5), None);
        assert_eq!(name_of("\u{1b}[2J:x:5:5::/:/bin/sh", 5), None);
    }

    #[test]
    fn everybody_has_a_name() {
        assert!(is_name(&login_name()));
    }
}
