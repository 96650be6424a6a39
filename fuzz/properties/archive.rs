//! Archived runs: any bytes are read as a run or refused with an error. A run whose files can be read is restored to the
//! same files, and archived again.
//!
//! The input is an archive or a tar file. A tar file is compressed first, because hardly any change to
//! compressed bytes preserves their checksum.

use std::path::Path;
use std::sync::Arc;

use record::storage::Storage;
use record::storage::simulated::{Disk, Simulated};
use record::{Library, LibraryError, Run};

/// Runs with more data than this are read, but not restored.
const MOST_BYTES: usize = 1 << 20;

pub fn check(bytes: &[u8]) {
    check_archive(bytes);
    check_archive(&zstd::encode_all(bytes, 1).expect("memory"));
}

fn check_archive(archive: &[u8]) {
    let now = "2026-11-26T00:00:00Z".parse().expect("a time");
    let storage = Simulated::on(Disk::default(), now, Vec::new());
    storage.create_folder(Path::new("/l")).expect("a folder");
    let mut file = storage.create(Path::new("/l/x.tar.zst")).expect("a file");
    file.append(archive).expect("memory");
    drop(file);
    let library = Library::on(Arc::new(storage), "/l");
    let Ok(run) = library.open("x") else { return };
    let loaded = run.load();
    let journal = run.journal_reader().map_err(drop).and_then(|(mut reader, length)| {
        let read = std::io::copy(&mut reader, &mut std::io::sink()).map_err(drop)?;
        assert_eq!(read, length, "the journal has the stated length");
        Ok(length)
    });
    let Ok(names) = run.file_names() else {
        assert!(loaded.is_err(), "a journal at the end of a damaged archive was accepted");
        assert!(run.unarchive(accepted).is_err(), "a damaged archive was restored");
        assert!(library.open("x").is_ok_and(|run| run.is_archived()), "the archive is still there");
        return;
    };
    journal.expect("all files can be read, so the journal can be read");
    // A simulated disk stores file names as text.
    if names.iter().any(|name| name.to_str().is_none()) {
        return;
    }
    let before = contents(&run);
    if before.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > MOST_BYTES {
        return;
    }
    let digest = loaded.map(|loaded| loaded.digest).ok();
    let restored = library.open("x").expect("a run").unarchive(accepted).expect("all files can be read");
    let run = library.open("x").expect("the restored run");
    assert!(!run.is_archived() && restored.path == run.dir);
    assert_eq!(contents(&run), before);
    assert_eq!(run.load().map(|loaded| loaded.digest).ok(), digest);
    run.archive(accepted).expect("the same files again");
    let run = library.open("x").expect("the archived run");
    assert!(run.is_archived());
    assert_eq!(contents(&run), before);
}

fn accepted(_: &Run) -> Result<(), LibraryError> {
    Ok(())
}

/// Returns the names and contents of all files.
fn contents(run: &Run) -> Vec<(String, Vec<u8>)> {
    let read = |name: std::ffi::OsString| {
        let name = name.into_string().expect("text");
        let bytes = run.read_file(&name, u64::MAX).expect("a listed file can be read");
        (name, bytes)
    };
    run.file_names().expect("a list").into_iter().map(read).collect()
}
