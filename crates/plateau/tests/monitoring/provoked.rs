//! Brings about each condition that an alert is for, on real runs, libraries and servers, and evaluates the rules on the metrics
//! before and after it.
//!
//! The rules wait for minutes, and some ages are a day. So clocks are set forward, and promtool evaluates what was scraped
//! as if each state had lasted for a while.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::lab_server::Server;
use super::support::{self, Bench, text};
use super::{
    PATIENCE, Process, Prometheus, SIGNED_IN, add_user, answering, forward, get_with, has, shipped,
    wait_for_rounds,
};

/// Locations of the faketime library on Debian and other distributions.
const FAKETIME: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
];
/// The name of node_exporter in Debian's package.
const EXPORTER: &str = "prometheus-node-exporter";
/// The metric of the space on the library's disk.
const FREE: &str = "plateau_library_free_bytes";
/// Minutes for which everything is well.
const WELL: u32 = 10;
/// Minutes for which the conditions last: longer than any rule waits.
const PROVOKED: u32 = 30;
const RUN: [&str; 6] = ["run", "iops", "--scale", "1/64", "--profile", "pts-e-1.0"];

/// The value of each series, such as `plateau_runs{state="running"}`.
type Scraped = BTreeMap<String, String>;

/// Returns the series in the text of a scrape.
fn series(text: &str) -> Scraped {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.rsplit_once(' '));
    // Other tests write to the same disk, so only the test of a disk of its own looks at the space on it.
    let ours = pairs.filter(|(name, _)| *name != FREE);
    ours.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What was scraped from one place before and after the conditions arose there, and the alerts that must fire.
struct Place {
    name: &'static str,
    well: Scraped,
    provoked: Scraped,
    alerts: &'static [&'static str],
}

impl Place {
    /// Returns the series as promtool reads them.
    fn input(&self) -> String {
        let names: BTreeSet<&String> = self.well.keys().chain(self.provoked.keys()).collect();
        let mut all = String::new();
        for name in names {
            let (base, labels) =
                name.strip_suffix('}').and_then(|rest| rest.split_once('{')).unwrap_or((name, ""));
            let separator = if labels.is_empty() { "" } else { "," };
            let series = format!("{base}{{{labels}{separator}instance=\"{}\"}}", self.name);
            // `1x9` is ten samples, but `_x10` is no sample ten times.
            let well =
                self.well.get(name).map_or(format!("_x{WELL}"), |value| format!("{value}x{}", WELL - 1));
            let provoked = self.provoked.get(name);
            let provoked = provoked.map_or("stale".to_owned(), |value| format!("{value}x{PROVOKED}"));
            let _ = writeln!(all, "      - {{ series: {}, values: '{well} {provoked}' }}", quoted(&series));
        }
        all
    }
}

/// Quotes a YAML string.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A file system of a given size, unmounted at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn at(folder: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(folder).expect("a folder");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "none"]).arg(folder);
        let status = command.status();
        status.is_ok_and(|status| status.success()).then(|| Self(folder.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).status());
    }
}

/// Returns the metrics of a library, by a clock that is ahead by this time.
fn metrics_ahead(bench: &Bench, library: &str, ahead: &str) -> Scraped {
    let mut command = bench.command(&["metrics"]);
    command.env("LD_PRELOAD", library).env("FAKETIME", ahead).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    let output = command.output().expect("plateau starts");
    let (out, err) = support::texts(&output);
    assert!(output.status.success(), "{err}");
    series(&out)
}

fn metrics(bench: &Bench) -> Scraped {
    series(&bench.ok(&["metrics"]))
}

fn scraped(address: &str) -> Scraped {
    series(&get_with(address, "/metrics", SIGNED_IN).expect("an answer").body)
}

/// Damages a finished run, so that it cannot be read.
fn damage(run: &Path) {
    std::fs::write(run.join("journal"), "not a journal\n").expect("writable");
}

fn finished_run(bench: &Bench) -> PathBuf {
    bench.ok(&["run", "iops", "sim:sas-slc-2011", "--scale=1/1024", "--max-rounds=5", "--tc=1", "--qd=2"]);
    bench.runs().pop().expect("a run")
}

/// One run is stopped for two days, another is killed, and a third is damaged.
fn host(faketime: &str) -> Place {
    let bench = Bench::new();
    let damaged = finished_run(&bench);
    let stopped = Process(bench.start(&[&RUN[..], &["sim:sas-slc-2011"]].concat()));
    let killed = Process(bench.start(&[&RUN[..], &["sim:sas-slc-2011"]].concat()));
    wait_for_rounds(&bench, 3);
    let held = [support::hold(stopped.0.id()), support::hold(killed.0.id())];
    let well = metrics(&bench);
    drop(killed);
    damage(&damaged);
    let provoked = metrics_ahead(&bench, faketime, "+2d");
    drop(held);
    Place {
        name: "host",
        well,
        provoked,
        alerts: &["PlateauJournalOld", "PlateauRunInterrupted", "PlateauRunStuck", "PlateauRunUnreadable"],
    }
}

/// A drive gets hot and exceeds its endurance.
fn drive() -> Place {
    let bench = Bench::new();
    let well = metrics(&bench);
    let model = bench.ok(&["sim", "show", "sas-slc-2011", "--toml"]);
    let change = |model: String, from: &str, to: &str| {
        assert!(model.contains(from), "{model}");
        model.replace(from, to)
    };
    let model = change(model, "\nrated_erases = 100000\n", "\nrated_erases = 1\n");
    let model = change(model, "\nrest_c = 32.0\n", "\nrest_c = 75.0\n");
    let file = bench.path("hot.toml");
    std::fs::write(&file, model).expect("writable");
    let target = format!("sim:{}", file.display());
    let run = Process(bench.start(&[&RUN[..], &[&target]].concat()));
    wait_for_rounds(&bench, 1);
    let held = support::hold(run.0.id());
    let provoked = metrics(&bench);
    drop(held);
    Place { name: "drive", well, provoked, alerts: &["PlateauDriveHot", "PlateauDriveWorn"] }
}

/// A library on a disk with little space; `None` if this process may not mount one.
fn disk() -> Option<Place> {
    let bench = Bench::new();
    let free = || {
        let text = bench.ok(&["metrics"]);
        let value = text.lines().find_map(|line| line.strip_prefix(FREE)).expect("the space");
        Scraped::from([(FREE.to_owned(), value.trim().to_owned())])
    };
    let _disk = SmallDisk::at(&bench.library(), "100g")?;
    let well = free();
    let _smaller = SmallDisk::at(&bench.library(), "64m")?;
    Some(Place { name: "disk", well, provoked: free(), alerts: &["PlateauDiskFilling"] })
}

/// A run cannot be started because its target has been replaced, and the server ends.
fn lab() -> Place {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let cookie = server.enter();
    let csrf = server.csrf(&cookie);
    add_user(&bench);
    let prometheus = Prometheus::of(&[&server.address]);
    let up = |expected: &str| {
        let begun = Instant::now();
        while prometheus.query("up").first().is_none_or(|up| up["value"][1] != expected) {
            assert!(begun.elapsed() < PATIENCE, "up is not {expected}");
            std::thread::sleep(Duration::from_millis(100));
        }
        series(&format!("up{{job=\"plateau\"}} {expected}\n"))
    };
    let at_server = || series(&server.get("/metrics", &cookie).body);
    let mut well = at_server();
    well.extend(up("1"));
    let headers = format!("{cookie}{}", server.origin());
    let target = bench.path("target.bin");
    std::fs::write(&target, vec![1; 16 << 20]).expect("a target");
    let file = target.to_str().expect("text");
    let tests = [("kind", "tests"), ("tests", "lat"), ("profile", "pts-e-1.0")];
    let form = [&[("csrf", csrf.as_str()), ("file", file)], &tests[..]].concat();
    let planned = server.post("/start", &headers, &form);
    let page = planned.header("location").unwrap_or_else(|| panic!("a plan: {}", planned.body)).to_owned();
    std::fs::rename(&target, bench.path("other.bin")).expect("renamed");
    std::os::unix::fs::symlink(bench.path("other.bin"), &target).expect("a link");
    let form = [("csrf", csrf.as_str()), ("identity", "target.bin")];
    assert_eq!(server.post(&page, &headers, &form).status, 303);
    let begun = Instant::now();
    let failed = "plateau_starts{stage=\"failed\"}";
    let mut provoked = at_server();
    while provoked[failed] != "1" {
        assert!(begun.elapsed() < PATIENCE, "{provoked:?}");
        std::thread::sleep(Duration::from_millis(50));
        provoked = at_server();
    }
    drop(server);
    provoked.extend(up("0"));
    Place { name: "lab", well, provoked, alerts: &["PlateauDown", "PlateauStartFailed"] }
}

/// The server of a forwarding host ends for twenty minutes, and a run of the host cannot be read.
fn forwarder(faketime: &str) -> Place {
    let (host, lab) = (Bench::new(), Bench::new());
    let run = finished_run(&host);
    add_user(&host);
    let server = Server::start(&lab);
    let clock = host.path("clock");
    std::fs::write(&clock, "+0").expect("writable");
    let (_process, address) = forward(&host, &lab, &server, |command| {
        command
            .env("LD_PRELOAD", faketime)
            .env("FAKETIME_TIMESTAMP_FILE", &clock)
            .env("FAKETIME_NO_CACHE", "1");
    });
    let until = |what: &str, is_reached: &dyn Fn(&Scraped) -> bool| {
        let begun = Instant::now();
        loop {
            let scraped = scraped(&address);
            if is_reached(&scraped) {
                return scraped;
            }
            assert!(begun.elapsed() < PATIENCE, "{what}: {scraped:?}");
            // Each request checks a password.
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    let is = |name: &'static str, value: &'static str| {
        move |all: &Scraped| all.get(name).is_some_and(|v| v == value)
    };
    let well = until("delivered", &is("plateau_forward_behind_bytes", "0"));
    damage(&run);
    until("unsent", &is("plateau_forward_unsent_runs", "1"));
    drop(server);
    std::fs::write(&clock, "+20m").expect("writable");
    let age = "plateau_forward_success_age_seconds";
    let is_old =
        |all: &Scraped| all.get(age).and_then(|age| age.parse().ok()).is_some_and(|age: f64| age > 600.0);
    let provoked = until("an old success", &is_old);
    let alerts = &["PlateauForwardFailing", "PlateauRunNotForwarded", "PlateauRunUnreadable"];
    Place { name: "forwarder", well, provoked, alerts }
}

/// The timer that writes the metrics for node_exporter no longer runs; `None` if node_exporter is not installed.
fn textfile() -> Option<Place> {
    if !has(EXPORTER) {
        return None;
    }
    let bench = Bench::new();
    finished_run(&bench);
    let folder = bench.path("textfiles");
    std::fs::create_dir(&folder).expect("a folder");
    let file = folder.join("plateau.prom");
    bench.ok(&["metrics", "--textfile", file.to_str().expect("text")]);
    // promtool's time begins at 0, and so does the file's.
    let opened = File::options().write(true).open(&file);
    opened.and_then(|file| file.set_modified(UNIX_EPOCH)).expect("our own");
    let start = |address: &str| {
        let mut command = Command::new(EXPORTER);
        command
            .args(["--collector.disable-defaults", "--collector.textfile", "--web.disable-exporter-metrics"])
            .arg(format!("--collector.textfile.directory={}", folder.display()))
            .arg(format!("--web.listen-address={address}"));
        command
    };
    let (_process, _, response) = answering("/metrics", start);
    let mut exported = series(&response.body);
    exported.retain(|name, _| name.starts_with("plateau_") || name.starts_with("node_textfile_"));
    let written = series(&text(&file));
    assert!(!written.is_empty() && written.iter().all(|(name, value)| exported.get(name) == Some(value)));
    let alerts = &["PlateauTextfileOld"];
    Some(Place { name: "textfile", well: exported.clone(), provoked: exported, alerts })
}

#[test]
fn every_condition_fires_its_alert_and_no_other() {
    if !has("promtool") || !has("prometheus") || !has("curl") {
        return;
    }
    let Some(faketime) = FAKETIME.iter().find(|path| Path::new(path).exists()) else {
        return skips::without("faketime");
    };
    let mut places = vec![host(faketime), drive(), lab(), forwarder(faketime)];
    places.extend(textfile());
    match disk() {
        Some(place) => places.push(place),
        None => skips::skip!("a small file system cannot be mounted"),
    }
    let fires = |place: &Place| {
        let of = |alert: &&str| {
            format!(
                "          - {{ labels: '{{alertname=\"{alert}\",instance=\"{}\"}}', value: 1 }}\n",
                place.name
            )
        };
        place.alerts.iter().map(of).collect::<String>()
    };
    let query = "count by (alertname, instance) (ALERTS{alertstate=\"firing\"})";
    let tests = format!(
        "rule_files: [alerts.yml]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n{}    \
         promql_expr_test:\n      - {{ expr: '{query}', eval_time: {}m, exp_samples: [] }}\n      - expr: '{query}'\n        \
         eval_time: {}m\n        exp_samples:\n{}",
        places.iter().map(Place::input).collect::<String>(),
        WELL - 1,
        WELL + 12,
        places.iter().map(fires).collect::<String>(),
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("alerts.yml"), text(&shipped("alerts.yml"))).expect("writable");
    std::fs::write(folder.path().join("provoked.yml"), &tests).expect("writable");
    let mut command = Command::new("promtool");
    let output = command.args(["test", "rules", "provoked.yml"]).current_dir(folder.path()).output();
    let output = output.expect("promtool starts");
    let (out, err) = support::texts(&output);
    assert!(output.status.success(), "{out}{err}{tests}");
    // No alert remains unprovoked, except those that need node_exporter or a small disk.
    let provoked: BTreeSet<&str> = places.iter().flat_map(|place| place.alerts).copied().collect();
    let rules = text(&shipped("alerts.yml"));
    let all = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    let missing: Vec<&str> = all.filter(|name| !provoked.contains(name)).collect();
    let optional = ["PlateauDiskFilling", "PlateauTextfileOld"];
    assert!(missing.iter().all(|name| optional.contains(name)), "{missing:?}");
}
