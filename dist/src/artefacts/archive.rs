//! A tar archive of the program with its man pages, completions and licences, which can be unpacked anywhere.

use super::artefact::{Artefact, Parts};
use crate::packed::{gzip, tar};
use crate::release::Release;

pub const ARTEFACT: Artefact = Artefact { file, make };

pub fn file(release: &Release) -> String {
    format!("{}.tar.gz", folder(release))
}

/// Returns the name of its only top-level directory.
pub fn folder(release: &Release) -> String {
    format!("plateau-{}-x86_64-linux", release.version)
}

fn make(parts: &Parts<'_>) -> anyhow::Result<Vec<u8>> {
    let prefix = format!("{}/", folder(parts.release));
    gzip(&tar(&parts.payload.archive(), &prefix, parts.release.seconds())?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_parts;

    #[test]
    fn everything_is_in_one_folder() {
        let bytes = with_parts(super::make).expect("an archive");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let paths = archive
            .entries()
            .expect("entries")
            .map(|entry| entry.expect("an entry").path().expect("a path").to_string_lossy().into_owned());
        let paths: Vec<String> = paths.collect();
        assert!(paths.iter().all(|path| path.starts_with("plateau-0.1.0-x86_64-linux/")), "{paths:?}");
        for name in ["plateau", "man/plateau.1", "LICENSE-MIT", "systemd/plateau.service"] {
            assert!(paths.contains(&format!("plateau-0.1.0-x86_64-linux/{name}")), "{name}");
        }
    }
}
