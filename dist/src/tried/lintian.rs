//! Checks the .deb with lintian.

use super::ground::{Ground, Trial, output, program};
use crate::artefacts::deb::file;

pub const TRIAL: Trial = Trial { name: "lintian", needs: &[("lintian", "lintian")], root: false, run };

fn run(ground: &Ground) -> anyhow::Result<()> {
    let printed = output(
        program("lintian")
            .args(["--fail-on", "error", "--tag-display-limit", "0"])
            .arg(ground.folder.join(file(&ground.release))),
    )?;
    printed.lines().for_each(|line| println!("  {line}"));
    Ok(())
}
