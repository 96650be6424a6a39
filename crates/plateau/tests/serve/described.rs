//! Every address answers as the OpenAPI description says: with a described status, and with content of a type that is
//! described for this status.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lab_server::{Response, Server, demo};
use crate::support::Bench;

/// The names that replace the placeholders of a path, and the query.
struct Names<'a> {
    run: &'a str,
    plan: &'a str,
    format: &'a str,
    drive: &'a str,
}

impl Names<'_> {
    fn address(&self, path: &str) -> String {
        let id = if path.starts_with("/start/") { self.plan } else { self.run };
        let filled = path.replace("{id}", id).replace("{format}", self.format);
        match path {
            "/drive" => format!("{filled}?id={}", self.drive),
            "/compare" | "/api/compare" => format!("{filled}?run={0}&run={0}", self.run),
            _ => filled,
        }
    }
}

/// Checks a response against the description of its operation.
pub fn check(operation: &Value, response: &Response, what: &str) {
    let described = &operation["responses"][response.status.to_string()];
    let description = described["description"].as_str();
    assert!(description.is_some_and(|text| text != "an error"), "{what}: {}", response.head);
    if response.status == 303 {
        assert!(described["headers"]["Location"].is_object(), "{what}: {described}");
        assert!(response.header("location").is_some(), "{what}: {}", response.head);
        return;
    }
    let header = response.header("content-type").unwrap_or_default();
    let media_type = header.split(';').next().unwrap_or_default();
    let types = described["content"].as_object().unwrap_or_else(|| panic!("{what}: {described}"));
    assert!(types.contains_key(media_type), "{what}: {} but {described}", response.head);
}

#[test]
fn every_address_answers_as_its_description_says() {
    let bench = Bench::new();
    let run = demo(&bench);
    let token = bench.json(&["sender", "add", "rack7"])["token"].as_str().expect("a token").to_owned();
    let server = Server::start(&bench);
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    let form = [
        ("csrf", csrf.as_str()),
        ("target", "sim:sas-slc-2011"),
        ("scale", "1/64"),
        ("tests", "iops"),
        ("profile", "pts-e-1.0"),
    ];
    let planned = server.post("/start", &cookie, &form);
    let plan = planned.header("location").and_then(|path| path.strip_prefix("/start/")).expect("a plan");
    let known = Names { run: &run, plan, format: "json-file", drive: "sim%3Asas-slc-2011+seed+1" };
    let unknown = Names { run: "unknown", plan: "unknown", format: "unknown", drive: "unknown" };

    let document: Value =
        serde_json::from_str(&server.get("/api/openapi.json", &cookie).body).expect("a document");
    let mut operations = BTreeSet::new();
    // After signing out, nothing else would be answered.
    let (last, others): (Vec<_>, Vec<_>) = lab::addresses().partition(|(_, path, _)| *path == "/leave");
    for (method, path, access) in others.into_iter().chain(last) {
        let operation = &document["paths"][path][method.to_lowercase()];
        let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path}: no name"));
        assert!(operations.insert(name.to_owned()), "two operations have the name {name}");
        assert_eq!(operation["requestBody"].is_object(), method == "POST", "{method} {path}");
        let sender = format!("Authorization: Bearer {token}\r\n");
        let admitted = if access == "sender" { &sender } else { &cookie };
        let ask = |address: &str, host: &str, headers: &str, form: &str| {
            Response::of(&server.raw(&format!(
                "{method} {address} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: \
                 application/x-www-form-urlencoded\r\nContent-Length: {}\r\n{headers}\r\n{form}",
                form.len()
            )))
        };
        let own = server.address.as_str();
        let csrf = format!("csrf={csrf}");
        for (filled, are_known) in [(&unknown, false), (&known, true)] {
            let address = filled.address(path);
            for (headers, host) in [("", "evil.example"), ("Origin: http://evil.example\r\n", own), ("", own)]
            {
                let what = format!("{method} {address} for {host} with '{}'", headers.trim());
                check(operation, &ask(&address, host, headers, ""), &what);
            }
            let what = format!("{method} {address}");
            // Without a session, a browser can only read what is public.
            let response = ask(&address, own, admitted, if access == "sender" { "" } else { &csrf });
            check(operation, &response, &what);
            // A link and two runs to compare are needed for these.
            let needs_more = matches!(path, "/enter" | "/compare" | "/api/compare");
            if method == "GET" && access != "sender" && are_known && !needs_more {
                assert_eq!(response.status, 200, "{what}: {}", response.head);
            }
        }
    }
    let paths = document["paths"].as_object().expect("paths").values();
    let described: usize = paths.map(|path| path.as_object().map_or(0, |all| all.len())).sum();
    assert_eq!(described, operations.len(), "only operations that exist are described");
    assert!(server.get("/account", &cookie).status == 401, "the last request was answered, too");
}

#[test]
fn operations_describe_their_fields() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let cookie = server.enter();
    let document: Value =
        serde_json::from_str(&server.get("/api/openapi.json", &cookie).body).expect("a document");
    let form = |path: &str| {
        let content = &document["paths"][path]["post"]["requestBody"]["content"];
        content["application/x-www-form-urlencoded"]["schema"].clone()
    };
    assert_eq!(form("/start/{id}")["required"], serde_json::json!(["identity"]));
    assert!(form("/start/{id}")["properties"]["csrf"].is_object(), "every form contains the token");
    assert!(form("/login")["properties"]["csrf"].is_null(), "there is no session yet");
    // Every field of the form on the page is described.
    let page = server.get("/start", &cookie).body;
    let fields = page.split(" name=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let fields: BTreeSet<&str> = fields.filter(|name| *name != "viewport").collect();
    let described = form("/start")["properties"].as_object().cloned().unwrap_or_default();
    assert_eq!(fields, described.keys().map(String::as_str).collect(), "{page}");
    for path in ["/compare", "/api/compare"] {
        let run = &document["paths"][path]["get"]["parameters"][0];
        assert!(run["required"] == true && run["schema"]["minItems"] == 2, "{path}: {run}");
    }
    let of_run = &document["paths"]["/receive/v1/runs/{id}"];
    assert!(of_run["get"].is_object() && of_run["post"].is_object(), "both methods of a path are described");
}
