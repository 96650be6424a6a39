//! Unpacks the archive into a directory and runs the program from there as the current user.

use super::ground::{Ground, Trial, bare, output, program, use_program};
use crate::artefacts::archive::{file, folder};
use crate::product::NAME;

pub const TRIAL: Trial = Trial { name: "archive", needs: &[("tar", "tar")], root: false, run };

fn run(ground: &Ground) -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let archive = ground.folder.join(file(&ground.release));
    output(program("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(place.path()))?;
    let unpacked = place.path().join(folder(&ground.release));
    let start = || {
        let mut command = program(unpacked.join(NAME));
        bare(&mut command).env("PLATEAU_LIBRARY", place.path().join("runs")).current_dir(place.path());
        command
    };
    use_program(ground, &start, "./scratch.bin")
}
