//! Checks the checksums with `sha256sum --check`.

use super::ground::{Ground, Trial, output, program};
use crate::artefacts::CHECKSUMS;

pub const TRIAL: Trial = Trial { name: "checksums", needs: &[("sha256sum", "coreutils")], root: false, run };

fn run(ground: &Ground) -> anyhow::Result<()> {
    output(program("sha256sum").args(["--check", "--strict", CHECKSUMS]).current_dir(&ground.folder))
        .map(drop)
}
