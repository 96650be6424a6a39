//! Reads a source about once a second during a load, in a separate thread.
//!
//! The thread sleeps between two readings. The thread runs on a CPU that the load leaves free, if there is one.
//! The load never waits for the thread: only the start and the end of a measurement do, while no I/O is
//! outstanding.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use record::{Power, PowerFacts};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::error::PowerError;
use crate::source::{Opened, Pace, Sample, Source};
use crate::tally::Tally;

/// Time between two readings.
const PERIOD: Duration = Duration::from_secs(1);

enum Order {
    Begin,
    End,
}

type Answer = Result<Option<Power>, PowerError>;

/// Samples a source until it is dropped.
#[derive(Debug)]
pub struct Sampler {
    facts: PowerFacts,
    orders: Option<SyncSender<Order>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Starts the thread, on the CPU `spare` if there is one.
    #[must_use]
    pub fn start(opened: Opened, spare: Option<u32>) -> Self {
        let (orders, taken) = mpsc::sync_channel(1);
        let (answer, answers) = mpsc::sync_channel(1);
        let facts = opened.facts.clone();
        let thread = std::thread::spawn(move || {
            pin(spare);
            Work::of(opened).run(&taken, &answer);
        });
        Self { facts, orders: Some(orders), answers, thread: Some(thread) }
    }

    /// Returns the meter's properties.
    #[must_use]
    pub const fn facts(&self) -> &PowerFacts {
        &self.facts
    }

    /// Starts a measurement, and returns once it has started.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read; in that case, the measurement has no result.
    pub fn begin(&self) -> Result<(), PowerError> {
        self.order(Order::Begin).map(drop)
    }

    /// Ends the measurement; returns `None` if there was no sample.
    ///
    /// # Errors
    /// Returns an error if any reading of the source has failed since the measurement began.
    pub fn end(&self) -> Result<Option<Power>, PowerError> {
        self.order(Order::End)
    }

    fn order(&self, order: Order) -> Answer {
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        if !sent {
            return Err(PowerError::Thread);
        }
        self.answers.recv().unwrap_or(Err(PowerError::Thread))
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has already been printed; the run does not depend on the thread.
            drop(thread.join());
        }
    }
}

/// Pins the thread to a CPU. An unpinned thread runs on any CPU, which costs the load at most a few
/// microseconds per second.
fn pin(spare: Option<u32>) {
    let Some(number) = spare.filter(|&number| (number as usize) < CpuSet::MAX_CPU) else { return };
    let mut set = CpuSet::new();
    set.set(number as usize);
    if let Err(errno) = sched_setaffinity(None, &set) {
        log::info!("the power sampling thread is not pinned to CPU {number}: {errno}");
    }
}

/// The thread's state.
struct Work {
    facts: PowerFacts,
    source: Box<dyn Source>,
    is_measuring: bool,
    tally: Tally,
    failed: Option<PowerError>,
}

impl Work {
    fn of(Opened { facts, source }: Opened) -> Self {
        Self { facts, source, is_measuring: false, tally: Tally::default(), failed: None }
    }

    fn run(mut self, orders: &Receiver<Order>, answers: &SyncSender<Answer>) {
        loop {
            let answer = match orders.recv_timeout(PERIOD) {
                Ok(Order::Begin) => self.begin(),
                Ok(Order::End) => self.end(),
                Err(RecvTimeoutError::Timeout) => {
                    self.tick();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if answers.send(answer).is_err() {
                return;
            }
        }
    }

    fn begin(&mut self) -> Answer {
        (self.is_measuring, self.tally, self.failed) = (true, Tally::default(), None);
        // A meter that has sent an invalid value may send valid values again.
        if self.source.pace() == Pace::AtAllTimes {
            drop(self.source.read());
        }
        let samples = self.source.begin()?;
        self.count(samples);
        Ok(None)
    }

    fn end(&mut self) -> Answer {
        let read = self.source.read();
        self.take(read);
        self.is_measuring = false;
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(self.tally.power(&self.facts)),
        }
    }

    fn tick(&mut self) {
        let is_due = match self.source.pace() {
            Pace::EachSecond => self.is_measuring,
            Pace::AtAllTimes => true,
            Pace::AtEnds => false,
        };
        if is_due {
            let read = self.source.read();
            self.take(read);
        }
    }

    fn take(&mut self, read: Result<Vec<Sample>, PowerError>) {
        match read {
            Ok(samples) if self.is_measuring => self.count(samples),
            Ok(_) => {}
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }

    fn count(&mut self, samples: Vec<Sample>) {
        samples.into_iter().for_each(|sample| self.tally.add(sample));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::PowerSubject;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Script {
        readings: std::vec::IntoIter<Result<f64, PowerError>>,
        count: Arc<AtomicU32>,
    }

    impl Source for Script {
        fn read(&mut self) -> Result<Vec<Sample>, PowerError> {
            self.count.fetch_add(1, Ordering::Relaxed);
            match self.readings.next() {
                Some(reading) => reading.map(|watts| vec![Sample::now(watts)]),
                None => Ok(Vec::new()),
            }
        }
    }

    fn sampler(readings: Vec<Result<f64, PowerError>>) -> Sampler {
        counted(readings).0
    }

    /// Also returns the number of readings.
    fn counted(readings: Vec<Result<f64, PowerError>>) -> (Sampler, Arc<AtomicU32>) {
        let count = Arc::new(AtomicU32::new(0));
        let facts = PowerFacts {
            source: "rapl".into(),
            meter: "m".into(),
            subject: PowerSubject::Drive,
            resolution_microwatts: None,
            tolerance_ppm: None,
        };
        let source = Box::new(Script { readings: readings.into_iter(), count: Arc::clone(&count) });
        (Sampler::start(Opened { facts, source }, None), count)
    }

    #[test]
    fn readings_before_the_start_do_not_count() {
        let sampler = sampler(vec![Ok(90.0), Ok(5.0), Ok(80.0), Ok(7.0)]);
        for watts in [5, 7] {
            sampler.begin().expect("readable");
            let power = sampler.end().expect("readable").expect("a sample");
            assert_eq!((power.mean_microwatts, power.samples), (watts * 1_000_000, 1));
        }
        sampler.begin().expect("readable");
        assert_eq!(sampler.end().expect("readable"), None, "no sample, no power");
    }

    #[test]
    fn a_failure_affects_its_measurement_only() {
        let sampler = sampler(vec![Ok(1.0), Err(PowerError::Thread), Ok(1.0), Ok(2.0)]);
        sampler.begin().expect("readable");
        assert!(sampler.end().is_err());
        sampler.begin().expect("readable again");
        assert_eq!(sampler.end().expect("readable").map(|power| power.mean_microwatts), Some(2_000_000));
    }

    #[test]
    fn a_load_of_some_seconds_has_a_sample_for_each() {
        let (sampler, count) = counted((0..10_000).map(|n| Ok(f64::from(n))).collect());
        sampler.begin().expect("readable");
        while count.load(Ordering::Relaxed) < 3 {
            std::thread::sleep(PERIOD / 10);
        }
        let power = sampler.end().expect("readable").expect("samples");
        assert_eq!(
            power.samples,
            count.load(Ordering::Relaxed) - 1,
            "all readings but the one at the beginning"
        );
    }
}
