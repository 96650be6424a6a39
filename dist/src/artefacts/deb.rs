//! The package for Debian and its derivatives.
//!
//! A .deb is an `ar` archive with three members: the format version, a tar archive of the package metadata,
//! and a tar archive of the installed files.

use std::fmt::Write as _;

use jiff::tz::TimeZone;

use super::artefact::{Artefact, Parts};
use crate::packed::{Content, Entry, folders, gzip, tar};
use crate::payload::{MIT, Payload};
use crate::product::NAME;
use crate::release::Release;

pub const ARTEFACT: Artefact = Artefact { file, make };

/// Package revision, counted within one version of the program.
const REVISION: &str = "1";
/// Lines have at most 80 columns; a line with a single dot separates paragraphs.
const DESCRIPTION: &str = "\
SNIA performance tests for solid-state drives
 Plateau runs the SNIA Solid State Storage Performance Test Specification
 (PTS) on SSDs, files and simulated SSDs: it purges the drive, preconditions
 it, measures rounds until the drive reaches steady state, and writes the
 report required by the specification.
 .
 It refuses targets that are in use, continues interrupted runs after the
 last completed measurement, and checks the host for settings that would
 skew results.
";
/// The program is deliberately static but position-independent, so lintian mistakes it for a shared library.
const OVERRIDES: &str = "\
# One program for every distribution and release: it needs no library from the host.
plateau: shared-library-lacks-prerequisites [usr/bin/plateau]
";

pub fn file(release: &Release) -> String {
    format!("{NAME}_{}_amd64.deb", version(release))
}

fn version(release: &Release) -> String {
    format!("{}-{REVISION}", release.version)
}

fn make(parts: &Parts<'_>) -> anyhow::Result<Vec<u8>> {
    let release = parts.release;
    let entries = entries(release, parts.payload)?;
    // There is no md5sums member, because dpkg computes the digests itself when it unpacks the files.
    let control = [Entry::file("control", control(release, &entries))];
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tar(&control, "./", release.seconds())?)?),
        ("data.tar.gz", gzip(&tar(&entries, "./", release.seconds())?)?),
    ];
    Ok(ar(&members, release.seconds()))
}

/// Returns all installed files.
fn entries(release: &Release, payload: &Payload) -> anyhow::Result<Vec<Entry>> {
    let documents = format!("usr/share/doc/{NAME}");
    let mut entries = payload.debian()?;
    entries.push(Entry::file(
        format!("{documents}/copyright"),
        copyright(&String::from_utf8_lossy(payload.text(MIT))),
    ));
    let changelog = gzip(changelog(release).as_bytes())?;
    entries.push(Entry::file(format!("{documents}/changelog.Debian.gz"), changelog));
    entries.push(Entry::file(format!("usr/share/lintian/overrides/{NAME}"), OVERRIDES));
    entries.sort();
    Ok(entries)
}

/// Returns the control file: the metadata for dpkg and apt.
fn control(release: &Release, entries: &[Entry]) -> String {
    let kibibytes = |entry: &Entry| match &entry.content {
        Content::File(bytes) => bytes.len().div_ceil(1024),
        Content::Folder => 1,
    };
    let size = entries.iter().map(kibibytes).sum::<usize>() + folders(entries).len();
    format!(
        "Package: {NAME}\nVersion: {}\nArchitecture: amd64\nMaintainer: {}\nInstalled-Size: {size}\nSuggests: fio, mdadm\n\
         Section: utils\nPriority: optional\nDescription: {DESCRIPTION}",
        version(release),
        release.maintainer,
    )
}

/// Returns the package's changelog; the program's changelog is installed next to it.
fn changelog(release: &Release) -> String {
    format!(
        "{NAME} ({}) unstable; urgency=medium\n\n  * Release of version {}; see changelog.gz.\n\n -- {}  {}\n",
        version(release),
        release.version,
        release.maintainer,
        release.time.to_zoned(TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S +0000"),
    )
}

fn copyright(mit: &str) -> String {
    let mut text = String::from(
        "Plateau is free software under the Apache License, Version 2.0, or the MIT\nlicence, at your option.\n\n\
         On Debian systems the text of the Apache License, Version 2.0, is in\n/usr/share/common-licenses/Apache-2.0. The MIT licence:\n\n",
    );
    mit.trim()
        .lines()
        .for_each(|line| writeln!(text, "{}", format!("  {line}").trim_end()).unwrap_or_default());
    text.push_str(
        "\nThe licences of the libraries that the program is linked with are in\nTHIRD-PARTY.txt.gz next to this \
         file.\n",
    );
    text
}

/// Builds an `ar` archive.
fn ar(members: &[(&str, Vec<u8>)], seconds: u32) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let header = format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::tests::with_parts;
    use super::*;

    /// Returns the name and content of each member, parsed as the format specifies.
    fn members(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut rest = archive.strip_prefix(b"!<arch>\n").expect("the mark of ar");
        let mut members = Vec::new();
        while let [head @ .., b'`', b'\n'] = &rest[..rest.len().min(60)] {
            let field =
                |from: usize, to: usize| String::from_utf8_lossy(&head[from..to]).trim_end().to_owned();
            let length: usize = field(48, 58).parse().expect("a length");
            members.push((field(0, 16), rest[60..60 + length].to_vec()));
            rest = &rest[(60 + length + length % 2).min(rest.len())..];
        }
        assert_eq!(rest, b"", "nothing is left");
        members
    }

    /// Returns the text of a file in a compressed archive.
    fn text(archive: &[u8], name: &str) -> String {
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
        let mut entries = archive.entries().expect("entries").map(|entry| entry.expect("an entry"));
        let entry = entries.find(|entry| entry.path_bytes() == name.as_bytes());
        let mut text = String::new();
        entry.unwrap_or_else(|| panic!("{name} is missing")).read_to_string(&mut text).expect("text");
        text
    }

    #[test]
    fn members_of_an_archive_begin_at_even_offsets() {
        let archive = ar(&[("a", b"odd".to_vec()), ("b", b"even".to_vec())], 7);
        let expected = "!<arch>\n\
             a               7           0     0     100644  3         `\nodd\n\
             b               7           0     0     100644  4         `\neven";
        assert_eq!(String::from_utf8_lossy(&archive), expected);
        assert_eq!(members(&archive).len(), 2);
    }

    #[test]
    fn a_package_has_its_three_members_in_order_and_what_dpkg_needs() {
        let members = members(&with_parts(make).expect("a package"));
        let names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
        assert_eq!(members[0].1, b"2.0\n");
        let control = text(&members[1].1, "./control");
        for line in [
            "Package: plateau",
            "Version: 0.1.0-1",
            "Architecture: amd64",
            "Maintainer: A. Maintainer <a@example.org>",
        ] {
            assert!(control.lines().any(|have| have == line), "{line}: {control}");
        }
        assert!(
            control.lines().all(|line| line.len() <= 80 && !line.is_empty()) && control.ends_with('\n'),
            "{control}"
        );
        assert_eq!(text(&members[2].1, "./usr/bin/plateau"), "program");
        let copyright = text(&members[2].1, "./usr/share/doc/plateau/copyright");
        assert!(copyright.contains("  text of LICENSE-MIT\n"), "{copyright}");
    }

    #[test]
    fn the_changelog_has_the_form_that_debian_parses() {
        let expected = "plateau (0.1.0-1) unstable; urgency=medium\n\n  * Release of version 0.1.0; see changelog.gz.\n\n \
                        -- A. Maintainer <a@example.org>  Sun, 01 Mar 2026 09:00:00 +0000\n";
        assert_eq!(changelog(&crate::release::tests::example()), expected);
    }
}
