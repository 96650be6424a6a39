//! Each broken product is detected through the promise that it breaks. This shows that every check can fail.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use plateau::course::Resumption;
use record::storage::simulated::Simulated;
use record::storage::{Extent, Found, Storage, Stored};
use swarm::{Product, Promise, WholeProduct, explore, shrink};

/// The defect of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// Reports a sync without performing it.
    NoSync,
    /// Does not sync directories, so file names may be lost.
    NoFolderSync,
    /// Displays a record before it is synced, and syncs it only together with the next record.
    ShowsBeforeSync,
    /// Restarts every test, whatever the user requested.
    Restarts,
}

impl Product for Flaw {
    fn storage(&self, disk: &Simulated) -> Arc<dyn Storage> {
        Arc::new(Flawed { disk: disk.clone(), flaw: *self })
    }

    fn resumption(&self, planned: Resumption) -> Resumption {
        if *self == Self::Restarts { Resumption::RestartTest } else { planned }
    }
}

#[derive(Debug)]
struct Flawed {
    disk: Simulated,
    flaw: Flaw,
}

impl Flawed {
    fn opened(&self, inner: io::Result<Box<dyn Stored>>, is_folder: bool) -> io::Result<Box<dyn Stored>> {
        Ok(Box::new(FlawedFile { inner: inner?, flaw: self.flaw, is_folder, is_owed: false }))
    }
}

impl Storage for Flawed {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        self.opened(self.disk.create(path), false)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        self.disk.open(path)
    }
    fn open_to_append(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        self.opened(self.disk.open_to_append(path), false)
    }
    fn open_folder(&self, path: &Path) -> io::Result<Box<dyn Stored>> {
        self.opened(self.disk.open_folder(path), true)
    }
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.disk.create_folder(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_folder(path)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.disk.list(folder)
    }
    fn look(&self, path: &Path) -> io::Result<Found> {
        self.disk.look(path)
    }
    fn now(&self) -> jiff::Timestamp {
        self.disk.now()
    }
}

#[derive(Debug)]
struct FlawedFile {
    inner: Box<dyn Stored>,
    flaw: Flaw,
    is_folder: bool,
    is_owed: bool,
}

impl Stored for FlawedFile {
    fn read(&mut self, most_bytes: u64) -> io::Result<Vec<u8>> {
        self.inner.read(most_bytes)
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if std::mem::take(&mut self.is_owed) {
            self.inner.sync_data()?;
        }
        self.inner.append(bytes)
    }
    fn rewrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.inner.rewrite(at, bytes)
    }
    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.inner.set_len(bytes)
    }
    fn sync_data(&mut self) -> io::Result<()> {
        match self.flaw {
            Flaw::NoSync => Ok(()),
            Flaw::ShowsBeforeSync => {
                self.is_owed = true;
                Ok(())
            }
            Flaw::NoFolderSync | Flaw::Restarts => self.inner.sync_data(),
        }
    }
    fn sync_all(&mut self) -> io::Result<()> {
        match self.flaw {
            Flaw::NoSync => Ok(()),
            Flaw::NoFolderSync if self.is_folder => Ok(()),
            _ => self.inner.sync_all(),
        }
    }
    fn try_lock(&self) -> io::Result<bool> {
        self.inner.try_lock()
    }
    fn is_locked(&self) -> io::Result<bool> {
        self.inner.is_locked()
    }
    fn found(&self) -> io::Result<Found> {
        self.inner.found()
    }
    fn extent(&self) -> io::Result<Extent> {
        self.inner.extent()
    }
    fn names(&self) -> io::Result<Vec<OsString>> {
        self.inner.names()
    }
    fn look(&self, name: &OsStr) -> io::Result<Found> {
        self.inner.look(name)
    }
    fn create_file(&mut self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        let inner = self.inner.create_file(name)?;
        Ok(Box::new(FlawedFile { inner, flaw: self.flaw, is_folder: false, is_owed: false }))
    }
    fn open_file(&self, name: &OsStr) -> io::Result<Box<dyn Stored>> {
        self.inner.open_file(name)
    }
    fn remove_file(&mut self, name: &OsStr) -> io::Result<()> {
        self.inner.remove_file(name)
    }
}

/// Changes to the workspace root, because paths of models and plans are relative to it, but tests start in the
/// directory of their package.
fn at_the_root() {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).expect("the root");
}

/// Returns the promise that `flaw` breaks first, and the promise that the shortest script breaks.
fn found_out(flaw: Flaw) -> (Promise, Promise) {
    at_the_root();
    let failure = (1..20).find_map(|seed| explore(&flaw, seed, None).err()).expect("a failure");
    let (script, broken) = shrink(&flaw, &failure.script).expect("the script alone reproduces it");
    assert!(script.lives.len() <= failure.script.lives.len(), "{script}");
    assert!(script.lives.iter().all(|life| life.faults.is_empty()), "no fault is needed: {script}");
    // The fault is in the product, not in the script.
    assert_eq!(swarm::play(&WholeProduct, &script), Ok(()), "{script}");
    (failure.broken.promise, broken.promise)
}

#[test]
fn without_syncs() {
    let (first, shortest) = found_out(Flaw::NoSync);
    let expected = [Promise::ShownIsKept, Promise::NoTornRun];
    assert!(expected.contains(&first) && expected.contains(&shortest), "{first:?}, {shortest:?}");
}

#[test]
fn without_syncs_of_folders() {
    let (first, shortest) = found_out(Flaw::NoFolderSync);
    let expected = [Promise::ShownIsKept, Promise::NoTornRun];
    assert!(expected.contains(&first) && expected.contains(&shortest), "{first:?}, {shortest:?}");
}

#[test]
fn records_shown_before_they_are_synced() {
    assert_eq!(found_out(Flaw::ShowsBeforeSync), (Promise::ShownIsKept, Promise::ShownIsKept));
}

#[test]
fn an_unrequested_purge() {
    assert_eq!(found_out(Flaw::Restarts).0, Promise::PurgedOnce);
}

#[test]
fn a_seed_gives_the_same_result_every_time() {
    at_the_root();
    let first = explore(&Flaw::ShowsBeforeSync, 3, None).expect_err("a failure");
    let second = explore(&Flaw::ShowsBeforeSync, 3, None).expect_err("a failure");
    assert_eq!((first.script.clone(), &first.broken), (second.script.clone(), &second.broken));
    assert!(first.script.to_string().starts_with("seed 3\n  plateau run "), "{}", first.script);
}
