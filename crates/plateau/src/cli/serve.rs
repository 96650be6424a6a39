//! The options of `plateau serve`.

use std::net::SocketAddr;

use clap::Args;

#[derive(Debug, Args)]
pub struct Serve {
    /// Address and port to listen on; port 0 for any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub listen: SocketAddr,
    /// Allow browsers to reach the server by this name, such as lab.example or lab.example:443; repeatable
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// A proxy in front of the server encrypts connections; required for addresses that other hosts can reach
    #[arg(long)]
    pub behind_proxy: bool,
}
