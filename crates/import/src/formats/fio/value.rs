//! Values in fio's JSON: options as text, and checked figures.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::number::possible;

/// Options of one job, or of all jobs.
pub(super) type Options = BTreeMap<String, Value>;

/// Returns an option's value as text; empty for an option without a value.
pub(super) fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Checks that a number reported by fio is a possible measurement.
pub(super) fn measured(value: Option<f64>, what: &str) -> Result<Option<f64>, String> {
    value.map(|value| possible(value, what)).transpose()
}
