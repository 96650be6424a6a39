//! The entry of an option that is accepted.

use crate::Job;

/// An option of a job.
pub struct Key {
    /// Name of the option in job files and on the command line.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Syntax of its value.
    pub form: Form,
    /// Meaning of the option, as a line in the documentation.
    pub about: &'static str,
    /// How the meaning compares with fio's.
    pub standing: Standing,
    pub(super) set: fn(&mut Job, &str) -> Result<(), String>,
}

/// How the meaning of an option compares with fio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The same as in fio.
    Same,
    /// Different, as described.
    Differs,
    /// Accepted without effect, with a note in the results.
    Ignored,
}

/// Syntax of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// 0 or 1; 1 if omitted.
    Switch,
    /// Bytes, such as `4k`.
    Size,
    /// A time, such as `30s`.
    Time,
    /// Any other value, with its placeholder in the help.
    Word(&'static str),
    /// A value that may be omitted in job files, with its placeholder in the help.
    OptionalWord(&'static str),
}

pub(super) const fn key(
    name: &'static str,
    aliases: &'static [&'static str],
    form: Form,
    about: &'static str,
    set: fn(&mut Job, &str) -> Result<(), String>,
) -> Key {
    Key { name, aliases, form, about, standing: Standing::Same, set }
}

impl Key {
    pub(super) const fn differs(self) -> Self {
        Self { standing: Standing::Differs, ..self }
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.aliases.iter().copied())
    }
}
