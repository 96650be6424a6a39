//! Values of a database, the same for every engine.

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not known or not applicable.
    Null,
    /// A whole number; Booleans are stored as 0 and 1.
    Integer(i64),
    /// A finite number.
    Real(f64),
    /// Text.
    Text(String),
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(number) => Self::from(*number),
            Value::Real(number) => Self::from(*number),
            Value::Text(text) => Self::from(&**text),
        }
    }
}

/// A value in a row that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(&'a str),
    /// Any other value.
    Other,
}

impl<'a> Cell<'a> {
    /// Returns the text; None for any other value.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Integer(_) | Self::Other => None,
        }
    }

    /// Returns the whole number; None for any other value.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(_) | Self::Other => None,
        }
    }
}

impl<'a> From<&'a Value> for Cell<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(*number),
            Value::Text(text) => Self::Text(text),
            Value::Null | Value::Real(_) => Self::Other,
        }
    }
}

/// The answer to a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

impl Value {
    /// Returns the text; None for any other value.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Integer(_) | Self::Real(_) => None,
        }
    }

    /// Returns the text; None for any other value.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Integer(_) | Self::Real(_) => None,
        }
    }

    /// Returns the whole number; None for any other value.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Null | Self::Real(_) | Self::Text(_) => None,
        }
    }

    /// Returns the number; None for any other value.
    #[must_use]
    pub fn real(&self) -> Option<f64> {
        match self {
            Self::Real(number) => Some(*number),
            Self::Null | Self::Integer(_) | Self::Text(_) => None,
        }
    }
}

/// Returns the memory that a row takes.
#[must_use]
pub fn size_of(row: &[Value]) -> usize {
    size_of_val(row) + row.iter().filter_map(Value::text).map(str::len).sum::<usize>()
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        // PostgreSQL cannot store this character in text, and no name contains it.
        Self::Text(if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() })
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        if text.contains('\0') { Self::from(&*text) } else { Self::Text(text) }
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Self::Integer(i64::from(is))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        // SQLite has no negative zero; adding 0.0 turns it into zero.
        if number.is_finite() { Self::Real(number + 0.0) } else { Self::Null }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        // Drive counters above 2^63 are implausible, and no engine can store them.
        i64::try_from(number).map_or(Self::Null, Self::Integer)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Self::Integer(number.into())
    }
}

impl From<u8> for Value {
    fn from(number: u8) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i16> for Value {
    fn from(number: i16) -> Self {
        Self::Integer(number.into())
    }
}

impl From<jiff::Timestamp> for Value {
    /// UTC with nine decimals, so that the texts sort chronologically.
    fn from(time: jiff::Timestamp) -> Self {
        Self::Text(time.strftime("%Y-%m-%dT%H:%M:%S.%9fZ").to_string())
    }
}

impl<T> From<Option<T>> for Value
where
    Self: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Integer(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Returns an answer as comma-separated values; unknown values are empty.
#[must_use]
pub fn csv(answer: &Answer) -> Vec<u8> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let rows = answer.rows.iter().map(|row| row.iter().map(ToString::to_string).collect());
    for row in std::iter::once(answer.columns.clone()).chain(rows) {
        // All rows have the same length, and writing to memory cannot fail.
        let _ = out.write_record(&row);
    }
    out.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_text_sort_chronologically() {
        let texts = ["2026-11-25T02:00:00Z", "2026-11-25T02:00:00.000000001Z", "2026-11-25T02:00:00.5Z"]
            .map(|text| Value::from(text.parse::<jiff::Timestamp>().expect("a time")).to_string());
        assert!(texts.is_sorted(), "{texts:?}");
        assert_eq!(texts[0], "2026-11-25T02:00:00.000000000Z");
    }

    #[test]
    fn values_that_no_engine_can_store_are_unknown() {
        assert_eq!(Value::from(f64::NAN), Value::Null);
        assert_eq!(Value::from(u64::MAX), Value::Null);
        assert_eq!(Value::from("a\0b"), Value::Text("a\u{fffd}b".into()));
    }
}
