//! Passwords from the file that PostgreSQL's own clients read: lines `host:port:database:user:password`.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use stdx::files::{Links, open};

/// A line has about 60 bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Permissions of group and others.
const OTHERS: u32 = 0o077;

/// The connection for which a password is needed.
#[derive(Debug, Clone)]
pub struct For<'a> {
    /// Host, or the folder of the socket.
    pub host: &'a str,
    /// Port.
    pub port: u16,
    /// Database.
    pub database: &'a str,
    /// User.
    pub user: &'a str,
}

/// What was found.
pub enum Found {
    /// The password.
    Password(Vec<u8>),
    /// No password; the text says why, unless the reason is obvious.
    None(Option<String>),
}

/// Looks for a password in the file that PGPASSFILE names, or `~/.pgpass`. As in PostgreSQL's own clients, a file that
/// others can read is not used.
pub fn find(wanted: &For<'_>) -> Found {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = set("PGPASSFILE");
    let is_named = named.is_some();
    let Some(path) = named.or_else(|| set("HOME").map(|home| home.join(".pgpass"))) else {
        return Found::None(None);
    };
    let shown = path.display();
    let file = match open(&path, Links::Followed) {
        Ok(file) => file,
        Err(_) if !is_named => return Found::None(None),
        Err(error) => return Found::None(Some(format!("the password file {shown} cannot be read: {error}"))),
    };
    let mode = file.metadata().map_or(OTHERS, |found| found.permissions().mode());
    if mode & OTHERS != 0 {
        let text = format!(
            "the password file {shown} is not used, because others can read it; `chmod 600` fixes this"
        );
        return Found::None(Some(text));
    }
    let mut content = Vec::new();
    if let Err(error) = file.take(MOST_BYTES).read_to_end(&mut content) {
        return Found::None(Some(format!("the password file {shown} cannot be read: {error}")));
    }
    match in_lines(&content, wanted) {
        Some(password) => Found::Password(password),
        None => Found::None(Some(format!("the password file {shown} has no line for this connection"))),
    }
}

fn in_lines(content: &[u8], wanted: &For<'_>) -> Option<Vec<u8>> {
    let port = wanted.port.to_string();
    content.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#")).find_map(|line| {
        let [host, its_port, database, user, password] = fields(line)?;
        let is = |field: &[u8], value: &str| field == b"*" || field == value.as_bytes();
        let is_local = wanted.host.starts_with('/') && host == b"localhost";
        let matches = (is(&host, wanted.host) || is_local)
            && is(&its_port, &port)
            && is(&database, wanted.database)
            && is(&user, wanted.user);
        matches.then_some(password)
    })
}

/// Splits a line at colons; a backslash takes the next byte literally.
fn fields(line: &[u8]) -> Option<[Vec<u8>; 5]> {
    let mut fields = vec![Vec::new()];
    let mut bytes = line.strip_suffix(b"\r").unwrap_or(line).iter();
    while let Some(byte) = bytes.next() {
        let next = match byte {
            b':' if fields.len() < 5 => {
                fields.push(Vec::new());
                continue;
            }
            b'\\' => bytes.next()?,
            other => other,
        };
        fields.last_mut()?.push(*next);
    }
    fields.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_matches_has_the_password() {
        let wanted = For { host: "db.lab", port: 5432, database: "plateau", user: "writer" };
        let found =
            |text: &str| in_lines(text.as_bytes(), &wanted).map(|it| String::from_utf8(it).expect("text"));
        assert_eq!(found("db.lab:5432:plateau:writer:s3cret\n").as_deref(), Some("s3cret"));
        assert_eq!(
            found("# x\n*:*:*:other:no\n*:*:*:*:a\\:b\\\\c:d\n*:*:*:*:late").as_deref(),
            Some("a:b\\c:d")
        );
        for none in
            ["", "db.lab:5433:plateau:writer:x", "db:5432:plateau:writer:x", "db.lab:5432:plateau:x", "a\\"]
        {
            assert_eq!(found(none), None, "{none}");
        }
        let local = For { host: "/var/run/postgresql", ..wanted };
        assert_eq!(in_lines(b"localhost:5432:*:*:x", &local).as_deref(), Some(&b"x"[..]));
    }
}
