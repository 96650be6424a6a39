//! `cargo xtask readme`: clones the repository and runs every command in its documents there, verbatim and in order.
//!
//! A command is a line that begins with `$ ` in a block fenced as `console`; the lines after it are its output, in
//! which `...` matches any number of lines. Blocks fenced as `console hardware` need a drive and are skipped.

mod early;
mod fresh;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail};
pub use early::Early;
use fresh::Fresh;

use crate::chore::{BUILD, Chore, PROGRAMS, build_folder, remove_variables};

const FIRST: &str = "README.md";
const FOLDERS: [&str; 3] = ["docs/guide", "docs/reference", "docs/measurements"];
/// Time limit for a command: long enough for the release build, which the first command starts.
const LONGEST_SECONDS: &str = "1800";
/// Words that may follow the six random letters in a run id.
const AFTER_LETTERS: [&str; 7] = ["iops", "tp", "lat", "wsat", "map", "campaign", "quick"];

/// A command on a page.
#[derive(Debug, PartialEq, Eq)]
struct Typed {
    line: usize,
    command: String,
    output: Vec<String>,
}

/// Run every command in the documents in a fresh clone
#[derive(clap::Args)]
pub struct Readme {
    /// Run only the commands in pages whose path contains this
    page: Option<String>,
}

impl Chore for Readme {
    fn run(self, root: &Path) -> anyhow::Result<()> {
        type_all(root, self.page.as_deref().unwrap_or_default())
    }
}

/// Runs the commands in all pages for `cargo xtask ci`.
pub fn ci(root: &Path) -> anyhow::Result<Option<String>> {
    type_all(root, "").map(|()| None)
}

/// Builds the program as users of the documents do, from what is committed, and returns its path. The commands in the
/// documents use the same build.
pub fn release_program(root: &Path) -> anyhow::Result<PathBuf> {
    let fresh = Fresh::new(root, &clone_folder(root))?;
    let user = User::new(root, &fresh.folder);
    let words = ["cargo", "build", "--release", "--locked", "--quiet"];
    let status = user.command(&words, &fresh.folder).status().context("cannot start cargo")?;
    if status.success() {
        Ok(programs_folder(root).join("release/plateau"))
    } else {
        bail!("`{}` ended with {status}", words.join(" "))
    }
}

/// Runs the commands in the pages whose path contains `filter`.
fn type_all(root: &Path, filter: &str) -> anyhow::Result<()> {
    let place = tempfile::Builder::new().prefix("plateau-readme-").tempdir()?;
    let fresh = Fresh::new(root, &clone_folder(root))?;
    let clone = &fresh.folder;
    let user = User::new(root, place.path());
    let mut failed = 0;
    for page in pages(clone)? {
        // Later pages need the program that the first page installs.
        if page != FIRST && !page.contains(filter) {
            continue;
        }
        for typed in commands(&fs::read_to_string(clone.join(&page))?) {
            let begun = Instant::now();
            let wrong = user.types(&typed, clone)?;
            let seconds = begun.elapsed().as_secs_f64();
            println!("{:4} {seconds:6.1} s  {page}:{}: {}", verdict(&wrong), typed.line, typed.command);
            if let Some(text) = wrong {
                println!("{text}");
                failed += 1;
            }
        }
    }
    if failed == 0 { Ok(()) } else { bail!("{failed} commands in the documents do not behave as documented") }
}

/// Returns the folder of the clone. It is the same in each run, because cargo would rebuild the crates at any other path.
fn clone_folder(root: &Path) -> PathBuf {
    programs_folder(root).join("clone")
}

/// Returns the folder of the programs that the documents' commands build. It is kept, so that later runs rebuild only
/// changed files.
fn programs_folder(root: &Path) -> PathBuf {
    root.join("target/readme")
}

fn verdict(wrong: &Option<String>) -> &'static str {
    if wrong.is_some() { "BAD" } else { "ok" }
}

/// Returns the pages in reading order.
fn pages(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut all = vec![FIRST.to_owned()];
    for folder in FOLDERS {
        let entries = fs::read_dir(root.join(folder)).context(folder)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<std::io::Result<Vec<String>>>()?;
        names.retain(|name| name.ends_with(".md"));
        names.sort();
        all.extend(names.into_iter().map(|name| format!("{folder}/{name}")));
    }
    Ok(all)
}

/// Returns the commands on a page.
fn commands(page: &str) -> Vec<Typed> {
    let mut all: Vec<Typed> = Vec::new();
    let mut fence: Option<(usize, bool)> = None;
    let mut in_command = false;
    for (number, line) in page.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some(info) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some((indent, info.trim() == "console")),
                Some(_) => None,
            };
            in_command = false;
            continue;
        }
        let Some((indent, true)) = fence else { continue };
        let line = line.get(indent..).unwrap_or_default();
        if let Some(command) = line.strip_prefix("$ ") {
            all.push(Typed { line: number + 1, command: command.to_owned(), output: Vec::new() });
            in_command = true;
        } else if in_command && let Some(last) = all.last_mut() {
            last.output.push(line.to_owned());
        }
    }
    all
}

/// The environment of a user: a shell, a private library of runs, and no installed programs.
struct User {
    environment: Vec<(&'static str, PathBuf)>,
    path: String,
}

impl User {
    fn new(root: &Path, place: &Path) -> Self {
        let installed = place.join("installed");
        let path = std::env::var("PATH").unwrap_or_default();
        Self {
            path: format!("{}:{path}", installed.join("bin").display()),
            environment: vec![
                ("CARGO_INSTALL_ROOT", installed),
                (PROGRAMS, programs_folder(root)),
                // The tests have built the libraries of others there.
                (BUILD, build_folder(root)),
                ("PLATEAU_LIBRARY", place.join("lab")),
            ],
        }
    }

    /// Returns a command in the environment of the user.
    fn command(&self, words: &[&str], folder: &Path) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        // Remove cargo's variables, because users run the documented commands in a shell, not under cargo.
        remove_variables(&mut command);
        command
            .env_remove("CARGO")
            .envs(self.environment.iter().map(|(name, path)| (name, path)))
            .env("PATH", &self.path)
            .current_dir(folder);
        command
    }

    /// Runs a command; returns the difference if its output is not as documented.
    fn types(&self, typed: &Typed, folder: &Path) -> anyhow::Result<Option<String>> {
        let words = ["timeout", LONGEST_SECONDS, "bash", "-c", &format!("exec 2>&1; {}", typed.command)];
        let output =
            self.command(&words, folder).stdin(Stdio::null()).output().context("cannot start bash")?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<String> = printed.lines().map(plain).collect();
        let expected: Vec<String> = typed.output.iter().map(|line| plain(line)).collect();
        if output.status.success() && matches(&expected, &lines) {
            return Ok(None);
        }
        Ok(Some(format!(
            "ended with {}; written:\n{}\nprinted:\n{printed}",
            output.status,
            typed.output.join("\n")
        )))
    }
}

/// Replaces parts of a line that differ between runs.
fn plain(line: &str) -> String {
    let mut out = String::new();
    for piece in line.trim_end().split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let is_id = piece.as_bytes().get(6) == Some(&b'-')
            && piece[..6].bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && AFTER_LETTERS.iter().any(|name| piece[7..].starts_with(name));
        out.push_str(if is_id { "ID" } else { "" });
        out.push_str(if is_id { &piece[6..] } else { piece });
    }
    out
}

/// Returns whether `printed` matches `written`, in which a line `...` matches any number of lines and ` ...` at the end of
/// a line matches its rest.
fn matches(written: &[String], printed: &[String]) -> bool {
    match written {
        [] => printed.is_empty(),
        [any, rest @ ..] if any.trim() == "..." => {
            (0..=printed.len()).any(|skip| matches(rest, &printed[skip..]))
        }
        [line, rest @ ..] => printed.split_first().is_some_and(|(first, others)| {
            let start = line.strip_suffix(" ...");
            start.map_or(first == line, |start| first.starts_with(start)) && matches(rest, others)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(page: &str) -> Vec<bool> {
        let folder = tempfile::tempdir().expect("a folder");
        let user = User::new(folder.path(), folder.path());
        let tried = |typed: Typed| user.types(&typed, folder.path()).expect("bash is there").is_none();
        commands(page).into_iter().map(tried).collect()
    }

    #[test]
    fn failing_commands_and_wrong_output_are_found() {
        let page = "\
Text.

```console
$ echo one > file
$ cat file
one
$ cat missing
...
$ printf 'a\\nb\\nc\\n'
a
...
$ printf 'a\\nb\\n'
a
c
$ echo silent
$ echo 'a line and more'
a line ...
$ echo 'another line'
a line ...
```

  ```console hardware
  $ false
  ```

```text
$ false
```

  ```console
  $ echo 'run abc123-iops-x'
  run xyz789-iops-x
  $ echo 'abc123-iops 5'
  abc123-iops 6
  ```
";
        assert_eq!(tried(page), [true, true, false, true, false, false, true, false, true, false]);
    }

    #[test]
    fn the_first_page_has_commands() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
        let page = fs::read_to_string(root.join(FIRST)).expect("a page");
        assert!(commands(&page).len() > 2);
        assert_eq!(pages(root).expect("pages")[0], FIRST);
    }
}
