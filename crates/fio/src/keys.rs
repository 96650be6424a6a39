//! fio's options, one entry each: options with an effect, options that are accepted without an effect, and
//! options that are refused, with the reason.

mod course;
mod data;
mod defaults;
mod effective;
mod entry;
mod ignored;
mod logs;
mod nvme;
mod priority;
mod program;
mod refused;
mod scsi;
mod zoned;

pub use entry::{Form, Key, Standing};
pub use program::{PROGRAM, ProgramOption};
pub use refused::{REFUSED, Refused};

use course::COURSE;
use data::DATA;
use defaults::DEFAULTS;
use effective::EFFECTIVE;
use ignored::IGNORED;
use logs::LOGS;
use nvme::NVME;
use priority::PRIORITY;
use scsi::SCSI;
use zoned::ZONED;

use super::Job;

/// Returns every accepted option.
pub fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    effective().chain(DEFAULTS).chain(IGNORED)
}

/// Returns the options with an effect.
fn effective() -> impl Iterator<Item = &'static Key> + Clone {
    let of_commands = PRIORITY.iter().chain(NVME).chain(SCSI).chain(ZONED);
    EFFECTIVE.iter().chain(DATA).chain(COURSE).chain(of_commands).chain(LOGS)
}

/// Returns the names of all options, both accepted and refused.
fn all_names() -> impl Iterator<Item = &'static str> {
    keys().flat_map(Key::names).chain(REFUSED.iter().flat_map(|refused| refused.names.iter().copied()))
}

/// Returns the entry of a refused option.
#[must_use]
pub fn refused(name: &str) -> Option<&'static Refused> {
    REFUSED.iter().find(|refused| refused.names.contains(&name))
}

/// Sets one option of a job.
///
/// # Errors
/// Returns an error that names the option and gives the supported values, the reason for a refusal, or the
/// nearest known name.
pub fn set(job: &mut Job, name: &str, value: Option<&str>) -> Result<(), String> {
    let key = keys().find(|key| key.names().any(|known| known == name)).ok_or_else(|| unknown(name))?;
    let alone = match key.form {
        Form::Switch => Some("1"),
        Form::OptionalWord(_) => Some(""),
        Form::Size | Form::Time | Form::Word(_) => None,
    };
    let value = value.or(alone).ok_or_else(|| format!("{name}: missing value"))?;
    let problem = |text: String| format!("{name}={value}: {text}");
    if name == "name" && !value.is_empty() {
        value.clone_into(&mut job.name);
    }
    if value.contains('$') && name != "filename_format" {
        return Err(problem(
            "only ${NAME}, $pagesize and $ncpus are expanded in job files; write the value".into(),
        ));
    }
    (key.set)(job, value).map_err(problem)?;
    if key.standing == Standing::Ignored && !job.ignored.contains(&key.name) {
        job.ignored.push(key.name);
    }
    job.given.retain(|(given, _)| *given != key.name);
    job.given.push((key.name, value.to_owned()));
    Ok(())
}

/// Returns the reason why a fio job option or command-line option is refused; dashes and underscores are equivalent.
#[must_use]
pub fn why_refused(option: &str) -> Option<&'static str> {
    let hyphened = option.replace('_', "-");
    let of_program = PROGRAM.iter().find(|row| row.standing.is_none() && row.name == hyphened);
    refused(option).or_else(|| refused(&hyphened)).map(|row| row.why).or(of_program.map(|row| row.about))
}

fn unknown(name: &str) -> String {
    if let Some(refused) = refused(name) {
        return format!("{name} is not supported: {}", refused.why);
    }
    match stdx::nearest(name, all_names()) {
        Some(near) => format!("{name} is not a fio option; did you mean {near}?"),
        None => format!("{name} is not a fio option; docs/reference/fio.md lists all of them"),
    }
}

#[cfg(test)]
mod tests;
