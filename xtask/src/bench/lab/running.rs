//! Imitates runs in progress: records of recorded runs are appended to locked journals at a steady rate, and each run
//! rewrites its `live` file once a second.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, ensure};
use live::{Live, LiveFile, LivePhase, LiveSecond};
use record::Library;

use super::viewers::Received;
use crate::bench::library::Made;

/// Interval between two records of a run, as in a test with short cells; with cells of one minute, a run appends about
/// one record a minute. The `live` file is rewritten twice as often.
const RECORD_EVERY: Duration = Duration::from_secs(2);
/// Records that the journals contain at the start.
const FIRST_RECORDS: usize = 12;

/// When each record reached its journal, by run and record number.
type Written = HashMap<(usize, u64), Instant>;

/// The runs.
pub struct Running {
    ids: Vec<String>,
    stop: Arc<AtomicBool>,
    writer: JoinHandle<anyhow::Result<Written>>,
}

/// A run, and the records that are still to be appended.
struct Writer {
    id: String,
    journal: File,
    live: LiveFile,
    left: std::vec::IntoIter<String>,
    next: u64,
}

impl Running {
    pub fn start(made: &Made, count: u32) -> anyhow::Result<Self> {
        let ids: Vec<String> = (0..count).map(|number| format!("running{number:03}")).collect();
        let writers: Vec<Writer> = ids
            .iter()
            .zip(0..)
            .map(|(id, number)| Writer::new(made, number, id))
            .collect::<Result<_, _>>()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let writer = std::thread::spawn(move || append(writers, &stopped));
        Ok(Self { ids, stop, writer })
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Stops the runs. For each write after `since`, returns the times in s from its end until viewers received
    /// the record.
    pub fn end(self, received: &[Received], since: Instant) -> anyhow::Result<Vec<f64>> {
        self.stop.store(true, Ordering::Relaxed);
        let written = self.writer.join().map_err(|_| anyhow!("the writer panicked"))??;
        let latency = |one: &Received| {
            let written = written.get(&(one.run, one.record)).filter(|written| **written >= since)?;
            Some(one.at.saturating_duration_since(*written).as_secs_f64())
        };
        Ok(received.iter().filter_map(latency).collect())
    }
}

impl Writer {
    fn new(made: &Made, number: u32, id: &str) -> anyhow::Result<Self> {
        // In every template, a test is still in progress after the first records.
        let (run, text) = made.files(number, id)?;
        let dir = made.library().join(id);
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("run.json"), run)?;
        let mut lines = text.lines().map(|line| format!("{line}\n"));
        let first: String = lines.by_ref().take(FIRST_RECORDS + 1).collect();
        let left: Vec<String> = lines.collect();
        let path = dir.join("journal");
        std::fs::write(&path, first)?;
        let journal = OpenOptions::new().append(true).open(&path)?;
        ensure!(stdx::files::try_lock(&journal)?, "{} is locked", path.display());
        let run = find(&made.library(), id)?;
        let live = LiveFile::create(&run)?;
        Ok(Self { id: id.to_owned(), journal, live, left: left.into_iter(), next: FIRST_RECORDS as u64 })
    }

    fn write_live(&self, second: u64) -> anyhow::Result<()> {
        let now = LiveSecond {
            elapsed_seconds: second as f64,
            iops: 10_000.0,
            bytes_per_second: 40_960_000.0,
            mean_latency_seconds: 1e-4,
            max_latency_seconds: 1e-3,
        };
        let earlier = second.saturating_sub(59)..second;
        let mut seconds: Vec<_> =
            earlier.map(|at| LiveSecond { elapsed_seconds: at as f64, ..now }).collect();
        seconds.push(now);
        let live = Live {
            run: self.id.clone(),
            time: jiff::Timestamp::now(),
            test: Some("iops".into()),
            phase: Some(LivePhase::Cell),
            step: Some("RND 4 KiB W".into()),
            round: Some(1),
            max_rounds: Some(25),
            cell: Some(1),
            cells: Some(56),
            share_done: Some(0.5),
            elapsed_seconds: Some(second as f64),
            inactive_seconds: Some(0.0),
            left_seconds: Some(30.0),
            left_is_estimate: false,
            test_left_min_seconds: Some(3600.0),
            test_left_max_seconds: Some(36_000.0),
            temperature_celsius: Some(40),
            host_limited: false,
            load_written_bytes: Some(second * 40_960_000),
            seconds,
        };
        Ok(self.live.write(&live)?)
    }
}

fn find(library: &Path, id: &str) -> anyhow::Result<record::Run> {
    Library::at(library).find(id).with_context(|| format!("{id} is not in the library"))
}

/// Appends records until stopped; the runs write one after another, evenly spaced.
fn append(mut writers: Vec<Writer>, stop: &AtomicBool) -> anyhow::Result<Written> {
    let begun = Instant::now();
    let apart = RECORD_EVERY / writers.len().try_into()?;
    let mut written = Written::new();
    for turn in 0_u32.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep((apart * turn).saturating_sub(begun.elapsed()));
        let run = turn as usize % writers.len();
        let writer = &mut writers[run];
        if let Some(line) = writer.left.next() {
            writer.journal.write_all(line.as_bytes())?;
            writer.journal.sync_data()?;
            written.insert((run, writer.next), Instant::now());
            writer.next += 1;
        }
        let second = begun.elapsed().as_secs();
        // The turns of a run are two seconds apart, so `live` is also rewritten during another run's turn, one second
        // later.
        let other = (run + writers.len() / 2) % writers.len();
        for index in [run, other] {
            writers[index].write_live(second)?;
        }
    }
    Ok(written)
}
