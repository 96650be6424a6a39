//! Memory use of a day-long run, which is simulated with shorter intervals.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use engine::Nowhere;
use record::{Until, Workload};

use super::targets::reads;
use crate::bench::host::resident_mib;
use crate::bench::results::Row;

const THREADS: u16 = 8;
const DAY_SECONDS: u64 = 24 * 3600;
/// Length of the interval that represents one second of the day.
const INTERVAL_NS: u64 = 100_000;
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LIMIT_MIB: f64 = 64.0;
const GROWTH_LIMIT_MIB: f64 = 1.0;

/// Returns two rows: peak resident memory, and its growth between 10 % and 90 % of the run.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let until = Until::DurationNs(DAY_SECONDS * INTERVAL_NS);
    let request = Workload { threads: THREADS, until, ..reads(32) };
    let (looks, over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let begin = Instant::now();
    let done = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if let (Ok(mib), Ok(mut looks)) = (resident_mib(), looks.lock()) {
                    looks.push((begin.elapsed().as_secs_f64(), mib));
                }
                std::thread::sleep(LOOK_EVERY);
            }
        });
        let done = engine::rehearse_by(Nowhere::Null, &request, INTERVAL_NS);
        over.store(true, Ordering::Relaxed);
        done
    })?;
    let seconds = done.segment.seconds();
    anyhow::ensure!(
        done.segment.series.read_ios.len() as u64 == DAY_SECONDS,
        "the run does not have the intervals of a day"
    );
    let at_the_end = resident_mib()?;
    let looks = looks.into_inner().map_err(|_| anyhow::anyhow!("the samples were lost"))?;
    let most = looks.iter().map(|look| look.1).fold(at_the_end, f64::max);
    let while_running: Vec<f64> =
        looks.iter().filter(|look| (0.1..0.9).contains(&(look.0 / seconds))).map(|look| look.1).collect();
    let first = *while_running.first().context("the run ended before its memory was sampled")?;
    let growth = while_running.iter().copied().fold(first, f64::max) - first;
    let row = |what: &str, limit: f64, value: f64| Row {
        what: format!("24 h of {THREADS} threads: {what}"),
        target: format!("<= {limit:.0} MiB"),
        measured: format!("{value:.1} MiB"),
        limit: Some(limit),
        ..Row::stated("", String::new(), value)
    };
    Ok(vec![row("resident memory", LIMIT_MIB, most), row("growth during the run", GROWTH_LIMIT_MIB, growth)])
}
