//! The static program, and the man pages and completions that it generates.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::release::Release;

/// Target triple of the program.
pub const TARGET: &str = "x86_64-unknown-linux-musl";
/// Compiles the C code of dependencies against the headers of musl.
const C_COMPILER: &str = "musl-gcc";
/// Separates rustc flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// Builds the program and returns its path.
pub fn build(release: &Release) -> anyhow::Result<PathBuf> {
    check_target()?;
    check_compiler()?;
    // The directory is directly under the root, so that paths in build products are the same in every clone.
    let target = release.root.join(crate::product::FOLDER);
    let status = cargo()
        .args(["build", "--release", "--locked", "--package", crate::product::NAME, "--target", TARGET])
        .current_dir(&release.root)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_INCREMENTAL", "0")
        .env("CC_x86_64_unknown_linux_musl", C_COMPILER)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(&release.root, &cargo_home()?))
        .env("PLATEAU_COMMIT", &release.commit)
        .env("SOURCE_DATE_EPOCH", release.seconds().to_string())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "cargo build ended with {status}");
    Ok(target.join(TARGET).join("release").join(crate::product::NAME))
}

/// Flags that select the linker that ships with rustc, which is the same everywhere, and make the program smaller (with
/// glibc, 28.7 MB instead of 31.1 MB). Functions with the same instructions are merged, because the address of a Rust
/// function is not unique anyway. Relative relocations, which the program itself applies, are stored in compact form.
const LINKER: [&str; 5] = [
    "-Clinker=rust-lld",
    "-Clinker-flavor=ld.lld",
    "-Clink-arg=--icf=all",
    "-Clink-arg=-z",
    "-Clink-arg=pack-relative-relocs",
];

/// Returns flags for rustc. They keep paths on this machine out of the program. rustc applies the last matching prefix,
/// so a cargo home inside the workspace maps to `/cargo`.
fn flags(root: &Path, cargo_home: &Path) -> OsString {
    let mut flags = OsString::new();
    for (path, shown) in [(root, "/plateau"), (cargo_home, "/cargo")] {
        flags.push("--remap-path-prefix=");
        flags.push(path);
        flags.push(format!("={shown}{SEPARATOR}"));
    }
    flags.push(LINKER.join(SEPARATOR));
    flags
}

fn cargo_home() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = std::env::home_dir().map(|home| home.join(".cargo"));
    named.or(usual).context("neither CARGO_HOME nor HOME is set")
}

/// Fails if the toolchain cannot build for the target.
fn check_target() -> anyhow::Result<()> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = output.context("cannot start rustc")?.stdout;
    let folder = PathBuf::from(String::from_utf8_lossy(&folder).trim());
    ensure!(
        folder.is_dir(),
        "the standard library for {TARGET} is not installed; type `rustup target add {TARGET}`"
    );
    Ok(())
}

/// Fails if no C compiler for the target is installed.
fn check_compiler() -> anyhow::Result<()> {
    let is_installed =
        Command::new(C_COMPILER).arg("--version").output().is_ok_and(|output| output.status.success());
    ensure!(
        is_installed,
        "{C_COMPILER} is not installed, but the program contains C code; on Debian, type `apt install musl-tools`"
    );
    Ok(())
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The program, and the files that it generates.
#[derive(Debug, Clone)]
pub struct Program {
    pub bytes: Vec<u8>,
    /// The name and text of each man page.
    pub man: Vec<(String, Vec<u8>)>,
    pub bash: Vec<u8>,
    pub zsh: Vec<u8>,
    pub fish: Vec<u8>,
}

impl Program {
    /// Reads the program at `path`, and runs it to generate the man pages and completions.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        check_static(&bytes).with_context(|| path.display().to_string())?;
        let pages = tempfile::tempdir()?;
        stdout_of(path, &["man".as_ref(), pages.path().as_os_str()])?;
        let mut man = Vec::new();
        for entry in std::fs::read_dir(pages.path())? {
            let entry = entry?;
            man.push((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?));
        }
        man.sort();
        let completions = |shell: &str| stdout_of(path, &["completions".as_ref(), shell.as_ref()]);
        Ok(Self {
            bytes,
            man,
            bash: completions("bash")?,
            zsh: completions("zsh")?,
            fish: completions("fish")?,
        })
    }
}

/// Returns the program's output for these arguments.
pub fn stdout_of(path: &Path, arguments: &[&std::ffi::OsStr]) -> anyhow::Result<Vec<u8>> {
    // The build host's environment must not affect help texts.
    let output = Command::new(path).args(arguments).env_clear().output();
    let output = output.with_context(|| format!("cannot start {}", path.display()))?;
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    ensure!(output.status.success(), "plateau {arguments:?} ended with {}: {message}", output.status);
    Ok(output.stdout)
}

/// Checks that an x86-64 ELF file is static-pie: it requires neither an interpreter nor shared libraries.
pub fn check_static(elf: &[u8]) -> anyhow::Result<()> {
    const POSITION_INDEPENDENT: u16 = 3;
    const X86_64: u16 = 62;
    const INTERPRETER: u32 = 3;
    const DYNAMIC: u32 = 2;
    const NEEDED: u64 = 1;
    let short = "is not a complete ELF file";
    let part = |at: usize, length: usize| elf.get(at..at.checked_add(length)?).context(short).ok();
    let u16_at = |at| Some(u16::from_le_bytes(part(at, 2)?.try_into().ok()?));
    let u32_at = |at| Some(u32::from_le_bytes(part(at, 4)?.try_into().ok()?));
    let u64_at = |at| Some(u64::from_le_bytes(part(at, 8)?.try_into().ok()?));
    ensure!(elf.starts_with(b"\x7fELF\x02\x01"), "is not a 64-bit ELF file");
    ensure!(u16_at(18) == Some(X86_64), "is not for x86-64");
    ensure!(u16_at(16) == Some(POSITION_INDEPENDENT), "is not position-independent");
    let table = usize::try_from(u64_at(32).context(short)?).context(short)?;
    for i in 0..usize::from(u16_at(56).context(short)?) {
        let row = table + i * 56;
        let kind = u32_at(row).context(short)?;
        ensure!(kind != INTERPRETER, "requires a dynamic loader, so it is not static");
        if kind == DYNAMIC {
            let from = usize::try_from(u64_at(row + 8).context(short)?)?;
            let length = usize::try_from(u64_at(row + 32).context(short)?)?;
            let tags = part(from, length).context(short)?.chunks_exact(16);
            let needed = tags.filter(|tag| tag[..8] == NEEDED.to_le_bytes()).count();
            ensure!(needed == 0, "needs {needed} shared libraries, so it is not static");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds an ELF file with these program headers, each with its dynamic tags.
    fn elf(kind: u16, headers: &[(u32, &[u64])]) -> Vec<u8> {
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[16..18].copy_from_slice(&kind.to_le_bytes());
        file[18..20].copy_from_slice(&62_u16.to_le_bytes());
        file[32..40].copy_from_slice(&64_u64.to_le_bytes());
        file[56..58].copy_from_slice(&(headers.len() as u16).to_le_bytes());
        let mut place = 64 + headers.len() * 56;
        for (kind, tags) in headers {
            let mut row = [0; 56];
            row[..4].copy_from_slice(&kind.to_le_bytes());
            row[8..16].copy_from_slice(&(place as u64).to_le_bytes());
            row[32..40].copy_from_slice(&(tags.len() as u64 * 16).to_le_bytes());
            file.extend_from_slice(&row);
            place += tags.len() * 16;
        }
        for tag in headers.iter().flat_map(|(_, tags)| *tags) {
            file.extend_from_slice(&tag.to_le_bytes());
            file.extend_from_slice(&[0; 8]);
        }
        file
    }

    #[test]
    fn only_a_static_position_independent_program_passes() {
        assert!(check_static(&elf(3, &[(1, &[]), (2, &[5, 6])])).is_ok());
        for (file, why) in [
            (elf(2, &[(1, &[])]), "not position-independent"),
            (elf(3, &[(1, &[]), (3, &[])]), "dynamic loader"),
            (elf(3, &[(2, &[5, 1, 1])]), "2 shared libraries"),
            (elf(3, &[(2, &[5])])[..130].to_vec(), "not a complete"),
            (b"#!/bin/sh".to_vec(), "not a 64-bit ELF"),
        ] {
            let message = check_static(&file).unwrap_err().to_string();
            assert!(message.contains(why), "{message}: {why}");
        }
        let own = std::fs::read(std::env::current_exe().expect("a path")).expect("a file");
        assert!(
            check_static(&own).is_err() || cfg!(target_feature = "crt-static"),
            "tests are linked dynamically"
        );
    }

    #[test]
    fn flags_hide_the_folders_of_this_machine() {
        let flags = flags(Path::new("/a/b"), Path::new("/c"));
        let flags = flags.to_string_lossy();
        let flags: Vec<&str> = flags.split(SEPARATOR).collect();
        assert_eq!(flags[..2], ["--remap-path-prefix=/a/b=/plateau", "--remap-path-prefix=/c=/cargo"]);
        assert_eq!(flags[2..], LINKER);
    }
}
