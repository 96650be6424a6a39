//! What a configuration contains.

use std::path::PathBuf;
use std::time::Duration;

use crate::decide::Rules;
use crate::notice::Event;

/// A configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Interval between two checks of the library.
    pub look_every: Duration,
    /// Limits of time.
    pub rules: Rules,
    /// Number of attempts to deliver a notice through a channel.
    pub attempts: u32,
    /// Time before the second attempt; it doubles with each further attempt.
    pub first_retry: Duration,
    /// The channels, in the order of the configuration file.
    pub channels: Vec<Entry>,
    /// The campaigns whose held jobs are reported.
    pub campaigns: Vec<CampaignPlaces>,
}

/// The files that describe a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignPlaces {
    /// The campaign.
    pub file: PathBuf,
    /// The inventory of its drives.
    pub inventory: PathBuf,
    /// Folder with the output of its jobs.
    pub logs: PathBuf,
}

/// A configured channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Unique name of the channel.
    pub name: String,
    /// The events to report through the channel.
    pub events: Vec<Event>,
    /// Time limit for an attempt.
    pub timeout: Duration,
    /// How notices are delivered.
    pub means: Means,
}

/// How notices are delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Means {
    /// Starts a program, without a shell.
    Program {
        /// Absolute path of the program, and its arguments.
        run: Vec<String>,
    },
    /// Sends an HTTP request.
    Webhook {
        /// The address.
        url: Source,
        /// File that contains a bearer token.
        token_file: Option<PathBuf>,
        /// Certificates to trust instead of the system's.
        ca_file: Option<PathBuf>,
        /// URL of the proxy for the request.
        proxy: Option<String>,
    },
    /// Sends mail.
    Mail(Mail),
}

/// A value in the configuration or in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The value.
    Value(String),
    /// The file that contains the value.
    File(PathBuf),
}

/// A mail server, and the sender's and recipients' addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// URL of the server: `smtp://` or `smtps://`.
    pub server: String,
    /// Whether the connection must be encrypted.
    pub tls: bool,
    /// Sender.
    pub from: String,
    /// Recipients.
    pub to: Vec<String>,
    /// User name, if the server requires authentication.
    pub user: Option<String>,
    /// File that contains the user's password.
    pub password_file: Option<PathBuf>,
    /// Certificates to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
}
