//! `plateau run TESTS TARGET…`.

use crate::cli::{Cli, Run};
use crate::failure::Done;
use crate::wanted::Wanted;
use crate::{campaign, conduct};

pub fn run(cli: &Cli, options: &Run) -> Done {
    let mut wanted = Wanted::each(&options.asked)?;
    if wanted.len() > 1 {
        return campaign::run(cli, wanted, options);
    }
    let done = conduct::perform(cli.library.as_deref(), wanted.remove(0), options)?;
    conduct::finish(cli, done)
}
