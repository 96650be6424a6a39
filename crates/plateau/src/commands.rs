//! The commands, one file each.

mod archive;
mod check;
mod compare;
mod completions;
mod copy;
mod demo;
mod doctor;
mod drives;
mod examples;
mod export;
mod fleet;
mod forward;
mod gate;
pub(crate) mod import;
mod index;
mod info;
mod launcher;

mod job;
mod list;
mod load;
mod man;
mod metrics;
mod name;
mod note;
mod notify;
mod open;
mod own;
mod plan;
mod publish;
mod purge;
mod query;
mod report;
mod resume;
mod rm;
mod run;
mod runs;
mod sender;
mod serve;
mod show;
mod sim;
mod status;
mod tag;
mod trend;
mod user;
mod verify;
mod watch;
mod workloads;

use crate::cli::{Cli, Command};
use crate::failure::Done;

/// Runs the given command.
pub fn run(cli: &Cli) -> Done {
    match &cli.command {
        Command::Demo(options) => demo::run(cli, options),
        Command::Run(options) => run::run(cli, options),
        Command::Plan(options) => plan::run(cli, options),
        Command::Resume(options) => resume::run(cli, options),
        Command::Runs(options) => runs::run(cli, options),
        Command::Drives(options) => drives::run(cli, options),
        Command::Trend(options) => trend::run(cli, options),
        Command::Query(options) => query::run(cli, options),
        Command::Index(options) => index::run(cli, options),
        Command::Doctor => doctor::run(cli),
        Command::Status => status::run(cli),
        Command::Serve(options) => serve::run(cli, options),
        Command::Publish(options) => publish::run(cli, options),
        Command::User(action) => user::run(cli, action),
        Command::Sender(action) => sender::run(cli, action),
        Command::Launcher(options) => launcher::run(cli, options),
        Command::Watch(options) => watch::run(cli, options),
        Command::Metrics(options) => metrics::run(cli, options),
        Command::Notify(options) => notify::run(cli, options),
        Command::Show(options) => show::run(cli, options),
        Command::Verify(options) => verify::run(cli, options),
        Command::Report(options) => report::run(cli, options),
        Command::Open(options) => open::run(cli, options),
        Command::Export(options) => export::run(cli, options),
        Command::Tag(options) => tag::run(cli, options),
        Command::Note(options) => note::run(cli, options),
        Command::Name(options) => name::run(cli, options),
        Command::Copy(options) => copy::run(cli, options),
        Command::Push(options) => forward::push(cli, options),
        Command::Forward(options) => forward::run(cli, options),
        Command::Job(options) => job::run(cli, options),
        Command::Fleet(command) => fleet::run(cli, command),
        Command::Archive(options) => archive::run(cli, &options.runs, &archive::ARCHIVE),
        Command::Unarchive(options) => archive::run(cli, &options.runs, &archive::UNARCHIVE),
        Command::Rm(options) => rm::run(cli, options),
        Command::Compare(options) => compare::run(cli, options),
        Command::Gate(options) => gate::run(cli, options),
        Command::Import(options) => import::run(cli, options),
        Command::Examples(options) => examples::run(cli, options),
        Command::List => list::run(cli),
        Command::Check(options) => check::run(cli, options),
        Command::Purge(options) => purge::run(cli, options),
        Command::Info(options) => info::run(cli, options),
        Command::Sim(action) => sim::run(cli, action),
        Command::Load(options) => load::run(cli, options),
        Command::Capture(options) => workloads::capture(cli, options),
        Command::Replay(options) => workloads::replay(cli, options),
        Command::Trace(action) => workloads::trace(cli, action),
        Command::Own => own::run(cli),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => man::run(options),
    }
}
