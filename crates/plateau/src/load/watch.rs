//! The progress display of a load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use console::progress::{Board, Left, Phase, Rate, Row, View, Watched};
use engine::Tick;
use record::Workload;
use stdx::units::SECOND_NS;

/// The progress display of a stage, which shows the latest second of all streams combined.
pub struct Watch {
    board: Board,
    row: usize,
    streams: Arc<Streams>,
    given_up: AtomicBool,
}

/// Data shared with the progress display.
struct Streams {
    what: String,
    /// Latest tick of each stream, and the time when the last tick arrived.
    ticks: Mutex<(Vec<Option<Tick>>, Duration)>,
    /// Whether maximum response times are meaningful.
    has_maxima: bool,
    is_over: AtomicBool,
}

impl Watch {
    pub fn of<'a>(workloads: impl Iterator<Item = &'a Workload>, has_maxima: bool) -> Self {
        let all: Vec<&Workload> = workloads.collect();
        let what = match &all[..] {
            [only] => only.to_string(),
            several => format!("{} streams", several.len()),
        };
        let ticks = Mutex::new((vec![None; all.len()], Duration::ZERO));
        let streams = Arc::new(Streams { what, ticks, has_maxima, is_over: AtomicBool::new(false) });
        let board = Board::of_process();
        let watched = Arc::clone(&streams) as Arc<dyn Watched>;
        let row = board.add(Row { watched, name: String::new(), run: None, target: None });
        Self { board, row, streams, given_up: AtomicBool::new(false) }
    }

    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    pub fn given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    pub fn show(&self, stream: usize, tick: &Tick) {
        let mut streams = self.streams.lock();
        (streams.0[stream], streams.1) = (Some(*tick), self.board.now());
        drop(streams);
        self.board.changed(self.row);
    }

    pub fn end(&self) {
        self.streams.is_over.store(true, Ordering::Relaxed);
        self.board.clear();
    }
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, (Vec<Option<Tick>>, Duration)> {
        self.ticks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched for Streams {
    fn view(&self, now: Duration) -> Option<View> {
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let (ticks, at) = self.lock().clone();
        let done = ticks.iter().flatten().map(|tick| tick.share_done).reduce(|all, share| all + share);
        let share = done.map(|done| done / ticks.len() as f64);
        let rest = share.filter(|share| *share > 0.0).map(|share| {
            let rest = at.mul_f64(((1.0 - share) / share).clamp(0.0, 1e6));
            rest.saturating_sub(now.saturating_sub(at))
        });
        Some(View {
            phase: Phase::Load,
            test: None,
            what: self.what.clone(),
            round: None,
            cell: None,
            share_done: share,
            elapsed: now,
            left: rest.map(Left::Known),
            rate: rate(&ticks, self.has_maxima),
            test_left: None,
            window: None,
            temperature_celsius: None,
            host_limited: false,
        })
    }
}

/// Returns the combined rates of all streams; `None` before the first tick.
fn rate(ticks: &[Option<Tick>], has_maxima: bool) -> Option<Rate> {
    let known: Vec<&Tick> = ticks.iter().flatten().collect();
    let max_ns = known.iter().map(|tick| tick.latency_max_ns).max()?;
    let per_second = |amount: fn(&Tick) -> u64| -> f64 {
        known.iter().map(|tick| amount(tick) as f64 * SECOND_NS as f64 / tick.interval_ns.max(1) as f64).sum()
    };
    let ios: u64 = known.iter().map(|tick| tick.read_ios + tick.write_ios).sum();
    let waited: u64 = known.iter().map(|tick| (tick.read_ios + tick.write_ios) * tick.latency_mean_ns).sum();
    Some(Rate {
        iops: per_second(|tick| tick.read_ios + tick.write_ios),
        syncs_per_second: per_second(|tick| tick.syncs),
        bytes_per_second: per_second(|tick| tick.bytes),
        mean_latency_ms: waited.checked_div(ios).unwrap_or(0) as f64 / 1e6,
        max_latency_ms: has_maxima.then_some(max_ns as f64 / 1e6),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_rates_combine_all_streams() {
        let tick = |read_ios, share_done| Tick {
            elapsed_ns: SECOND_NS,
            interval_ns: SECOND_NS,
            read_ios,
            write_ios: 0,
            syncs: read_ios / 10,
            bytes: read_ios * 4096,
            latency_mean_ns: 2000,
            latency_max_ns: 9000,
            share_done,
        };
        let ticks = [Some(tick(1000, 0.5)), None, Some(tick(500, 1.0))];
        let shown = rate(&ticks, true).expect("known");
        assert_eq!((shown.iops, shown.bytes_per_second), (1500.0, 6_144_000.0));
        assert!((shown.syncs_per_second - 150.0).abs() < 1e-9);
        assert_eq!((shown.mean_latency_ms, shown.max_latency_ms), (0.002, Some(0.009)));
        assert_eq!(rate(&ticks, false).and_then(|shown| shown.max_latency_ms), None);
        assert_eq!(rate(&[None, None], true), None);
        let streams = Streams {
            what: "3 streams".into(),
            ticks: Mutex::new((ticks.to_vec(), Duration::from_secs(8))),
            has_maxima: true,
            is_over: AtomicBool::new(false),
        };
        let view = streams.view(Duration::from_secs(10)).expect("something to see");
        assert_eq!((view.share_done, view.left), (Some(0.5), Some(Left::Known(Duration::from_secs(6)))));
    }
}
