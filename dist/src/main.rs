//! `cargo xtask dist`: builds the files of a release from a clean tree, reproducibly to the byte.
#![forbid(unsafe_code)]

mod artefacts;
mod notices;
mod packages;
mod packed;
mod payload;
mod product;
mod program;
mod release;
mod tried;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Parser as _;

use artefacts::Parts;
use packages::Packages;
use payload::Payload;
use product::{FOLDER, NAME};
use program::Program;
use release::Release;
use tried::{Ground, seconds};

/// Build the files of a release from a clean tree, reproducibly to the byte
#[derive(Debug, Default, PartialEq, Eq, clap::Parser)]
#[command(name = "dist", bin_name = "cargo xtask dist")]
struct Options {
    /// Allow a tree with uncommitted changes, for a test build
    #[arg(long)]
    allow_dirty: bool,
    /// Build the files twice and compare them
    #[arg(long)]
    check: bool,
    /// Run the trials on the files, or only the trials with FILTER in their name
    #[arg(long = "try", value_name = "FILTER", num_args = 0..=1, default_missing_value = "")]
    tried: Option<String>,
}

fn main() -> ExitCode {
    match run(&root(), &Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let packages = Packages::of(root)?;
    let release = Release::of(root, packages.version()?, options.allow_dirty)?;
    println!("dist: {NAME} {} of commit {}, {}", release.version, release.commit, release.time);
    let begun = Instant::now();
    let program = program::build(&release)?;
    println!("dist: {} in {}", program.display(), seconds(begun));
    let begun = Instant::now();
    let files = made(&release, &packages, &program)?;
    let folder = root.join(FOLDER).join(release.folder());
    write(&folder, &files)?;
    for (name, bytes) in &files {
        println!("{:>12} bytes  {}", bytes.len(), folder.join(name).display());
    }
    println!("dist: {} files in {}", files.len(), seconds(begun));
    if options.check {
        compare(&files, &made(&release, &packages, &program)?)?;
        println!("dist: built twice; all {} files are identical", files.len());
    }
    match &options.tried {
        Some(filter) => tried::run(&Ground { folder, release }, filter),
        None => Ok(()),
    }
}

/// Builds all release files from the repository and the program, both read from disk.
fn made(release: &Release, packages: &Packages, program: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let payload = Payload::of(&release.root, Program::of(program)?, packages)?;
    artefacts::made(&Parts { release, payload: &payload, packages })
}

fn compare(first: &[(String, Vec<u8>)], second: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    ensure!(
        first.len() == second.len(),
        "the second build produced {} files, the first {}",
        second.len(),
        first.len()
    );
    for ((name, bytes), again) in first.iter().zip(second) {
        ensure!((name, bytes) == (&again.0, &again.1), "{name} differs when it is built again");
    }
    Ok(())
}

/// Replaces the directory, so that no file from an earlier build is published.
fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

/// Returns the workspace root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("dist is in the workspace").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_understood_or_refused() {
        let parsed = |words: &[&str]| {
            Options::try_parse_from(std::iter::once("dist").chain(words.iter().copied())).ok()
        };
        assert_eq!(parsed(&[]), Some(Options::default()));
        let all = Options { allow_dirty: true, check: true, tried: Some("deb".into()) };
        assert_eq!(parsed(&["--check", "--allow-dirty", "--try", "deb"]), Some(all));
        assert_eq!(parsed(&["--try", "--check"]).and_then(|options| options.tried).as_deref(), Some(""));
        for wrong in [&["deb"][..], &["--fast"], &["--try", "a", "b"]] {
            assert_eq!(parsed(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn files_that_differ_are_named() {
        let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
        let first = [file("a", "1"), file("b", "2")];
        assert!(compare(&first, &first).is_ok());
        assert!(compare(&first, &first[..1]).is_err());
        let error = compare(&first, &[file("a", "1"), file("b", "3")]).unwrap_err().to_string();
        assert!(error.starts_with("b differs"), "{error}");
    }

    #[test]
    fn a_folder_has_only_the_files_of_its_release() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("plateau-0.1.0");
        write(&place, &[("old".into(), b"1".into())]).expect("written");
        write(&place, &[("new".into(), b"2".into())]).expect("written");
        let names: Vec<_> =
            std::fs::read_dir(&place).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
        assert_eq!(names, ["new"]);
    }
}
