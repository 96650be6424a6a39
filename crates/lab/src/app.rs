//! State shared by all requests, and the types of requests and responses.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use record::Library;
use serde::Serialize;
use transfer::{Received, TransferError};

use crate::body::{Body, Field};
use crate::campaigns::{Campaigns, ReadCampaigns};
use crate::catalogue::{Catalogue, SavedRows};
use crate::devices::{Devices, ListDevices};
use crate::embedding::ReadMetrics;
use crate::error::ServeError;
use crate::followed::Followed;
use crate::gate::{Access, Gate, Visitor};
use crate::receivers::Receivers;
use crate::snapshot::Snapshots;
use crate::starts::{Queue, Starts};
use crate::tls::Tls;
use crate::users::Role;

/// Options of the server.
pub struct Options {
    /// Address to listen on; port 0 for any free port.
    pub listen: SocketAddr,
    /// Additional host names that browsers may use to reach the server.
    pub allowed_hosts: Vec<String>,
    /// Whether a proxy in front of the server encrypts connections and restricts access.
    pub behind_proxy: bool,
    /// How the server itself encrypts connections.
    pub tls: Tls,
    /// The authority, as PEM, that must have issued the certificates of hosts that send their runs; None if
    /// they need a token.
    pub client_ca: Option<PathBuf>,
    /// Whether the server is read-only.
    pub read_only: bool,
    /// Whether the server's output goes to a terminal. Otherwise, the output may be kept in a log that others
    /// can read.
    pub is_terminal: bool,
    /// The library to show.
    pub library: Library,
    /// Folder for users, queued plans, the journal of changes and saved rows; only this user can write to it.
    pub folder: PathBuf,
    /// Identifies the build of the program: rows of another build are not used.
    pub build: String,
    /// Program used to start runs.
    pub program: PathBuf,
    /// Socket of a privileged launcher; None to start runs with the privileges of the server.
    pub launcher: Option<PathBuf>,
    /// Names of the simulated drive models.
    pub models: Vec<&'static str>,
    /// Lists the host's block devices, or returns the reason why it cannot.
    pub devices: ListDevices,
    /// Reports the campaigns to show.
    pub campaigns: ReadCampaigns,
    /// The metrics of another service that embeds this server; None for a server of its own. An embedded server serves
    /// only `/metrics`.
    pub embedding: Option<ReadMetrics>,
}

impl Options {
    /// Returns the options of a server that is embedded in another service and only serves its metrics and those of its
    /// library, on a loopback address unless the options are changed.
    #[must_use]
    pub fn embedded(
        listen: SocketAddr,
        library: Library,
        folder: PathBuf,
        build: String,
        metrics: ReadMetrics,
    ) -> Self {
        Self {
            listen,
            allowed_hosts: Vec::new(),
            behind_proxy: false,
            tls: Tls::Off,
            client_ca: None,
            read_only: true,
            is_terminal: false,
            library,
            folder,
            build,
            // It starts no runs.
            program: PathBuf::new(),
            launcher: None,
            models: Vec::new(),
            devices: Box::new(|| Ok(Vec::new())),
            campaigns: Box::new(Vec::new),
            embedding: Some(metrics),
        }
    }
}

/// The state of the server.
pub struct App {
    pub gate: Gate,
    /// All routes of the server, for pages that describe them.
    pub routes: &'static [Route],
    pub catalogue: Arc<Catalogue>,
    pub snapshots: Arc<Snapshots>,
    pub followed: Followed,
    pub starts: Arc<Starts>,
    pub receivers: Receivers,
    pub models: Vec<&'static str>,
    pub devices: Devices,
    pub campaigns: Campaigns,
    pub embedding: Option<ReadMetrics>,
    is_terminal: bool,
    stopping: AtomicBool,
}

impl App {
    /// # Errors
    /// Returns an error if the file with queued runs exists but cannot be read.
    pub fn new(
        gate: Gate,
        routes: &'static [Route],
        queue: Queue,
        options: Options,
    ) -> Result<Self, ServeError> {
        let saved = SavedRows::new(&options.folder, options.build);
        let catalogue = Arc::new(Catalogue::saving(options.library.clone(), saved));
        let snapshots = Arc::new(Snapshots::default());
        let followed = Followed::of(Arc::clone(&catalogue), Arc::clone(&snapshots));
        let starts = Starts::of(Arc::clone(&catalogue), options.program, queue, options.launcher)?;
        Ok(Self {
            gate,
            routes,
            catalogue,
            snapshots,
            followed,
            starts,
            receivers: Receivers::of(options.library),
            models: options.models,
            devices: Devices::of(options.devices),
            campaigns: Campaigns::of(options.campaigns),
            embedding: options.embedding,
            is_terminal: options.is_terminal,
            stopping: AtomicBool::new(false),
        })
    }

    /// Returns whether the server has this route.
    pub fn has(&self, route: &Route) -> bool {
        self.embedding.is_none() || route.content == Content::Metrics
    }

    /// Returns the token of the link to print; None if it must not be printed, because others may read it in a log.
    /// Until there are users, a link is the only way to sign in.
    pub fn invitation(&self) -> Option<String> {
        (self.is_terminal || !self.gate.users.may_exist()).then(|| self.gate.token())
    }

    /// Ends the open event streams.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.followed.stop();
        self.starts.stop();
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// A request admitted by the gate.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Values of the placeholders in the path, in order.
    pub path: Vec<String>,
    /// The query, in order.
    pub query: Vec<(String, String)>,
    /// The fields of the form that was submitted, in order.
    pub form: Vec<(String, String)>,
    /// Whether only the response headers are requested.
    pub is_head: bool,
    /// The sender; None on public routes.
    pub visitor: Option<Visitor>,
}

impl Call {
    /// Returns the first non-empty value of `name` in the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        let all = self.query.iter().filter(|(key, value)| key == name && !value.is_empty());
        all.map(|(_, value)| value.as_str()).next()
    }

    /// Returns the first value of `name` in the form; empty if there is none.
    pub fn form(&self, name: &str) -> &str {
        self.form.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str())
    }

    /// Returns the token that this visitor's forms must contain.
    pub fn csrf(&self) -> &str {
        self.visitor.as_ref().map_or("", |visitor| visitor.csrf.as_str())
    }

    /// Returns whether the visitor may start and stop runs.
    pub fn is_operator(&self) -> bool {
        self.visitor.as_ref().is_some_and(|visitor| visitor.role == Role::Operator)
    }

    /// Returns the visitor's name in the journal of changes.
    pub fn user(&self) -> &str {
        self.visitor.as_ref().map_or("", Visitor::name)
    }

    /// Returns the first placeholder of the path; empty if there is none.
    pub fn name(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }
}

/// The response to a request.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
    /// Content security policy; None for the policy of ordinary pages.
    pub policy: Option<String>,
    /// File name for browsers that save the response; None to display it.
    pub save_as: Option<String>,
    /// Address to redirect to.
    pub location: Option<String>,
}

pub const HTML: &str = "text/html; charset=utf-8";
pub const JSON: &str = "application/json";

impl Answer {
    pub fn of(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, body: body.into(), policy: None, save_as: None, location: None }
    }

    pub fn html(markup: maud::Markup) -> Self {
        Self::of(HTML, markup.into_string())
    }

    pub fn json(document: &impl Serialize) -> Self {
        // Only maps whose keys are not texts cannot be represented.
        let mut text = serde_json::to_vec_pretty(document).unwrap_or_default();
        text.push(b'\n');
        Self::of(JSON, text)
    }

    /// The page to show after a change.
    pub fn see(location: String) -> Self {
        Self { status: 303, location: Some(location), ..Self::of(HTML, Vec::new()) }
    }

    /// An error, as text for both people and programs.
    pub fn error(status: u16, text: impl Into<String>) -> Self {
        let text = text.into() + "\n";
        Self { status, ..Self::of("text/plain; charset=utf-8", text) }
    }
}

/// One address.
pub struct Route {
    pub method: Method,
    /// Path with placeholders, in the router's syntax.
    pub path: &'static str,
    pub access: Access,
    pub content: Content,
    /// One-line description.
    pub about: &'static str,
    pub query: &'static [Field],
    pub body: Body,
    /// Statuses with which the handler answers, in addition to those with which the gate refuses requests.
    pub answers: &'static [u16],
    pub handler: Handler,
}

/// The handler of a request.
pub enum Handler {
    /// A function that returns at once.
    Answer(fn(&App, &Call) -> Answer),
    /// The events of a run.
    Events,
    /// Signs in a browser with a link.
    Entrance,
    /// Signs in a browser with a name and a password.
    Login,
    /// Answers another host that sends its runs.
    Receive(Reception),
}

/// How much of a run the server has after a request; None if the response does not say this.
pub type Reply = Result<Option<Received>, TransferError>;

/// What a host that sends its runs can request.
pub struct Reception {
    /// Size limit of the body.
    pub most_bytes: usize,
    pub answer: fn(&App, &Call, &[u8]) -> Reply,
}

/// The effect of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Changes state, so the gate requires the session's token.
    Post,
}

impl Method {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

/// The content that a route returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// For people.
    Page,
    Json,
    Events,
    Metrics,
    Picture,
    File,
    /// A part of all pages, of this type.
    Asset(&'static str),
}

impl Content {
    /// Returns the type without parameters such as the character set.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Page => "text/html",
            Self::Json => JSON,
            Self::Events => "text/event-stream",
            Self::Metrics => "application/openmetrics-text",
            Self::Picture => "image/svg+xml",
            Self::File => "application/octet-stream",
            Self::Asset(media_type) => media_type,
        }
    }

    /// Returns whether programs use the content.
    pub const fn is_data(self) -> bool {
        matches!(self, Self::Json | Self::Events | Self::Metrics | Self::Picture | Self::File)
    }
}
