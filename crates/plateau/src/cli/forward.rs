//! The options of the commands that send runs to a server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use forward::Address;

use super::serve::ListenOptions;
use super::{completion, numbers};

/// How to reach the server.
#[derive(Debug, Args)]
pub struct ServerOptions {
    /// File with the token that `plateau sender add` printed on the server; only you may be able to read it [default:
    /// /etc/plateau/token for root, else $XDG_CONFIG_HOME/plateau/token]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Trust this certificate, or those issued by it, such as the server's own self-signed certificate (PEM) [default:
    /// this host's certificates]
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Identify this host by this certificate instead of a token (PEM), if the server has an authority for the certificates
    /// of hosts
    #[arg(long, value_name = "FILE", requires = "client_key", conflicts_with = "token_file")]
    pub client_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM, not encrypted); only you may be able to read it
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Forward {
    /// The server, such as https://lab.example:7070
    #[arg(long, value_name = "URL")]
    pub to: Address,
    #[command(flatten)]
    pub server: ServerOptions,
    /// Send everything that is new once, and exit
    #[arg(long)]
    pub once: bool,
    /// Interval between checks of the library
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = numbers::seconds, conflicts_with = "once")]
    pub look_every: Duration,
    /// Also serve /metrics for Prometheus at this address and port [if the option has no value: 127.0.0.1:7071]; an address
    /// that other hosts can reach requires TLS. Users sign in as to `plateau serve`
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7071", conflicts_with = "once")]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub listening: ListenOptions,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "plateau push [OPTIONS] RUN... URL\n       plateau push [OPTIONS] --all URL",
    allow_missing_positional = true
)]
pub struct Push {
    /// The runs
    #[arg(required_unless_present = "all", value_name = "RUN", add = completion::run())]
    pub runs: Vec<String>,
    /// The server, such as https://lab.example:7070
    #[arg(required = true, value_name = "URL")]
    pub to: Address,
    /// Push every run in the library
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// Also push runs in progress, with their records so far
    #[arg(long)]
    pub in_progress: bool,
    #[command(flatten)]
    pub server: ServerOptions,
}

/// `plateau sender`.
#[derive(Debug, Subcommand)]
pub enum Sender {
    /// Let a host send its runs, or replace its token; prints the token, once
    Add {
        /// Name of the host, as shown with its runs
        name: String,
        /// Create no token: the host has a certificate for this name (`plateau serve --client-ca`)
        #[arg(long)]
        certificate: bool,
    },
    /// Stop accepting runs from a host; the runs that it has already sent remain
    Remove {
        /// Name of the host
        name: String,
    },
    /// List the hosts that may send their runs
    List,
}
