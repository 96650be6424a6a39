//! `plateau man DIR`.

use clap::CommandFactory as _;

use crate::cli::{Cli, Man};
use crate::failure::{Done, EXIT_CODES, Exit, Failure};

pub fn run(options: &Man) -> Done {
    write(options).map_err(|error| {
        let context = format!("cannot write the man pages to {}", options.dir.display());
        Failure::new(Exit::Run, anyhow::Error::new(error).context(context))
    })?;
    crate::printer::tell_line(&format!("wrote the man pages to {}", options.dir.display()));
    Ok(())
}

fn write(options: &Man) -> std::io::Result<()> {
    std::fs::create_dir_all(&options.dir)?;
    clap_mangen::generate_to(Cli::command(), &options.dir)?;
    let page = options.dir.join("plateau.1");
    let mut text = std::fs::read_to_string(&page)?;
    text.push_str(".SH \"EXIT STATUS\"\n.TP\n.B 0\nsuccess\n");
    for (exit, meaning) in EXIT_CODES {
        text.push_str(&format!(".TP\n.B {}\n{meaning}\n", exit.code()));
    }
    std::fs::write(&page, text)
}
