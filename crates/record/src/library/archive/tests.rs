use std::io::Cursor;

use super::*;
use crate::storage::Real;

fn stored(dir: &Path, bytes: &[u8]) -> Box<dyn Stored> {
    let path = dir.join("stored");
    let _ = std::fs::remove_file(&path);
    let mut stored = Real.create(&path).expect("a file");
    stored.append(bytes).expect("written");
    stored
}

fn block(name: &str, bytes: u64) -> [u8; BLOCK_BYTES] {
    header(OsStr::new(name), bytes, 1_000_000_000)
}

/// Compresses a tar file that consists of these files' headers and contents.
fn compressed(files: &[([u8; BLOCK_BYTES], &[u8])], end: &[u8]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (header, content) in files {
        tar.extend_from_slice(header);
        tar.extend_from_slice(content);
        tar.resize(tar.len() + padding(content.len() as u64), 0);
    }
    tar.extend_from_slice(end);
    zstd::encode_all(&tar[..], 1).expect("compressed")
}

const END: &[u8] = &[0; 2 * BLOCK_BYTES];

/// Reads a whole archive; returns the names and contents of its files.
fn read_all(bytes: &[u8]) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    let dir = tempfile::tempdir().expect("a folder");
    let mut stored = stored(dir.path(), bytes);
    let mut archive = Unpacker::new(&mut *stored)?;
    let mut files = Vec::new();
    while let Some((name, _)) = archive.next_file()? {
        let mut content = Vec::new();
        archive.read_to_end(&mut content)?;
        files.push((name, content));
    }
    Ok(files)
}

fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a folder");
    let mut stored = stored(dir.path(), b"");
    let sizes: Vec<u64> = files.iter().map(|(_, content)| content.len() as u64).collect();
    let mut packer = Packer::new(&mut *stored, 1_000_000_000, &sizes).expect("begun");
    for (name, content) in files {
        packer.add(OsStr::new(name), content.len() as u64, &mut Cursor::new(content)).expect("added");
    }
    packer.finish().expect("complete");
    stored.read(MOST_ARCHIVE_BYTES).expect("a file")
}

#[test]
fn what_is_packed_is_read_again_by_this_and_by_tar() {
    let large = vec![7; 3 * PIECE_BYTES + 5];
    let files: &[(&str, &[u8])] =
        &[("run.json", b"{}"), ("empty", b""), ("logo", &[1; BLOCK_BYTES]), ("journal", &large)];
    let bytes = packed(files);
    assert_eq!(bytes, packed(files), "the same bytes again");
    let read = read_all(&bytes).expect("an archive");
    let expected: Vec<_> =
        files.iter().map(|(name, content)| (OsString::from(name), content.to_vec())).collect();
    assert_eq!(read, expected);
    let tar = zstd::decode_all(&bytes[..]).expect("compressed");
    let mut by_tar = Vec::new();
    for entry in tar::Archive::new(&tar[..]).entries().expect("a tar file") {
        let mut entry = entry.expect("an entry");
        assert_eq!(entry.header().mode().ok(), Some(0o644));
        assert_eq!(entry.header().mtime().ok(), Some(1_000_000_000));
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("content");
        by_tar.push((entry.path().expect("a name").into_owned().into_os_string(), content));
    }
    assert_eq!(by_tar, expected);
}

#[test]
fn one_file_is_found_without_the_others() {
    let bytes = packed(&[("run.json", b"{}"), ("b", b"of b"), ("d", b"of d"), ("journal", b"of it")]);
    let dir = tempfile::tempdir().expect("a folder");
    let mut stored = stored(dir.path(), &bytes);
    for (name, expected) in
        [("run.json", Some("{}")), ("a", None), ("b", Some("of b")), ("c", None), ("journal", Some("of it"))]
    {
        let mut archive = Unpacker::new(&mut *stored).expect("an archive");
        let found = archive.seek(OsStr::new(name), 100);
        let mut text = String::new();
        match expected {
            None => assert_eq!(found.expect_err(name).kind(), ErrorKind::NotFound),
            Some(expected) => {
                found.expect(name);
                archive.read_to_string(&mut text).expect("text");
                assert_eq!(text, expected);
            }
        }
    }
    let mut archive = Unpacker::new(&mut *stored).expect("an archive");
    assert!(archive.seek(OsStr::new("d"), 3).is_err(), "it is longer");
}

#[test]
fn hostile_archives_are_refused() {
    let run = (block("run.json", 2), &b"{}"[..]);
    let journal = (block("journal", 1), &b"x"[..]);
    assert!(read_all(&compressed(&[run, journal], END)).is_ok(), "the others differ from this one");
    let of = |name: &str| (block(name, 1), &b"x"[..]);
    let changed = |change: &dyn Fn(&mut [u8; BLOCK_BYTES])| {
        let mut block = block("logo", 1);
        change(&mut block);
        let sum = checksum(&block);
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        (block, &b"x"[..])
    };
    let link = changed(&|block| block[156] = b'2');
    let long = changed(&|block| block[345] = b'/');
    let folder = changed(&|block| block[156] = b'5');
    let negative = changed(&|block| block[124..136].copy_from_slice(b"-0000000001\0"));
    let mut damaged = of("logo");
    damaged.0[0] = b'L';
    let absolute = of("/etc/x");
    for (why, files) in [
        ("no run file", &[journal][..]),
        ("no journal", &[run]),
        ("wrong order", &[journal, run]),
        ("twice", &[run, run, journal]),
        ("two of a name", &[run, of("logo"), of("logo"), journal]),
        ("not sorted", &[run, of("b"), of("a"), journal]),
        ("after the journal", &[run, journal, of("a")]),
        ("absolute", &[run, absolute, journal]),
        ("in a folder", &[run, of("a/b"), journal]),
        ("above", &[run, of(".."), journal]),
        ("without a name", &[run, of(""), journal]),
        ("a link", &[run, link, journal]),
        ("a folder", &[run, folder, journal]),
        ("a prefix", &[run, long, journal]),
        ("a negative size", &[run, negative, journal]),
        ("a damaged header", &[run, damaged, journal]),
    ] {
        assert!(read_all(&compressed(files, END)).is_err(), "{why}");
    }
    for (why, end) in
        [("no end", &[][..]), ("half an end", &END[..BLOCK_BYTES]), ("more", &[0; 3 * BLOCK_BYTES])]
    {
        assert!(read_all(&compressed(&[run, journal], end)).is_err(), "{why}");
    }
}

#[test]
fn bombs_are_refused_before_they_are_read() {
    let run = (block("run.json", 2), &b"{}"[..]);
    for (name, bytes) in [
        ("run.json", MOST_RUN_FILE_BYTES + 1),
        ("logo", MOST_FURTHER_BYTES + 1),
        ("journal", MOST_JOURNAL_BYTES + 1),
    ] {
        let before = if name == "run.json" { &[][..] } else { &[run] };
        let files = [before, &[(block(name, bytes), &b""[..])]].concat();
        let error = read_all(&compressed(&files, END)).expect_err(name);
        assert_ne!(error.kind(), ErrorKind::UnexpectedEof, "{name}: its content was read");
    }
    let names: Vec<String> = (0..MOST_FILES).map(|number| format!("{number:04}")).collect();
    let many = names.iter().map(|name| (block(name, 0), &b""[..]));
    let files: Vec<_> = std::iter::once(run).chain(many).collect();
    let error = read_all(&compressed(&files, END)).expect_err("many files").to_string();
    assert!(error.contains("more than 1000 files"), "{error}");
    // Two files that together are too large.
    let mut total = Total::default();
    total.add(OsStr::new("a"), MOST_FURTHER_BYTES - 1).expect("within the limit");
    assert!(total.add(OsStr::new("b"), 2).is_err());
    // A frame that requires a larger window than any archive.
    let mut encoder = Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG + 2)).expect("set");
    encoder.write_all(&vec![0; 16 << 20]).expect("written");
    let error = read_all(&encoder.finish().expect("compressed")).expect_err("too large a window").to_string();
    assert!(error.contains("memory") || error.contains("window"), "{error}");
}

/// Compresses an archive whose journal has this many bytes, all of them `x`.
fn with_journal_of(bytes: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new(), 1).expect("an encoder");
    let mut put = |bytes: &[u8]| encoder.write_all(bytes).expect("written");
    put(&block("run.json", 2));
    put(b"{}");
    put(&[0; BLOCK_BYTES - 2]);
    put(&block("journal", bytes));
    io::copy(&mut io::repeat(b'x').take(bytes), &mut encoder).expect("written");
    let end = vec![0; padding(bytes) + 2 * BLOCK_BYTES];
    encoder.write_all(&end).expect("written");
    encoder.finish().expect("compressed")
}

#[test]
fn an_archive_whose_files_are_far_larger_than_itself_is_refused_before_they_are_read() {
    let read = |archive: Vec<u8>| {
        let archive_bytes = archive.len() as u64;
        assert!(archive_bytes < 64 << 10, "{archive_bytes}");
        let mut archive = Unpacker::of(Box::new(Cursor::new(archive)), archive_bytes).expect("an archive");
        let sought = archive.seek(OsStr::new(JOURNAL), u64::MAX);
        let read = sought.and_then(|()| io::copy(&mut archive, &mut io::sink()));
        let left = archive.left;
        (read.map_err(|error| error.kind()), left)
    };
    assert_eq!(read(with_journal_of(FREE_BYTES / 2)), (Ok(FREE_BYTES / 2), 0));
    let whole = 512 << 20;
    let (result, left) = read(with_journal_of(whole));
    assert_eq!(result, Err(ErrorKind::InvalidData));
    assert!(whole - left < FREE_BYTES + (64 << 10) * MOST_EXPANSION, "{left} bytes were not read");
}

#[test]
fn a_time_that_no_header_can_represent_is_the_last_one() {
    for seconds in [LAST_SECOND, LAST_SECOND + 1, u64::MAX] {
        let header = header(OsStr::new("journal"), 1, seconds);
        assert!(parse(&header).is_ok(), "{seconds}");
        assert_eq!(octal(&header[136..148]), Some(LAST_SECOND), "{seconds}");
        assert_eq!(&header[147..149], b"\x000", "the field is terminated, and the checksum intact");
    }
}

#[test]
fn every_truncation_and_every_flipped_byte_is_noticed() {
    let bytes = packed(&[("run.json", b"{}"), ("journal", b"plateau-journal 1\n")]);
    let whole = read_all(&bytes).expect("an archive");
    for end in 0..bytes.len() {
        assert!(read_all(&bytes[..end]).is_err(), "the first {end} bytes");
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        // Some bits of a frame header have no meaning.
        assert!(read_all(&flipped).map_or(true, |read| read == whole), "byte {at}");
    }
}

#[test]
fn names_of_archives() {
    for (name, run) in
        [("a.tar.zst", Some("a")), ("a.b.tar.zst", Some("a.b")), (".tar.zst", None), ("a.zst", None)]
    {
        assert_eq!(run_in(OsStr::new(name)), run.map(OsStr::new), "{name}");
    }
    assert_eq!(run_in(OsStr::new(".new-a.tar.zst")), None, "one that is being written");
    assert_eq!(name_of(OsStr::new("a")), "a.tar.zst");
    assert!(is_archive(Path::new("x/a.tar.zst"), b"\x28\xb5\x2f\xfd..."));
    assert!(!is_archive(Path::new("x/a.tar.zst"), b"text"));
}
