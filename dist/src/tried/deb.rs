//! Installs the .deb on a fresh Debian system, runs the program there, and removes the package again.

use std::path::Path;

use anyhow::{Context as _, ensure};

use super::apt;
use super::ground::{Ground, Trial, bare, inside, output, program, use_program};
use crate::artefacts::deb::file;
use crate::product::NAME;

pub const TRIAL: Trial = Trial {
    name: "deb",
    needs: &[("debootstrap", "debootstrap"), ("unshare", "util-linux"), ("chroot", "coreutils")],
    root: true,
    run,
};

/// Files that must exist after installation.
const INSTALLED: [&str; 5] = [
    "usr/bin/plateau",
    "usr/share/man/man1/plateau.1.gz",
    "usr/share/man/man1/plateau-run.1.gz",
    "usr/share/bash-completion/completions/plateau",
    "usr/share/doc/plateau/copyright",
];

fn run(ground: &Ground) -> anyhow::Result<()> {
    let apt::Source { address, suite } = apt::of_this_host()?;
    let place = tempfile::tempdir()?;
    let root = place.path().join("root");
    let mut make = program("debootstrap");
    make.args(["--variant=minbase", &suite]).arg(&root).arg(&address).env("LC_ALL", "C");
    output(&mut make).context("cannot create a fresh system")?;
    let package = file(&ground.release);
    std::fs::copy(ground.folder.join(&package), root.join("tmp").join(&package))
        .context("cannot copy the package")?;
    output(inside(&root, "dpkg").arg("--install").arg(format!("/tmp/{package}")))?;
    for path in INSTALLED {
        ensure!(root.join(path).is_file(), "{path} was not installed");
    }
    let changed = output(inside(&root, "dpkg").args(["--verify", NAME]))?;
    ensure!(changed.is_empty(), "dpkg --verify reports\n{changed}");
    output(inside(&root, "bash").args(["-n", "/usr/share/bash-completion/completions/plateau"]))?;
    use_program(ground, &|| inside(&root, NAME), "/tmp/scratch.bin")?;
    output(inside(&root, "dpkg").args(["--purge", NAME]))?;
    check_removed(&root)
}

fn check_removed(root: &Path) -> anyhow::Result<()> {
    for path in INSTALLED {
        ensure!(!root.join(path).exists(), "{path} is still there after the package was purged");
    }
    // Only files under /usr are checked: runs belong to the user and are kept.
    let mut find = program("find");
    let left = output(bare(&mut find).arg(root.join("usr")).args(["-name", "*plateau*"]))?;
    ensure!(left.is_empty(), "files left after the package was purged:\n{left}");
    Ok(())
}
