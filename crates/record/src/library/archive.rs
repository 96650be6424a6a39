//! The file of an archived run: a tar file compressed with zstd, which `tar -xf` can also unpack.
//!
//! It contains only regular files: first `run.json`, so that opening a run reads only the beginning; then all
//! other files, sorted by name; and finally the journal, so that reading the other files never has to skip it.
//! The same files always result in the same bytes. Archives are untrusted: names, order, number and sizes are
//! checked while reading, and nothing is extracted to a path from the archive.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use stdx::files::ReadError;
use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;
use zstd::zstd_safe::{CParameter, DParameter};

use super::run_json::{MOST_RUN_FILE_BYTES, ZSTD_MAGIC};
use crate::journal::MOST_JOURNAL_BYTES;
use crate::storage::{FoundKind, Storage, Stored};

/// Suffix of an archive's name, which begins with the name of the run.
const SUFFIX: &str = ".tar.zst";
/// Name of the run file in a run's folder.
pub const RUN_FILE: &str = "run.json";
/// Name of the journal in a run's folder.
pub const JOURNAL: &str = "journal";

/// Limit on the number of files.
pub(super) const MOST_FILES: usize = 1_000;
/// Limit on the total size of the files other than `run.json` and the journal.
const MOST_FURTHER_BYTES: u64 = 1 << 30;
/// Limit on the archive itself: incompressible content is stored as is.
const MOST_ARCHIVE_BYTES: u64 = MOST_JOURNAL_BYTES + MOST_FURTHER_BYTES + (64 << 20);
/// Length of a name in a tar header.
const MOST_NAME_BYTES: usize = 100;
/// Block size of a tar file.
const BLOCK_BYTES: usize = 512;
/// Compression level: higher levels take several times as long and save a few per cent.
const LEVEL: i32 = 9;
/// Base-2 logarithm of the number of bytes that the decoder keeps in memory: 8 MiB.
const WINDOW_LOG: u32 = 23;
const PIECE_BYTES: usize = 1 << 16;
/// Limit on the ratio of the size of the files to the size of the archive. For real runs, the ratio is 4 to 8, because
/// the hashes in a journal cannot be compressed. Without a limit, a small forged archive could take gigabytes of
/// memory.
const MOST_EXPANSION: u64 = 200;
/// Total size of the files up to which a small archive may have any ratio.
const FREE_BYTES: u64 = 16 << 20;
/// Last modification time that a tar header can represent, in the year 2242.
const LAST_SECOND: u64 = (1 << 33) - 1;

/// Returns the name of the run whose archive has this file name; `None` if no archive can have this name.
pub(super) fn run_in(name: &OsStr) -> Option<&OsStr> {
    let run = name.as_bytes().strip_suffix(SUFFIX.as_bytes())?;
    (!run.is_empty() && !run.starts_with(b".")).then(|| OsStr::from_bytes(run))
}

/// Returns the file name of this run's archive.
pub(super) fn name_of(run: &OsStr) -> OsString {
    let mut name = run.to_owned();
    name.push(SUFFIX);
    name
}

/// Returns whether an archive is at `path`.
pub(super) fn is_at(storage: &dyn Storage, path: &Path) -> bool {
    let has_name = path.file_name().is_some_and(|name| run_in(name).is_some());
    has_name && storage.look(path).is_ok_and(|found| found.kind == FoundKind::File)
}

/// Returns whether `path` is a folder that contains a run file or a journal; such a folder is authoritative even if an
/// archive of the run exists. If the folder's content cannot be determined, the result is true.
pub(super) fn is_folder_of_run(storage: &dyn Storage, path: &Path) -> bool {
    let may_have = |name: &str| match storage.look(&path.join(name)) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    let is_folder = storage.look(path).is_ok_and(|found| found.kind == FoundKind::Folder);
    is_folder && (may_have(RUN_FILE) || may_have(JOURNAL))
}

/// Returns whether a file may be an archived run, judging by its name and zstd's magic number.
#[must_use]
pub fn is_archive(path: &Path, beginning: &[u8]) -> bool {
    path.file_name().is_some_and(|name| run_in(name).is_some()) && beginning.starts_with(&ZSTD_MAGIC)
}

/// Returns whether a file with this name can be stored.
pub(super) fn is_file_name(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let is_plain = !bytes.is_empty() && bytes.len() <= MOST_NAME_BYTES && name != "." && name != "..";
    is_plain && !bytes.iter().any(|byte| matches!(byte, b'/' | 0))
}

/// Returns the rank of a file; files are sorted by rank, then by name.
pub(super) fn rank(name: &OsStr) -> u8 {
    match name.as_bytes() {
        name if name == RUN_FILE.as_bytes() => 0,
        name if name == JOURNAL.as_bytes() => 2,
        _ => 1,
    }
}

/// The number and sizes of the files seen so far.
#[derive(Debug, Default)]
pub(super) struct Total {
    files: usize,
    further_bytes: u64,
}

impl Total {
    /// Adds a file.
    ///
    /// # Errors
    /// Returns an error if a limit is exceeded.
    pub fn add(&mut self, name: &OsStr, bytes: u64) -> io::Result<()> {
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(io::Error::other(format!("it has more than {MOST_FILES} files")));
        }
        let limit_bytes = match rank(name) {
            0 => MOST_RUN_FILE_BYTES,
            2 => MOST_JOURNAL_BYTES,
            _ => MOST_FURTHER_BYTES - self.further_bytes,
        };
        if bytes > limit_bytes {
            return Err(ReadError::TooLarge { limit_bytes }.into());
        }
        self.further_bytes += if rank(name) == 1 { bytes } else { 0 };
        Ok(())
    }
}

/// Writes an archive.
pub(super) struct Packer<'a> {
    encoder: Encoder<'static, Appending<'a>>,
    modified_seconds: u64,
}

impl<'a> Packer<'a> {
    /// Begins an archive of files with these sizes; all files get this modification time.
    pub fn new(output: &'a mut dyn Stored, modified_seconds: u64, sizes: &[u64]) -> io::Result<Self> {
        let of_file = |bytes: &u64| (BLOCK_BYTES + padding(*bytes)) as u64 + bytes;
        let whole = sizes.iter().map(of_file).sum::<u64>() + 2 * BLOCK_BYTES as u64;
        let mut encoder = Encoder::new(Appending(output), LEVEL)?;
        // As a result, a reader of a small archive needs little memory.
        encoder.set_pledged_src_size(Some(whole))?;
        encoder.include_checksum(true)?;
        encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        Ok(Self { encoder, modified_seconds })
    }

    /// Adds a file; `content` must have exactly `bytes` bytes.
    pub fn add(&mut self, name: &OsStr, bytes: u64, content: &mut dyn BufRead) -> io::Result<()> {
        self.encoder.write_all(&header(name, bytes, self.modified_seconds))?;
        let copied = io::copy(&mut (&mut *content).take(bytes), &mut self.encoder)?;
        if copied != bytes || !content.fill_buf()?.is_empty() {
            return Err(io::Error::other(format!("{} changed in the meantime", name.display())));
        }
        self.encoder.write_all(&[0; BLOCK_BYTES][..padding(bytes)])
    }

    /// Completes the archive.
    pub fn finish(mut self) -> io::Result<()> {
        self.encoder.write_all(&[0; 2 * BLOCK_BYTES])?;
        self.encoder.finish().map(drop)
    }
}

struct Appending<'a>(&'a mut dyn Stored);

impl Write for Appending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.append(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the number of zero bytes that pad a file.
fn padding(bytes: u64) -> usize {
    (BLOCK_BYTES - (bytes % BLOCK_BYTES as u64) as usize) % BLOCK_BYTES
}

/// Returns the header of a regular file (POSIX.1-1988, ustar). Its name must be [valid](is_file_name).
fn header(name: &OsStr, bytes: u64, modified_seconds: u64) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{bytes:011o}\0").as_bytes());
    put(136, format!("{:011o}\0", modified_seconds.min(LAST_SECOND)).as_bytes());
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum = checksum(&block);
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Returns the sum of a header's bytes, where the checksum field counts as spaces.
fn checksum(block: &[u8; BLOCK_BYTES]) -> u32 {
    let own = block[148..156].iter().map(|byte| u32::from(*byte)).sum::<u32>();
    block.iter().map(|byte| u32::from(*byte)).sum::<u32>() - own + 8 * u32::from(b' ')
}

/// Parses an octal number that ends with a space or zero byte.
fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    if text.starts_with('+') { None } else { u64::from_str_radix(text, 8).ok() }
}

/// Parses a header; an error says what is wrong with it.
fn parse(block: &[u8; BLOCK_BYTES]) -> Result<(OsString, u64), &'static str> {
    if octal(&block[148..156]) != Some(u64::from(checksum(block))) {
        return Err("a header is damaged");
    }
    if !matches!(block[156], b'0' | 0) || block[345] != 0 {
        return Err("it contains something other than regular files");
    }
    let name = block[..MOST_NAME_BYTES].split(|byte| *byte == 0).next().unwrap_or_default();
    let name = OsString::from_vec(name.to_vec());
    let bytes = octal(&block[124..136]).ok_or("a header is damaged")?;
    if is_file_name(&name) { Ok((name, bytes)) } else { Err("the name of a file is not valid") }
}

fn invalid(problem: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, problem)
}

/// A reader that fails once more than `left` bytes have been read.
struct Bounded<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        let left = self.left.checked_sub(bytes as u64);
        self.left =
            left.ok_or_else(|| invalid("its files are far larger than those of any run of its size"))?;
        Ok(bytes)
    }
}

/// Reads an archive, file by file. As a reader, it returns the content of the current file.
pub(super) struct Unpacker<'a> {
    input: BufReader<Bounded<Decoder<'static, Box<dyn BufRead + Send + 'a>>>>,
    /// Name of the current file.
    name: Option<OsString>,
    /// Number of bytes in the current file that have not been read yet.
    left: u64,
    padding: usize,
    total: Total,
}

impl<'a> Unpacker<'a> {
    /// Begins reading.
    pub fn new(stored: &'a mut dyn Stored) -> io::Result<Self> {
        let archive_bytes = stored.extent()?.bytes;
        Self::of(stored.reader(MOST_ARCHIVE_BYTES)?, archive_bytes)
    }

    /// Begins reading an archive of this size.
    fn of(archive: Box<dyn BufRead + Send + 'a>, archive_bytes: u64) -> io::Result<Self> {
        let mut decoder = Decoder::with_buffer(archive)?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
        let left = FREE_BYTES.saturating_add(archive_bytes.saturating_mul(MOST_EXPANSION));
        let input = BufReader::with_capacity(PIECE_BYTES, Bounded { input: decoder, left });
        Ok(Self { input, name: None, left: 0, padding: 0, total: Total::default() })
    }

    /// Continues with the next file; returns its name and size. Returns `None` after the last one.
    pub fn next_file(&mut self) -> io::Result<Option<(OsString, u64)>> {
        io::copy(&mut *self, &mut io::sink())?;
        let mut block = [0; BLOCK_BYTES];
        self.input.read_exact(&mut block[..self.padding])?;
        self.padding = 0;
        self.input.read_exact(&mut block)?;
        if block == [0; BLOCK_BYTES] {
            return self.end().map(|()| None);
        }
        let (name, bytes) = parse(&block).map_err(invalid)?;
        let is_next = match &self.name {
            None => rank(&name) == 0,
            Some(last) => (rank(last), last) < (rank(&name), &name),
        };
        if !is_next {
            return Err(invalid("it is not an archived run: its files are not in the expected order"));
        }
        self.total.add(&name, bytes)?;
        (self.left, self.padding) = (bytes, padding(bytes));
        self.name = Some(name.clone());
        Ok(Some((name, bytes)))
    }

    /// Checks that nothing follows the last file. The zstd checksum is at the very end.
    fn end(&mut self) -> io::Result<()> {
        if self.name.as_ref().is_none_or(|name| rank(name) != 2) {
            return Err(invalid("it is not an archived run: it has no journal"));
        }
        let mut rest = Vec::new();
        self.input.by_ref().take(2 * BLOCK_BYTES as u64).read_to_end(&mut rest)?;
        if rest == [0; BLOCK_BYTES] { Ok(()) } else { Err(invalid("something follows its last file")) }
    }

    /// Continues with the file `name`.
    pub fn seek(&mut self, name: &OsStr, limit_bytes: u64) -> io::Result<()> {
        while let Some((found, bytes)) = self.next_file()? {
            if found == name {
                return if bytes > limit_bytes {
                    Err(ReadError::TooLarge { limit_bytes }.into())
                } else {
                    Ok(())
                };
            }
            // Later files have higher ranks, or the same rank and names that are later in the alphabet.
            if (rank(&found), &*found) > (rank(name), name) {
                break;
            }
        }
        Err(ErrorKind::NotFound.into())
    }
}

impl Read for Unpacker<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let bytes = available.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&available[..bytes]);
        self.consume(bytes);
        Ok(bytes)
    }
}

impl BufRead for Unpacker<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Ok(&[]);
        }
        let available = self.input.fill_buf()?;
        if available.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let bytes = available.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        Ok(&available[..bytes])
    }

    fn consume(&mut self, bytes: usize) {
        self.input.consume(bytes);
        self.left -= bytes as u64;
    }
}

/// The journal in an archive, which can be read only once, from its beginning. The last read fails if the archive is
/// damaged.
pub(super) struct ArchivedJournal {
    archive: Unpacker<'static>,
    is_over: bool,
}

impl ArchivedJournal {
    /// Opens the journal and also returns its length.
    pub fn open(stored: Box<dyn Stored>) -> io::Result<(Self, u64)> {
        let archive_bytes = stored.extent()?.bytes;
        let mut archive = Unpacker::of(stored.into_reader(MOST_ARCHIVE_BYTES)?, archive_bytes)?;
        archive.seek(OsStr::new(JOURNAL), MOST_JOURNAL_BYTES)?;
        let length = archive.left;
        Ok((Self { archive, is_over: false }, length))
    }
}

impl Read for ArchivedJournal {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = if self.is_over { 0 } else { self.archive.read(buffer)? };
        if bytes == 0 && !buffer.is_empty() && !self.is_over {
            // Nothing may follow the journal, and the checksum is at the end.
            self.archive.next_file()?;
            self.is_over = true;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
