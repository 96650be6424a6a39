//! Serves the runs in a library as live web pages, and the same data as JSON.
//!
//! A server neither opens devices nor locks runs, so it does not affect runs in progress; it starts runs as
//! separate processes (the `launch` crate). Everything it shows is derived from journals. `routes::ROUTES`
//! lists every route; `gate` decides which requests are answered.
#![forbid(unsafe_code)]

mod announce;
mod api;
mod app;
mod assets;
mod audit;
mod basic;
mod body;
mod campaigns;
mod catalogue;
mod connections;
mod devices;
mod document;
mod drives;
mod embedding;
mod error;
mod events;
mod followed;
mod gate;
mod links;
mod metrics;
mod open_connections;
mod openapi;
mod order;
mod owned_list;
mod pages;
mod parts;
mod receive;
mod receivers;
mod receiving;
mod routes;
mod secrets;
mod senders;
mod server;
mod sessions;
mod site;
mod starts;
mod tls;
mod users;

use follow::{live, snapshot};

pub use announce::Announcement;
pub use app::Options;
pub use campaigns::{Campaign, CampaignJob, ReadCampaigns};
pub use devices::{Device, ListDevices};
pub use embedding::{Metric, ReadMetrics};
pub use error::{ServeError, Unusable};
pub use metrics::metrics_of;
pub use routes::addresses;
pub use senders::Senders;
pub use server::{ENDS_WITHIN, Server};
pub use site::{
    FolderError, LeftOut, MANIFEST, Manifest, Publication, PublishError, PublishedRun, WriteFile, folder_of,
    publish, remove_stale, site_in,
};
pub use tls::{Certificate, Tls};
pub use users::{Role, Users};
