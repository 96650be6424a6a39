//! `plateau run TESTS TARGET…`.

use crate::cli::{Cli, Run};
use crate::failure::Done;
use crate::{campaign, conduct};

pub fn run(cli: &Cli, options: &Run) -> Done {
    if !options.further.is_empty() {
        return campaign::run(cli, options);
    }
    let done = conduct::perform(cli.library.as_deref(), options)?;
    conduct::finish(cli, done)
}
