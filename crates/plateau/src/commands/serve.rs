//! `plateau serve`: shows the library in a browser.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use device::Listed;
use lab::{Device, Options, ServeError, Server};
use nandsim::MODELS;
use serde_json::json;
use stdx::text::shell_word;

use super::list::reasons;
use crate::cli::{Cli, Serve};
use crate::failure::message::of_drive;
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::signals;

pub fn run(cli: &Cli, options: &Serve) -> Done {
    let options = Options {
        listen: options.listen,
        allowed_hosts: options.allow_host.clone(),
        behind_proxy: options.behind_proxy,
        read_only: options.read_only,
        is_terminal: std::io::stdout().is_terminal(),
        library: places::library(cli.library.as_deref())?,
        folder: folder()?,
        program: std::env::current_exe()?,
        launcher: options.launcher.clone(),
        models: MODELS.iter().map(|(name, _)| *name).collect(),
        devices: Box::new(devices),
    };
    let server = Server::bind(options).map_err(failure)?;
    let stop = signals::watch()?;
    let (address, link) = (server.address(), server.link());
    match link {
        link if cli.json => printer::print_json(&json!({ "address": address.to_string(), "link": link }))?,
        Some(link) => printer::print(&format!(
            "{link}\nOpen this link in a browser; it works once. Ctrl-C stops the server; runs are not affected."
        ))?,
        None => printer::print(&format!(
            "http://{address}/\nUsers sign in with their name and password. Links are printed only on a terminal, \
             because others may read this output."
        ))?,
    }
    server
        .run(&stop, |next| printer::print_line(&format!("link for the next browser: {next}")))
        .map_err(failure)
}

/// Folder for users, queued plans and the journal of changes.
pub fn folder() -> Done<PathBuf> {
    Ok(places::state()?.join("lab"))
}

fn devices() -> Result<Vec<Device>, String> {
    let listed = device::list().map_err(|error| of_drive(&error))?;
    Ok(listed.into_iter().map(of_listed).collect())
}

fn of_listed(listed: Listed) -> Device {
    let refusals = reasons(&listed);
    Device {
        path: listed.path,
        kind: listed.kind,
        identity: listed.identity,
        model: listed.model,
        capacity_bytes: listed.capacity_bytes,
        refusals,
    }
}

pub fn failure(error: ServeError) -> Failure {
    if let ServeError::Queue { path, .. } = &error {
        let path = path.display().to_string();
        let (file, unread) = (shell_word(&path), format!("{path}.unread"));
        let hint = format!(
            "the server was not started, and the file is unchanged; make it readable, or discard the runs in it: \
             `mv {file} {}`",
            shell_word(&unread)
        );
        return Failure::text(Exit::Run, format!("{:#}; {hint}", anyhow::Error::new(error)));
    }
    if let ServeError::InUse { .. } = &error {
        let hint = "stop that server, or select another folder for the users and waiting runs of this one: \
                    `PLATEAU_STATE=DIR plateau serve`";
        return Failure::text(Exit::Busy, format!("{error}; {hint}"));
    }
    if let ServeError::Lock { .. } = &error {
        let hint =
            "the server was not started; select a folder that it can use: `PLATEAU_STATE=DIR plateau serve`";
        return Failure::text(Exit::Run, format!("{:#}; {hint}", anyhow::Error::new(error)));
    }
    let hint = match &error {
        ServeError::NotLoopback { .. } => {
            "listen on 127.0.0.1 and forward the port with `ssh -L 7070:127.0.0.1:7070 HOST`, or put a proxy with TLS in \
             front of the server and add --behind-proxy"
        }
        ServeError::Listen { .. } => "choose another port with --listen 127.0.0.1:PORT; port 0 takes any",
        ServeError::Random(_) | ServeError::Io(_) | ServeError::Hash => {
            return Failure::new(Exit::Internal, error);
        }
        _ => "nothing was changed",
    };
    Failure::text(Exit::Usage, format!("{:#}; {hint}", anyhow::Error::new(error)))
}
