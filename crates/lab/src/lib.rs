//! The runs of a library as pages in a browser, followed live, and the same facts as JSON.
//!
//! A server opens no device and holds no lock of a run, so a run cannot notice it: runs are started as processes of their
//! own (crate `launch`). What it shows is folded from journals, as everywhere. `routes::ROUTES` lists every address; `gate` decides which
//! requests are answered.
#![forbid(unsafe_code)]

mod api;
mod app;
mod assets;
mod audit;
mod catalogue;
mod drives;
mod error;
mod events;
mod gate;
mod metrics;
mod openapi;
mod pages;
mod routes;
mod secrets;
mod server;
mod starts;
mod users;

use follow::{live, snapshot};

pub use app::{Device, Options};
pub use error::ServeError;
pub use routes::addresses;
pub use server::Server;
pub use users::{Role, Users};
