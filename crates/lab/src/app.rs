//! What all requests share, and the types of a request and its answer.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use record::Library;

use crate::catalogue::Catalogue;
use crate::gate::{Access, Gate};
use crate::snapshot::Snapshots;

/// What the operator chose.
pub struct Options {
    /// Address to listen on; port 0 for any free port.
    pub listen: SocketAddr,
    /// Names, besides those of the address, by which browsers may reach the server.
    pub allowed_hosts: Vec<String>,
    /// Whether a proxy in front of the server encrypts connections and restricts access.
    pub behind_proxy: bool,
    /// The library to show.
    pub library: Library,
    /// Lists the block devices of the host, or says why it cannot.
    pub devices: Box<dyn Fn() -> Result<Vec<Device>, String> + Send + Sync>,
}

/// A block device of the host.
#[derive(Debug, Clone)]
pub struct Device {
    /// Path, such as `/dev/nvme0n1`.
    pub path: String,
    /// Kind, such as `NVMe`.
    pub kind: String,
    /// Identity to type before it is erased; None if unknown.
    pub identity: Option<String>,
    /// Model; None if unknown.
    pub model: Option<String>,
    /// Capacity; None if unknown.
    pub capacity_bytes: Option<u64>,
    /// Why it cannot be tested; empty if it can.
    pub refusals: Vec<String>,
}

/// The state of the server.
pub struct App {
    pub gate: Gate,
    /// Every address of the server, for pages that describe them.
    pub routes: &'static [Route],
    pub catalogue: Catalogue,
    pub snapshots: Snapshots,
    pub devices: Box<dyn Fn() -> Result<Vec<Device>, String> + Send + Sync>,
    stopping: AtomicBool,
}

impl App {
    pub fn new(
        gate: Gate,
        routes: &'static [Route],
        library: &Library,
        devices: Box<dyn Fn() -> Result<Vec<Device>, String> + Send + Sync>,
    ) -> Self {
        let catalogue = Catalogue::of(library.clone());
        Self {
            gate,
            routes,
            catalogue,
            snapshots: Snapshots::default(),
            devices,
            stopping: AtomicBool::new(false),
        }
    }

    /// Makes open streams of events end.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// A request that passed the gate.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Values of the placeholders in the path, in order.
    pub path: Vec<String>,
    /// The query, in order.
    pub query: Vec<(String, String)>,
}

impl Call {
    /// The first value of `name` in the query that is not empty.
    pub fn query(&self, name: &str) -> Option<&str> {
        let all = self.query.iter().filter(|(key, value)| key == name && !value.is_empty());
        all.map(|(_, value)| value.as_str()).next()
    }

    /// The first placeholder of the path; empty if there is none.
    pub fn name(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
    /// Content security policy; None for that of the pages.
    pub policy: Option<String>,
    /// File name for browsers that save the answer; None to display it.
    pub save_as: Option<String>,
}

pub const HTML: &str = "text/html; charset=utf-8";
pub const JSON: &str = "application/json";

impl Answer {
    pub fn of(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, body: body.into(), policy: None, save_as: None }
    }

    pub fn html(markup: maud::Markup) -> Self {
        Self::of(HTML, markup.into_string())
    }

    pub fn json(value: &serde_json::Value) -> Self {
        Self::of(JSON, format!("{value:#}\n"))
    }

    /// An error, as text for people and programs alike.
    pub fn error(status: u16, text: impl Into<String>) -> Self {
        let text = text.into() + "\n";
        Self { status, ..Self::of("text/plain; charset=utf-8", text) }
    }
}

/// One address.
pub struct Route {
    /// Path with placeholders, as the router reads it.
    pub path: &'static str,
    pub access: Access,
    pub content: Content,
    /// One line about it.
    pub about: &'static str,
    /// Names that the query may contain.
    pub query: &'static [&'static str],
    pub handler: Handler,
}

/// What answers a request.
pub enum Handler {
    /// A function that returns at once.
    Answer(fn(&App, &Call) -> Answer),
    /// The events of a run.
    Events,
    /// Signs a browser in.
    Entrance,
}

/// What an address returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// For people.
    Page,
    Json,
    Events,
    Metrics,
    File,
}

impl Content {
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Page => HTML,
            Self::Json => JSON,
            Self::Events => "text/event-stream",
            Self::Metrics => "application/openmetrics-text",
            Self::File => "application/octet-stream",
        }
    }
}
