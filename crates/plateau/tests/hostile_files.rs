//! FIFOs, devices and directories in place of files, and oversized files. Nothing hangs or reads endlessly, and the
//! message says what is wrong.

mod support;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use support::{Bench, text, texts};

/// Time limit, long enough for a debug build on a busy machine; a FIFO or an endless device would block
/// forever.
const LONGEST: Duration = Duration::from_secs(120);

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo is there").success());
}

/// Runs a command with limited memory and kills it after a time limit.
fn bounded(bench: &Bench, args: &[&str]) -> Output {
    bounded_to(1_500_000, bench, args)
}

/// Runs a command with this many KiB of memory and kills it after a time limit.
fn bounded_to(most_kib: u32, bench: &Bench, args: &[&str]) -> Output {
    let plateau = bench.command(args);
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {most_kib}; exec \"$0\" \"$@\"");
    command.args(["-c", &script]).arg(plateau.get_program());
    command.args(args).envs(plateau.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.stdin(std::process::Stdio::null()).spawn().expect("it starts");
    let begun = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if begun.elapsed() > LONGEST {
            child.kill().expect("it is killed");
            let output = child.wait_with_output().expect("it is gone");
            panic!("plateau {args:?} did not end: {:?}", texts(&output));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it is gone")
}

/// Temporarily replaces a file with something else.
fn in_place_of(path: &Path, make: impl Fn(&Path), try_it: impl Fn(&str)) {
    let kept = path.with_extension("kept");
    std::fs::rename(path, &kept).expect("our own");
    make(path);
    try_it(&path.display().to_string());
    if path.symlink_metadata().expect("it is there").is_dir() {
        std::fs::remove_dir(path).expect("our own");
    } else {
        std::fs::remove_file(path).expect("our own");
    }
    std::fs::rename(&kept, path).expect("our own");
}

fn folder(path: &Path) {
    std::fs::create_dir(path).expect("a folder");
}

fn zeroes(path: &Path) {
    std::os::unix::fs::symlink("/dev/zero", path).expect("a link");
}

fn another(path: &Path) {
    std::os::unix::fs::symlink(path.with_extension("kept"), path).expect("a link");
}

/// A function that replaces a file with something else, and the name of the replacement in messages.
type Kind = (fn(&Path), &'static str);
const KINDS: [Kind; 4] =
    [(fifo, "a FIFO"), (folder, "a directory"), (zeroes, "a symbolic link"), (another, "a symbolic link")];

fn example(bench: &Bench) -> PathBuf {
    bench.ok(&["examples", "--install", "mlc-a"]);
    bench.runs()[0].clone()
}

#[test]
fn files_of_a_run_are_regular_files() {
    let bench = Bench::new();
    bench.ok(&["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/256", "--profile", "pts-e-1.0"]);
    let run = bench.runs()[0].clone();
    let id = run.file_name().and_then(|name| name.to_str()).expect("an id");
    for name in ["run.json", "journal"] {
        for (make, word) in KINDS {
            in_place_of(&run.join(name), make, |path| {
                for command in [&["show", id][..], &["verify", id], &["report", id], &["resume", id]] {
                    let output = bounded(&bench, command);
                    let err = texts(&output).1;
                    assert!(
                        output.status.code() == Some(6) && err.contains(word),
                        "{path}, {command:?}: {err}"
                    );
                }
                let (out, err) = texts(&bounded(&bench, &["runs"]));
                assert!(out.contains(word) || err.contains(word), "{path}: {out}{err}");
            });
        }
    }
}

#[test]
fn the_file_of_an_imported_run_is_a_regular_one() {
    let bench = Bench::new();
    let run = example(&bench);
    let id = run.file_name().and_then(|name| name.to_str()).expect("an id");
    in_place_of(&run.join("imported-file"), fifo, |_| {
        let err = texts(&bounded(&bench, &["verify", id])).1;
        assert!(err.contains("a FIFO"), "{err}");
    });
}

#[test]
fn typed_paths_must_be_regular_files_of_limited_size() {
    let bench = Bench::new();
    let run = example(&bench);
    let id = run.file_name().and_then(|name| name.to_str()).expect("an id");
    let at = |name: &str| bench.path(name).to_str().expect("a path").to_owned();
    fifo(&bench.path("fifo.toml"));
    fifo(&bench.path("fifo.fio"));
    folder(&bench.path("folder.toml"));
    folder(&bench.path("folder.fio"));
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero.toml")).expect("a link");
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero.fio")).expect("a link");
    for name in ["large.toml", "large.fio"] {
        std::fs::write(bench.path(name), vec![b'#'; 25 << 20]).expect("a large file");
    }
    let wrong = [
        ("fifo", "a FIFO"),
        ("folder", "a directory"),
        ("zero", "a character device"),
        ("large", "larger than"),
    ];
    for (name, word) in wrong {
        let (toml, jobs) = (at(&format!("{name}.toml")), at(&format!("{name}.fio")));
        let (sim, array) = (format!("sim:{toml}"), format!("array:{toml}"));
        let commands: [&[&str]; 10] = [
            &["sim", "show", &toml],
            &["info", &sim],
            &["run", "iops", &sim],
            &["info", &array],
            &["plan", "--check", &toml],
            &["plan", "iops", "sim:sas-slc-2011", "--rehearse", &toml],
            &["load", &jobs],
            &["import", &toml],
            &["report", id, "--sign", &toml],
            &["report", id, "--logo", &toml],
        ];
        for command in commands {
            // Imported files and images may be larger than files written by hand.
            if name == "large" && matches!(command[0], "import" | "report") && !command.contains(&"--sign") {
                continue;
            }
            let output = bounded(&bench, command);
            let err = texts(&output).1;
            assert!(
                matches!(output.status.code(), Some(2 | 4)) && err.contains(word),
                "{command:?}: {:?}: {err}",
                output.status
            );
        }
    }
}

#[test]
fn restore_records_are_regular_files() {
    let bench = Bench::new();
    fifo(&bench.state.path().join(".tuning-host.json"));
    fifo(&bench.state.path().join(".array-a-b-c-d.json"));
    std::fs::create_dir_all(bench.library()).expect("a library");
    for name in [".tuning-host.json", ".tuning.lock", ".array-a-b-c-d.json"] {
        fifo(&bench.library().join(name));
    }
    let args = ["run", "tp-128", "sim:sas-slc-2011", "--scale", "1/256", "--profile", "pts-e-1.0"];
    let output = bounded(&bench, &args);
    assert!(output.status.success(), "{:?}", texts(&output));
}

/// The `run.json` is modified, and its journal consists only of the header.
#[test]
fn a_journal_header_identifies_its_run() {
    let bench = Bench::new();
    let run = example(&bench);
    let id = run.file_name().and_then(|name| name.to_str()).expect("an id");
    bench.ok(&["verify", id]);
    let (file, journal) = (text(&run.join("run.json")), text(&run.join("journal")));
    let header = journal.lines().next().expect("a header");
    std::fs::write(run.join("run.json"), file.replacen("\"created\": \"2", "\"created\": \"3", 1)).unwrap();
    std::fs::write(run.join("journal"), format!("{header}\n")).unwrap();
    let message = bench.fails(6, &["verify", id]);
    assert!(message.contains("the first record is not `opened`"), "{message}");
    std::fs::write(run.join("run.json"), file).unwrap();
    assert!(bench.fails(6, &["show", id]).contains("not `opened`"));
    // Version numbers in the header that this build can parse but does not support.
    for other in ["plateau-journal 0", "plateau-journal 01", "plateau-journal +1"] {
        std::fs::write(run.join("journal"), journal.replacen(header, other, 1)).unwrap();
        bench.fails(6, &["verify", id]);
    }
    std::fs::write(run.join("journal"), journal).unwrap();
    bench.ok(&["verify", id]);
}

#[test]
fn a_replaced_logo_is_reported() {
    let bench = Bench::new();
    // A minimal file with a PNG header; this test does not draw it.
    let png = |end: &[u8]| [b"\x89PNG\r\n\x1a\n", end].concat();
    std::fs::write(bench.path("logo.png"), png(b"ours")).expect("a picture");
    let plan =
        "title = \"T\"\ntests = [\"tp-128\"]\nprofile = \"pts-e-1.0\"\n[publisher]\nlogo = \"logo.png\"\n";
    std::fs::write(bench.path("plan.toml"), plan).expect("a plan");
    let plan = bench.path("plan.toml").to_str().expect("a path").to_owned();
    let output = bench.run(&["run", "--plan", &plan, "sim:sas-slc-2011", "--scale", "1/256"]);
    assert!(!bench.runs().is_empty(), "{:?}", texts(&output));
    let run = bench.runs()[0].clone();
    let id = run.file_name().and_then(|name| name.to_str()).expect("an id");
    bench.ok(&["verify", id]);
    std::fs::write(run.join("logo"), png(b"theirs")).expect("another picture");
    for command in [&["verify", id][..], &["report", id, "--html", "-"]] {
        let message = bench.fails(6, command);
        assert!(message.contains("is not the image with which the run started"), "{message}");
    }
    std::fs::remove_file(run.join("logo")).expect("none");
    bench.fails(6, &["verify", id]);
    std::fs::write(run.join("logo"), png(b"ours")).expect("as it was");
    bench.ok(&["verify", id]);
}

/// Returns the header for a file in a tar archive.
fn tar_header(name: &str, bytes: u64) -> [u8; 512] {
    let mut block = [0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..135].copy_from_slice(format!("{bytes:011o}").as_bytes());
    block[156] = b'0';
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block
}

/// Writes an archive with this `run.json` and a journal that begins with these bytes and continues with many
/// `x`.
fn forge(path: &Path, run_file: &[u8], beginning: &[u8], journal_bytes: u64) {
    let mut archive =
        zstd::Encoder::new(std::fs::File::create(path).expect("a file"), 1).expect("an encoder");
    let padding = |bytes: u64| vec![0; (bytes.next_multiple_of(512) - bytes) as usize];
    let mut put = |bytes: &[u8]| archive.write_all(bytes).expect("written");
    put(&tar_header("run.json", run_file.len() as u64));
    put(run_file);
    put(&padding(run_file.len() as u64));
    put(&tar_header("journal", journal_bytes));
    put(beginning);
    let mut rest = std::io::repeat(b'x').take(journal_bytes - beginning.len() as u64);
    std::io::copy(&mut rest, &mut archive).expect("written");
    archive.write_all(&padding(journal_bytes)).and_then(|()| archive.write_all(&[0; 1024])).expect("written");
    archive.finish().expect("written");
}

#[test]
fn a_small_archive_that_expands_to_a_gigabyte_takes_little_memory() {
    let bench = Bench::new();
    bench.ok(&["examples", "--install", "slc-a"]);
    let folder = bench.library().join("example-slc-a");
    let run_file = std::fs::read(folder.join("run.json")).expect("a run file");
    let journal = std::fs::read(folder.join("journal")).expect("a journal");
    std::fs::remove_dir_all(&folder).expect("removed");
    let archive = bench.library().join("example-slc-a.tar.zst");
    let dest = bench.path("dest");
    let dest = dest.to_str().expect("text");
    for beginning in [&b""[..], b"plateau-journal 1\n", &journal[..]] {
        forge(&archive, &run_file, beginning, 1 << 30);
        assert!(std::fs::metadata(&archive).expect("a file").len() < 1 << 20);
        for command in [
            &["verify", "example-slc-a"][..],
            &["show", "example-slc-a"],
            &["unarchive", "example-slc-a"],
            &["copy", "example-slc-a", dest],
        ] {
            let output = bounded_to(700_000, &bench, command);
            let (out, err) = texts(&output);
            assert_eq!(output.status.code(), Some(6), "{command:?}: {out}{err}");
        }
        assert!(archive.exists() && !folder.exists());
    }
}
