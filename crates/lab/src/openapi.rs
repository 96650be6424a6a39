//! `/api/openapi.json`: the description of every address, derived from the route table.

use serde_json::{Map, Value, json};

use crate::app::{Answer, App, Call, Content, Handler, JSON, Method, Route};
use crate::body::{Body, Field, Need};
use crate::gate::Access;

const HTML: &str = "text/html";
const TEXT: &str = "text/plain";

/// `/api/openapi.json`
pub fn openapi(app: &App, _: &Call) -> Answer {
    Answer::json(&document(app.routes, app.gate.cookie()))
}

fn document(routes: &[Route], cookie: &str) -> Value {
    // Several routes may have the same path.
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        paths.entry(route.path).or_insert_with(|| json!({}))[route.method.word()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Plateau",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs of a library. Sign in with the link that `plateau serve` prints, or send a name and a \
                            password to `/login`.",
        },
        "paths": paths,
        "components": { "securitySchemes": {
            "session": { "type": "apiKey", "in": "cookie", "name": cookie },
            "password": { "type": "http", "scheme": "basic" },
            "sender": { "type": "http", "scheme": "bearer" },
            "certificate": { "type": "mutualTLS" },
        } },
    })
}

fn operation(route: &Route) -> Value {
    let mut described = json!({
        "operationId": id(route),
        "tags": [tag(route)],
        "summary": route.about,
        "parameters": parameters(route),
        "security": security(route),
        "responses": responses(route),
    });
    if let Some(body) = body(route) {
        described["requestBody"] = body;
    }
    described
}

/// Returns the name of an operation, for example `get-api-runs-id`.
fn id(route: &Route) -> String {
    let words = route.path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty());
    let words: Vec<&str> = std::iter::once(route.method.word()).chain(words).collect();
    words.join("-")
}

/// Returns the group of an operation.
fn tag(route: &Route) -> &'static str {
    match (route.access, route.method) {
        (Access::Sender, _) => "reception",
        (_, Method::Post) => "changes",
        _ if route.content.is_data() => "data",
        _ => "pages",
    }
}

/// Returns whether a request must carry the token of its session.
fn needs_token(route: &Route) -> bool {
    route.method == Method::Post && matches!(route.access, Access::Viewer | Access::Operator)
}

fn parameters(route: &Route) -> Vec<Value> {
    let placeholders = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Value> = placeholders
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    all.extend(route.query.iter().map(|field| {
        let is_required = matches!(field.need, Need::Once | Need::AtLeastTwice);
        json!({ "name": field.name, "in": "query", "required": is_required, "schema": schema(field) })
    }));
    let header = |name: &str, is_required: bool, about: &str| {
        json!({
            "name": name, "in": "header", "required": is_required, "description": about,
            "schema": { "type": "string" },
        })
    };
    if needs_token(route) {
        all.push(header("X-CSRF-Token", false, "the token of the session, unless the form contains it"));
    } else if route.method == Method::Post && route.access == Access::Public {
        all.push(header("Origin", true, "the origin of this server"));
    }
    if matches!(route.handler, Handler::Events) {
        all.push(header("Last-Event-ID", false, "the number of the last record that was received"));
    }
    all
}

fn schema(field: &Field) -> Value {
    match field.need {
        Need::Once | Need::AtMostOnce => json!({ "type": "string" }),
        Need::AnyNumber => json!({ "type": "array", "items": { "type": "string" } }),
        Need::AtLeastTwice => json!({ "type": "array", "items": { "type": "string" }, "minItems": 2 }),
    }
}

fn body(route: &Route) -> Option<Value> {
    let content = match route.body {
        Body::Empty => return None,
        Body::Json => json!({ JSON: {} }),
        Body::Records => json!({ "application/octet-stream": {} }),
        Body::Form(fields) => {
            let own = fields.iter().map(|field| (field.name.to_owned(), schema(field)));
            let token = needs_token(route).then(|| ("csrf".to_owned(), json!({ "type": "string" })));
            let properties: Map<String, Value> = own.chain(token).collect();
            let required = fields.iter().filter(|field| field.need == Need::Once).map(|field| field.name);
            let schema = json!({
                "type": "object", "properties": properties, "required": required.collect::<Vec<_>>(),
            });
            json!({ "application/x-www-form-urlencoded": { "schema": schema } })
        }
    };
    // A form without fields of its own may be empty if a header contains the token.
    let is_required = match route.body {
        Body::Form(fields) => fields.iter().any(|field| field.need == Need::Once),
        Body::Empty | Body::Json | Body::Records => true,
    };
    Some(json!({ "required": is_required, "content": content }))
}

fn security(route: &Route) -> Value {
    match route.access {
        Access::Public => json!([]),
        Access::Sender => json!([{ "sender": [] }, { "certificate": [] }]),
        Access::Viewer if takes_password(route) => json!([{ "session": [] }, { "password": [] }]),
        Access::Viewer | Access::Operator => json!([{ "session": [] }]),
    }
}

/// Returns whether a request may carry a name and a password instead of a cookie.
fn takes_password(route: &Route) -> bool {
    route.access == Access::Viewer
        && route.method == Method::Get
        && matches!(route.handler, Handler::Answer(_))
}

fn responses(route: &Route) -> Value {
    let mut statuses = vec![400, 403, 421, 500];
    statuses.extend((route.access != Access::Public).then_some(401));
    statuses.extend(takes_password(route).then_some(429));
    statuses.extend((route.method == Method::Post).then_some(413));
    statuses.extend(route.answers);
    statuses.sort_unstable();
    statuses.dedup();
    let described = statuses.into_iter().map(|status| (status.to_string(), response(route, status)));
    Value::Object(described.collect())
}

fn response(route: &Route, status: u16) -> Value {
    let mut described = json!({ "description": meaning(status) });
    if status == 303 {
        described["headers"] = json!({ "Location": { "required": true, "schema": { "type": "string" } } });
        return described;
    }
    let media_types =
        if status == 200 { vec![route.content.media_type()] } else { problem_types(route, status) };
    let content: Map<String, Value> =
        media_types.into_iter().map(|media_type| (media_type.to_owned(), json!({}))).collect();
    described["content"] = Value::Object(content);
    described
}

/// Returns the types of a response with an error, which is for people unless a sender receives it.
fn problem_types(route: &Route, status: u16) -> Vec<&'static str> {
    let is_refused_by_gate = matches!(status, 401 | 403 | 421 | 429);
    match route.content {
        _ if route.access == Access::Sender => {
            if is_refused_by_gate {
                vec![TEXT]
            } else {
                vec![JSON, TEXT]
            }
        }
        _ if is_refused_by_gate => vec![HTML],
        // These requests are refused before their route is known to answer them.
        _ if matches!(status, 400 | 413) => vec![HTML, TEXT],
        Content::Page | Content::Asset(_) => vec![HTML],
        Content::Json | Content::Metrics => vec![TEXT],
        Content::Picture | Content::File | Content::Events => vec![HTML, TEXT],
    }
}

const fn meaning(status: u16) -> &'static str {
    match status {
        200 => "the content",
        303 => "done; `Location` is the page to show",
        400 => "the request is not valid",
        401 => "not signed in",
        403 => "not permitted, or from a page with another origin",
        404 => "the run, plan, drive or export does not exist",
        409 => "the run or plan is not in a state that permits this",
        413 => "the request is too long",
        421 => "this host name is not allowed",
        422 => "the request cannot be carried out as it is",
        429 => "too many logins have failed or are being checked",
        500 => "the library or the run cannot be read, or the server failed",
        503 => "nothing was stored; try again later",
        _ => "an error",
    }
}
