//! `plateau launcher`: carries out one request that arrives on a socket, with the rights of this process.

use std::io::stdin;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use launch::Launcher;
use stdx::files::{Links, read_text};

use super::serve::folder;
use crate::cli::{Cli, LauncherOptions};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;

/// Size limit of the list of users.
const MOST_PASSWD_BYTES: u64 = 4 << 20;

pub fn run(cli: &Cli, options: &LauncherOptions) -> Done {
    let allowed = options.users.iter().map(|user| uid(user)).collect::<Done<Vec<u32>>>()?;
    let input = stdin().as_fd().try_clone_to_owned()?;
    if launch::peer(&input).is_err() {
        let text =
            "standard input is not a Unix socket; dist/units contains the units that start the launcher";
        return Err(Failure::text(Exit::Usage, text));
    }
    let launcher = Launcher {
        program: std::env::current_exe()?,
        library: places::library(cli.library.as_deref())?.root().to_owned(),
        folder: folder()?,
    };
    let name = format!("{}-{}", record::wall_now().as_nanosecond(), std::process::id());
    let launched = launch::serve_one(&UnixStream::from(input), &allowed, &launcher, &name)?;
    // The service is active while its run is in progress.
    if let Some(mut child) = launched.and_then(|launched| launched.child) {
        child.wait()?;
    }
    Ok(())
}

/// The number of a user.
fn uid(user: &str) -> Done<u32> {
    if let Ok(number) = user.parse() {
        return Ok(number);
    }
    let users = read_text(Path::new("/etc/passwd"), Links::Followed, MOST_PASSWD_BYTES);
    let users = users.map_err(std::io::Error::from)?;
    let found = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(user)).then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    found.ok_or_else(|| Failure::text(Exit::Usage, format!("there is no user '{user}' in /etc/passwd")))
}
