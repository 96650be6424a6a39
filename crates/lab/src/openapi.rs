//! `/api/openapi.json`: the description of the JSON interface, derived from the route table.

use serde_json::{Map, Value, json};

use crate::app::{Answer, App, Call, Content, Route};

/// `/api/openapi.json`
pub fn openapi(app: &App, _: &Call) -> Answer {
    let described = app.routes.iter().filter(|route| route.content != Content::Page);
    let paths: Map<String, Value> = described
        .map(|route| (route.path.to_owned(), json!({ route.method.word(): operation(route) })))
        .collect();
    Answer::json(&json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Plateau",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs of a library. Sign in with the link that `plateau serve` prints.",
        },
        "paths": paths,
    }))
}

fn operation(route: &Route) -> Value {
    let placeholders = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameters = placeholders
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .chain(route.query.iter().map(
            |name| json!({ "name": name, "in": "query", "required": false, "schema": { "type": "string" } }),
        ));
    json!({
        "summary": route.about,
        "parameters": parameters.collect::<Vec<_>>(),
        "responses": {
            "200": { "description": route.about, "content": { route.content.media_type(): {} } },
            "401": { "description": "not signed in" },
            "404": { "description": "no such run" },
            "422": { "description": "the run cannot be represented in this format" },
            "500": { "description": "the library or the run cannot be read" },
        },
    })
}
