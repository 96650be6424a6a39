//! All power sources. Each is one file in this folder and one line in [`SOURCES`].

mod command;
mod hwmon;
mod nvme;
mod rapl;
mod serial;

use crate::error::PowerError;
use crate::source::{Kind, Opened, Surroundings};

/// All types of sources.
pub const SOURCES: &[Kind] = &[hwmon::KIND, rapl::KIND, nvme::KIND, serial::KIND, command::KIND];

/// A named source that is not open yet.
#[derive(Clone)]
pub struct Named {
    kind: &'static Kind,
    given: String,
}

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Named").field(&self.given).finish()
    }
}

impl Named {
    /// Parses a name such as `hwmon:nvme` or `rapl`.
    ///
    /// # Errors
    /// Returns an error if there is no such source, or if its argument is missing or not expected.
    pub fn parse(given: &str) -> Result<Self, PowerError> {
        let (name, argument) = match given.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (given, None),
        };
        let Some(kind) = SOURCES.iter().find(|kind| kind.name == name) else {
            let known: Vec<String> = SOURCES.iter().map(Kind::syntax).collect();
            return Err(PowerError::Unknown { given: given.into(), known: known.join(", ") });
        };
        let is_complete = argument.is_some_and(|argument| !argument.trim().is_empty());
        if is_complete != kind.argument.is_some() || (argument.is_some() && kind.argument.is_none()) {
            return Err(PowerError::Syntax { given: given.into(), syntax: kind.syntax() });
        }
        Ok(Self { kind, given: given.into() })
    }

    /// The type of the source.
    #[must_use]
    pub const fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Opens the source; if the meter sends unprompted, waits for its first value.
    ///
    /// # Errors
    /// Returns an error if the source does not exist or does not report power.
    pub fn open(&self, around: Surroundings) -> Result<Opened, PowerError> {
        let argument = self.given.split_once(':').map_or("", |(_, argument)| argument);
        let mut opened = (self.kind.open)(argument, around)?;
        opened.facts.source.clone_from(&self.given);
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_mistakes_show_the_syntax() {
        for given in ["hwmon:nvme", "rapl", "nvme", "serial:/dev/ttyUSB0", "command:/bin/meter --slot 3"] {
            assert_eq!(Named::parse(given).expect(given).given, given);
        }
        for (given, hint) in [
            ("watts", "hwmon:NAME, rapl, nvme"),
            ("hwmon", "use hwmon:NAME"),
            ("hwmon: ", "use hwmon:NAME"),
            ("rapl:0", "use rapl"),
            ("rapl:", "use rapl"),
            ("", "is not a power source"),
        ] {
            let message = Named::parse(given).expect_err(given).to_string();
            assert!(message.contains(hint), "{given}: {message}");
        }
    }

    #[test]
    fn only_the_operator_may_name_programs_and_ports() {
        let trusted: Vec<&str> =
            SOURCES.iter().filter(|kind| kind.needs_trust).map(|kind| kind.name).collect();
        assert_eq!(trusted, ["serial", "command"]);
    }
}
