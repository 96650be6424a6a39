//! Checks the .rpm with rpm, unpacks it and runs the program.

use super::ground::{Ground, Trial, bare, output, program, use_program};
use crate::artefacts::rpm::file;

pub const TRIAL: Trial = Trial {
    name: "rpm",
    needs: &[("rpm", "rpm"), ("rpm2cpio", "rpm2cpio"), ("cpio", "cpio")],
    root: false,
    run,
};

fn run(ground: &Ground) -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let package = ground.folder.join(file(&ground.release));
    output(program("rpm").args(["--checksig", "--nosignature"]).arg(&package))?;
    // rpm2cpio compares the size with an optional tag; if the tag is missing, it fails after writing
    // everything. Truncation would still be detected by cpio and by the file list below.
    let unpack = "rpm2cpio \"$1\" > package.cpio; cpio --extract --make-directories --quiet < package.cpio";
    output(program("sh").args(["-c", unpack, "sh"]).arg(&package).current_dir(place.path()))?;
    let listed =
        output(program("rpm").args(["--query", "--package", "--list", "--nosignature"]).arg(&package))?;
    for path in listed.lines() {
        let unpacked = place.path().join(path.trim_start_matches('/'));
        anyhow::ensure!(unpacked.exists(), "{path} is in the package's list, but was not unpacked");
    }
    let start = || {
        let mut command = program(place.path().join("usr/bin/plateau"));
        bare(&mut command).env("PLATEAU_LIBRARY", place.path().join("runs")).current_dir(place.path());
        command
    };
    use_program(ground, &start, "./scratch.bin")
}
