//! Temporary files, fingerprints of contents, and a small workload; also used by the `engine` tests.

use std::io::Read;
use std::path::{Path, PathBuf};

use record::{Access, DataPattern, Range, Regime, Until, Workload};

/// Returns the directory for test files, in memory if possible, so that a slow disk does not slow down the
/// tests.
fn place() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let usable = tempfile::tempfile_in(&memory).is_ok();
    if usable { memory } else { std::env::temp_dir() }
}

/// Creates a directory that is removed on drop.
pub fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(place()).expect("a temporary directory")
}

/// An empty file that is removed on drop. It is not kept open, because a target that is open elsewhere is refused.
pub struct TempFile(tempfile::TempPath);

impl TempFile {
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Opens the file for reading and writing.
    pub fn open(&self) -> std::fs::File {
        std::fs::OpenOptions::new().read(true).write(true).open(&self.0).expect("a file")
    }
}

pub fn file() -> TempFile {
    TempFile(tempfile::NamedTempFile::new_in(place()).expect("a temporary file").into_temp_path())
}

/// Same as [`file`], but the file has the given size and consists of a single hole.
pub fn file_of(bytes: u64) -> TempFile {
    let file = file();
    file.open().set_len(bytes).expect("a length");
    file
}

/// Returns a fingerprint of the entire content of a file or device. It is a CRC computed by a CPU instruction,
/// because a standard library hash takes a hundred times as long in a debug build.
pub fn fingerprint(path: impl AsRef<Path>) -> u32 {
    let mut file = std::fs::File::open(path).expect("a readable file");
    let (mut sum, mut buffer) = (0, vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).expect("a read") {
            0 => return sum,
            n => sum = crc32c::crc32c_append(sum, &buffer[..n]),
        }
    }
}

/// Returns a workload of random 4 KiB writes across the first `bytes`: one thread, depth 4, 100 ms.
pub fn workload(bytes: u64) -> Workload {
    Workload {
        access: Access::Random,
        read_percent: 0,
        block_bytes: 4096,
        kinds: Vec::new(),
        zones: Vec::new(),
        sequence: None,
        threads: 1,
        queue_depth: 4,
        range: Range::first(bytes),
        from_block: 0,
        align_bytes: 0,
        data_pattern: DataPattern::Random,
        until: Until::DurationNs(100_000_000),
        seed: 7,
        regime: Regime::default(),
        commands: None,
    }
}
