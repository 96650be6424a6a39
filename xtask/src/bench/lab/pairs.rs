//! Measures whether watching a run changes its figures, with pairs of runs on a file, one of which is watched.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::viewers::{All, Viewers};
use crate::bench::results::{Row, median, part};
use labdemo::server::Server;

/// A test with small blocks at QD 1, whose figures depend most on other load on the host.
const TEST: &str = "lat";
const CELL_SECONDS: &str = "--cell-seconds=1";
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs the pairs.
pub fn rows(binary: &Path, folder: &Path, targets: &Path, pairs: u32) -> anyhow::Result<Vec<Row>> {
    let target = tempfile::Builder::new().prefix("plateau-bench").tempdir_in(targets)?;
    let bench = Pairs { binary, library: folder.join("watched"), target: target.path().join("target.bin") };
    let mut ratios = Vec::new();
    for pair in 0..pairs {
        // The order alternates, so that drift on the host affects both runs equally.
        let (plain, watched) = if pair % 2 == 0 {
            let plain = bench.run(false, &folder.join("state"))?;
            (plain, bench.run(true, &folder.join("state"))?)
        } else {
            let watched = bench.run(true, &folder.join("state"))?;
            (bench.run(false, &folder.join("state"))?, watched)
        };
        ratios.push(watched / plain);
    }
    let all = |quantile| part(ratios.iter().copied(), quantile);
    let ratio = median(ratios.iter().copied());
    let measured = format!("{ratio:.4} ({:.4} to {:.4})", all(0.25), all(0.75));
    Ok(vec![Row {
        target: "<= 1, or level".into(),
        limit: Some(1.0),
        best_quarter: Some(all(0.25)),
        ..Row::stated(format!("response times, watched / unwatched run ({pairs} pairs)"), measured, ratio)
    }])
}

struct Pairs<'a> {
    binary: &'a Path,
    library: std::path::PathBuf,
    target: std::path::PathBuf,
}

impl Pairs<'_> {
    /// Runs the test; returns the geometric mean of the average response times of its cells.
    fn run(&self, is_watched: bool, state: &Path) -> anyhow::Result<f64> {
        if self.library.exists() {
            std::fs::remove_dir_all(&self.library)?;
        }
        std::fs::create_dir_all(&self.library)?;
        if self.target.exists() {
            std::fs::remove_file(&self.target)?;
        }
        let server = is_watched.then(|| Server::start(self.binary, &self.library, state)).transpose()?;
        let ended = AtomicBool::new(false);
        let all = All::default();
        thread::scope(|scope| {
            let watcher = server.as_ref().map(|server| scope.spawn(|| self.watch(server, &all, &ended)));
            let mut command = Command::new(self.binary);
            command.args(["run", TEST]).arg(&self.target).args([
                "--size=64MiB",
                CELL_SECONDS,
                "--max-rounds=5",
            ]);
            command.args(["--name=watched", "--library"]).arg(&self.library);
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            ended.store(true, Ordering::Relaxed);
            // The exit code depends on whether the target became steady.
            ensure!(matches!(status?.code(), Some(0 | 1)), "the run failed");
            if let Some(watcher) = watcher {
                watcher.join().ok().context("the viewer panicked")??;
            }
            Ok(())
        })?;
        drop(server);
        self.mean_ms()
    }

    /// Watches the run from its appearance to its end.
    fn watch(&self, server: &Server, all: &All, ended: &AtomicBool) -> anyhow::Result<()> {
        let id = loop {
            let entries = std::fs::read_dir(&self.library)?.filter_map(Result::ok);
            let run = entries.map(|entry| entry.path()).find(|path| path.join("live").exists());
            if let Some(id) = run.as_deref().and_then(Path::file_name) {
                break id.to_string_lossy().into_owned();
            }
            ensure!(!ended.load(Ordering::Relaxed), "the run did not appear in the library");
            thread::sleep(LOOK_EVERY);
        };
        let ids = [id];
        let received = thread::scope(|scope| {
            let viewers = Viewers::start(scope, all, server, &ids, 1)?;
            while !ended.load(Ordering::Relaxed) {
                thread::sleep(LOOK_EVERY);
            }
            viewers.end()
        })?;
        ensure!(!received.is_empty(), "the viewer received nothing");
        Ok(())
    }

    fn mean_ms(&self) -> anyhow::Result<f64> {
        let query =
            "SELECT value FROM figure WHERE unit = 'ms' AND figure_key NOT LIKE '%max%' AND value > 0";
        let mut command = Command::new(self.binary);
        let output = command.args(["query", "--csv", query, "--library"]).arg(&self.library).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        let values: Vec<f64> = text.lines().skip(1).map(str::parse).collect::<Result<_, _>>()?;
        ensure!(!values.is_empty(), "the run has no response times");
        Ok((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
    }
}
