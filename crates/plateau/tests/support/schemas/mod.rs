//! The published schema of the documents that commands print with `--json`.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a different part of it")]

use std::path::Path;

use serde_json::Value;

const SCHEMA: &str = "docs/reference/schemas/output-v1.json";
/// Address by which the validator identifies the schema; nothing is fetched.
const URL: &str = "https://plateau.invalid/output-v1.json";

pub fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SCHEMA);
    let mut schema = serde_json::from_str(&crate::support::text(&path)).expect("JSON");
    close(&mut schema);
    schema
}

/// Rejects keys that the schema lacks, so that the schema does not lag behind the program.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".into(), false.into());
            }
            object.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Returns the reasons why a document does not match a command's schema.
pub fn problems(schema: &Value, name: &str, document: &Value) -> Vec<String> {
    assert!(schema["$defs"][name].is_object(), "{name} has no schema");
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource(URL, schema.clone()).expect("a schema");
    let of_command = compiler.compile(&format!("{URL}#/$defs/{name}"), &mut schemas).expect("a schema");
    schemas.validate(document, of_command).err().map(|error| format!("{error:#}")).into_iter().collect()
}

/// Checks the document that a command printed.
#[track_caller]
pub fn assert_matches(name: &str, document: &Value) {
    let found = problems(&schema(), name, document);
    assert!(found.is_empty(), "{name}: {found:#?}\n{document:#}");
}

/// Checks the document of a command that failed although it has a result.
#[track_caller]
pub fn assert_failure_matches(name: &str, mut document: Value) {
    for key in ["error", "exit_code", "run"] {
        let found = document.as_object_mut().and_then(|object| object.remove(key));
        assert!(found.is_some(), "{name} lacks {key}: {document:#}");
    }
    assert_matches(name, &document);
}
