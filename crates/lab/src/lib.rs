//! The runs of a library as pages in a browser, followed live, and the same facts as JSON.
//!
//! A server only reads: it opens no device, writes no file and holds no lock, so a run cannot notice it. What it shows
//! is folded from journals, as everywhere. `routes::ROUTES` lists every address; `gate` decides which
//! requests are answered.
#![forbid(unsafe_code)]

mod api;
mod app;
mod assets;
mod catalogue;
mod drives;
mod error;
mod events;
mod gate;
mod metrics;
mod openapi;
mod pages;
mod routes;
mod server;

use follow::{live, snapshot};

pub use app::{Device, Options};
pub use error::ServeError;
pub use server::Server;
