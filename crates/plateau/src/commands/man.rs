//! `plateau man DIR`.

use clap::{Command, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::cli::{Cli, Man};
use crate::failure::{Done, EXIT_CODES};
use crate::output::file;

pub fn run(options: &Man) -> Done {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    render(&command, &mut pages)?;
    if let Some((_, page)) = pages.iter_mut().find(|(name, _)| name == "plateau.1") {
        page.extend_from_slice(exit_status().as_bytes());
    }
    file::folder(&options.dir, &pages)?;
    crate::output::printer::print_line(&format!("wrote the man pages to {}", options.dir.display()));
    Ok(())
}

/// Appends the name and text of the manual page for a command and for each of its subcommands.
fn render(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        render(below, pages)?;
    }
    let (page, mut text) = (Page::new(command.clone()), Vec::new());
    page.render(&mut text)?;
    pages.push((page.get_filename(), text));
    Ok(())
}

fn exit_status() -> String {
    let mut text = ".SH \"EXIT STATUS\"\n.TP\n.B 0\nsuccess\n".to_owned();
    for (exit, meaning) in EXIT_CODES {
        text.push_str(&format!(".TP\n.B {}\n{meaning}\n", exit.code()));
    }
    text
}
