//! A rule, and the violations that it reports.

use super::tree::Tree;

/// One rule.
pub struct Check {
    /// Name of the rule.
    pub name: &'static str,
    /// Returns all violations.
    pub run: fn(&Tree) -> Vec<Complaint>,
    /// Returns the file that `--bless` rewrites; accepts only permitted changes.
    pub bless: Option<fn(&Tree) -> Option<Blessed>>,
}

/// A file and its new content.
pub type Blessed = (&'static str, String);

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// File.
    pub path: String,
    /// Line, starting at 1; `None` for the file as a whole.
    pub line: Option<usize>,
    /// The violation and how to fix it.
    pub text: String,
}

impl Complaint {
    /// Creates a complaint about a file as a whole.
    pub fn file(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, text: text.into() }
    }

    /// Creates a complaint about one line.
    pub fn line(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.into(), line: Some(line), text: text.into() }
    }
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.text),
            None => write!(f, "{}: {}", self.path, self.text),
        }
    }
}
