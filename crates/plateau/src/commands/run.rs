//! `plateau run TESTS TARGET`.

use crate::cli::{Cli, Run};
use crate::conduct;
use crate::failure::Done;

pub fn run(cli: &Cli, options: &Run) -> Done {
    let done = conduct::perform(cli.library.as_deref(), options)?;
    conduct::finish(cli, done)
}
