//! Requests of an operator with any fields, for runs, drives and plans that exist: each is answered as the description says,
//! never with an error of the server, and changes only what it may change. The fields are those of the description.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use stdx::Rng;

use crate::described::check;
use crate::lab_server::{Response, Server, demo, encoded, fields};
use crate::support::Bench;

/// Number of requests for each operation.
const REQUESTS: u32 = 12;
/// Chance of a value that exists, where there are any.
const KNOWN_PERCENT: u8 = 70;
/// Parts of the paths of changes that are recorded in the library's journal.
const LABELS: [&str; 5] = ["/tag", "/untag", "/note", "/archive", "/unarchive"];
/// Texts that a careless server takes for markup, headers, paths, options, numbers or lists, and valid values.
const TEXTS: [&str; 34] = [
    "",
    " ",
    "x",
    "a b",
    "a,b",
    "<script>alert(1)</script>",
    "\u{202e}",
    "\u{1f600}",
    "a\r\nSet-Cookie: a=b",
    "\0",
    "%",
    "%00",
    "..",
    "../..",
    "/",
    "/nonexistent/x",
    "--erase",
    "-1",
    "0",
    "1/0",
    "1/1024",
    "18446744073709551616",
    "1e999",
    "NaN",
    "tests",
    "preset",
    "text",
    "iops",
    "pts-e-2.0",
    "quick",
    "steady",
    "oldest",
    "sim:sas-slc-2011",
    "tests = [\"iops\"]\n[",
];

/// What exists.
struct Known {
    runs: Vec<String>,
    plans: Vec<String>,
    drives: Vec<String>,
    formats: Vec<String>,
}

impl Known {
    /// Returns a value for a field or a placeholder.
    fn value(&self, name: &str, path: &str, rng: &mut Rng) -> String {
        let known: &[String] = match name {
            "id" if path == "/drive" => &self.drives,
            "id" if path.starts_with("/start") => &self.plans,
            "id" | "run" => &self.runs,
            "again" => &self.plans,
            "format" => &self.formats,
            _ => &[],
        };
        if !known.is_empty() && rng.percent(KNOWN_PERCENT) {
            return known[rng.below(known.len() as u64) as usize].clone();
        }
        let chosen = rng.below(TEXTS.len() as u64 + 1) as usize;
        // The last one is longer than any name.
        TEXTS.get(chosen).map_or_else(|| "x".repeat(5_000), |text| (*text).to_owned())
    }

    /// Returns a path without placeholders.
    fn filled(&self, path: &str, rng: &mut Rng) -> String {
        let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => match self.value(name, path, rng) {
                // An empty part would be another path.
                empty if empty.is_empty() => "0".to_owned(),
                value => encoded(&value),
            },
            None => part.to_owned(),
        };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    /// Returns each field up to twice.
    fn fields<'a>(&self, names: &[&'a str], path: &str, rng: &mut Rng) -> Vec<(&'a str, String)> {
        let mut all = Vec::new();
        for name in names {
            for _ in 0..rng.below(3) {
                all.push((*name, self.value(name, path, rng)));
            }
        }
        all
    }
}

/// Returns the names of the fields in the query of an operation.
fn query_of(operation: &Value) -> Vec<&str> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let queried = parameters.filter(|parameter| parameter["in"] == "query");
    queried.filter_map(|parameter| parameter["name"].as_str()).collect()
}

/// Returns the names of the fields in the form of an operation, except for the token.
fn form_of(operation: &Value) -> Vec<&str> {
    let content = &operation["requestBody"]["content"]["application/x-www-form-urlencoded"];
    let properties = content["schema"]["properties"].as_object();
    let names = properties.into_iter().flatten().map(|(name, _)| name.as_str());
    names.filter(|name| *name != "csrf").collect()
}

/// Someone who may send every request.
struct Sender<'a> {
    server: &'a Server,
    cookie: String,
    csrf: String,
    /// The token of a host that sends its runs.
    token: String,
}

impl Sender<'_> {
    fn send(
        &self,
        (method, access): (&str, &str),
        address: &str,
        form: &[(&str, String)],
        body: &str,
    ) -> Response {
        let form = form.iter().map(|(name, value)| (*name, value.as_str()));
        match (method, access) {
            (_, "sender") => Response::of(&self.server.raw(&format!(
                "{method} {address} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                self.server.address,
                self.token,
                body.len()
            ))),
            ("GET", _) => self.server.get(address, &self.cookie),
            _ => {
                let all: Vec<_> = std::iter::once(("csrf", self.csrf.as_str())).chain(form).collect();
                self.server.post(address, &self.cookie, &all)
            }
        }
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.server.get(path, &self.cookie).body).expect("JSON")
    }

    /// Plans a run, and returns what exists then.
    fn known(&self) -> Known {
        let form =
            [("target", "sim:sas-slc-2011"), ("scale", "1/64"), ("tests", "iops"), ("profile", "pts-e-1.0")];
        let form = form.map(|(name, value)| (name, value.to_owned()));
        let planned = self.send(("POST", "operator"), "/start", &form, "");
        assert_eq!(planned.status, 303, "{}", planned.body);
        let texts = |path: &str, key: &str| -> Vec<String> {
            let list = self.json(path);
            let all = list.as_array().into_iter().flatten();
            all.filter_map(|one| one[key].as_str()).map(str::to_owned).collect()
        };
        Known {
            runs: texts("/api/runs", "run"),
            plans: texts("/api/starts", "name"),
            drives: texts("/api/drives", "id"),
            formats: vec!["json-file".into(), "html".into()],
        }
    }
}

/// Returns whether a request would end the session or start a process.
fn is_excluded(method: &str, path: &str) -> bool {
    let begins = path == "/start/{id}" || path.ends_with("/resume") || path.ends_with("/restart");
    method == "POST" && (begins || path == "/leave")
}

/// Returns the contents of all files of all runs.
fn contents(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = bench.runs().into_iter().flat_map(|run| std::fs::read_dir(run).expect("a folder"));
    let paths = files.map(|file| file.expect("a file").path());
    paths.map(|path| (path.clone(), std::fs::read(&path).expect("readable"))).collect()
}

#[test]
fn no_request_of_an_operator_is_an_error_of_the_server() {
    let bench = Bench::new();
    let run = demo(&bench);
    bench.ok(&["examples", "--install", "mlc-a", "wd-sn720"]);
    let token = bench.json(&["sender", "add", "rack7"])["token"].as_str().expect("a token").to_owned();
    let server = Server::start(&bench);
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    let sender = Sender { server: &server, cookie, csrf, token };
    let known = sender.known();
    assert_eq!([&known.runs, &known.plans, &known.drives].map(Vec::len), [3, 1, 3]);
    let (before, document) = (contents(&bench), sender.json("/api/openapi.json"));
    let (mut rng, mut labelled) = (Rng::from_seed(7), 0);
    // What is public is tested elsewhere: logins are refused after ten attempts.
    let all = lab::addresses().filter(|(_, _, access)| *access != "public");
    for (method, path, access) in all.filter(|(method, path, _)| !is_excluded(method, path)) {
        let operation = &document["paths"][path][method.to_lowercase()];
        for _ in 0..REQUESTS {
            let query = known.fields(&query_of(operation), path, &mut rng);
            let pairs: Vec<_> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let address = format!("{}?{}", known.filled(path, &mut rng), fields(&pairs));
            let form = known.fields(&form_of(operation), path, &mut rng);
            let body = known.value("body", path, &mut rng);
            let response = sender.send((method, access), &address, &form, &body);
            let what = format!("{method} {address} with {form:?}");
            assert!(response.status < 500, "{what}: {} {}", response.head, response.body);
            check(operation, &response, &what);
            assert!(response.header("set-cookie").is_none(), "{what}: {}", response.head);
            let is_label = LABELS.iter().any(|end| path.ends_with(end));
            labelled += usize::from(is_label && response.status == 303);
        }
    }
    assert!(contents(&bench) == before, "the files of runs have changed");
    bench.ok(&["verify", &run]);
    assert!(labelled > 5, "{labelled}");
    let changes = sender.json("/api/changes");
    assert_eq!(changes.as_array().map(Vec::len), Some(labelled), "{changes}");
}
