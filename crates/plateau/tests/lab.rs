//! `plateau serve`: starting, stopping and resuming runs.

#[path = "lab/browser.rs"]
mod browser;
#[path = "support/lab_server/mod.rs"]
mod lab_server;
mod support;

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lab_server::{Response, Server, events};
use record::{Event, Loaded, read_journal};
use serde_json::Value;
use support::Bench;

/// Timeout for a process to start or end on a busy host.
const PATIENCE: Duration = Duration::from_secs(120);

/// An operator who has signed in.
struct Operator<'a> {
    server: &'a Server,
    cookie: String,
    csrf: String,
}

impl<'a> Operator<'a> {
    fn of(server: &'a Server) -> Self {
        let cookie = server.enter();
        let csrf = server.csrf(&cookie);
        Self { server, cookie, csrf }
    }

    fn post(&self, path: &str, form: &[(&str, &str)]) -> Response {
        // A browser also sends the origin.
        let headers = format!("{}{}", self.cookie, self.server.origin());
        self.server.post(path, &headers, &[&[("csrf", self.csrf.as_str())], form].concat())
    }

    /// Submits a plan; returns its page's address.
    fn plan(&self, form: &[(&str, &str)]) -> String {
        let response = self.post("/start", form);
        assert_eq!(response.status, 303, "{}", response.body);
        response.header("location").expect("an address").to_owned()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.server.get(path, &self.cookie).body).expect("JSON")
    }

    /// Waits until a plan has become a run or failed; returns its entry.
    fn settled(&self, page: &str) -> Value {
        let name = page.strip_prefix("/start/").expect("the page of a plan");
        let begun = Instant::now();
        loop {
            let all = self.json("/api/starts");
            let entry = all.as_array().expect("a list").iter().find(|entry| entry["name"] == name);
            let entry = entry.expect("the entry").clone();
            if matches!(entry["stage"].as_str(), Some("begun" | "failed")) {
                return entry;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not start: {entry}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The run that a plan became.
    fn run(&self, page: &str) -> String {
        let entry = self.settled(page);
        entry["run"].as_str().unwrap_or_else(|| panic!("a run: {entry}")).to_owned()
    }

    /// Waits until no process is working on a run; returns its state.
    fn ended(&self, run: &str) -> String {
        let begun = Instant::now();
        loop {
            let state = self.json(&format!("/api/runs/{run}"))["state"].as_str().unwrap_or("").to_owned();
            if state != "running" && !state.is_empty() {
                return state;
            }
            assert!(begun.elapsed() < PATIENCE, "the run does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

const MODEL: &str = "sim:sas-slc-2011";

fn simulated(scale: &'static str) -> [(&'static str, &'static str); 5] {
    [("target", MODEL), ("scale", scale), ("kind", "tests"), ("tests", "iops"), ("profile", "pts-e-1.0")]
}

fn journal(bench: &Bench, run: &str) -> Loaded {
    read_journal(&bench.library().join(run).join("journal")).expect("a journal")
}

/// The measurements, in order.
fn measured(loaded: &Loaded) -> Vec<String> {
    let all = loaded.entries.iter().filter(|entry| !matches!(entry.event, Event::Opened { .. }));
    all.map(|entry| serde_json::to_string(&entry.event).expect("JSON")).collect()
}

#[test]
fn a_run_is_planned_started_once_watched_and_found() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let page = operator.plan(&simulated("1/1024"));
    let shown = server.get(&page, &operator.cookie).body;
    for text in
        ["Drive fills", "Type the identity", MODEL, "plateau run --scale=1/1024", "nothing; the target"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let wrong = operator.post(&page, &[("identity", "sim:sas-slc-2012")]);
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(wrong.body.contains("is not the identity"), "{}", wrong.body);
    assert!(bench.runs().is_empty());

    let request = server.posted(&page, &operator.cookie, &[("csrf", &operator.csrf), ("identity", MODEL)]);
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let ten: Vec<_> =
            (0..10).map(|_| scope.spawn(|| Response::of(&server.raw(&request)).status)).collect();
        ten.into_iter().map(|thread| thread.join().expect("answered")).collect()
    });
    assert_eq!(answers, [303; 10]);
    let run = operator.run(&page);
    let all =
        events(&server, &format!("/api/runs/{run}/events"), &operator.cookie, |data| data == "steady state");
    assert_eq!(all.last().map(|(_, kind)| kind.as_str()), Some("closed"));
    assert_eq!(operator.ended(&run), "steady");
    assert_eq!(bench.runs().len(), 1, "ten requests started one run");
    bench.ok(&["verify", &run]);
    let found = operator.json(&format!("/api/runs?q={run}&state=steady"));
    assert_eq!(found[0]["run"], run.as_str());
    let audit = support::text(&bench.state.path().join("lab/lab.journal"));
    assert_eq!(audit.lines().count(), 1, "{audit}");
    assert!(audit.contains("\"command\":\"plateau run --scale=1/1024"), "{audit}");
}

#[test]
fn a_plan_is_kept_if_its_start_cannot_be_stored() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let page = operator.plan(&simulated("1/1024"));
    let in_the_way = bench.state.path().join("lab/queue.json.next");
    std::fs::create_dir_all(&in_the_way).expect("a folder");
    let response = operator.post(&page, &[("identity", MODEL)]);
    assert_eq!(response.status, 503, "{}", response.body);
    for text in ["queue.json", "the plan is kept", "Type the identity of the drive"] {
        assert!(response.body.contains(text), "{text}: {}", response.body);
    }
    assert_eq!(operator.json("/api/starts")[0]["stage"], "planned");
    assert!(bench.runs().is_empty());
    std::fs::remove_dir(&in_the_way).expect("removed");
    assert_eq!(operator.post(&page, &[("identity", MODEL)]).status, 303);
    let run = operator.run(&page);
    assert_eq!(operator.ended(&run), "steady");
}

#[test]
fn a_run_is_stopped_and_resumed() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let page = operator.plan(&simulated("1/4"));
    assert_eq!(operator.post(&page, &[("identity", MODEL)]).status, 303);
    let run = operator.run(&page);
    let stopped: Vec<u16> = (0..3).map(|_| operator.post(&format!("/runs/{run}/stop"), &[]).status).collect();
    assert_eq!(stopped[0], 303);
    assert_eq!(operator.ended(&run), "incomplete");
    let shown = server.get(&format!("/runs/{run}"), &operator.cookie).body;
    assert!(shown.contains("Restart the interrupted test"), "{shown}");
    let before = journal(&bench, &run).entries.len();
    let response = operator.post(&format!("/runs/{run}/resume"), &[]);
    assert_eq!(response.status, 303, "{}", response.body);
    let entry = operator.settled(response.header("location").expect("an address"));
    assert_eq!(entry["run"], run.as_str(), "{entry}");
    assert_eq!(entry["command"], format!("plateau resume {run}"));
    let resumed = journal(&bench, &run).entries;
    let is_resumed = |entry: &record::Entry| matches!(entry.event, Event::Resumed { .. });
    assert!(resumed.len() > before && resumed.iter().any(is_resumed));
    assert_eq!(operator.post(&format!("/runs/{run}/stop"), &[]).status, 303);
    assert_eq!(operator.ended(&run), "incomplete");
    let again = operator.post(&format!("/runs/{run}/stop"), &[]);
    assert!(matches!(again.status, 303 | 409), "{}", again.body);
}

#[test]
fn after_a_wrong_identity_the_plan_is_kept_and_the_target_is_unchanged() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let target = bench.path("target.bin");
    let content: Vec<u8> = (0..16_u32 << 20).map(|i| (i % 251) as u8).collect();
    std::fs::write(&target, &content).expect("a target");
    let path = target.to_str().expect("text");
    let plan = "tests = [\"lat\"]\n[settings]\ncell-seconds = 0.05\nmax-rounds = 5\n";
    let form = [("file", path), ("kind", "text"), ("plan", plan)];
    let page = operator.plan(&form);
    let shown = server.get(&page, &operator.cookie).body;
    assert!(shown.contains("everything on") && shown.contains("target.bin"), "{shown}");
    for (wrong, reason) in [
        ("", "No identity was entered"),
        ("target.bim", "'target.bim' is not the identity of"),
        ("TARGET.BIN", "is not the identity of"),
        ("--erase=target.bin", "is not the identity of"),
    ] {
        let refused = operator.post(&page, &[("identity", wrong)]);
        assert_eq!(refused.status, 422, "{}", refused.body);
        for text in [reason, "the plan is unchanged", "Type the identity of the drive", "name=\"identity\""] {
            assert!(refused.body.contains(text), "{text}: {}", refused.body);
        }
        assert_eq!(operator.json("/api/starts")[0]["stage"], "planned");
    }
    assert!(bench.runs().is_empty());
    assert!(std::fs::read(&target).expect("the target") == content, "the target was changed");
    // A file's identity is its name; the plan is stale if the file has been replaced.
    std::fs::rename(&target, bench.path("other.bin")).expect("renamed");
    std::os::unix::fs::symlink(bench.path("other.bin"), &target).expect("a link");
    assert_eq!(operator.post(&page, &[("identity", "target.bin")]).status, 303);
    let entry = operator.settled(&page);
    assert_eq!(entry["stage"], "failed", "{entry}");
    // After a failed start, the form for a new plan is filled in from the failed plan.
    let shown = server.get(&page, &operator.cookie).body;
    let again = page.replace("/start/", "/start?again=");
    assert!(shown.contains(&again), "{shown}");
    let filled_in = server.get(&again, &operator.cookie).body;
    for text in [path, "cell-seconds = 0.05", "value=\"text\" checked"] {
        assert!(filled_in.contains(text), "{text}: {filled_in}");
    }
    assert!(std::fs::read(bench.path("other.bin")).expect("the target") == content, "the target was changed");
}

#[test]
fn mistakes_in_plans_and_targets_are_shown_and_nothing_is_planned() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let long = format!("/tmp/{}", "x".repeat(4096));
    let new = bench.path("new");
    let new = new.to_str().expect("text");
    for (form, text) in [
        (
            &[("target", MODEL), ("kind", "text"), ("plan", "tests = [\"iops\"]\nfoo = 3\n")][..],
            "plan:2:1: foo",
        ),
        (&[("target", "nvme0n1"), ("kind", "preset"), ("preset", "quick")], "absolute path"),
        (&[("target", "--erase=x"), ("kind", "preset"), ("preset", "quick")], "absolute path"),
        (&[("target", MODEL), ("kind", "tests"), ("profile", "pts-e-2.0")], "a test is missing"),
        (&[("target", MODEL), ("kind", "preset"), ("preset", "--plan")], "is not a name"),
        (&[("target", MODEL), ("kind", "preset"), ("preset", "<script>")], "&lt;script&gt;"),
        (
            &[("file", "/nonexistent/<script>\u{202e}"), ("kind", "preset"), ("preset", "quick")],
            "&lt;script&gt;",
        ),
        (&[("file", long.as_str()), ("kind", "preset"), ("preset", "quick")], "more than 4096 bytes"),
        (&[("file", new), ("kind", "preset"), ("preset", "quick")], "enter its size in 'Size of a new file'"),
        (
            &[("file", new), ("size", "abc"), ("kind", "preset"), ("preset", "quick")],
            "'Size of a new file': 'abc' is not a size; write a number and a unit",
        ),
        (
            &[("file", new), ("size", "2"), ("kind", "preset"), ("preset", "quick")],
            "A size of 2 B is too small",
        ),
        (&[("file", "/dev/nonexistent"), ("kind", "preset"), ("preset", "quick")], "no such device"),
    ] {
        let response = operator.post("/start", form);
        assert_eq!(response.status, 422, "{form:?}");
        assert!(response.body.contains(text), "{form:?} lacks {text}: {}", response.body);
        assert!(!response.body.contains("<script>"), "{form:?}");
        assert!(!response.body.contains("--size"), "{form:?} names an option: {}", response.body);
    }
    assert_eq!(operator.json("/api/starts"), serde_json::json!([]));
}

#[test]
fn a_run_is_not_affected_by_the_end_of_the_server() {
    let bench = Bench::new();
    let mut server = Server::start(&bench);
    let operator = Operator::of(&server);
    let page = operator.plan(&simulated("1/16"));
    assert_eq!(operator.post(&page, &[("identity", MODEL)]).status, 303);
    let run = operator.run(&page);
    server.signal("-KILL");
    server.end();
    bench.wait_for("the end of the run", |loaded| {
        loaded.entries.iter().any(|entry| matches!(entry.event, Event::Closed))
    });
    bench.ok(&["verify", &run]);
    let alone = Bench::new();
    let document = alone.json(&["run", "iops", MODEL, "--scale", "1/16", "--profile", "pts-e-1.0"]);
    let undisturbed = journal(&alone, document["run"].as_str().expect("an id"));
    // Only the host's timestamps differ; they are part of each record and thus change the hash chain.
    assert_eq!(measured(&journal(&bench, &run)), measured(&undisturbed));
}

#[test]
fn a_run_waits_for_its_drive_even_if_the_server_is_restarted() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let target = bench.path("target.bin");
    let path = target.to_str().expect("text");
    let plan = "tests = [\"lat\"]\n[settings]\nsize = \"16MiB\"\ncell-seconds = 0.2\nmax-rounds = 5\n";
    let form = [("file", path), ("kind", "text"), ("plan", plan)];
    let (first, second) = (operator.plan(&form), operator.plan(&form));
    assert_eq!(operator.post(&first, &[("identity", "target.bin")]).status, 303);
    let run = operator.run(&first);
    assert_eq!(operator.post(&second, &[("identity", "target.bin")]).status, 303);
    let shown = operator.json("/api/starts");
    assert_eq!(shown[0]["stage"], "waiting", "{shown}");
    drop(server);
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let next = operator.run(&second);
    assert_ne!(next, run);
    operator.ended(&next);
    let created = |run: &str| journal(&bench, run).entries.first().map(|entry| entry.wall);
    let ended = journal(&bench, &run).entries.last().map(|entry| entry.wall);
    assert!(created(&next) > ended, "the runs did not overlap");
    bench.ok(&["verify", &next]);
}

#[test]
fn a_run_is_resumed_once_however_often_this_is_requested() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let target = bench.path("target.bin");
    let path = target.to_str().expect("text");
    let plan = "tests = [\"lat\"]\n[settings]\nsize = \"16MiB\"\ncell-seconds = 60\nmax-rounds = 5\n";
    let begin = || {
        let page = operator.plan(&[("file", path), ("kind", "text"), ("plan", plan)]);
        assert_eq!(operator.post(&page, &[("identity", "target.bin")]).status, 303);
        operator.run(&page)
    };
    let stop = |run: &str| {
        assert_eq!(operator.post(&format!("/runs/{run}/stop"), &[]).status, 303);
        assert_eq!(operator.ended(run), "incomplete");
    };
    let first = begin();
    stop(&first);
    let second = begin();
    // The resumption waits, because the second run uses the target.
    let request =
        server.posted(&format!("/runs/{first}/resume"), &operator.cookie, &[("csrf", &operator.csrf)]);
    let answers: Vec<Response> = std::thread::scope(|scope| {
        let ten: Vec<_> = (0..10).map(|_| scope.spawn(|| Response::of(&server.raw(&request)))).collect();
        ten.into_iter().map(|thread| thread.join().expect("answered")).collect()
    });
    let page = answers[0].header("location").unwrap_or_else(|| panic!("an address: {:?}", answers[0]));
    let same = answers.iter().filter(|answer| answer.header("location") == Some(page)).count();
    assert_eq!(same, 10, "{answers:?}");
    let begun = Instant::now();
    loop {
        let all = operator.json("/api/starts");
        let all: Vec<&Value> =
            all.as_array().expect("a list").iter().filter(|entry| entry["stage"] == "waiting").collect();
        assert_eq!(all.len(), 1, "{all:?}");
        if let Some(why) = all[0]["waits_for"].as_str() {
            assert!(why.contains(&second) && why.contains("in progress"), "{why}");
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not say what it waits for: {all:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(operator.post(&format!("{page}/withdraw"), &[]).status, 303);
    stop(&second);
}

#[test]
fn runs_are_tagged_noted_archived_and_found_by_link() {
    let bench = Bench::new();
    let document =
        bench.json(&["run", "iops", MODEL, "--scale", "1/1024", "--profile", "pts-e-1.0", "--tag", "first"]);
    let run = document["run"].as_str().expect("an id");
    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let post = |what: &str, form: &[(&str, &str)]| operator.post(&format!("/runs/{run}/{what}"), form).status;
    let found = |query: &str| operator.json(&format!("/api/runs?{query}")).as_array().expect("a list").len();
    assert_eq!(found("q=first"), 1);
    assert_eq!(found("q=second"), 0);
    assert_eq!(post("tag", &[("tag", "second")]), 303);
    assert_eq!(post("note", &[("note", "</p><script>alert(1)</script>")]), 303);
    assert_eq!((found("q=second"), found("q=alert")), (1, 1));
    let page = server.get(&format!("/runs/{run}"), &operator.cookie).body;
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<script>alert"), "{page}");
    for (what, form) in [
        ("tag", ("tag", "two words")),
        ("tag", ("tag", "")),
        ("note", ("note", "two\nlines")),
        ("note", ("note", "\u{202e}")),
    ] {
        assert_eq!(post(what, &[form]), 422, "{form:?}");
    }
    assert_eq!(post("note", &[("note", &"x".repeat(4096))]), 422);
    assert_eq!(post("untag", &[("tag", "first")]), 303);
    assert_eq!(found("q=first"), 0);
    assert_eq!(post("archive", &[]), 303);
    assert_eq!((found(""), found("archived=1")), (0, 1));
    assert_eq!(post("unarchive", &[]), 303);
    assert_eq!((found(""), found("archived=1")), (1, 0));
    assert_eq!(bench.json(&["show", run])["tags"], serde_json::json!(["second"]));
    bench.ok(&["verify", run]);
}

#[test]
fn damaged_archives_are_shown_and_archived_runs_cannot_be_resumed() {
    let bench = Bench::new();
    let args = ["run", "lat", MODEL, "--scale", "1/256", "--max-rounds", "5"];
    let [whole, cut, flipped] = ["1", "2", "3"].map(|seed| {
        let document = bench.json(&[&args[..], &["--seed", seed]].concat());
        document["run"].as_str().expect("an id").to_owned()
    });
    // Without its last record, the run is incomplete.
    let journal = bench.library().join(&whole).join("journal");
    let text = support::text(&journal);
    let (before, _) = text.trim_end().rsplit_once('\n').expect("records");
    std::fs::write(&journal, format!("{before}\n")).expect("written");
    bench.ok(&["archive", &whole, &cut, &flipped]);
    let archive = |run: &str| bench.library().join(format!("{run}.tar.zst"));
    let bytes = std::fs::read(archive(&cut)).expect("a file");
    std::fs::write(archive(&cut), &bytes[..100]).expect("cut");
    let mut bytes = std::fs::read(archive(&flipped)).expect("a file");
    *bytes.last_mut().expect("bytes") ^= 1;
    std::fs::write(archive(&flipped), &bytes).expect("changed");

    let server = Server::start(&bench);
    let operator = Operator::of(&server);
    let list = server.get("/", &operator.cookie).body;
    assert!(list.contains(&format!("{cut}.tar.zst")) && list.contains("cannot be read as runs"), "{list}");
    let rows = operator.json("/api/runs");
    let rows = rows.as_array().expect("a list");
    let row = rows.iter().find(|row| row["run"] == flipped.as_str()).expect("the run is listed");
    assert_eq!(row["state"], "unreadable", "{row}");
    assert!(row["problem"].as_str().is_some_and(|why| why.contains(&format!("{flipped}.tar.zst"))), "{row}");

    let page = server.get(&format!("/runs/{whole}"), &operator.cookie).body;
    assert!(page.contains(&format!("plateau unarchive {whole}")), "{page}");
    assert!(!page.contains(&format!("/runs/{whole}/resume")), "{page}");
    for what in ["resume", "restart"] {
        let refused = operator.post(&format!("/runs/{whole}/{what}"), &[]);
        assert!(refused.status == 422 && refused.body.contains("is archived"), "{}", refused.body);
    }
    assert_eq!(operator.json("/api/starts"), serde_json::json!([]));
}

#[test]
fn every_viewer_of_a_run_receives_each_record_once() {
    const VIEWERS: usize = 6;
    let bench = Bench::new();
    let run = lab_server::demo(&bench);
    let path = bench.library().join(&run).join("journal");
    let text = support::text(&path);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // The header and some records; the others are appended while the viewers watch.
    let (first, rest) = lines.split_at(10);
    std::fs::write(&path, first.concat()).expect("writable");
    let mut journal = std::fs::File::options().append(true).open(&path).expect("a journal");
    journal.lock().expect("a lock");
    let server = Server::start(&bench);
    let cookie = server.enter();
    let received = AtomicUsize::new(0);
    let watch = &|number: usize| {
        let mut all: Vec<(u64, String)> = Vec::new();
        let mut is_over = false;
        while !is_over {
            let last = all.last().map(|(id, _)| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
            let mut left = 3 + 7 * number;
            let headers = format!("{cookie}{last}");
            // Some viewers often lose their connection.
            all.extend(events(&server, &format!("/api/runs/{run}/events"), &headers, |data| {
                is_over = data == "steady state";
                left = left.saturating_sub(1);
                received.fetch_add(1, Ordering::Relaxed);
                is_over || (left == 0 && number < VIEWERS - 1)
            }));
        }
        all
    };
    let all: Vec<Vec<(u64, String)>> = std::thread::scope(|scope| {
        let viewers: Vec<_> = (0..VIEWERS).map(|number| scope.spawn(move || watch(number))).collect();
        for (written, lines) in rest.chunks(9).enumerate() {
            journal.write_all(lines.concat().as_bytes()).expect("writable");
            let begun = Instant::now();
            while received.load(Ordering::Relaxed) < VIEWERS * (first.len() - 1 + 9 * written) {
                assert!(begun.elapsed() < PATIENCE, "records are missing");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        drop(journal);
        viewers.into_iter().map(|viewer| viewer.join().expect("a viewer")).collect()
    });
    for (number, records) in all.iter().enumerate() {
        let ids: Vec<u64> = records.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, (0..lines.len() as u64 - 1).collect::<Vec<_>>(), "viewer {number}");
    }
}
