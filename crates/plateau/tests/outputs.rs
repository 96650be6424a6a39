//! The output files of all commands: links are not followed, and only regular files are replaced.

mod support;

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::Bench;

/// Imports two runs of published figures, which takes no time.
fn runs(bench: &Bench) -> [String; 2] {
    bench.ok(&["examples", "--install", "mlc-a", "mlc-b"]);
    let ids = bench.json(&["runs"]);
    [0, 1].map(|place: usize| ids[place]["run"].as_str().expect("an id").to_owned())
}

/// A file that must not be written to.
struct Victim(PathBuf);

impl Victim {
    fn new(bench: &Bench) -> Self {
        let path = bench.path("victim");
        std::fs::write(&path, "mine").expect("a file");
        Self(path)
    }

    fn assert_untouched(&self) {
        assert_eq!(support::text(&self.0), "mine");
    }
}

/// Returns the inode number and mode of a path, which suffice to detect that it was replaced.
fn node(path: &Path) -> (u64, u32) {
    let meta = std::fs::symlink_metadata(path).expect("it is still there");
    (meta.ino(), meta.mode())
}

fn mknod(path: &Path, arguments: &[&str]) -> bool {
    Command::new("mknod").arg(path).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Creates one of each file type that must not be written to.
fn in_the_way(bench: &Bench, victim: &Victim) -> Vec<PathBuf> {
    let dir = bench.path("in-the-way");
    std::fs::create_dir_all(&dir).expect("a folder");
    let at = |name: &str| dir.join(name);
    symlink(&victim.0, at("link")).expect("a link");
    symlink(at("gone"), at("dangling")).expect("a link");
    std::fs::create_dir(at("folder")).expect("a folder");
    drop(UnixListener::bind(at("socket")).expect("a socket"));
    assert!(mknod(&at("fifo"), &["p"]));
    let mut all = ["link", "dangling", "folder", "socket", "fifo"].map(at).to_vec();
    // A device node like /dev/full; this test must not put the real one at risk.
    if mknod(&at("device"), &["c", "1", "7"]) {
        all.push(at("device"));
    } else {
        skips::skip!("only root can make a device node");
    }
    all
}

#[test]
fn a_link_planted_next_to_a_report_is_not_written_through() {
    let bench = Bench::new();
    let victim = Victim::new(&bench);
    let [run, _] = runs(&bench);
    let dir = bench.library().join(&run);
    symlink(&victim.0, dir.join("report.html.tmp")).expect("a link");
    bench.ok(&["report", &run]);
    victim.assert_untouched();
    assert!(dir.join("report.html").is_file());
    // The report itself is now a link: its target is not the report and must remain unchanged.
    std::fs::remove_file(dir.join("report.html")).expect("the report");
    symlink(&victim.0, dir.join("report.html")).expect("a link");
    let message = bench.fails(2, &["report", &run]);
    assert!(message.contains("report.html is a symbolic link"), "{message}");
    victim.assert_untouched();
}

#[test]
fn outputs_that_are_not_regular_files_are_refused_and_stay() {
    let bench = Bench::new();
    let victim = Victim::new(&bench);
    let [first, second] = runs(&bench);
    for path in in_the_way(&bench, &victim) {
        let (before, name) = (node(&path), path.to_str().expect("a path"));
        let report = |option: &str| bench.fails(2, &["report", &first, option, name]);
        let messages = [
            report("--html"),
            report("--pdf"),
            report("--json-file"),
            report("--xlsx"),
            report("--openmetrics"),
            bench.fails(2, &["compare", &first, &second, "--csv", name]),
            bench.fails(2, &["compare", &first, &second, "--html", name]),
            bench.fails(2, &["compare", &first, &second, "--pdf", name]),
        ];
        for message in messages {
            assert!(message.contains("choose another path"), "{name}: {message}");
        }
        assert_eq!(node(&path), before, "{name}");
    }
    victim.assert_untouched();
}

#[test]
fn files_of_a_run_are_never_replaced() {
    let bench = Bench::new();
    let [first, second] = runs(&bench);
    let at = |name: &str| bench.library().join(&second).join(name);
    std::fs::hard_link(at("journal"), bench.path("copy.html")).expect("a link");
    std::fs::hard_link(at("run.json"), bench.path("copy.json")).expect("a link");
    // A damaged run can still be repaired from a copy; its files are recognized by name.
    let damaged = bench.path("damaged");
    std::fs::create_dir(&damaged).expect("a folder");
    for name in ["run.json", "journal"] {
        std::fs::write(damaged.join(name), "damaged").expect("a file");
    }
    let paths = [
        at("journal"),
        at("run.json"),
        bench.path("copy.html"),
        bench.path("copy.json"),
        damaged.join("journal"),
        damaged.join("run.json"),
    ];
    let before = paths.each_ref().map(|path| std::fs::read(path).expect("a file"));
    for path in &paths {
        let name = path.to_str().expect("a path");
        // The extensions of some names contradict the option, but this is reported only if no file is at risk.
        let mut messages = vec![
            bench.fails(2, &["report", &first, "--html", name]),
            bench.fails(2, &["report", &second, "--pdf", name]),
            bench.fails(2, &["compare", &first, &second, "--csv", name]),
        ];
        if path.extension().is_some() {
            let run = ["run", "quick", "sim:sas-slc-2011", "--scale", "1/64", "--report", name];
            messages.push(bench.fails(2, &run));
        }
        for message in messages {
            assert!(message.contains("part of a run"), "{name}: {message}");
        }
    }
    assert!(paths.each_ref().map(|path| std::fs::read(path).expect("a file")) == before);
}

#[test]
fn output_folders_do_not_follow_links() {
    let bench = Bench::new();
    let victim = Victim::new(&bench);
    let [run, _] = runs(&bench);
    let folder = bench.path("csv");
    bench.ok(&["report", &run, "--csv", folder.to_str().expect("a path")]);
    let names: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("the export").map(|entry| entry.expect("a file").path()).collect();
    assert!(!names.is_empty());
    for path in &names {
        let content = std::fs::read(path).expect("a file");
        std::fs::remove_file(path).expect("our own");
        symlink(&victim.0, path).expect("a link");
        bench.fails(2, &["report", &run, "--csv", folder.to_str().expect("a path")]);
        std::fs::remove_file(path).expect("our own");
        std::fs::write(path, content).expect("as it was");
    }
    let link = bench.path("csv-link");
    symlink(&folder, &link).expect("a link");
    for option in ["--csv", "--svg"] {
        let message = bench.fails(2, &["report", &run, option, link.to_str().expect("a path")]);
        assert!(message.contains("symbolic link"), "{message}");
    }
    let manual = bench.path("man");
    std::fs::create_dir(&manual).expect("a folder");
    symlink(&victim.0, manual.join("plateau.1")).expect("a link");
    bench.fails(2, &["man", manual.to_str().expect("a path")]);
    victim.assert_untouched();
    std::fs::remove_file(manual.join("plateau.1")).expect("our own");
    bench.ok(&["man", manual.to_str().expect("a path")]);
    assert!(support::text(&manual.join("plateau.1")).contains("EXIT STATUS"));
    assert!(manual.join("plateau-run.1").is_file() && manual.join("plateau-sim-fit.1").is_file());
}

#[test]
fn standard_output_is_streamed_to_and_nothing_else_is_printed_there() {
    let bench = Bench::new();
    let [first, second] = runs(&bench);
    // Try `-` first: if it were written as a file, /dev/stdout would also be at risk.
    for name in ["-", "/dev/stdout"] {
        let output = bench.run(&["report", &first, "--pdf", name]);
        assert!(output.status.success() && output.stdout.starts_with(b"%PDF"), "{name}");
        assert!(output.stdout.trim_ascii_end().ends_with(b"%%EOF"), "{name}");
        let table = bench.ok(&["compare", &first, &second, "--csv", name]);
        assert!(table.lines().all(|line| line.contains(',')), "{table}");
        assert!(bench.fails(2, &["report", &first, "--csv", name]).contains("specify a directory"));
        let message = bench.fails(2, &["report", &first, "--pdf", name, "--html", name]);
        assert!(message.contains("standard output is in use"), "{message}");
        assert!(bench.fails(2, &["report", &first, "--pdf", name, "--json"]).contains("--json"));
    }
    // In this test, /dev/stdout is a pipe; /dev/full must still be a device.
    let full = std::fs::metadata("/dev/full").expect("it is there");
    assert!(full.file_type().is_char_device());
}

#[test]
fn a_fitted_model_is_not_written_through_a_link() {
    let bench = Bench::new();
    let victim = Victim::new(&bench);
    let args = ["run", "iops", "sim:sas-slc-2011", "--scale", "1/64", "--profile", "pts-e-1.0"];
    let run = bench.json(&args)["run"].as_str().expect("an id").to_owned();
    let link = bench.path("dangling.toml");
    symlink(bench.path("planted.toml"), &link).expect("a link");
    let fit = ["sim", "fit", &run, "--steps", "1", "--output", link.to_str().expect("a path")];
    assert!(bench.fails(2, &fit).contains("symbolic link"));
    assert!(!bench.path("planted.toml").exists());
    victim.assert_untouched();
}

#[test]
fn names_used_by_a_run_are_reserved() {
    let bench = Bench::new();
    let [first, second] = runs(&bench);
    let dir = bench.library().join(&second);
    std::fs::write(dir.join("journal.rescued-2"), "emptied").expect("a file");
    for name in ["journal.rescued", "journal.rescued-2", "logo"] {
        let path = dir.join(name);
        let before = std::fs::read(&path).ok();
        let message = bench.fails(2, &["report", &first, "--html", path.to_str().expect("a path")]);
        assert!(message.contains("part of a run"), "{name}: {message}");
        assert_eq!(std::fs::read(&path).ok(), before, "{name}");
    }
    // In other folders, these names have no special meaning.
    bench.ok(&["report", &first, "--html", bench.path("logo").to_str().expect("a path")]);
}

#[test]
fn the_image_of_a_loop_device_is_not_replaced() {
    let bench = Bench::on_build_disk();
    let [run, _] = runs(&bench);
    let image = bench.path("image");
    let Some(_device) = support::loop_device::attach(&image, &[]) else { return };
    // In the second iteration, the name that the kernel shows no longer exists.
    let other = bench.path("other");
    std::fs::hard_link(&image, &other).expect("a link");
    for path in [&image, &other] {
        let message = bench.fails(2, &["report", &run, "--html", path.to_str().expect("a path")]);
        assert!(message.contains("is in use") && message.contains("loop device"), "{message}");
        assert_eq!(std::fs::metadata(path).expect("the image").len(), support::loop_device::SIZE);
        let _ = std::fs::remove_file(&image);
    }
}

/// As in most containers, Plateau cannot find out who uses the underlying file, but it still writes outputs.
#[test]
fn a_file_on_an_overlay_with_invisible_layers_is_replaced() {
    let bench = Bench::on_build_disk();
    let [run, _] = runs(&bench);
    for name in ["lower", "upper", "work", "merged"] {
        std::fs::create_dir(bench.path(name)).expect("a folder");
    }
    // The layers are relative to a directory that only the mounting process knows.
    let options = "lowerdir=lower,upperdir=upper,workdir=work";
    let mut mount = Command::new("mount");
    mount.args(["-i", "-t", "overlay", "overlay", "merged", "-o", options]);
    if !mount.current_dir(bench.dir.path()).output().is_ok_and(|output| output.status.success()) {
        skips::skip!("no overlay can be mounted");
        return;
    }
    let report = bench.path("merged/report.html");
    std::fs::write(&report, "an older report").expect("a file");
    let output = bench.run(&["report", &run, "--html", report.to_str().expect("a path")]);
    let written = std::fs::read_to_string(&report).expect("a report");
    let unmounted = Command::new("umount").arg(bench.path("merged")).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert!(output.status.success() && written.contains("<html"), "{output:?}");
}
