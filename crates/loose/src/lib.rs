//! Loads without a device: no I/O at all, or files of a folder that are created, inspected or deleted.
//!
//! Nothing that exists is written to or deleted: files are only created anew, and only those are deleted. The folder
//! stays open, so that no other folder can take its place between the two.
#![forbid(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;

use device::{DriveError, Manner, OpenOptions, TargetError, check, unverified};
use engine::{
    Answer, Clock, Engine, FileOperation, Flow, FolderFiles, LoadOptions, Places, StreamOptions, Target, Tick,
};
use record::{TargetFacts, TargetKind, Workload};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use stdx::Rng;
use stdx::units::MIB;

/// A load without a device.
#[derive(Debug)]
pub struct Loose {
    facts: TargetFacts,
    clock: Clock,
    options: LoadOptions,
    folder: Option<(File, Vec<CString>, u64)>,
}

impl Loose {
    /// Opens nothing, for [`Engine::Null`]; `options` contains the size. Or opens the folder of files, for
    /// [`Engine::Files`].
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](device::ErrorKind::Unusable) if the folder cannot be opened or a file that would be created
    /// exists, [`ErrorKind::Invalid`](device::ErrorKind::Invalid) if threads cannot be placed as requested.
    pub fn open(name: &str, options: &OpenOptions, files: Option<&FolderFiles>) -> Result<Self, DriveError> {
        let mut manners = options.manners().map(of_manner).collect::<Result<Vec<_>, _>>()?;
        let first = manners.remove(0);
        let load = LoadOptions { others: manners, ..first };
        let folder = files.map(|files| held(files).map_err(|error| failed(&files.folder, error)));
        let loose = Self {
            facts: facts(name, options.size_bytes.unwrap_or(0)),
            clock: Clock::start(),
            options: load,
            folder: folder.transpose()?,
        };
        loose.refuse_existing()?;
        Ok(loose)
    }

    fn operation(&self) -> Option<FileOperation> {
        match self.options.engine {
            Engine::Files(operation) => Some(operation),
            _ => None,
        }
    }

    /// Rejects names in use. Only an inspection accepts files that exist.
    fn refuse_existing(&self) -> Result<(), DriveError> {
        let Some((folder, names, _)) = &self.folder else { return Ok(()) };
        if self.operation().is_some_and(FileOperation::only_inspects) {
            return Ok(());
        }
        for name in names {
            match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(failed(&name.to_string_lossy(), errno.into())),
                Ok(_) => return Err(failed(&name.to_string_lossy(), Errno::EXIST.into())),
            }
        }
        Ok(())
    }

    /// Creates the files that the load inspects or deletes.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`](device::ErrorKind::Unusable) if a file cannot be created. The files before it are deleted.
    pub fn prepare(&self) -> Result<(), DriveError> {
        let (Some((folder, names, file_bytes)), Some(operation)) = (&self.folder, self.operation()) else {
            return Ok(());
        };
        if operation.creates() {
            return Ok(());
        }
        let folders = operation.is_on_folders();
        let content = content(*file_bytes);
        let mut created = Vec::new();
        for name in names {
            let made = if folders {
                rustix::fs::mkdirat(folder, name, Mode::RWXU).map_err(io::Error::from)
            } else {
                created_file(folder, name).and_then(|file| fill(file, &content, *file_bytes))
            };
            match made {
                Ok(()) => created.push(name),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && operation.only_inspects() => {}
                Err(error) => {
                    let flags = if folders { AtFlags::REMOVEDIR } else { AtFlags::empty() };
                    for name in created {
                        // The first error is the one to report.
                        let _ = rustix::fs::unlinkat(folder, name, flags);
                    }
                    return Err(failed(&name.to_string_lossy(), error));
                }
            }
        }
        Ok(())
    }

    /// Returns facts for the result; the path is the name of the load's files.
    #[must_use]
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Returns the time on the clock of the load, like [`device::Armed::now_ns`].
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Runs workloads concurrently, like [`device::Armed::run_concurrently`].
    ///
    /// # Errors
    /// Returns an error if an operation on a file fails or the workload is not possible.
    pub fn run_concurrently(
        &mut self,
        workloads: &[Workload],
        streams: &[StreamOptions<'_>],
        on_tick: &mut dyn FnMut(usize, &Tick) -> Flow,
    ) -> Result<Vec<Answer>, DriveError> {
        for workload in workloads {
            unverified(workload)?;
            check(workload, &self.facts)?;
        }
        let path = &self.facts.path;
        let target = match &self.folder {
            None => Target::none(path, self.clock, &self.options),
            Some((folder, names, _)) => {
                Target::folder(path, folder.as_fd(), names, self.clock, &self.options)
            }
        };
        Ok(engine::run_concurrently(&target, workloads, streams, on_tick)?)
    }
}

fn of_manner(manner: Manner) -> Result<LoadOptions, DriveError> {
    let Manner { engine, placement, polling } = manner;
    let places = Places::of(Path::new(&sysfs::Roots::default().sys), None, placement);
    Ok(LoadOptions {
        engine,
        places: places.map_err(engine::EngineError::from)?,
        polling,
        unpolled: None,
        choices: engine::Choices::default(),
        expected_run: None,
        others: Vec::new(),
    })
}

fn held(files: &FolderFiles) -> io::Result<(File, Vec<CString>, u64)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(&*files.folder, flags, Mode::empty())?);
    let names = files.names.iter().map(|name| CString::new(&**name)).collect::<Result<_, _>>()?;
    Ok((folder, names, files.file_bytes))
}

fn failed(target: &str, error: io::Error) -> DriveError {
    DriveError::target(target, TargetError::System(error))
}

fn facts(name: &str, capacity_bytes: u64) -> TargetFacts {
    TargetFacts {
        kind: TargetKind::File,
        path: name.to_owned(),
        identity: name.to_owned(),
        attachment: None,
        vendor: None,
        model: None,
        serial: None,
        firmware: None,
        interface: None,
        nand: None,
        capacity_bytes,
        logical_block_bytes: 1,
        physical_block_bytes: 1,
        rotational: None,
        simulated: None,
        array: None,
    }
}

fn created_file(folder: &File, name: &CString) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Returns data for files, so that they have blocks on every file system.
fn content(file_bytes: u64) -> Vec<u8> {
    let mut rng = Rng::from_seed_and_stream(1, 0);
    let words = file_bytes.min(MIB).div_ceil(8);
    (0..words).flat_map(|_| rng.next_u64().to_le_bytes()).collect()
}

fn fill(mut file: File, content: &[u8], file_bytes: u64) -> io::Result<()> {
    let mut left = file_bytes;
    while left > 0 {
        let part = left.min(content.len() as u64);
        file.write_all(&content[..part as usize])?;
        left -= part;
    }
    Ok(())
}
