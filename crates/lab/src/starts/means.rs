//! How runs are started and watched; tests replace these means.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::Builder;

use launch::{LaunchError, Launched, Launcher, Process, Request, process_of};

/// Carries out a request; the string is the name of the request's files.
pub type Perform = dyn Fn(&Request, &str) -> Result<Launched, LaunchError> + Send + Sync;

/// Finds the process that is working on the run with this journal.
pub type FindProcess = dyn Fn(&Path) -> Option<Process> + Send + Sync;

/// How runs are started and watched.
pub struct Means {
    pub perform: Box<Perform>,
    /// Returns the process that is working on the run with this journal, if it is known.
    pub process: Box<FindProcess>,
    /// Runs a function in a thread of its own.
    pub spawn: fn(Box<dyn FnOnce() + Send>) -> io::Result<()>,
}

impl Means {
    /// Starts runs with the privileges of this process or, if there is a socket, by the launcher that listens on it.
    pub fn of(launcher: Launcher, socket: Option<PathBuf>) -> Self {
        let perform: Box<Perform> = match socket {
            Some(socket) => Box::new(move |request, _| {
                launch::through(&socket, request).map(|run| Launched { run, child: None })
            }),
            None => Box::new(move |request, name| launcher.perform(request, name)),
        };
        let spawn =
            |body: Box<dyn FnOnce() + Send>| Builder::new().name("start".into()).spawn(body).map(drop);
        Self { perform, process: Box::new(process_of), spawn }
    }
}
