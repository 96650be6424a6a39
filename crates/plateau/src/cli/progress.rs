//! `--progress`.

use console::printer::Style;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressChoice {
    /// Lines that are rewritten on a terminal, `plain` elsewhere
    Auto,
    /// One line a minute
    Plain,
    /// JSON objects, one on each line
    Json,
    /// None; warnings and errors only
    None,
}

impl ProgressChoice {
    /// Returns the style; `None` if it depends on the terminal.
    pub const fn style(self) -> Option<Style> {
        match self {
            Self::Auto => None,
            Self::Plain => Some(Style::Plain),
            Self::Json => Some(Style::Json),
            Self::None => Some(Style::Quiet),
        }
    }
}
