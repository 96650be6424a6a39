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
    /// How all I/Os were served.
    pub served: Served,
    /// How the reads and writes were served.
    pub transfers: Served,
}

/// How I/Os in a step were served, as far as their response times are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// Number of I/Os whose response time is known.
    pub completed: u64,
    /// Sum of their response times.
    pub response_sum_ns: u128,
    /// The longest response time.
    pub response_max_ns: u64,
    /// Sum of the times within this step during which each I/O was outstanding.
    pub outstanding_ns: u128,
    /// Time within this step during which at least one of them was outstanding.
    pub busy_ns: u64,
}

impl Served {
    fn complete(&mut self, response_ns: u64) {
        self.completed += 1;
        self.response_sum_ns += u128::from(response_ns);
        self.response_max_ns = self.response_max_ns.max(response_ns);
    }

    fn join(&mut self, other: &Self) {
        self.completed += other.completed;
        self.response_sum_ns += other.response_sum_ns;
        self.response_max_ns = self.response_max_ns.max(other.response_max_ns);
        self.outstanding_ns += other.outstanding_ns;
        self.busy_ns += other.busy_ns;
    }
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
        let all = &self.served;
        (all.completed > 0).then(|| all.response_sum_ns as f64 / all.completed as f64 / 1e6)
    }

    /// Adds the I/Os of another step.
    pub(crate) fn join(&mut self, other: &Self) {
        (0..4).for_each(|op| self.ios[op] += other.ios[op]);
        (0..2).for_each(|op| self.bytes[op] += other.bytes[op]);
        self.streams.resize(self.streams.len().max(other.streams.len()), 0);
        self.streams.iter_mut().zip(&other.streams).for_each(|(ios, more)| *ios += more);
        self.served.join(&other.served);
        self.transfers.join(&other.transfers);
    }
}

pub struct Steps {
    step_ns: u64,
    steps: Vec<Step>,
    /// The last completion so far, of any I/O and of reads and writes.
    busy_until_ns: [u64; 2],
}

impl Default for Steps {
    fn default() -> Self {
        Self { step_ns: FIRST_STEP_NS, steps: Vec::new(), busy_until_ns: [0; 2] }
    }
}

impl Steps {
    pub fn add(&mut self, io: &Io, stream: usize) {
        let end_ns = io.issue_ns.saturating_add(io.response_ns.unwrap_or(0));
        self.fit(end_ns);
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
        self.serve(io, end_ns, 0, |step| &mut step.served);
        if io.op.transfers() {
            self.serve(io, end_ns, 1, |step| &mut step.transfers);
        }
    }

    /// Counts an I/O until `end_ns` among those that `of` returns, whose last completion is at `place`.
    fn serve(&mut self, io: &Io, end_ns: u64, place: usize, of: fn(&mut Step) -> &mut Served) {
        if let Some(response_ns) = io.response_ns {
            of(&mut self.steps[(io.issue_ns / self.step_ns) as usize]).complete(response_ns);
        }
        self.spread(io.issue_ns, end_ns, |step, ns| of(step).outstanding_ns += u128::from(ns));
        // I/Os are in the order of their issue, so the time before the last completion has been counted.
        let busy_until_ns = self.busy_until_ns[place];
        self.spread(io.issue_ns.max(busy_until_ns), end_ns, |step, ns| of(step).busy_ns += ns);
        self.busy_until_ns[place] = busy_until_ns.max(end_ns);
    }

    /// Adds the time from `from_ns` to `end_ns` to the steps that it covers.
    fn spread(&mut self, mut from_ns: u64, end_ns: u64, add: impl Fn(&mut Step, u64)) {
        while from_ns < end_ns {
            let place = (from_ns / self.step_ns) as usize;
            if self.steps.len() <= place {
                self.steps.resize(place + 1, Step::default());
            }
            let until_ns = end_ns.min((place as u64 + 1).saturating_mul(self.step_ns));
            add(&mut self.steps[place], until_ns - from_ns);
            from_ns = until_ns;
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn outstanding(ios: &[(u64, u64)], end_ms: u64) -> Vec<f64> {
        let (step_ns, steps) = steps_of(ios, end_ms);
        steps.iter().map(|step| step.served.outstanding_ns as f64 / step_ns as f64).collect()
    }

    fn steps_of(ios: &[(u64, u64)], end_ms: u64) -> (u64, Vec<Step>) {
        let mut steps = Steps::default();
        for &(issue_ms, response_ms) in ios {
            let io = Io {
                issue_ns: issue_ms * MS,
                response_ns: Some(response_ms * MS),
                offset_bytes: 0,
                length_bytes: 4096,
                op: Op::Read,
            };
            steps.add(&io, 0);
        }
        steps.finish(&[0], end_ms * MS)
    }

    /// I/Os from 0 to 3, 1 to 2, 2 to 5 and 7 to 8 ms.
    #[test]
    fn time_is_busy_once_however_many_ios_are_outstanding() {
        let (_, steps) = steps_of(&[(0, 3), (1, 1), (2, 3), (7, 1)], 9);
        let busy: Vec<u64> = steps.iter().map(|step| step.served.busy_ns / MS).collect();
        assert_eq!(busy, [1, 1, 1, 1, 1, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn trims_and_flushes_are_counted_apart_from_reads_and_writes() {
        let io = |op, issue_ms: u64, response_ms: u64| Io {
            issue_ns: issue_ms * MS,
            response_ns: Some(response_ms * MS),
            offset_bytes: 0,
            length_bytes: 4096,
            op,
        };
        let mut steps = Steps::default();
        for io in [io(Op::Flush, 0, 3), io(Op::Write, 1, 1), io(Op::Trim, 4, 2)] {
            steps.add(&io, 0);
        }
        let (_, steps) = steps.finish(&[0], 6 * MS);
        let mut all = Step::default();
        steps.iter().for_each(|step| all.join(step));
        let found = |served: &Served| (served.completed, served.response_max_ns / MS, served.busy_ns / MS);
        assert_eq!((found(&all.served), found(&all.transfers)), ((3, 3, 5), (1, 1, 1)));
    }

    /// Reads of 49 ms, one after the other, with 1 ms between them: never more than one is outstanding.
    #[test]
    fn a_response_counts_in_every_step_that_it_covers() {
        let found = outstanding(&[(0, 49), (50, 49)], 100);
        let expected: Vec<f64> =
            (0..=100).map(|ms| if [49, 99, 100].contains(&ms) { 0.0 } else { 1.0 }).collect();
        assert_eq!(found, expected);
        // Steps of 2 ms.
        let merged = outstanding(&[(0, 3), (1, 1), (1000, 1)], 1022);
        assert_eq!((merged.len(), &merged[..3], merged[500]), (512, &[1.5, 0.5, 0.0][..], 0.5));
    }
}
