//! The options of `plateau serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lab::Role;

/// How a server can be reached.
#[derive(Debug, Args)]
pub struct ListenOptions {
    /// Allow clients to reach the server by this name, such as lab.example or lab.example:443; repeatable
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// A proxy in front of the server provides TLS
    #[arg(long)]
    pub behind_proxy: bool,
    /// Encrypt connections with a certificate that the server generates, keeps, and renews before it expires; browsers warn
    /// until its fingerprint, which is printed, has been compared and accepted
    #[arg(long, group = "encrypted", conflicts_with_all = ["tls_cert", "tls_key"])]
    pub tls_self_signed: bool,
    /// Encrypt connections with this certificate (PEM, followed by those of the authorities that issued it); the file is
    /// re-read when it changes
    #[arg(long, value_name = "FILE", group = "encrypted", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM); not a link, and readable by nobody else
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

impl ListenOptions {
    /// Returns whether any of these options is given.
    pub fn is_any(&self) -> bool {
        let Self { allow_host, behind_proxy, tls_self_signed, tls_cert, tls_key: _ } = self;
        !allow_host.is_empty() || *behind_proxy || *tls_self_signed || tls_cert.is_some()
    }
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address and port to listen on; port 0 for any free port; an address that other hosts can reach requires TLS
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub listening: ListenOptions,
    /// Receive runs only from hosts with a certificate that this authority has issued (PEM), for a name that was added with
    /// `plateau sender add`, instead of hosts with a token
    #[arg(long, value_name = "FILE", requires = "encrypted")]
    pub client_ca: Option<PathBuf>,
    /// Change nothing: runs cannot be started or stopped, even by operators
    #[arg(long)]
    pub read_only: bool,
    /// Start runs through the launcher that listens on this socket, which may have more privileges than the
    /// server [default: as processes of the server's own user]
    #[arg(long, value_name = "SOCKET", conflicts_with = "read_only")]
    pub launcher: Option<PathBuf>,
    /// Show the jobs of this campaign on the page Fleet; repeatable
    #[arg(long, value_name = "CAMPAIGN.toml")]
    pub campaign: Vec<PathBuf>,
    /// Inventory of the drives of the campaigns
    #[arg(long, value_name = "FILE", default_value = "inventory.json", requires = "campaign")]
    pub inventory: PathBuf,
    /// Folder with the output of the campaigns' jobs
    #[arg(long, value_name = "DIR", default_value = "logs", requires = "campaign")]
    pub logs: PathBuf,
}

#[derive(Debug, Args)]
pub struct Metrics {
    /// Write to this file, which is replaced as a whole, instead of standard output; its name must end in .prom for the
    /// textfile collector of node_exporter
    #[arg(long, value_name = "FILE")]
    pub textfile: Option<PathBuf>,
}

/// `plateau user`.
#[derive(Debug, Subcommand)]
pub enum User {
    /// Add a user, or change the role and password of one; the password is read from the terminal or standard input
    Add {
        /// Name
        name: String,
        /// What the user may do: viewer (read everything) or operator (also start and stop runs)
        #[arg(long, value_name = "ROLE", default_value = "viewer")]
        role: Role,
    },
    /// Remove a user and end the user's sessions immediately
    Remove {
        /// Name
        name: String,
    },
    /// List the users and their roles
    List,
}

#[derive(Debug, Args)]
pub struct LauncherOptions {
    /// User (name or uid) whose requests are carried out; repeatable
    #[arg(long = "user", value_name = "USER", required = true)]
    pub users: Vec<String>,
}
