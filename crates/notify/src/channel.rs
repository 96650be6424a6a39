//! Delivers notices through a program, a webhook or mail.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outbound::curl::{self, AGENT, CurlError, Request};
use outbound::process::{self, ProcessError};
use outbound::{FileError, read_secret};
use stdx::files::OwnedFolder;
use stdx::text::{panic_message, short};

use crate::config::{Entry, Mail, Means, Source};
use crate::notice::{Event, Notice};
use crate::{mail, render};

/// The search path for programs started by a channel's program.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Why a notice was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// This process has been asked to end.
    #[error("stopped")]
    Stopped,
    /// A file with a secret cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file that should contain an address contains something else.
    #[error("{}: {problem}", path.display())]
    Address {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The program cannot be used.
    #[error("{program}: {problem}")]
    Program {
        /// The program.
        program: String,
        /// The problem.
        problem: String,
    },
    /// The request failed.
    #[error(transparent)]
    Request(CurlError),
    /// The channel failed because of a bug in this program.
    #[error("internal error: {0}")]
    Panicked(String),
    /// The mail cannot be stored for curl.
    #[error("cannot write the mail")]
    Stored(#[source] std::io::Error),
}

/// A channel.
#[derive(Debug, Clone)]
pub struct Channel {
    entry: Entry,
    /// Folder for mail being sent; no other user can write to it.
    folder: PathBuf,
}

impl Channel {
    /// Returns the configured channel.
    #[must_use]
    pub fn of(entry: Entry, folder: &Path) -> Self {
        Self { entry, folder: folder.into() }
    }

    /// Returns the name of the channel.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Returns whether the channel receives notices about an event.
    #[must_use]
    pub fn is_for(&self, event: Event) -> bool {
        self.entry.events.contains(&event) || event == Event::Test
    }

    /// Checks that the channel's files and programs can be used.
    ///
    /// # Errors
    /// Returns the error that a delivery would return.
    pub fn check(&self) -> Result<(), DeliveryError> {
        match &self.entry.means {
            Means::Program { run } => {
                use std::os::unix::fs::PermissionsExt as _;
                let problem = match std::fs::metadata(&run[0]) {
                    Err(error) => error.to_string(),
                    Ok(found) if !found.is_file() => "it is not a file".into(),
                    Ok(found) if found.permissions().mode() & 0o111 == 0 => "it is not executable".into(),
                    Ok(_) => return Ok(()),
                };
                Err(DeliveryError::Program { program: run[0].clone(), problem })
            }
            Means::Webhook { url, token_file, proxy, .. } => {
                curl::program().map_err(DeliveryError::Request)?;
                address(url, token_file.is_some(), proxy.is_some())?;
                token_file.as_deref().map(read_secret).transpose()?;
                Ok(())
            }
            Means::Mail(mail) => {
                curl::program().map_err(DeliveryError::Request)?;
                mail.password_file.as_deref().map(read_secret).transpose()?;
                Ok(())
            }
        }
    }

    /// Delivers a notice, once.
    ///
    /// # Errors
    /// Returns an error if the notice was not delivered, or if it is unknown whether it was.
    pub fn deliver(&self, notice: &Notice, stop: &AtomicBool) -> Result<(), DeliveryError> {
        // A panic would silently end the channel's thread.
        let attempted = catch_unwind(AssertUnwindSafe(|| self.attempt(notice, stop)));
        attempted.unwrap_or_else(|panic| Err(DeliveryError::Panicked(panic_message(&*panic).into())))
    }

    fn attempt(&self, notice: &Notice, stop: &AtomicBool) -> Result<(), DeliveryError> {
        let limit = self.entry.timeout;
        match &self.entry.means {
            Means::Program { run } => run_program(run, notice, limit, stop),
            Means::Webhook { url, token_file, ca_file, proxy } => {
                let mut request = webhook(url, token_file.as_deref(), proxy.is_some(), notice)?;
                if let Some(path) = ca_file {
                    request.option("cacert", &path.to_string_lossy());
                }
                if let Some(proxy) = proxy {
                    request.option("proxy", proxy);
                }
                match curl::send(request, limit, stop) {
                    Ok(200..=299) => Ok(()),
                    Ok(status) => Err(DeliveryError::Request(CurlError::Status(status))),
                    Err(error) => Err(of_curl(error)),
                }
            }
            Means::Mail(mail) => self.mail(mail, notice, limit, stop),
        }
    }

    fn mail(
        &self,
        mail: &Mail,
        notice: &Notice,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<(), DeliveryError> {
        let stored = |error: stdx::files::Unowned| DeliveryError::Stored(error.into());
        let folder = OwnedFolder::make(&self.folder).map_err(stored)?;
        let name = format!("{}.eml", self.name());
        // A process that was killed may have left a file behind.
        folder.remove(&name).map_err(stored)?;
        let mut file = folder.new_file(&name).map_err(stored)?;
        file.write_all(&mail::message(mail, notice)).map_err(DeliveryError::Stored)?;
        let path = folder.path().join(&name);
        let sent =
            mail_request(mail, &path).and_then(|request| curl::send(request, limit, stop).map_err(of_curl));
        folder.remove(&name).map_err(stored)?;
        // The program reports the server's refusals as errors.
        sent.map(drop)
    }
}

fn of_curl(error: CurlError) -> DeliveryError {
    match error {
        CurlError::Process(ProcessError::Stopped) => DeliveryError::Stopped,
        error => DeliveryError::Request(error),
    }
}

fn run_program(
    run: &[String],
    notice: &Notice,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<(), DeliveryError> {
    let mut command = Command::new(&run[0]);
    command.args(&run[1..]).env_clear().env("PATH", PATH).env("LC_ALL", "C.UTF-8").current_dir("/");
    let of_run = &notice.run;
    for (name, value) in [
        ("PLATEAU_NOTICE", notice.id.as_str()),
        ("PLATEAU_EVENT", notice.event().word()),
        ("PLATEAU_SUBJECT", &render::subject(notice)),
        ("PLATEAU_HOST", &notice.host),
        ("PLATEAU_RUN", &of_run.id),
        ("PLATEAU_RUN_NAME", of_run.name.as_deref().unwrap_or_default()),
        ("PLATEAU_TARGET", &of_run.target),
        ("PLATEAU_DRIVE", &of_run.drive),
    ] {
        command.env(name, value);
    }
    let input = render::json(notice) + "\n";
    let failed = |problem: String| DeliveryError::Program { program: run[0].clone(), problem };
    match process::run(&mut command, input.as_bytes(), limit, stop) {
        Ok(ended) if ended.status.success() => Ok(()),
        Ok(ended) => {
            let text = String::from_utf8_lossy(&ended.err);
            let line =
                text.lines().next().map(|line| format!(": {}", short(line.trim()))).unwrap_or_default();
            Err(failed(format!("{}{line}", ended.status)))
        }
        Err(ProcessError::Stopped) => Err(DeliveryError::Stopped),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Returns a webhook's address. An address read from a file was not checked together with the configuration.
fn address(url: &Source, has_token: bool, has_proxy: bool) -> Result<String, DeliveryError> {
    match url {
        Source::Value(url) => Ok(url.clone()),
        Source::File(path) => {
            let url = read_secret(path)?;
            crate::config::check_webhook(&url, has_token, has_proxy)
                .map_err(|problem| DeliveryError::Address { path: path.clone(), problem })?;
            Ok(url)
        }
    }
}

fn webhook(
    url: &Source,
    token_file: Option<&Path>,
    has_proxy: bool,
    notice: &Notice,
) -> Result<Request, DeliveryError> {
    let url = address(url, token_file.is_some(), has_proxy)?;
    let mut request = Request::default();
    let protocol = if url.starts_with("https:") { "=https" } else { "=http" };
    request.option("proto", protocol);
    request.secret("url", &url, &url);
    request.option("data-raw", &render::json(notice));
    for header in ["Content-Type: application/json", "Expect:"] {
        request.option("header", header);
    }
    request.option("header", &format!("Idempotency-Key: {}", notice.id));
    request.option("user-agent", AGENT);
    if let Some(path) = token_file {
        let token = read_secret(path)?;
        request.secret("header", &format!("Authorization: Bearer {token}"), &token);
    }
    Ok(request)
}

fn mail_request(mail: &Mail, message: &Path) -> Result<Request, DeliveryError> {
    let mut request = Request::default();
    request.option("proto", "=smtp,smtps");
    request.option("url", &mail.server);
    if mail.tls {
        request.flag("ssl-reqd");
    }
    request.option("mail-from", &format!("<{}>", mail.from));
    for to in &mail.to {
        request.option("mail-rcpt", &format!("<{to}>"));
    }
    request.option("upload-file", &message.to_string_lossy());
    if let (Some(user), Some(path)) = (&mail.user, &mail.password_file) {
        let password = read_secret(path)?;
        request.secret("user", &format!("{user}:{password}"), &password);
    }
    if let Some(path) = &mail.ca_file {
        request.option("cacert", &path.to_string_lossy());
    }
    Ok(request)
}
