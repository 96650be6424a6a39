//! `plateau launcher`: carries out one request from a socket, with the privileges of this process.

use std::io::stdin;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use launch::Launcher;

use super::serve::folder;
use crate::cli::{Cli, LauncherOptions};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;

pub fn run(cli: &Cli, options: &LauncherOptions) -> Done {
    let unknown = |user: &String| Failure::text(Exit::Usage, format!("/etc/passwd has no user '{user}'"));
    let allowed = options.users.iter().map(|user| launch::uid(user).ok_or_else(|| unknown(user)));
    let allowed = allowed.collect::<Done<Vec<u32>>>()?;
    let input = stdin().as_fd().try_clone_to_owned()?;
    if launch::peer(&input).is_err() {
        let text = "standard input is not a Unix socket; the units in dist/units start the launcher";
        return Err(Failure::text(Exit::Usage, text));
    }
    let launcher = Launcher {
        program: std::env::current_exe()?,
        library: places::library(cli.library.as_deref())?.root().to_owned(),
        folder: folder()?,
    };
    let name = format!("{}-{}", record::wall_now().as_nanosecond(), std::process::id());
    let launched = launch::serve_one(&UnixStream::from(input), &allowed, &launcher, &name)?;
    // Wait, so that the service remains active while its run is in progress.
    if let Some(mut child) = launched.and_then(|launched| launched.child) {
        child.wait()?;
    }
    Ok(())
}
