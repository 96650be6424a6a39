//! Makes strings of untrusted files safe to print, once, when they are read.

use serde_json::Value;
use stdx::text::{is_unprintable, on_one_line};

/// Returns whether a JSON document may contain strings that are not safe to print.
pub(crate) fn may_be_unprintable(json: &str) -> bool {
    json.contains("\\") || json.chars().any(is_unprintable)
}

/// Returns the document with every string on one line and all terminal control characters escaped.
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
