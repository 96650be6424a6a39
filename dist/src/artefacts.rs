//! The files of a release. To add one, add a file to `artefacts/` and a line to [`ARTEFACTS`].

pub mod archive;
mod artefact;
pub mod deb;
pub mod image;
pub mod rpm;
pub mod sbom;

use crate::packed::sha256;
pub use artefact::{Artefact, Parts};

/// All kinds.
const ARTEFACTS: &[Artefact] =
    &[archive::ARTEFACT, deb::ARTEFACT, rpm::ARTEFACT, image::ARTEFACT, sbom::ARTEFACT];

/// The file with the checksums of the other files.
pub const CHECKSUMS: &str = "SHA256SUMS";

/// Returns the name and content of each file, followed by the file with the checksums.
pub fn made(parts: &Parts<'_>) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let make = |artefact: &Artefact| Ok(((artefact.file)(parts.release), (artefact.make)(parts)?));
    let mut files = ARTEFACTS.iter().map(make).collect::<anyhow::Result<Vec<_>>>()?;
    files.push((CHECKSUMS.into(), checksums(&files).into_bytes()));
    Ok(files)
}

/// Formats checksums like `sha256sum`, for `sha256sum --check`.
fn checksums(files: &[(String, Vec<u8>)]) -> String {
    files.iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Calls `call` with fake parts.
    pub fn with_parts<T>(call: impl FnOnce(&Parts<'_>) -> T) -> T {
        let release = crate::release::tests::example();
        let (payload, packages) = (crate::payload::tests::example(), crate::packages::tests::example());
        call(&Parts { release: &release, payload: &payload, packages: &packages })
    }

    #[test]
    fn the_same_parts_make_the_same_files() {
        let files = with_parts(made).expect("files");
        // Waits for more than a second, to detect files that contain the current time.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(files, with_parts(made).expect("files"));
        let names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            [
                "plateau-0.1.0-x86_64-linux.tar.gz",
                "plateau_0.1.0-1_amd64.deb",
                "plateau-0.1.0-1.x86_64.rpm",
                "plateau-0.1.0-x86_64-oci.tar",
                "plateau-0.1.0.cdx.json",
                "SHA256SUMS"
            ]
        );
        let sums = String::from_utf8_lossy(&files[5].1).into_owned();
        for (name, bytes) in &files[..5] {
            assert!(sums.contains(&format!("{}  {name}\n", sha256(bytes))), "{sums}");
        }
    }
}
