//! The commands that manage the runs in the library.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use record::Labels;

use crate::cli::completion;
use crate::output::options::Outputs;
use crate::output::standing::State;

/// The operator's labels for a run.
#[derive(Debug, Clone, Args, Default)]
pub struct Labelling {
    /// Name the run; RUN may then be this name
    #[arg(long, value_name = "NAME", value_parser = record::run_label::name)]
    pub name: Option<String>,
    /// Tag the run, to find it with `plateau runs TAG`; repeatable
    #[arg(long, value_name = "TAG", value_parser = record::run_label::tag)]
    pub tag: Vec<String>,
    /// Store a note with the run; repeatable
    #[arg(long, value_name = "TEXT", value_parser = record::run_label::note)]
    pub note: Vec<String>,
}

impl Labelling {
    /// Returns the labels in the form stored with the run.
    pub fn labels(&self) -> Labels {
        let mut tags = self.tag.clone();
        tags.sort();
        tags.dedup();
        Labels { name: self.name.clone(), tags, notes: self.note.clone() }
    }
}

/// The runs that a command applies to.
#[derive(Debug, Args, Default)]
pub struct Filter {
    /// Only runs that contain all of these words in their id, target, tests, profile, name, tags or notes
    pub text: Vec<String>,
    #[command(flatten)]
    pub only: Only,
}

/// Options that select runs.
#[derive(Debug, Args, Default)]
pub struct Only {
    /// Only runs on drives whose serial number or identity contains this text
    #[arg(long, value_name = "TEXT")]
    pub serial: Option<String>,
    /// Only runs on drives whose model contains this text
    #[arg(long, value_name = "TEXT")]
    pub model: Option<String>,
    /// Only runs with this test, or with a test in this family
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,
    /// Only runs whose profile starts with this prefix, such as pts-e
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Only runs with this tag; if repeated, only runs with all of the tags
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only runs in this state; repeatable
    #[arg(long, value_name = "STATE")]
    pub state: Vec<State>,
    /// Only runs started since a date such as 2026-11-01, a time such as 2026-11-01T08:00, or an age such as
    /// 12h, 7d or 2mo
    #[arg(long, value_name = "WHEN", value_parser = super::since::since)]
    pub since: Option<jiff::Timestamp>,
}

impl Only {
    /// Returns whether any of the options is set.
    pub fn is_any(&self) -> bool {
        let Self { serial, model, test, profile, tag, state, since } = self;
        let texts = [serial, model, test, profile];
        texts.iter().any(|text| text.is_some()) || !tag.is_empty() || !state.is_empty() || since.is_some()
    }
}

/// The store to query.
#[derive(Debug, Args, Default)]
pub struct StoreOption {
    /// Use this PostgreSQL store instead of the library's own index [default: $PLATEAU_STORE, else sqlite]
    #[arg(long, value_name = "postgres://USER@HOST/DATABASE|sqlite")]
    pub store: Option<store::StoreName>,
}

#[derive(Debug, Args)]
pub struct Drives {
    #[command(flatten)]
    pub store: StoreOption,
}

#[derive(Debug, Args, Default)]
pub struct Runs {
    #[command(flatten)]
    pub filter: Filter,
    /// Order
    #[arg(long, value_name = "KEY", default_value = "newest")]
    pub sort: Sort,
    /// List at most this many
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = super::numbers::at_least_one)]
    pub limit: Option<usize>,
    /// Split the list into pages of N runs, and list page K; with --json, the document says how many more there are
    #[arg(long, value_name = "K", requires = "limit", value_parser = super::numbers::at_least_one)]
    pub page: Option<usize>,
    /// Show these columns in this order, separated by commas: run, created, tests, profile, target, verdict, path,
    /// state, name, tags, notes, serial, identities, models
    #[arg(long, value_name = "LIST", value_parser = store::RunColumns::named)]
    pub columns: Option<store::RunColumns>,
    #[command(flatten)]
    pub store: StoreOption,
}

/// Sort order for a list of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Sort {
    /// The newest run first
    #[default]
    Newest,
    /// The oldest run first
    Oldest,
    /// By target, then the newest first
    Target,
    /// By tests, then the newest first
    Test,
    /// By profile, then the newest first
    Profile,
    /// By state, those in progress first
    State,
}

#[derive(Debug, Args)]
pub struct IndexOptions {
    /// Rebuild the index from all journals
    #[arg(long)]
    pub rebuild: bool,
    /// Remove the rows of a library that no longer exists from a shared store
    #[arg(long, value_name = "LIBRARY", conflicts_with = "rebuild")]
    pub forget: Option<String>,
    #[command(flatten)]
    pub store: StoreOption,
}

#[derive(Debug, Args)]
pub struct TrendOptions {
    /// Identity, serial number or model of the drives, or a part of one of these
    #[arg(value_name = "DRIVE|MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub subject: String,
    /// Key of the figure, such as iops.rnd4k.w
    #[arg(long, value_name = "KEY")]
    pub figure: String,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Write a page with a chart
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreOption,
}

#[derive(Debug, Args)]
pub struct Query {
    /// One SELECT statement over the tables in docs/reference/store.md
    #[arg(value_name = "SQL")]
    pub sql: String,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Write a Parquet file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv"])]
    pub parquet: Option<PathBuf>,
    /// Stop the query after this time
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = super::numbers::seconds)]
    pub time_limit: Duration,
    #[command(flatten)]
    pub store: StoreOption,
}

#[derive(Debug, Args)]
pub struct Tag {
    /// The run
    #[arg(value_name = "RUN", add = completion::run())]
    pub run: String,
    /// The tags, one word each
    #[arg(required = true, value_name = "TAG", value_parser = record::run_label::tag)]
    pub tags: Vec<String>,
    /// Remove these tags
    #[arg(long)]
    pub remove: bool,
}

#[derive(Debug, Args)]
pub struct Note {
    /// The run
    #[arg(value_name = "RUN", add = completion::run())]
    pub run: String,
    /// The note, on one line
    #[arg(value_name = "TEXT", value_parser = record::run_label::note)]
    pub text: String,
}

#[derive(Debug, Args)]
pub struct Name {
    /// The run
    #[arg(value_name = "RUN", add = completion::run())]
    pub run: String,
    /// The name; RUN may then be this name
    #[arg(value_name = "NAME", required_unless_present = "remove", value_parser = record::run_label::name)]
    pub name: Option<String>,
    /// Remove the name
    #[arg(long, conflicts_with = "name")]
    pub remove: bool,
}

#[derive(Debug, Args)]
pub struct Archive {
    /// The runs
    #[arg(required = true, value_name = "RUN", add = completion::run())]
    pub runs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Unarchive {
    /// The runs
    #[arg(required = true, value_name = "RUN", add = completion::run())]
    pub runs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Rm {
    /// The runs
    #[arg(required = true, value_name = "RUN", add = completion::run())]
    pub runs: Vec<String>,
    /// Do not ask for confirmation
    #[arg(short = 'y', long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct Open {
    /// The run [default: the newest]
    #[arg(default_value = "latest", hide_default_value = true, add = completion::run())]
    pub run: String,
    /// Program to open it with [default: $BROWSER, else xdg-open]
    #[arg(long, value_name = "PROGRAM")]
    pub browser: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Export {
    /// The runs; if there are several, each output is a folder with one file or folder per run
    #[arg(value_name = "RUN", required_unless_present_any = ["all", "parquet"], add = completion::run())]
    pub runs: Vec<String>,
    /// Export every run in the library
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// Write the tables of the index as Parquet, for DuckDB and pandas: of all runs, of those named, or of those that
    /// match the options --serial to --since
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
    #[command(flatten)]
    pub outputs: Outputs,
    #[command(flatten)]
    pub only: Only,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_named_in_the_help() {
        let help = Runs::augment_args(clap::Command::new("runs")).render_help().to_string();
        let words: Vec<&str> = help.split(|c: char| !c.is_alphanumeric()).collect();
        let (_, after) =
            words.split_at(words.iter().position(|word| *word == "columns").expect("the option"));
        for column in store::RUN_COLUMNS {
            assert!(after.contains(&column.name), "{}: {help}", column.name);
        }
    }

    #[test]
    fn tags_are_kept_once_in_order() {
        let tag = ["b", "a", "b"].map(str::to_owned).to_vec();
        let typed = Labelling { tag, ..Labelling::default() };
        assert_eq!(typed.labels().tags, ["a", "b"]);
    }
}
