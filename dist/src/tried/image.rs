//! Runs the program in the root file system of the image, which contains nothing else.

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::ground::{Ground, Trial, inside, output, program, use_program};
use crate::artefacts::image::file;

pub const TRIAL: Trial = Trial {
    name: "image",
    needs: &[("tar", "tar"), ("unshare", "util-linux"), ("chroot", "coreutils")],
    root: true,
    run,
};

fn run(ground: &Ground) -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let (layout, root) = (place.path().join("layout"), place.path().join("root"));
    unpack(&ground.folder.join(file(&ground.release)), &layout)?;
    let index = parsed(&layout.join("index.json"))?;
    let manifest = parsed(&blob(&layout, &index["manifests"][0])?)?;
    let config = parsed(&blob(&layout, &manifest["config"])?)?;
    unpack(&blob(&layout, &manifest["layers"][0])?, &root)?;
    let start = config["config"]["Entrypoint"][0].as_str().context("the image has no entry point")?;
    use_program(ground, &|| inside(&root, start), "/tmp/scratch.bin")
}

fn unpack(archive: &Path, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir(folder)?;
    output(program("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(folder))
        .map(drop)
}

fn parsed(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

/// Returns the path of the file that a descriptor references.
fn blob(layout: &Path, descriptor: &Value) -> anyhow::Result<std::path::PathBuf> {
    let digest = descriptor["digest"].as_str().context("a digest")?;
    Ok(layout.join("blobs").join(digest.replace(':', "/")))
}
