//! Limits on the numbers in a journal, so that adding or converting them cannot overflow.
//!
//! A journal is untrusted input, even if its hashes match. Everything that is later summed over its records
//! (bytes, I/Os, times) is therefore summed once, with checks, when it is read.

use crate::{Cut, Event, Segment, Series};

/// Limit on a time in ns (146 years) and on the sum of all amounts (in bytes, four times 2^60): far more than any
/// run measures.
const MOST: u64 = 1 << 62;

/// Limit on the slots spanned by all histograms of a journal: 1 GiB of memory. A month of one-minute cells has 80
/// million; a forged histogram with a value at either end has 7,000.
const MOST_SLOTS: u64 = 1 << 27;
/// Limit on the records of a journal: 50 times the one-minute cells of a month.
const MOST_RECORDS: u64 = 1 << 21;

/// Running totals over the records of a journal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Amounts {
    total: u64,
    slots: u64,
    records: u64,
}

impl Amounts {
    /// Adds a record to the totals.
    ///
    /// # Errors
    /// If the totals exceed what any run can measure; the error says which.
    pub fn take(&mut self, event: &Event) -> Result<(), &'static str> {
        let numbers = numbers(event);
        self.records += 1;
        self.slots += numbers.slots;
        if self.records > MOST_RECORDS || self.slots > MOST_SLOTS {
            return Err("it has more than any run measures");
        }
        if numbers.instants.iter().any(|at_ns| *at_ns > MOST) {
            return Err("it has a time that no clock shows");
        }
        for amount in numbers.amounts {
            self.total = self
                .total
                .checked_add(amount)
                .filter(|total| *total <= MOST)
                .ok_or("it counts more than any run does")?;
        }
        Ok(())
    }
}

/// The numbers in a record.
#[derive(Debug, Default)]
struct Numbers {
    /// Times on a clock in ns.
    instants: Vec<u64>,
    /// Amounts that may be summed.
    amounts: Vec<u64>,
    /// Slots spanned by the histograms, filled or not.
    slots: u64,
}

fn numbers(event: &Event) -> Numbers {
    let mut all = Numbers::default();
    match event {
        Event::Preconditioned(segment) | Event::Measured(segment) => all.take_segment(segment),
        Event::Cut(Cut { start_ns, series, errors, .. }) => {
            all.instants.push(*start_ns);
            all.take_series(series);
            all.amounts.extend(errors.iter().map(|error| error.count));
        }
        Event::Purged(purged) => all.instants.extend([purged.start_ns, purged.end_ns]),
        Event::Health { at_ns, .. } => all.instants.push(*at_ns),
        Event::Idled { length_ns } => all.amounts.push(*length_ns),
        Event::Resumed { gap_ns } => all.amounts.push(*gap_ns),
        Event::Estimated(estimated) => {
            let expenses = estimated.tests.iter().flat_map(|test| [test.shortest, test.longest]);
            all.amounts.extend(expenses.flat_map(|expense| [expense.duration_ns, expense.written_bytes]));
        }
        Event::Imported(test) => {
            all.amounts.extend(test.round_ns);
            all.amounts.extend(test.readings.iter().filter_map(|reading| reading.ios));
        }
        Event::Opened { .. }
        | Event::TestStarted { .. }
        | Event::WriteCache { .. }
        | Event::HostChecked { .. }
        | Event::Tuned { .. }
        | Event::LbaFormat { .. }
        | Event::Noted(_)
        | Event::Interrupted { .. }
        | Event::Restarted { .. }
        | Event::TestEnded { .. }
        | Event::Closed => {}
    }
    all
}

impl Numbers {
    fn take_segment(&mut self, segment: &Segment) {
        self.instants.extend([segment.start_ns, segment.end_ns]);
        for direction in [&segment.read, &segment.write] {
            self.amounts.extend([direction.ios, direction.bytes]);
            self.slots += direction.latency.span() as u64;
        }
        self.take_series(&segment.series);
        self.amounts.extend(segment.errors.iter().map(|error| error.count));
        self.amounts.extend(segment.gap_before.map(|gap| gap.length_ns));
        if let Some(host) = &segment.host {
            let effort = host.effort;
            self.amounts.extend([effort.user_ns, effort.system_ns, host.repeats]);
            self.amounts.extend([effort.voluntary_switches, effort.involuntary_switches]);
        }
    }

    fn take_series(&mut self, series: &Series) {
        self.instants.push(series.interval_ns);
        self.instants.extend(series.latency_mean_ns.iter().chain(&series.latency_max_ns));
        self.amounts.extend(series.read_ios.iter().chain(&series.write_ios));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_journal_cannot_take_all_memory() {
        let full = Amounts { records: MOST_RECORDS, ..Amounts::default() };
        assert!(full.clone().take(&Event::Closed).is_err());
        assert!(Amounts { records: 0, ..full }.take(&Event::Closed).is_ok());
        let wide = Amounts { slots: MOST_SLOTS + 1, ..Amounts::default() };
        assert!(wide.clone().take(&Event::Closed).is_err());
    }
}
