//! `cargo xtask dist`: builds the files of a release from a clean tree, byte for byte reproducibly.
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

use anyhow::{Context as _, bail, ensure};

use artefacts::Parts;
use packages::Packages;
use payload::Payload;
use product::{FOLDER, NAME};
use program::Program;
use release::Release;
use tried::{Ground, seconds};

const USAGE: &str = "usage: cargo xtask dist [--allow-dirty] [--check] [--try [FILTER]]\n\
                     --check makes the files twice and compares them; --try also tries them out, or those whose trial has FILTER in \
                     its name; --allow-dirty makes them of a tree with changes, for a trial";

/// Command-line options.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    allow_dirty: bool,
    check: bool,
    /// Filter for names of trials; empty for all.
    tried: Option<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments).and_then(|options| run(&root(), &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> anyhow::Result<Options> {
    let mut options = Options::default();
    for argument in arguments {
        match argument.as_str() {
            "--allow-dirty" => options.allow_dirty = true,
            "--check" => options.check = true,
            "--try" => options.tried = Some(String::new()),
            filter if options.tried.as_deref() == Some("") && !filter.starts_with('-') => {
                options.tried = Some(filter.into());
            }
            other => bail!("dist does not take '{other}'\n{USAGE}"),
        }
    }
    Ok(options)
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
        println!("dist: made twice; all {} files are identical", files.len());
    }
    match &options.tried {
        Some(filter) => tried::run(&Ground { folder, release }, filter),
        None => Ok(()),
    }
}

/// Builds every file anew from the files on disk.
fn made(release: &Release, packages: &Packages, program: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let payload = Payload::of(&release.root, Program::of(program)?, packages)?;
    artefacts::made(&Parts { release, payload: &payload, packages })
}

fn compare(first: &[(String, Vec<u8>)], second: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    ensure!(
        first.len() == second.len(),
        "there were {} files the second time, not {}",
        second.len(),
        first.len()
    );
    for ((name, bytes), again) in first.iter().zip(second) {
        ensure!((name, bytes) == (&again.0, &again.1), "{name} differs when it is made again");
    }
    Ok(())
}

/// Replaces the directory, so that no file of an earlier build is published.
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
        let parsed = |words: &[&str]| parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(parsed(&[]).unwrap(), Options::default());
        let all = Options { allow_dirty: true, check: true, tried: Some("deb".into()) };
        assert_eq!(parsed(&["--check", "--allow-dirty", "--try", "deb"]).unwrap(), all);
        assert_eq!(parsed(&["--try", "--check"]).unwrap().tried.as_deref(), Some(""));
        assert!(parsed(&["deb"]).unwrap_err().to_string().contains("usage"));
        assert!(parsed(&["--fast"]).is_err() && parsed(&["--try", "a", "b"]).is_err());
    }

    #[test]
    fn files_that_differ_are_named() {
        let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
        let first = [file("a", "1"), file("b", "2")];
        assert!(compare(&first, &first).is_ok());
        assert!(compare(&first, &first[..1]).is_err());
        let error = compare(&first, &[file("a", "1"), file("b", "3")]).unwrap_err().to_string();
        assert!(error.starts_with("b is different"), "{error}");
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
