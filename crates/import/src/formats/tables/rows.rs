//! Access to the columns of a row by name.

use std::str::FromStr;

use record::Access;

/// A row and the names of its columns.
pub(super) struct Row<'a> {
    pub columns: &'a [&'a str],
    pub record: &'a csv::StringRecord,
}

impl Row<'_> {
    /// Returns the text of a column; `None` if it is empty or missing. Removes a quote that keeps spreadsheets from
    /// interpreting the text.
    pub fn text(&self, column: &str) -> Option<String> {
        let at = self.columns.iter().position(|name| *name == column)?;
        let text = self.record.get(at).filter(|text| !text.is_empty())?;
        let quoted =
            text.strip_prefix('\'').filter(|rest| rest.starts_with(['=', '+', '-', '@', '\t', '\r']));
        Some(quoted.unwrap_or(text).to_owned())
    }

    pub fn parsed<T: FromStr>(&self, column: &str) -> Result<Option<T>, String> {
        let Some(text) = self.text(column) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("{column} is '{text}'"))
    }

    pub fn number(&self, column: &str) -> Result<Option<f64>, String> {
        self.parsed(column)
    }

    pub fn access(&self) -> Result<Access, String> {
        match self.text("access").as_deref() {
            Some("random") => Ok(Access::Random),
            Some("sequential") => Ok(Access::Sequential),
            other => Err(format!("access is '{}'", other.unwrap_or_default())),
        }
    }
}
