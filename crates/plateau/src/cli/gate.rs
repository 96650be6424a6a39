//! `plateau gate`.

use std::path::PathBuf;

use ::gate::formats::Annotations;
use clap::Args;

use crate::cli::completion;

#[derive(Debug, Args)]
pub struct Gate {
    /// The run to evaluate
    #[arg(add = completion::run())]
    pub run: String,
    /// Rules: a TOML file with the `require` and `fail-if` lists
    #[arg(long, value_name = "FILE")]
    pub rules: PathBuf,
    /// Run to compare with for `fail-if` [default: from the rules file]
    #[arg(long, value_name = "RUN", add = completion::run())]
    pub baseline: Option<String>,
    /// Write the verdict as JUnit XML, with one test case per rule
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the verdict as a Markdown summary
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Annotate the rules that are not met: `github` prints workflow commands, `gitlab=FILE` writes a Code Quality
    /// report; repeatable
    #[arg(long, value_name = "FORGE[=FILE]")]
    pub annotations: Vec<Annotations>,
    /// Write the verdict as a badge (SVG)
    #[arg(long, value_name = "FILE")]
    pub badge: Option<PathBuf>,
}
