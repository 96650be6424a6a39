//! Makes strings from untrusted files safe to print, once per string, when the files are read.

use std::borrow::Cow;

use stdx::text::{is_unprintable, on_one_line};

/// Returns whether a JSON document may contain strings that are not safe to print.
pub(crate) fn may_be_unprintable(json: &str) -> bool {
    // Almost all of a journal is printable ASCII; checking bytes is much faster than checking characters.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    let are_plain = |bytes: &[u8]| bytes.iter().fold(true, |all, byte| all & is_plain(byte));
    if json.as_bytes().chunks(4096).all(are_plain) {
        return false;
    }
    json.contains('\\') || json.chars().any(is_unprintable)
}

/// Returns a JSON document whose strings are safe to print.
#[must_use]
pub fn printable(json: &str) -> Cow<'_, str> {
    if may_be_unprintable(json) { plain(json).into() } else { json.into() }
}

/// Returns the JSON document with each string on one line and all terminal control characters escaped.
///
/// Processes the text directly, because a tree of values would take a hundred times as much memory. Invalid
/// JSON is left for the parser to reject.
pub(crate) fn plain(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, string, after)) = next_string(rest) {
        out.push_str(before);
        if may_be_unprintable(string) {
            out.push_str(&plain_string(string));
        } else {
            out.push_str(string);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Splits text into the part before the first string, the string with its quotes, and the rest.
fn next_string(json: &str) -> Option<(&str, &str, &str)> {
    let begin = json.find('"')?;
    let mut is_escaped = false;
    let end = json.bytes().enumerate().skip(begin + 1).find(|(_, byte)| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    })?;
    let (string, after) = json[begin..].split_at(end.0 + 1 - begin);
    Some((&json[..begin], string, after))
}

fn plain_string(string: &str) -> String {
    let decoded = serde_json::from_str::<String>(string);
    let encoded = decoded.and_then(|text| serde_json::to_string(&on_one_line(&text)));
    encoded.unwrap_or_else(|_| string.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Same as [`plain`], but for a tree of values.
    fn plain_values(value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(on_one_line(&text).into_owned()),
            Value::Array(all) => Value::Array(all.into_iter().map(plain_values).collect()),
            Value::Object(fields) => {
                let plain_key = |key: String| on_one_line(&key).into_owned();
                Value::Object(
                    fields.into_iter().map(|(key, of)| (plain_key(key), plain_values(of))).collect(),
                )
            }
            other => other,
        }
    }

    #[test]
    fn text_that_is_not_json_is_kept_for_the_parser() {
        for text in ["", "\"", "\"\\\"", "\"\\x\"", "{\"a\":\"\\ud800\"}", "\\\"\"\\", "\"a\"\"\\u001"] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn strings_become_safe_and_everything_else_stays() {
        let text = r#"{"a\n":[1.50,"x\u001b[2J",  "plain", null]}"#;
        let safe = plain(text);
        let back: Value = serde_json::from_str(&safe).expect("still JSON");
        assert_eq!(back, plain_values(serde_json::from_str(text).expect("JSON")));
        assert!(safe.contains("1.50") && safe.contains(r#",  "plain", null]}"#), "{safe}");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::from),
            "[\\\\\"\n\u{1b}\u{202e}a,]{0,6}".prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[\\\\\"\na]{0,3}", inner, 0..4)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_document_means_the_same_as_a_tree_of_safe_values(value in any_json()) {
            let safe = plain(&value.to_string());
            prop_assert!(!safe.chars().any(is_unprintable));
            let back: Value = serde_json::from_str(&safe).expect("still JSON");
            prop_assert_eq!(back, plain_values(value));
        }
    }
}
