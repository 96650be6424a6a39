//! A workload over time, in steps of equal length. When there are too many steps, pairs are merged.

use crate::{Io, Op};

const FIRST_STEP_NS: u64 = 1_000_000;
const MOST_STEPS: usize = 512;

/// One step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of reads, writes, trims and flushes that were issued.
    pub ios: [u64; 4],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Number of I/Os in each stream, in the order of the streams; streams beyond the end of the list have none.
    pub streams: Vec<u64>,
    /// Number of I/Os whose response time is known.
    pub completed: u64,
    /// Sum of their response times.
    pub response_sum_ns: u128,
    /// The longest response time.
    pub response_max_ns: u64,
}

impl Step {
    /// Returns the number of all I/Os.
    #[must_use]
    pub fn all_ios(&self) -> u64 {
        self.ios.iter().sum()
    }

    /// Returns the mean response time in ms; None if no completion is known.
    #[must_use]
    pub fn mean_ms(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.response_sum_ns as f64 / self.completed as f64 / 1e6)
    }

    fn join(&mut self, other: &Self) {
        (0..4).for_each(|op| self.ios[op] += other.ios[op]);
        (0..2).for_each(|op| self.bytes[op] += other.bytes[op]);
        self.streams.resize(self.streams.len().max(other.streams.len()), 0);
        self.streams.iter_mut().zip(&other.streams).for_each(|(ios, more)| *ios += more);
        self.completed += other.completed;
        self.response_sum_ns += other.response_sum_ns;
        self.response_max_ns = self.response_max_ns.max(other.response_max_ns);
    }
}

pub struct Steps {
    step_ns: u64,
    steps: Vec<Step>,
}

impl Default for Steps {
    fn default() -> Self {
        Self { step_ns: FIRST_STEP_NS, steps: Vec::new() }
    }
}

impl Steps {
    pub fn add(&mut self, io: &Io, stream: usize) {
        self.fit(io.issue_ns);
        let place = (io.issue_ns / self.step_ns) as usize;
        if self.steps.len() <= place {
            self.steps.resize(place + 1, Step::default());
        }
        let step = &mut self.steps[place];
        step.ios[io.op as usize] += 1;
        match io.op {
            Op::Read => step.bytes[0] += u64::from(io.length_bytes),
            Op::Write => step.bytes[1] += u64::from(io.length_bytes),
            Op::Trim | Op::Flush => {}
        }
        if step.streams.len() <= stream {
            step.streams.resize(stream + 1, 0);
        }
        step.streams[stream] += 1;
        if let Some(response_ns) = io.response_ns {
            step.completed += 1;
            step.response_sum_ns += u128::from(response_ns);
            step.response_max_ns = step.response_max_ns.max(response_ns);
        }
    }

    /// Lengthens the steps until the permitted number of them covers this time.
    fn fit(&mut self, at_ns: u64) {
        while at_ns / self.step_ns >= MOST_STEPS as u64 {
            self.step_ns *= 2;
            let joined = self.steps.chunks(2).map(|pair| {
                let mut step = pair[0].clone();
                pair.iter().skip(1).for_each(|other| step.join(other));
                step
            });
            self.steps = joined.collect();
        }
    }

    /// Returns the length of a step, and the steps up to `end_ns` with the streams in their final order.
    pub fn finish(mut self, places: &[usize], end_ns: u64) -> (u64, Vec<Step>) {
        self.fit(end_ns);
        self.steps.resize((end_ns / self.step_ns) as usize + 1, Step::default());
        for step in &mut self.steps {
            let mut ordered = vec![0; places.len()];
            step.streams.iter().zip(places).for_each(|(ios, place)| ordered[*place] = *ios);
            step.streams = ordered;
        }
        (self.step_ns, self.steps)
    }
}
