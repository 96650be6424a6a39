//! `plateau completions SHELL`.

use clap::CommandFactory as _;

use crate::cli::{Cli, Completions};
use crate::failure::Done;
use crate::printer;

pub fn run(options: &Completions) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "plateau", &mut script);
    printer::print(&String::from_utf8_lossy(&script))
}
