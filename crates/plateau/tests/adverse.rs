//! Every command in an adverse environment: a full standard output, no working directory, no space for files, a
//! wrong clock, or an unreadable target. Exit codes are as documented, and nothing panics.

mod support;

use std::process::{Command, Output};

use support::storage_daemon::{Behaviour, StorageDaemon};
use support::{Bench, texts};

const RUN: &str = "run lat sim:sas-slc-2011 --scale 1/256 --profile pts-e-1.0";
/// Locations of the faketime library on Debian and other distributions.
const FAKETIME: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
];

/// Every command with its normal exit codes; RUN and OTHER are runs, DIR is a folder.
const COMMANDS: &[(&str, &[i32])] = &[
    (RUN, &[0]),
    ("plan lat sim:sas-slc-2011 --scale 1/256", &[0]),
    ("resume RUN", &[0]),
    ("runs", &[0]),
    ("runs --json", &[0]),
    ("show RUN", &[0]),
    ("verify RUN", &[0]),
    ("report RUN", &[0]),
    ("report RUN --html DIR/page.html", &[0]),
    ("report RUN --html page.html", &[0]),
    ("compare RUN OTHER", &[0]),
    ("compare RUN OTHER --csv DIR/table.csv", &[0]),
    ("import DIR/data", &[2]),
    ("import EXAMPLE", &[0]),
    ("examples", &[0]),
    // Devices may appear and disappear during the listing.
    ("list", &[0, 4]),
    ("info sim:sas-slc-2011", &[0]),
    ("info DIR/data", &[0]),
    ("info data", &[0]),
    ("check DIR/data", &[0, 7]),
    ("purge sim:sas-slc-2011 --scale 1/256", &[0]),
    ("sim list", &[0]),
    ("sim show sas-slc-2011", &[0]),
    ("load DIR/data --rw randread --runtime 0.05", &[0]),
    ("run lat DIR/new.bin --size 16MiB --cell-seconds 0.01 --max-rounds 5", &[0]),
    ("completions bash", &[0]),
    ("man DIR/man", &[0]),
    ("help", &[0]),
    ("run --help", &[0]),
    ("--version", &[0]),
    ("no-such-command", &[2]),
];
/// Commands that print nothing to standard output, or fail before they print anything.
const SILENT: [&str; 3] = ["man DIR/man", "import DIR/data", "no-such-command"];

struct Stage {
    bench: Bench,
    runs: [String; 2],
}

impl Stage {
    fn new() -> Self {
        let bench = Bench::on_build_disk();
        std::fs::write(bench.path("data"), vec![7; 16 << 20]).unwrap();
        let words: Vec<&str> = RUN.split(' ').collect();
        let id = || bench.json(&words)["run"].as_str().unwrap().to_owned();
        let runs = [id(), id()];
        Self { bench, runs }
    }

    fn words(&self, command: &str) -> Vec<String> {
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/examples-data");
        let first = || {
            let files = std::fs::read_dir(example).unwrap().map(|entry| entry.unwrap().path());
            files.min().unwrap().to_str().unwrap().to_owned()
        };
        let dir = self.bench.dir.path().to_str().unwrap();
        let word = |word: &str| match word {
            "RUN" => self.runs[0].clone(),
            "OTHER" => self.runs[1].clone(),
            "EXAMPLE" => first(),
            word => word.replace("DIR", dir),
        };
        command.split(' ').map(word).collect()
    }

    /// Runs every command in a shell that executes `first` beforehand; expects the normal exit codes or those
    /// in `allowed`.
    fn each(&self, first: &str, environment: &[(&str, &str)], allowed: impl Fn(&str) -> Vec<i32>) {
        for (command, usual) in COMMANDS {
            let words = self.words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let plateau = self.bench.command(&words);
            let mut shell = Command::new("bash");
            shell.args(["-c", first, "bash"]).arg(plateau.get_program()).args(plateau.get_args());
            shell.env("PLATEAU_LIBRARY", self.bench.library()).envs(environment.iter().copied());
            let output = shell.current_dir(self.bench.dir.path()).output().expect("a shell");
            let mut codes = allowed(command);
            if codes.is_empty() {
                codes.extend(*usual);
            }
            ends(&format!("{first}: plateau {command}"), &output, &codes);
            drop(std::fs::remove_file(self.bench.path("new.bin")));
        }
    }
}

#[track_caller]
fn ends(what: &str, output: &Output, codes: &[i32]) {
    let (out, err) = texts(output);
    let code = output.status.code();
    assert!(code.is_some_and(|code| codes.contains(&code)), "{what}: {:?}: {out}\n{err}", output.status);
    assert!(!err.contains("panicked"), "{what}: {err}");
    assert!(code == Some(0) || !err.is_empty(), "{what}: silent failure");
}

#[test]
fn a_full_standard_output_fails_every_command_that_prints() {
    let stage = Stage::new();
    let printed = |command: &str| !SILENT.iter().any(|silent| command.starts_with(silent));
    stage.each("exec \"$@\" > /dev/full", &[], |command| if printed(command) { vec![6] } else { vec![] });
    // A full standard error does not change the exit code.
    stage.each("\"$@\" 2> /dev/full; code=$?; [ $code = 0 ] || echo $code >&2; exit $code", &[], |_| vec![]);
}

#[test]
fn a_removed_working_directory_fails_only_commands_that_need_it() {
    let stage = Stage::new();
    let first = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
    stage.each(first, &[], |command| match command {
        "info data" => vec![4],
        command if command.contains(" page.html") => vec![6],
        _ => vec![],
    });
    let output = Command::new("bash")
        .args(["-c", first, "bash", env!("CARGO_BIN_EXE_plateau"), "--library", "runs", "runs"])
        .current_dir(stage.bench.dir.path())
        .output()
        .unwrap();
    ends("a relative library", &output, &[6]);
    assert!(texts(&output).1.contains("working directory"), "{output:?}");
}

#[test]
fn a_file_size_limit_fails_commands_that_write_files() {
    let stage = Stage::new();
    let writes = |command: &str| match command {
        RUN | "import EXAMPLE" | "man DIR/man" | "resume RUN" | "report RUN" => vec![6],
        command if command.contains("page.html") || command.contains("--csv") => vec![6],
        // The file to test cannot be created.
        command if command.starts_with("run lat DIR/new.bin") => vec![4],
        _ => vec![],
    };
    stage.each("ulimit -f 0; exec \"$@\"", &[], writes);
    assert_eq!(stage.bench.runs().len(), 2, "no partial run remains");
    assert!(!stage.bench.path("new.bin").exists());
}

#[test]
fn a_wrong_clock_affects_no_command() {
    let Some(library) = FAKETIME.iter().find(|path| std::path::Path::new(path).exists()) else {
        return skips::without("faketime");
    };
    let stage = Stage::new();
    for time in ["@9999-12-31 23:59:30", "@1960-01-01 00:00:00"] {
        let environment =
            [("LD_PRELOAD", *library), ("FAKETIME", time), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")];
        stage.each("exec \"$@\"", &environment, |_| vec![]);
    }
    // Interrupt a run at one date and resume it at another.
    let bench = Bench::new();
    let words: Vec<&str> = RUN.split(' ').collect();
    let mut child = bench.start(&words);
    bench.wait_for("a few cells", |journal| support::finished(journal) >= 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let id = bench.runs()[0].file_name().unwrap().to_str().unwrap().to_owned();
    for time in ["@9999-12-31 23:59:30", "@1960-01-01 00:00:00"] {
        let mut resume = bench.command(&["resume", &id]);
        resume.env("LD_PRELOAD", library).env("FAKETIME", time).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        ends(&format!("resumed at {time}"), &resume.output().unwrap(), &[0]);
        bench.ok(&["verify", &id]);
    }
}

#[test]
fn an_unreadable_target_is_refused() {
    let bench = Bench::on_build_disk();
    let behaviour = Behaviour { bad_sector: Some(0), ..Default::default() };
    let device = match StorageDaemon::start(bench.dir.path(), 32 << 20, behaviour) {
        Ok(device) => device,
        Err(why) => return skips::skip!("{why}"),
    };
    let name = device.device.as_str();
    for (words, codes) in [
        (vec!["info", name], &[0, 4][..]),
        (vec!["check", name], &[0, 4, 7]),
        (vec!["list"], &[0, 4]),
        (vec!["load", name, "--rw", "read", "--size", "1m"], &[4, 5]),
        (vec!["run", "lat", name, "--erase", "nothing"], &[3, 4]),
        (vec!["purge", name, "--erase", "nothing"], &[3, 4]),
    ] {
        ends(&words.join(" "), &bench.run(&words), codes);
    }
    // Confirming with the name does not help either: a target that cannot be read may contain data.
    let info = bench.json(&["info", name]);
    let identity = info["target"]["identity"].as_str().unwrap();
    ends("its name was typed", &bench.run(&["run", "lat", name, "--erase", identity]), &[3, 4]);
    assert!(bench.runs().is_empty());
}

#[test]
fn an_unreadable_run_is_reported_and_not_skipped() {
    let stage = Stage::new();
    let [broken, other] = &stage.runs;
    let dir = stage.bench.library().join(broken);
    let kept = std::fs::read(dir.join("run.json")).unwrap();
    type Damage<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let file = dir.join("run.json");
    let damages: [Damage<'_>; 3] = [
        ("no run file", Box::new(|| std::fs::remove_file(&file).unwrap())),
        ("an empty one", Box::new(|| std::fs::write(&file, "").unwrap())),
        ("one of another version", Box::new(|| std::fs::write(&file, "{\"version\": 99}").unwrap())),
    ];
    for (what, damage) in damages {
        damage();
        for words in
            [vec!["runs"], vec!["runs", "--json"], vec!["show", broken], vec!["verify", &broken[..8]]]
        {
            let output = stage.bench.run(&words);
            let (out, err) = texts(&output);
            ends(&format!("{what}: {words:?}"), &output, &[6]);
            assert!(err.contains(broken.as_str()), "{what}: {words:?}: {err}");
            assert!(words[0] != "runs" || out.contains(other.as_str()), "the others are listed: {out}");
        }
        std::fs::write(&file, &kept).unwrap();
    }
    stage.bench.ok(&["runs"]);
    // A journal that is a directory is reported, whereas an unrelated folder is ignored.
    std::fs::create_dir(stage.bench.library().join("notes")).unwrap();
    stage.bench.ok(&["runs"]);
    std::fs::remove_file(dir.join("journal")).unwrap();
    std::fs::create_dir(dir.join("journal")).unwrap();
    assert!(texts(&stage.bench.run(&["runs"])).0.contains("unreadable"));
    stage.bench.fails(6, &["show", broken]);
}
