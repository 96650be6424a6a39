//! `plateau notify` with a real program, a web server and a mail server.

#[path = "notified/mod.rs"]
mod notified;
mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use notified::{Hook, Mails, Notifier, Process, Web, wait_for};
use record::{Cut, ErrorCount, Event, Library, Run, Segment, Series};
use serde_json::Value;
use support::{Bench, finished, hold, send_signal, texts};

const SHORT: [&str; 7] =
    ["run", "iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--tc=1", "--qd=2"];
/// Far longer than any test.
const LONG: [&str; 6] = ["run", "iops", "sim:sas-slc-2011", "--scale=1/8", "--profile", "pts-e-1.0"];
/// Short intervals between checks of the library and between retries, and no delay for interrupted runs.
const QUICK: &str = "look-every = \"20 ms\"\ninterrupted-after = \"0 s\"\nfirst-retry = \"20 ms\"\n";

fn config(bench: &Bench, text: &str) -> PathBuf {
    let path = bench.path("notify.toml");
    std::fs::write(&path, text).expect("writable");
    path
}

/// Checks the library once and delivers the notices; returns the JSON document.
fn once(bench: &Bench, config: &Path) -> Value {
    bench.json(&["notify", "--once", "--config", config.to_str().expect("text")])
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        skips::without(program);
    }
    found
}

/// Checks a JSON document against the published schema.
#[track_caller]
fn check_schema(notice: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schemas/notice-v1.json");
    let schema: Value = serde_json::from_str(&support::text(&path)).expect("JSON");
    let url = "https://plateau.invalid/notice-v1.json";
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource(url, schema).expect("a schema");
    let compiled = compiler.compile(url, &mut schemas).expect("a schema");
    schemas.validate(notice, compiled).unwrap_or_else(|error| panic!("{notice:#}: {error:#}"));
}

/// Every file in a folder, with its content and modification time.
fn content(dir: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        let modified = path.symlink_metadata().and_then(|found| found.modified()).expect("a time");
        if path.is_dir() {
            all.push((path.clone(), Vec::new(), modified));
            all.extend(content(&path));
        } else {
            all.push((path.clone(), std::fs::read(&path).expect("readable"), modified));
        }
    }
    all.sort();
    all
}

#[test]
fn a_run_is_reported_once_through_each_channel_and_left_unchanged() {
    if !has("curl") {
        return;
    }
    let bench = Bench::new();
    bench.ok(&[&SHORT[..], &["--name", "before"]].concat());
    let (hook, web) = (Hook::of(&bench, "hook"), Web::answering(&["204 No Content"]));
    let mails = Mails::start(&bench, None);
    let mail = mails.as_ref().map_or_else(String::new, |mails| {
        format!(
            "[[mail]]\nname = \"ops\"\nserver = \"smtp://127.0.0.1:{}\"\ntls = \"none\"\nfrom = \"lab@mail.example\"\n\
             to = [\"a@mail.example\", \"b@mail.example\"]\n",
            mails.port
        )
    });
    let token = bench.path("token");
    std::fs::write(&token, "a \"secret\\ token\n").expect("writable");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).expect("our own");
    let config = config(
        &bench,
        &format!(
            "{QUICK}{}[[webhook]]\nname = \"chat\"\nurl = \"http://{}/hook?a=b\"\ntoken-file = \"{}\"\n{mail}",
            hook.config("desk"),
            web.address,
            token.display()
        ),
    );
    // On its first start, the service does not report runs that ended earlier.
    assert_eq!(once(&bench, &config)["delivered"], Value::Array(Vec::new()));
    let notifier = Notifier::start(&bench, &config);
    bench.ok(&[&SHORT[..], &["--name", "after"]].concat());
    let before = content(&bench.library());
    wait_for("the program", || !hook.notices().is_empty());
    wait_for("the web server", || !web.requests().is_empty());
    wait_for("the mail", || mails.as_ref().is_none_or(|mails| !mails.mails().is_empty()));
    let channels = if mails.is_some() { 3 } else { 2 };
    wait_for("the records", || notifier.log().matches("is delivered through").count() == channels);
    assert!(notifier.end() < Duration::from_secs(10));

    let notice = &hook.notices()[0];
    check_schema(notice);
    let (id, run) = (notice["id"].as_str().expect("an id"), notice["run"]["id"].as_str().expect("a run"));
    assert_eq!((&notice["event"], &notice["run"]["name"]), (&"finished".into(), &"after".into()));
    let shown = bench.json(&["show", "after"]);
    assert_eq!(notice["verdict"] == "steady", shown["verdict"] == "steady state", "{notice} {shown}");
    let environment = support::text(&hook.dir.join("environment"));
    for line in
        ["PLATEAU_EVENT=finished\n", &format!("PLATEAU_RUN={run}\n"), &format!("PLATEAU_NOTICE={id}\n")]
    {
        assert!(environment.contains(line), "{environment}");
    }
    let request = &web.requests()[0];
    assert!(request.head.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{}", request.head);
    assert_eq!(request.header("authorization"), Some("Bearer a \"secret\\ token"));
    assert_eq!(
        (request.header("content-type"), request.header("idempotency-key")),
        (Some("application/json"), Some(id))
    );
    assert_eq!(serde_json::from_str::<Value>(&request.body).expect("JSON"), *notice);
    if let Some(mails) = &mails {
        let mail = &mails.mails()[0];
        assert_eq!(mail["from"], "lab@mail.example");
        assert_eq!(mail["to"], serde_json::json!(["a@mail.example", "b@mail.example"]));
        let message = mail["message"].as_str().expect("a message");
        assert!(message.contains("\r\nX-Plateau-Event: finished\r\n"), "{message}");
    }
    // No notice is repeated, and no run was changed.
    assert_eq!(once(&bench, &config)["delivered"], Value::Array(Vec::new()));
    assert_eq!((hook.begun(), web.requests().len()), (1, 1));
    assert_eq!(content(&bench.library()), before);
}

#[test]
fn a_webhook_reaches_its_server_through_its_proxy() {
    if !has("curl") {
        return;
    }
    let bench = Bench::new();
    let proxy = Web::answering(&["204 No Content"]);
    let hook = |more: &str| {
        config(&bench, &format!("[[webhook]]\nname = \"chat\"\nurl = \"http://chat.invalid/hook\"\n{more}"))
    };
    let path = hook(&format!("proxy = \"http://{}\"\n", proxy.address));
    bench.ok(&["notify", "--test", "chat", "--config", path.to_str().expect("text")]);
    wait_for("the request", || !proxy.requests().is_empty());
    let requests = proxy.requests();
    assert!(
        requests[0].head.starts_with("POST http://chat.invalid/hook HTTP/1.1\r\n"),
        "{}",
        requests[0].head
    );
    check_schema(&serde_json::from_str(&requests[0].body).expect("JSON"));
    // Environment variables have no effect, because a service does not share its user's environment.
    let path = hook("");
    let mut command = bench.command(&["notify", "--test", "chat", "--config", path.to_str().expect("text")]);
    let output = command.env("http_proxy", format!("http://{}", proxy.address)).output().expect("plateau");
    assert_eq!((output.status.code(), proxy.requests().len()), (Some(75), 1), "{}", texts(&output).1);
}

#[test]
fn a_failing_channel_is_retried_within_bounds_and_delays_no_other() {
    if !has("curl") {
        return;
    }
    let bench = Bench::new();
    let (hook, hanging) = (Hook::of(&bench, "hook"), Hook::of(&bench, "hanging"));
    std::fs::write(hanging.dir.join("wait"), "").expect("writable");
    let refusing = Web::answering(&["500 Internal Server Error"]);
    let recovering = Web::answering(&["503 Service Unavailable", "302 Found", "200 OK"]);
    let hooks = [("refusing", &refusing), ("recovering", &recovering)].map(|(name, web)| {
        format!("[[webhook]]\nname = \"{name}\"\nurl = \"http://{}/a-secret-path\"\n", web.address)
    });
    let text = format!(
        "{QUICK}attempts = 3\n{}{}{}",
        hanging.config("hanging"),
        hooks.concat(),
        hook.config("desk")
    );
    let config = config(&bench, &text);
    once(&bench, &config);
    let notifier = Notifier::start(&bench, &config);
    bench.ok(&SHORT);
    wait_for("the program", || !hook.notices().is_empty());
    wait_for("the end of the attempts", || notifier.log().contains("gave up delivering"));
    wait_for("a delivery after two failures", || {
        notifier.log().contains("is delivered through 'recovering'")
    });
    let log = notifier.log();
    assert!(log.contains("attempt 3 of 3 failed: the server answered with status 500"), "{log}");
    assert!(!log.contains("a-secret-path"), "{log}");
    assert!(hanging.notices().is_empty(), "this program hangs until it is killed");
    // The program that hangs is allowed a minute but is killed when the service ends.
    assert!(notifier.end() < Duration::from_secs(10));
    for web in [&refusing, &recovering] {
        let requests = web.requests();
        assert_eq!(requests.len(), 3);
        assert!(
            requests.iter().all(|one| one.header("idempotency-key") == requests[0].header("idempotency-key"))
        );
    }
    // Only the program that was interrupted gets the notice again.
    std::fs::remove_file(hanging.dir.join("wait")).expect("removed");
    let document = once(&bench, &config);
    assert_eq!(document["delivered"].as_array().map(Vec::len), Some(1), "{document}");
    assert_eq!(document["delivered"][0]["channel"], "hanging");
    assert_eq!((refusing.requests().len(), recovering.requests().len(), hook.begun()), (3, 3, 1));
}

#[test]
fn a_kill_repeats_at_most_the_delivery_in_progress() {
    let bench = Bench::new();
    let (done, slow) = (Hook::of(&bench, "done"), Hook::of(&bench, "slow"));
    std::fs::write(slow.dir.join("wait"), "").expect("writable");
    let config = config(&bench, &format!("{QUICK}{}{}", done.config("done"), slow.config("slow")));
    once(&bench, &config);
    let mut notifier = Notifier::start(&bench, &config);
    bench.ok(&SHORT);
    wait_for("one delivery", || notifier.log().contains("is delivered through 'done'"));
    wait_for("the other one to begin", || slow.begun() == 1);
    notifier.child.kill().expect("killed");
    notifier.child.wait().expect("ended");
    // The process started by the killed service continues, so the notice arrives twice, with the same id.
    std::fs::remove_file(slow.dir.join("wait")).expect("removed");
    wait_for("the first one", || slow.notices().len() == 1);
    let document = once(&bench, &config);
    assert_eq!(document["delivered"].as_array().map(Vec::len), Some(1), "{document}");
    let notices = slow.notices();
    assert_eq!((notices.len(), &notices[0]), (2, &notices[1]));
    assert_eq!(once(&bench, &config)["delivered"], Value::Array(Vec::new()));
    assert_eq!((done.begun(), slow.begun()), (1, 2));
}

#[test]
fn a_stuck_run_an_interrupted_one_and_a_question_reach_a_person() {
    let bench = Bench::new();
    let hook = Hook::of(&bench, "hook");
    let config = config(&bench, &format!("{QUICK}stuck-after = \"3 s\"\n{}", hook.config("desk")));
    once(&bench, &config);
    let notifier = Notifier::start(&bench, &config);
    let mut run = Process::start(&bench, &LONG);
    bench.wait_for("a few cells", |journal| finished(journal) >= 2);
    {
        let _held = hold(run.0.id());
        let ids = || {
            let stuck = hook.notices().into_iter().filter(|notice| notice["event"] == "stuck");
            stuck.map(|notice| notice["id"].to_string()).collect::<Vec<_>>()
        };
        let length = std::fs::metadata(bench.runs()[0].join("journal")).expect("a journal").len();
        wait_for("the stuck run", || ids().iter().any(|id| id.ends_with(&format!(":stuck:{length}\""))));
        let (all, mut distinct) = (ids(), ids());
        distinct.dedup();
        assert_eq!(all, distinct);
    }
    send_signal(run.0.id(), "INT");
    run.wait();
    wait_for("the interrupted run", || hook.events().contains(&"interrupted".to_owned()));
    let notice = hook.notices().pop().expect("a notice");
    check_schema(&notice);
    assert_eq!(notice["test"], "iops");
    assert!(notice["reason"].is_string(), "{notice}");
    assert!(notice["text"].as_str().is_some_and(|text| text.contains("plateau resume ")), "{notice}");

    // The WSAT timeline is the test's result, so `plateau job` would ask a person how to continue this run.
    let job = ["job", "j1", "wsat", "sim:sas-slc-2011", "--scale=1/4", "--profile", "pts-e-1.0"];
    let run = Process::start(&bench, &job);
    let journal = bench.library().join("j1/journal");
    wait_for("a few minutes", || record::read_journal(&journal).is_ok_and(|journal| finished(&journal) >= 4));
    drop(run);
    wait_for("the question", || hook.events().contains(&"needs-person".to_owned()));
    let notice = hook.notices().pop().expect("a notice");
    check_schema(&notice);
    assert_eq!((&notice["question"], &notice["reason"]), (&"timeline".into(), &Value::Null));
    let text = notice["text"].as_str().expect("text");
    assert!(
        text.contains("plateau resume j1 --restart-test") && text.contains("--continue-timeline"),
        "{text}"
    );
    assert!(notifier.end() < Duration::from_secs(10));
}

#[test]
fn a_failed_drive_and_a_damaged_run_are_failures() {
    let bench = Bench::new();
    let hook = Hook::of(&bench, "hook");
    let config = config(&bench, &format!("{QUICK}{}", hook.config("desk")));
    once(&bench, &config);
    bench.ok(&SHORT);
    // Simulated drives end a run without a record of the failed workload, so the test writes one.
    let run = Run::open(&bench.runs()[0]).expect("a run");
    let entries = run.load().expect("a journal").entries;
    let events = entries.into_iter().skip(1).map(|entry| entry.event);
    let mut file = run.file;
    file.id = "failed".into();
    let (_, mut journal) = Library::at(bench.library()).create(file).expect("a run");
    for event in events {
        if let Event::Preconditioned(Segment { workload, start_ns, .. }) = event {
            let errors = vec![ErrorCount { kind: "EIO".into(), count: 32 }];
            journal
                .append(Event::Cut(Cut { workload, start_ns, series: Series::default(), errors }))
                .expect("written");
            break;
        }
        journal.append(event).expect("written");
    }
    journal.append(Event::Interrupted { reason: "EIO".into() }).expect("written");
    drop(journal);
    once(&bench, &config);
    let of_run =
        |id: &str| hook.notices().into_iter().find(|notice| notice["run"]["id"] == id).expect("a notice");
    let notice = of_run("failed");
    check_schema(&notice);
    assert_eq!((&notice["event"], &notice["cause"]), (&"failed".into(), &"drive".into()), "{notice}");
    assert_eq!(notice["test"], "iops");
    let run = bench.ok(&SHORT);
    let newest = bench.json(&["runs"])[0]["run"].as_str().expect("a run").to_owned();
    assert!(run.contains(&newest));
    let journal = bench.library().join(&newest).join("journal");
    let mut bytes = std::fs::read(&journal).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&journal, bytes).expect("writable");
    once(&bench, &config);
    let notice = of_run(&newest);
    check_schema(&notice);
    assert_eq!((&notice["event"], &notice["cause"]), (&"failed".into(), &"unreadable".into()), "{notice}");
    assert_eq!(hook.begun(), 3);
}

/// Certificate and key for `localhost`.
fn certificate(bench: &Bench) -> [PathBuf; 2] {
    let files = [bench.path("certificate.pem"), bench.path("key.pem")];
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]);
    command.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    let output = command.arg("-out").arg(&files[0]).arg("-keyout").arg(&files[1]).output().expect("openssl");
    assert!(output.status.success(), "{}", texts(&output).1);
    files
}

#[test]
fn a_hostile_run_adds_no_header_and_a_password_is_sent_encrypted() {
    if !has("curl") || Command::new("openssl").arg("version").output().is_err() {
        return skips::without("openssl");
    }
    let bench = Bench::new();
    let files = certificate(&bench);
    let Some(mails) = Mails::start(&bench, Some(&files)) else { return };
    let password = bench.path("password");
    std::fs::write(&password, "pass word\n").expect("writable");
    std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o400)).expect("our own");
    let mail = |more: &str| {
        format!(
            "{QUICK}[[mail]]\nname = \"ops\"\nserver = \"smtp://127.0.0.1:{}\"\nfrom = \"lab@mail.example\"\n\
             to = [\"a@mail.example\"]\nuser = \"lab\"\npassword-file = \"{}\"\n{more}",
            mails.port,
            password.display()
        )
    };
    // A server with an unknown certificate does not receive the password.
    let path = config(&bench, &mail(""));
    let error = bench.fails(75, &["notify", "--test", "ops", "--config", path.to_str().expect("text")]);
    assert!(error.contains("certificate") && !error.contains("pass word"), "{error}");
    let path = config(&bench, &mail(&format!("ca-file = \"{}\"\n", files[0].display())));
    once(&bench, &path);
    bench.ok(&SHORT);
    let run = Run::open(&bench.runs()[0]).expect("a run");
    let mut file = run.file;
    file.id = "hostile".into();
    file.labels.name = Some("x\r\nBcc: evil@mail.example\r\n\r\nbody\u{202e}\u{1b}[2J".into());
    file.target.model = Some("m\n.\nQUIT\n".repeat(100));
    let (_, mut journal) = Library::at(bench.library()).create(file).expect("a run");
    journal.append(Event::TestStarted { test: "iops\n".into() }).expect("written");
    drop(journal);
    let document = once(&bench, &path);
    assert_eq!(document["delivered"].as_array().map(Vec::len), Some(2), "{document}");
    let received = mails.mails();
    assert_eq!(received.len(), 2);
    for mail in received {
        assert_eq!((&mail["encrypted"], &mail["authenticated"]), (&true.into(), &true.into()));
        assert_eq!(mail["to"], serde_json::json!(["a@mail.example"]));
        let message = mail["message"].as_str().expect("a message");
        let (head, body) = message.split_once("\r\n\r\n").expect("a body");
        assert!(!head.contains("Bcc") && !body.contains("\r\n\r\n"), "{message}");
    }
    let name = |name: &str| {
        std::fs::read_dir(bench.state.path().join("notify"))
            .into_iter()
            .flatten()
            .flatten()
            .any(|folder| folder.path().join(name).exists())
    };
    assert!(name("memory") && !name("ops.eml"), "no mail is left over");
}

#[test]
fn mistakes_are_found_before_anything_is_sent() {
    let bench = Bench::new();
    let hook = Hook::of(&bench, "hook");
    let notify = |path: &Path, code, more: &[&str]| {
        bench.fails(code, &[&["notify", "--config", path.to_str().expect("text")], more].concat())
    };
    let error = notify(&bench.path("missing.toml"), 2, &["--once"]);
    assert!(error.contains("cannot read") && error.contains("docs/guide/notify.md"), "{error}");
    let path = config(&bench, "look-evry = \"1 s\"\n[[program]]\nname = \"a\"\nrun = [\"logger\"]\n");
    let error = notify(&path, 2, &["--once"]);
    assert!(
        error.contains("notify.toml:1:1: unknown key 'look-evry'; did you mean 'look-every'?"),
        "{error}"
    );
    assert!(error.contains("notify.toml:4:7: 'logger' is not an absolute path"), "{error}");
    let path = config(
        &bench,
        &format!("{QUICK}{}[[program]]\nname = \"gone\"\nrun = [\"/no/such\"]\n", hook.config("desk")),
    );
    let error = notify(&path, 2, &["--once"]);
    assert!(error.contains("channel 'gone': /no/such: No such file"), "{error}");
    let error = notify(&path, 2, &["--test", "desks"]);
    assert!(error.contains("has no channel 'desks'; did you mean 'desk'?"), "{error}");
    let error = notify(&path, 75, &["--test", "gone"]);
    assert!(error.contains("the sample was not delivered through 'gone'"), "{error}");
    assert_eq!(hook.begun(), 0);
    let config = config(&bench, &format!("{QUICK}{}", hook.config("desk")));
    let words = ["notify", "--config", config.to_str().expect("text"), "--test", "desk"];
    assert!(bench.ok(&words).contains("a sample was delivered through 'desk'"));
    check_schema(&hook.notices()[0]);
    assert_eq!(hook.events(), ["test"]);
    // One process at a time sends notices about a library.
    let notifier = Notifier::start(&bench, &config);
    let error = notify(&config, 75, &["--once"]);
    assert!(error.contains("another process is sending notices about this library"), "{error}");
    notifier.end();
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o666)).expect("our own");
    assert!(notify(&config, 2, &["--once"]).contains("can be changed by other users; `chmod go-w"));
}
