//! `plateau --version` and `run.json` contain the commit that the program was built from.

mod support;

#[path = "../build/commit.rs"]
mod commit;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::Bench;

fn git(folder: &Path, words: &[&str]) {
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let status = Command::new("git").arg("-C").arg(folder).args(identity).args(words).status();
    assert!(status.expect("git starts").success(), "git {words:?}");
}

/// Creates a repository with this repository's layout and a single commit. Returns the repository and its
/// package's folder.
fn repository() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("crates/plateau");
    fs::create_dir_all(&package).expect("a folder");
    fs::create_dir(folder.path().join("docs")).expect("a folder");
    for file in ["Cargo.toml", "Cargo.lock", "crates/plateau/Cargo.toml", "docs/page.md"] {
        fs::write(folder.path().join(file), "one\n").expect("a file");
    }
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message", "One"]);
    (folder, package)
}

#[test]
fn a_clone_has_a_commit_and_a_mark_when_sources_were_changed() {
    let (folder, package) = repository();
    let clean = commit::of(&package).expect("a commit");
    assert_eq!(commit::checked(&clean), Ok(clean.clone()));
    fs::write(folder.path().join("docs/page.md"), "two\n").expect("a file");
    fs::write(folder.path().join("notes"), "untracked\n").expect("a file");
    assert_eq!(commit::of(&package).as_deref(), Some(&*clean), "the program is not built from these");
    for source in ["Cargo.toml", "Cargo.lock", "crates/plateau/Cargo.toml"] {
        fs::write(folder.path().join(source), "two\n").expect("a file");
        let dirty = commit::of(&package).expect("a commit");
        assert_eq!(dirty, format!("{clean}-dirty"), "{source}");
        assert_eq!(commit::checked(&dirty), Ok(dirty.clone()));
        fs::write(folder.path().join(source), "one\n").expect("a file");
    }
    git(folder.path(), &["commit", "--quiet", "--all", "--message", "Two"]);
    assert_ne!(commit::of(&package), Some(clean), "another commit has another name");
}

#[test]
fn sources_outside_of_a_clone_have_no_commit() {
    let bare = tempfile::tempdir().expect("a folder");
    assert_eq!(commit::of(bare.path()), None);
    // The sources are unpacked inside an unrelated repository, so that repository's commit does not apply to them.
    let (folder, _) = repository();
    let unpacked = folder.path().join("vendor/plateau/crates/plateau");
    fs::create_dir_all(&unpacked).expect("a folder");
    fs::write(unpacked.join("Cargo.toml"), "").expect("a file");
    assert_eq!(commit::of(&unpacked), None);
}

#[test]
fn a_commit_and_a_change_of_sources_are_noticed_by_the_next_build() {
    let (folder, package) = repository();
    let watched = commit::watched(&package);
    assert!(
        watched.iter().all(|path| path.exists()),
        "cargo reruns the build script in every build if a watched file is missing: {watched:?}"
    );
    let changed_at = |paths: &[std::path::PathBuf]| {
        let contents = paths.iter().filter(|path| path.is_file()).map(fs::read);
        contents.collect::<Result<Vec<_>, _>>().expect("files")
    };
    let before = changed_at(&watched);
    git(folder.path(), &["commit", "--quiet", "--allow-empty", "--message", "Two"]);
    assert_ne!(changed_at(&watched), before, "a commit changes one of {watched:?}");
    let sources = fs::canonicalize(folder.path().join("crates")).expect("a folder");
    assert!(
        watched.iter().any(|path| fs::canonicalize(path).is_ok_and(|path| path == sources)),
        "{watched:?}"
    );
}

#[test]
fn invalid_commits_are_refused() {
    for text in ["", "abc", "main", "1234567-", "-dirty", "1234567\n", &"0".repeat(65)] {
        assert!(commit::checked(text).is_err(), "{text}");
    }
}

#[test]
fn version_and_run_file_name_the_same_commit() {
    let bench = Bench::new();
    let long = bench.ok(&["--version"]);
    let line = |name: &str| long.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    assert_eq!(long.lines().next(), Some(concat!("plateau ", env!("CARGO_PKG_VERSION"))));
    assert_eq!(bench.ok(&["-V"]), concat!("plateau ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(line("target: ").is_some_and(|target| target.contains("linux")), "{long}");
    let commit = line("commit: ").expect("a commit or why there is none");
    // The build script also sets the variable for tests.
    let built_from = Some(env!("PLATEAU_BUILD_COMMIT")).filter(|commit| !commit.is_empty());
    assert_eq!(commit, built_from.unwrap_or(env!("PLATEAU_BUILD_COMMIT_TEXT")));
    let demo = bench.run(&["demo", "--scale", "1/64"]);
    assert!(demo.status.success());
    let [run] = &bench.runs()[..] else { panic!("one run expected") };
    let file = fs::read(run.join("run.json")).expect("a run file");
    let file: Value = serde_json::from_slice(&file).expect("JSON");
    assert_eq!(file.get("plateau_commit").and_then(Value::as_str), built_from);
}
