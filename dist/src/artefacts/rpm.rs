//! The package for Fedora, openSUSE and their derivatives.

use rpm::{BuildConfig, CompressionWithLevel, FileOptions, PackageBuilder};

use super::artefact::{Artefact, Parts};
use crate::packed::{Content, Entry};
use crate::payload::Payload;
use crate::product::NAME;
use crate::release::Release;

pub const ARTEFACT: Artefact = Artefact { file, make };

const REVISION: &str = "1";
const SUMMARY: &str = "SNIA performance tests for solid-state drives";
const DESCRIPTION: &str = "\
Plateau runs the SNIA Solid State Storage Performance Test Specification (PTS)
on SSDs, files and simulated SSDs: it purges the drive, preconditions it,
measures rounds until the drive reaches steady state, and writes the report
required by the specification.";

pub fn file(release: &Release) -> String {
    format!("{NAME}-{}-{REVISION}.x86_64.rpm", release.version)
}

fn make(parts: &Parts<'_>) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    package(parts.release, parts.payload)?.write(&mut bytes)?;
    Ok(bytes)
}

fn package(release: &Release, payload: &Payload) -> anyhow::Result<rpm::Package> {
    let config =
        BuildConfig::default().source_date(release.seconds()).compression(CompressionWithLevel::Gzip(9));
    let mut builder = PackageBuilder::new(NAME, &release.version, "Apache-2.0 OR MIT", "x86_64", SUMMARY);
    // A fixed build host, so that the package is the same on every host.
    builder.using_config(config).release(REVISION).description(DESCRIPTION).build_host("localhost");
    builder.packager(&*release.maintainer).vcs(&*release.commit);
    let mut entries = payload.rpm()?;
    entries.sort();
    for folder in own_folders(&entries) {
        builder.with_dir_entry(
            FileOptions::dir(format!("/{folder}")).permissions(0o755).user("root").group("root"),
        )?;
    }
    for entry in entries {
        let Content::File(bytes) = entry.content else { continue };
        let mode = u16::try_from(entry.mode)?;
        let options =
            FileOptions::new(format!("/{}", entry.path)).permissions(mode).user("root").group("root");
        let options = match entry.path.split('/').nth(2) {
            Some("licenses") => options.license(),
            Some("doc" | "man") => options.doc(),
            _ => options,
        };
        builder.with_file_contents(bytes, options)?;
    }
    Ok(builder.build()?)
}

/// Returns directories that only this package uses, so that uninstalling removes them.
fn own_folders(entries: &[Entry]) -> Vec<String> {
    crate::packed::folders(entries)
        .into_iter()
        .filter(|folder| folder.ends_with(&format!("/{NAME}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_parts;
    use super::*;

    #[test]
    fn the_header_describes_the_package_but_not_its_builder() {
        let bytes = with_parts(make).expect("a package");
        let package = rpm::Package::parse(&mut &bytes[..]).expect("what was written is read");
        package.verify_digests().expect("digests");
        let header = &package.metadata;
        assert_eq!(header.get_name().ok(), Some("plateau"));
        assert_eq!(header.get_version().ok(), Some("0.1.0"));
        assert_eq!(header.get_release().ok(), Some("1"));
        assert_eq!(header.get_arch().ok(), Some("x86_64"));
        assert_eq!(header.get_license().ok(), Some("Apache-2.0 OR MIT"));
        assert_eq!(header.get_vcs().ok(), Some("0123456789012345678901234567890123456789"));
        assert_eq!(header.get_build_host().ok(), Some("localhost"));
        assert_eq!(header.get_build_time().ok(), Some(1_772_355_600));
        let files = header.get_file_entries().expect("files");
        for file in &files {
            assert_eq!((file.user(), file.group()), ("root", "root"), "{:?}", file.path());
        }
        let mode = |path: &str| {
            let file = files.iter().find(|file| file.path() == std::path::Path::new(path));
            file.unwrap_or_else(|| panic!("{path} is missing")).mode().permissions()
        };
        assert_eq!((mode("/usr/bin/plateau"), mode("/usr/share/man/man1/plateau.1.gz")), (0o755, 0o644));
        assert_eq!(mode("/usr/share/licenses/plateau"), 0o755, "a folder that goes with the package");
        assert!(
            !files.iter().any(|file| file.path() == std::path::Path::new("/usr/bin")),
            "a folder that other packages share"
        );
    }
}
