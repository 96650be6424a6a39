//! Output files with one option per format, generated from the table of formats.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use report::export::{EXPORTS, Export, Make};

/// The files to write, with their formats.
#[derive(Debug, Clone, Default)]
pub struct Outputs(pub Vec<(&'static Export, PathBuf)>);

/// Returns the format for the file name extension of `path`.
///
/// # Errors
/// When the extension is unknown.
pub fn by_extension(path: &Path) -> Result<(&'static Export, PathBuf), String> {
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    let export = EXPORTS.iter().find(|export| export.extensions.contains(&&*end));
    export.map(|export| (export, path.to_owned())).ok_or_else(|| {
        let known: Vec<_> =
            EXPORTS.iter().flat_map(|export| export.extensions).map(|end| format!(".{end}")).collect();
        format!(
            "{}: the file name extension selects the format; use one of {}; `plateau report --help` lists \
             options for other formats",
            path.display(),
            known.join(", ")
        )
    })
}

impl FromArgMatches for Outputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let path = |export: &'static Export| Some((export, matches.get_one::<PathBuf>(export.name)?.clone()));
        Ok(Self(EXPORTS.iter().filter_map(path).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Outputs {
    fn augment_args(command: Command) -> Command {
        EXPORTS.iter().fold(command, |command, export| {
            let place = if matches!(export.make, Make::File(_)) { "FILE" } else { "DIR" };
            let help = format!("Write {}", export.about);
            let arg = Arg::new(export.name).long(export.name).value_name(place).help(help);
            command.arg(arg.value_parser(value_parser!(PathBuf)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_chooses_the_format() {
        for (path, name) in
            [("a/b.pdf", "pdf"), ("R.HTML", "html"), ("x.json", "json-file"), ("x.xml", "tkperf-xml")]
        {
            assert_eq!(by_extension(path.as_ref()).map(|(export, _)| export.name), Ok(name), "{path}");
        }
        for path in ["data.csv", "report", "-", "pdf"] {
            assert!(by_extension(path.as_ref()).unwrap_err().contains(".html"), "{path}");
        }
    }
}
