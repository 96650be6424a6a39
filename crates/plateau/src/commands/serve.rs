//! `plateau serve`: shows the library in a browser.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use device::Listed;
use lab::{Announcement, Certificate, Device, Options, ServeError, Server, Tls, Unusable};
use nandsim::MODELS;
use serde_json::json;
use stdx::files::{FileKind, ReadError};
use stdx::text::shell_word;
use transfer::TransferError;

use super::list::reasons;
use crate::cli::{Cli, ListenOptions, Serve};
use crate::failure::message::of_drive;
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue::judged_by;
use crate::output::places;
use crate::output::printer;
use crate::run::signals;

pub fn run(cli: &Cli, options: &Serve) -> Done {
    let listening = &options.listening;
    let options = Options {
        listen: options.listen,
        allowed_hosts: listening.allow_host.clone(),
        behind_proxy: listening.behind_proxy,
        tls: tls(listening),
        client_ca: options.client_ca.clone(),
        read_only: options.read_only,
        is_terminal: std::io::stdout().is_terminal(),
        library: places::library(cli.library.as_deref())?,
        folder: folder()?,
        build: judged_by(),
        program: std::env::current_exe()?,
        launcher: options.launcher.clone(),
        models: MODELS.iter().map(|(name, _)| *name).collect(),
        devices: Box::new(devices),
        campaigns: super::fleet::shown(options, &places::library(cli.library.as_deref())?)?,
        embedding: None,
    };
    let server = Server::bind(options).map_err(failure)?;
    let stop = signals::watch()?;
    show(cli, &server)?;
    server.run(&stop, |announcement| printer::print_line(&announced(&announcement))).map_err(failure)
}

/// Returns how a server encrypts connections.
pub fn tls(options: &ListenOptions) -> Tls {
    match (&options.tls_cert, &options.tls_key) {
        (Some(certificate), Some(key)) => Tls::Files { certificate: certificate.clone(), key: key.clone() },
        _ if options.tls_self_signed => Tls::SelfSigned,
        _ => Tls::Off,
    }
}

/// Prints how to reach the server.
fn show(cli: &Cli, server: &Server) -> Done {
    let (address, link, certificate) = (server.address(), server.link(), server.certificate());
    if cli.json {
        let certificate = certificate.map(|certificate| {
            json!({
                "file": certificate.file.display().to_string(),
                "sha256": certificate.fingerprint,
                "expires": certificate.expires.map(|expires| expires.to_string()),
                "self_signed": certificate.is_self_signed,
            })
        });
        let document = json!({ "address": address.to_string(), "link": link, "certificate": certificate });
        return printer::print_json(&document);
    }
    printer::print(&match link {
        Some(link) => format!(
            "{link}\nOpen this link in a browser; it works once. Ctrl-C stops the server; runs are not affected."
        ),
        None => format!(
            "{}\nUsers sign in with name and password. Links are printed only on a terminal, because others may read \
             this output.",
            server.url()
        ),
    })?;
    match certificate {
        Some(certificate) => printer::print(&described(&certificate)),
        None => Ok(()),
    }
}

/// Describes a certificate, and how to check that a browser sees the same one.
pub fn described(certificate: &Certificate) -> String {
    let fingerprint = format!("Certificate fingerprint (SHA-256): {}", certificate.fingerprint);
    let file = certificate.file.display().to_string();
    let validity = match certificate.expires {
        Some(expires) if certificate.has_expired(record::wall_now()) => {
            format!("\nwarning: {file} expired on {expires}, so browsers refuse it")
        }
        Some(expires) => format!("\nIt expires on {expires}."),
        None => String::new(),
    };
    if !certificate.is_self_signed {
        return fingerprint + &validity;
    }
    format!(
        "{fingerprint}{validity}\nBrowsers warn about this certificate, because no authority has signed it. Before you accept \
         it, compare the fingerprint that the browser shows with this one. Programs can trust it: `curl --cacert {}`.",
        shell_word(&file)
    )
}

pub fn announced(announcement: &Announcement<'_>) -> String {
    match announcement {
        Announcement::Link(next) => format!("link for the next browser: {next}"),
        Announcement::Certificate(certificate) => {
            format!("new connections use another certificate\n{}", described(certificate))
        }
        Announcement::CertificateKept(error) => {
            format!("warning: {}; the previous certificate remains in use", chain(error))
        }
        Announcement::NotStored { sender, error: error @ TransferError::TooLarge { .. } } => {
            format!("warning: a run of {sender} is refused: {}", chain(error))
        }
        Announcement::NotStored { sender, error } => {
            format!("warning: a run of {sender} cannot be stored: {}; {sender} tries again", chain(error))
        }
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    stdx::text::with_causes(error)
}

/// Returns the folder for users, queued plans and the journal of changes.
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
            "add --tls-self-signed --allow-host NAME, where NAME is this host's name in the browser, or --tls-cert FILE \
             --tls-key FILE; or listen on 127.0.0.1 and forward the port with `ssh -L 7070:127.0.0.1:7070 HOST`; or put \
             a proxy with TLS in front of the server and add --behind-proxy"
        }
        ServeError::Certificate { why: Unusable::Exposed { .. }, .. } => {
            "whoever has read the key can impersonate this server: replace it if that is possible, and make the file \
             readable by its owner only (mode 0600)"
        }
        ServeError::Certificate { why: Unusable::Changeable { .. }, .. } => {
            "whoever can change it decides which hosts send runs: make it writable by its owner only"
        }
        ServeError::Certificate {
            why: Unusable::Unreadable(ReadError::NotRegular(FileKind::Symlink)),
            ..
        } => "name the file that the link leads to; `readlink -f` prints it",
        ServeError::Certificate { .. } => {
            "the server was not started; `openssl x509 -text -in FILE` shows a certificate"
        }
        ServeError::Listen { .. } => "choose another port with --listen 127.0.0.1:PORT; port 0 takes any",
        ServeError::Random(_)
        | ServeError::Io(_)
        | ServeError::Hash
        | ServeError::KeyGeneration
        | ServeError::Tls(_) => {
            return Failure::new(Exit::Internal, error);
        }
        _ => "nothing was changed",
    };
    Failure::text(Exit::Usage, format!("{:#}; {hint}", anyhow::Error::new(error)))
}
