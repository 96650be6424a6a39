//! Sends the runs of a library to a server (`plateau serve`): once, or continuously while they are in progress.
//!
//! A separate process (`plateau forward`) follows the library. It reads runs and never writes to them, so neither the
//! network nor the server affects a run. It keeps no state: at each start it asks the server how much of each run the
//! server already has. Its memory use is bounded, because it sends one piece of one journal at a time.
#![forbid(unsafe_code)]

mod address;
mod client;
mod push;
mod service;
mod status;

pub use address::{Address, AddressError};
pub use client::{Client, Connection, Credential};
pub use push::{ends_push, push};
pub use service::{Round, Service};
pub use status::{Reading, Status};
