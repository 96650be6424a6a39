//! `plateau completions SHELL`.

use clap_complete::env::Shells;

use crate::cli::Completions;
use crate::cli::completion;
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;

pub fn run(options: &Completions) -> Done {
    let name = options.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells
        .completer(&name)
        .ok_or_else(|| Failure::text(Exit::Internal, format!("there is no completion script for {name}")))?;
    let mut script = Vec::new();
    shell.write_registration(completion::VARIABLE, "plateau", "plateau", "plateau", &mut script)?;
    printer::print_bytes(&script)
}
