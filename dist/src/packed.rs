//! Reproducible archives: fixed owner, modes and times, sorted entries, and the compressor version in Cargo.lock.

use std::collections::BTreeSet;
use std::io::Write as _;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

/// A file or directory in a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Path relative to the root, without a leading slash.
    pub path: String,
    pub mode: u32,
    pub content: Content,
}

/// The content of an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    File(Vec<u8>),
    /// An empty directory, to be filled by other programs.
    Folder,
}

impl Entry {
    pub fn file(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, content: Content::File(bytes.into()) }
    }

    pub fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { mode: 0o755, ..Self::file(path, bytes) }
    }

    pub fn folder(path: impl Into<String>, mode: u32) -> Self {
        Self { path: path.into(), mode, content: Content::Folder }
    }
}

/// Returns all directories above the entries, outermost first, except directories that are entries themselves.
pub fn folders(entries: &[Entry]) -> BTreeSet<String> {
    let above = |entry: &Entry| {
        let slashes: Vec<usize> = entry.path.match_indices('/').map(|(place, _)| place).collect();
        slashes.into_iter().map(|place| entry.path[..place].to_owned()).collect::<Vec<_>>()
    };
    let own = |path: &String| entries.iter().any(|entry| entry.path == *path);
    entries.iter().flat_map(above).filter(|path| !own(path)).collect()
}

/// Builds a tar archive, with `prefix` before each path.
pub fn tar(entries: &[Entry], prefix: &str, seconds: u32) -> anyhow::Result<Vec<u8>> {
    let folders = folders(entries).into_iter().map(|path| Entry::folder(path, 0o755));
    let mut all: Vec<Entry> = folders.chain(entries.iter().cloned()).collect();
    all.sort();
    let mut archive = tar::Builder::new(Vec::new());
    if !prefix.is_empty() {
        append(&mut archive, prefix, &Entry::folder("", 0o755), seconds)?;
    }
    for entry in &all {
        append(&mut archive, prefix, entry, seconds)?;
    }
    Ok(archive.into_inner()?)
}

fn append(
    archive: &mut tar::Builder<Vec<u8>>,
    prefix: &str,
    entry: &Entry,
    seconds: u32,
) -> anyhow::Result<()> {
    let mut header = tar::Header::new_ustar();
    let (kind, bytes) = match &entry.content {
        Content::File(bytes) => (tar::EntryType::Regular, &bytes[..]),
        Content::Folder => (tar::EntryType::Directory, &[][..]),
    };
    let slash = if kind == tar::EntryType::Directory && !entry.path.is_empty() { "/" } else { "" };
    header.set_entry_type(kind);
    header.set_mode(entry.mode);
    header.set_mtime(seconds.into());
    header.set_size(bytes.len() as u64);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    // `Path` would drop the `./` that dpkg expects.
    let name = format!("{prefix}{}{slash}", entry.path);
    let place = &mut header.as_mut_bytes()[..100];
    let room = place.get_mut(..name.len());
    room.ok_or_else(|| anyhow::anyhow!("the path {name} is too long for a tar archive"))?
        .copy_from_slice(name.as_bytes());
    header.set_cksum();
    archive.append(&header, bytes)?;
    Ok(())
}

/// Compresses with gzip, storing neither a time nor a name.
pub fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Returns the digest in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn archives_depend_on_their_entries_alone() {
        let entries = [
            Entry::program("usr/bin/a", "program"),
            Entry::file("etc/b", "text"),
            Entry::folder("tmp", 0o1777),
        ];
        let archive = tar(&entries, "./", 7).expect("an archive");
        let mut turned = entries.clone();
        turned.reverse();
        assert_eq!(archive, tar(&turned, "./", 7).expect("an archive"), "whatever the order");
        let mut archive = tar::Archive::new(&archive[..]);
        let mut seen = Vec::new();
        for entry in archive.entries().expect("entries") {
            let header = entry.expect("an entry").header().clone();
            assert_eq!(
                (header.uid().ok(), header.gid().ok(), header.mtime().ok()),
                (Some(0), Some(0), Some(7))
            );
            seen.push(format!(
                "{:o} {}",
                header.mode().expect("a mode"),
                String::from_utf8_lossy(&header.path_bytes())
            ));
        }
        let expected = [
            "755 ./",
            "755 ./etc/",
            "644 ./etc/b",
            "1777 ./tmp/",
            "755 ./usr/",
            "755 ./usr/bin/",
            "755 ./usr/bin/a",
        ];
        assert_eq!(seen, expected);
        assert!(tar(&[Entry::file("x".repeat(101), "")], "", 7).is_err(), "a truncated path would be worse");
    }

    #[test]
    fn compressed_data_contains_no_time_and_is_restored() {
        let packed = gzip(b"text").expect("packed");
        assert_eq!(packed[3..8], [0; 5], "no name and no time");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("text");
        assert_eq!(text, "text");
    }

    #[test]
    fn digests_are_those_of_sha256sum() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
