//! Strings of files that others may have written, made safe to show once, where they are read.

use serde_json::Value;
use stdx::text::{is_unprintable, on_one_line};

/// Whether the text of a JSON document may hold strings that are not safe to show.
pub(crate) fn may_be_unprintable(json: &str) -> bool {
    json.contains("\\") || json.chars().any(is_unprintable)
}

/// The same document with every string on one line, and without anything that a terminal acts on.
pub(crate) fn plain(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(on_one_line(&text).into_owned()),
        Value::Array(all) => Value::Array(all.into_iter().map(plain).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, plain(value))).collect())
        }
        other => other,
    }
}
