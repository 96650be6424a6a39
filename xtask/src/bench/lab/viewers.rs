//! Viewers of runs in progress. Each makes the requests of the page's script (`live.js`): the stream of events, the
//! changed part of the page after each record but at most once a second, and the current second once a second.

use std::io::{BufRead as _, BufReader};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};

use labdemo::server::Server;

const SECOND: Duration = Duration::from_secs(1);

/// A record received by a viewer.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    /// Index of the run.
    pub run: usize,
    /// Number of the record.
    pub record: u64,
    pub at: Instant,
}

/// Viewers that watch until the scope ends.
pub struct Viewers<'scope> {
    streams: Vec<TcpStream>,
    threads: Vec<ScopedJoinHandle<'scope, anyhow::Result<()>>>,
    all: &'scope All,
}

/// State that the threads share.
#[derive(Default)]
pub struct All {
    received: Mutex<Vec<Received>>,
    /// Set when the viewers leave. From then on, the end of a stream is not a failure.
    leaving: AtomicBool,
}

impl<'scope> Viewers<'scope> {
    /// Starts viewers, spread evenly over the runs.
    pub fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        all: &'scope All,
        server: &'scope Server,
        runs: &'scope [String],
        count: usize,
    ) -> anyhow::Result<Self> {
        let mut viewers = Self { streams: Vec::new(), threads: Vec::new(), all };
        for number in 0..count {
            let index = number % runs.len();
            let run = &runs[index];
            server.get(&format!("/runs/{run}"))?;
            let stream = server.request(&format!("/api/runs/{run}/events"), "")?;
            viewers.streams.push(stream.try_clone()?);
            let changed = Arc::new(AtomicBool::new(false));
            let changes = Arc::clone(&changed);
            viewers.threads.push(scope.spawn(move || follow(&stream, index, &changes, all)));
            viewers.threads.push(scope.spawn(move || reload(server, run, &changed, all)));
        }
        Ok(viewers)
    }

    /// Ends all viewers; returns what they received.
    pub fn end(self) -> anyhow::Result<Vec<Received>> {
        self.all.leaving.store(true, Ordering::Relaxed);
        for stream in &self.streams {
            drop(stream.shutdown(Shutdown::Both));
        }
        for thread in self.threads {
            thread.join().map_err(|_| anyhow!("a viewer panicked"))??;
        }
        let mut received = self.all.received.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *received))
    }
}

/// Receives events.
fn follow(stream: &TcpStream, run: usize, changed: &AtomicBool, all: &All) -> anyhow::Result<()> {
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        if let Some(record) = line.strip_prefix("id: ").or_else(|| line.strip_prefix("id:")) {
            let one = Received { run, record: record.trim().parse()?, at: Instant::now() };
            all.received.lock().unwrap_or_else(PoisonError::into_inner).push(one);
            changed.store(true, Ordering::Relaxed);
        }
    }
    ensure!(all.leaving.load(Ordering::Relaxed), "the server ended a stream of events");
    Ok(())
}

/// Loads the changed part of the page or the current second, once a second, over one connection.
fn reload(server: &Server, run: &str, changed: &AtomicBool, all: &All) -> anyhow::Result<()> {
    let mut kept = server.keep()?;
    while !all.leaving.load(Ordering::Relaxed) {
        let begun = Instant::now();
        if changed.swap(false, Ordering::Relaxed) {
            kept.get(&format!("/runs/{run}/live?width=wide"))?;
        }
        kept.get(&format!("/runs/{run}/second"))?;
        thread::sleep(SECOND.saturating_sub(begun.elapsed()));
    }
    Ok(())
}
