//! The requests that a launcher accepts, and their limits.

use serde::{Deserialize, Serialize};

/// Size limit of a request, with room for a plan and for the JSON around it.
pub const MOST_REQUEST_BYTES: usize = 256 << 10;
/// Size limit of a plan.
const MOST_PLAN_BYTES: usize = 64 << 10;
/// Size limit of a path, an identity or any other single value.
const MOST_TEXT_BYTES: usize = 4096;
/// Number of tests.
const MOST_TESTS: usize = 64;

/// Requests that a launcher accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Starts a run.
    Start(Start),
    /// Stops a run, like Ctrl-C.
    Stop {
        /// Id of the run.
        run: String,
    },
    /// Continues an interrupted run after its last complete cell.
    Resume {
        /// Id of the run.
        run: String,
        /// The target's identity, if it must be typed again.
        #[serde(default)]
        identity: Option<String>,
    },
    /// Continues an interrupted run by restarting its interrupted test with the purge.
    Restart {
        /// Id of the run.
        run: String,
        /// The target's identity, if it must be typed again.
        #[serde(default)]
        identity: Option<String>,
    },
}

/// A run to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// What to run.
    pub plan: Plan,
    /// The target.
    pub target: Target,
    /// The target's identity as typed by the user. A simulated drive has no data to lose, so it needs none.
    pub identity: String,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Plan {
    /// Tests in a profile.
    Tests {
        /// Names of the tests.
        tests: Vec<String>,
        /// Version of the specification.
        profile: String,
    },
    /// A plan that ships with Plateau.
    Preset(String),
    /// The text of a plan.
    Text(String),
}

/// A target, as typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Path, or `sim:MODEL`.
    pub path: String,
    /// Scale of a simulated drive.
    #[serde(default)]
    pub scale: Option<String>,
    /// Size of a file that does not yet exist.
    #[serde(default)]
    pub size: Option<String>,
}

/// Why a request is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// A value is empty.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A value is too long.
    #[error("{what} has more than {limit_bytes} bytes")]
    TooLong {
        /// The value.
        what: &'static str,
        /// Length limit of the value.
        limit_bytes: usize,
    },
    /// A value contains a control character.
    #[error("{0} contains a control character")]
    Control(&'static str),
    /// The target is neither an absolute path nor a simulated drive.
    #[error("the target must be an absolute path or sim:MODEL")]
    Target,
    /// A name contains invalid characters.
    #[error("{what} '{name}' is not a name")]
    Name {
        /// Kind of name.
        what: &'static str,
        /// The text.
        name: String,
    },
    /// More than the number of existing tests.
    #[error("more tests than exist")]
    TooMany,
}

impl Request {
    /// Checks the limits of all values; the run itself checks their meaning.
    ///
    /// # Errors
    /// Returns an error if a value is missing, too long, or of the wrong kind.
    pub fn check(&self) -> Result<(), Invalid> {
        match self {
            Self::Start(start) => start.check(),
            Self::Stop { run } => name("run", run),
            Self::Resume { run, identity } | Self::Restart { run, identity } => {
                name("run", run)?;
                identity.as_deref().map_or(Ok(()), |identity| text("identity", identity))
            }
        }
    }

    /// Returns the run that the request applies to; `None` for a run that has not started.
    #[must_use]
    pub fn run(&self) -> Option<&str> {
        match self {
            Self::Start(_) => None,
            Self::Stop { run } | Self::Resume { run, .. } | Self::Restart { run, .. } => Some(run),
        }
    }
}

impl Start {
    /// Checks the limits of all values.
    ///
    /// # Errors
    /// Same as [`Request::check`].
    pub fn check(&self) -> Result<(), Invalid> {
        self.plan.check()?;
        self.target.check()?;
        text("identity", &self.identity)
    }
}

impl Plan {
    /// Checks the limits of all values.
    ///
    /// # Errors
    /// Same as [`Request::check`].
    pub fn check(&self) -> Result<(), Invalid> {
        match self {
            Self::Tests { tests, profile } => {
                if tests.is_empty() {
                    return Err(Invalid::Missing("a test"));
                }
                if tests.len() > MOST_TESTS {
                    return Err(Invalid::TooMany);
                }
                tests.iter().try_for_each(|test| name("test", test))?;
                name("profile", profile)
            }
            Self::Preset(preset) => name("preset", preset),
            Self::Text(plan) if plan.trim().is_empty() => Err(Invalid::Missing("the text of the plan")),
            Self::Text(plan) if plan.len() > MOST_PLAN_BYTES => {
                Err(Invalid::TooLong { what: "the plan", limit_bytes: MOST_PLAN_BYTES })
            }
            Self::Text(plan) if plan.contains('\0') => Err(Invalid::Control("the plan")),
            Self::Text(_) => Ok(()),
        }
    }
}

impl Target {
    /// Returns whether the target is a simulated drive.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.path.starts_with("sim:")
    }

    /// Checks the limits of all values.
    ///
    /// # Errors
    /// Same as [`Request::check`].
    pub fn check(&self) -> Result<(), Invalid> {
        if self.path.is_empty() {
            return Err(Invalid::Missing("the target"));
        }
        text("the target", &self.path)?;
        match self.path.strip_prefix("sim:") {
            // Models defined in files are accepted only on the command line.
            Some(model) => name("model", model)?,
            None if self.path.starts_with('/') => {}
            None => return Err(Invalid::Target),
        }
        for (what, value) in [("scale", &self.scale), ("size", &self.size)] {
            value.as_deref().map_or(Ok(()), |value| text(what, value))?;
        }
        Ok(())
    }
}

fn text(what: &'static str, value: &str) -> Result<(), Invalid> {
    if value.len() > MOST_TEXT_BYTES {
        return Err(Invalid::TooLong { what, limit_bytes: MOST_TEXT_BYTES });
    }
    if value.contains('\0') { Err(Invalid::Control(what)) } else { Ok(()) }
}

/// Checks a name: letters, digits, `-`, `_` and `.`, beginning with a letter or digit.
fn name(what: &'static str, value: &str) -> Result<(), Invalid> {
    if value.is_empty() {
        return Err(Invalid::Missing(what));
    }
    if value.len() > MOST_TEXT_BYTES {
        return Err(Invalid::TooLong { what, limit_bytes: MOST_TEXT_BYTES });
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if value.starts_with(['-', '.']) || !value.chars().all(is_plain) {
        return Err(Invalid::Name { what, name: value.escape_debug().to_string() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(path: &str) -> Request {
        let plan = Plan::Tests { tests: vec!["iops".into()], profile: "pts-e-2.0".into() };
        let target = Target { path: path.into(), ..Target::default() };
        Request::Start(Start { plan, target, identity: "S1".into() })
    }

    #[test]
    fn requests_are_bounded_and_name_no_options() {
        for path in ["/dev/nvme0n1", "sim:sas-slc-2011", "/tmp/--erase", "/tmp/\u{202e}<script>"] {
            assert_eq!(start(path).check(), Ok(()), "{path}");
        }
        for path in ["", "--erase", "nvme0n1", "sim:", "sim:../x.toml", "sim:-x", "/a\0b", &"/x".repeat(4096)]
        {
            assert!(start(path).check().is_err(), "{path}");
        }
        for run in ["", "..", "../x", "-a", "a b", "a\n"] {
            assert!(Request::Stop { run: run.into() }.check().is_err(), "{run}");
        }
        assert!(Plan::Text("x".repeat(MOST_PLAN_BYTES + 1)).check().is_err());
        assert!(Plan::Tests { tests: vec!["--plan=x".into()], profile: "pts-e-2.0".into() }.check().is_err());
    }

    #[test]
    fn unknown_members_are_refused() {
        for text in [
            r#"{"start":{"plan":{"preset":"quick"},"target":{"path":"/x"},"identity":"i","program":"sh"}}"#,
            r#"{"run":{"run":"a"}}"#,
            r#"{"stop":{"run":"a","signal":9}}"#,
        ] {
            assert!(serde_json::from_str::<Request>(text).is_err(), "{text}");
        }
    }
}
