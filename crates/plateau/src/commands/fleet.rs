//! `plateau fleet`: tests drives in many hosts with Slurm jobs.

mod check;
mod inventory;
mod shown;
mod status;
mod submit;

use crate::cli::{Cli, Fleet};
use crate::failure::Done;

pub use shown::shown;

pub fn run(cli: &Cli, command: &Fleet) -> Done {
    match command {
        Fleet::Inventory(options) => inventory::run(cli, options),
        Fleet::Check(options) => check::run(cli, options),
        Fleet::Submit(options) => submit::run(cli, options),
        Fleet::Status(options) => status::run(cli, options),
    }
}
