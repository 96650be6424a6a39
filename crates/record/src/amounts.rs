//! Limits on the numbers in a journal, so that adding or converting them cannot overflow.
//!
//! A journal is untrusted input, even if its hashes match. Values that are later summed over the records
//! (bytes, I/Os and times) are therefore added up with overflow checks when the journal is read.

use crate::weight::slots_of;
use crate::{Cut, Event, PurgeEvidence, Segment, Series};

/// Limit on a time in ns (146 years) and on the total of all amounts in bytes (4 EiB): far more than any run can
/// measure.
const MOST: u64 = 1 << 62;

/// Limit on the memory for the histograms and series in a journal, in slots of 8 bytes: 1 GiB. A month of
/// one-minute cells needs 80 million slots for histograms and 10 million for series. A forged histogram with
/// one value at each end spans 7,000 slots.
const MOST_SLOTS: u64 = 1 << 27;
/// Limit on the memory for everything else in the records, in slots: 512 MiB. A month of one-minute cells needs a
/// third of this limit.
const MOST_FURTHER_SLOTS: u64 = 1 << 26;
/// Memory for one record without its lists and strings, in slots.
const SLOTS_OF_RECORD: u64 = 176;
/// Memory for one piece of evidence without its strings, in slots.
const SLOTS_OF_EVIDENCE: u64 = 16;
/// Memory for the offset of one block with wrong data, in slots; a failed I/O takes twice as much.
const SLOTS_OF_PLACE: u64 = 4;
/// Memory for one imported reading without its strings and percentiles, in slots.
const SLOTS_OF_READING: u64 = 32;
/// Limit on the number of records in a journal: 50 times as many as a run of one-minute cells produces in a
/// month.
const MOST_RECORDS: u64 = 1 << 21;

/// Number of amounts in most segments.
const AMOUNTS_OF_SEGMENT: usize = 16;
/// Number of instants in a segment.
const INSTANTS_OF_SEGMENT: usize = 4;

/// Running totals over the records in a journal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Amounts {
    total: u64,
    slots: u64,
    further_slots: u64,
    records: u64,
}

impl Amounts {
    /// Adds a record to the totals.
    ///
    /// # Errors
    /// Returns an error if a total exceeds what any run can measure; the error names the total.
    pub fn take(&mut self, event: &Event) -> Result<(), &'static str> {
        let numbers = numbers(event);
        self.records += 1;
        self.slots += numbers.slots;
        self.further_slots += SLOTS_OF_RECORD + numbers.further_slots;
        if self.records > MOST_RECORDS || self.slots > MOST_SLOTS || self.further_slots > MOST_FURTHER_SLOTS {
            return Err("it contains more data than any run can record");
        }
        if numbers.instants.iter().any(|at_ns| *at_ns > MOST) {
            return Err("it contains a time beyond the range of any clock");
        }
        for amount in numbers.amounts {
            self.total = self
                .total
                .checked_add(amount)
                .filter(|total| *total <= MOST)
                .ok_or("its amounts add up to more than any run can measure")?;
        }
        Ok(())
    }
}

/// The numbers in a record.
#[derive(Debug, Default)]
struct Numbers {
    /// Clock readings and durations in ns that are never summed.
    instants: Vec<u64>,
    /// Amounts that may be summed.
    amounts: Vec<u64>,
    /// Memory in slots: the range of the histograms, filled or not, and the values of series.
    slots: u64,
    /// Memory for all other lists and strings.
    further_slots: u64,
}

/// Returns the number of pieces of evidence, including the pieces about members of an array.
fn pieces(evidence: &[PurgeEvidence]) -> u64 {
    let of_one = |piece: &PurgeEvidence| match piece {
        PurgeEvidence::Member { evidence, .. } => 1 + pieces(evidence),
        _ => 1,
    };
    evidence.iter().map(of_one).sum()
}

fn numbers(event: &Event) -> Numbers {
    let mut all = Numbers { further_slots: further_slots(event), ..Numbers::default() };
    match event {
        Event::Preconditioned(segment) | Event::Measured(segment) => all.take_segment(segment),
        Event::Cut(Cut { start_ns, series, errors, .. }) => {
            all.instants.push(*start_ns);
            all.take_series(series);
            all.amounts.extend(errors.iter().map(|error| error.count));
        }
        Event::Purged(purged) => {
            all.take_stretch(purged.start_ns, purged.end_ns);
            all.slots += SLOTS_OF_EVIDENCE * pieces(&purged.evidence);
        }
        Event::Health { at_ns, .. } => all.instants.push(*at_ns),
        Event::Idled { length_ns } | Event::IdlePower { length_ns, .. } => all.amounts.push(*length_ns),
        Event::Resumed { gap_ns } => all.amounts.push(*gap_ns),
        Event::Estimated(estimated) => {
            let expenses = estimated.tests.iter().flat_map(|test| [test.shortest, test.longest]);
            all.amounts.extend(expenses.flat_map(|expense| [expense.duration_ns, expense.written_bytes]));
        }
        Event::Imported(test) => {
            all.amounts.extend(test.round_ns);
            all.amounts.extend(test.readings.iter().filter_map(|reading| reading.ios));
            let ways = test.readings.iter().flat_map(|reading| reading.read.iter().chain(&reading.write));
            all.amounts.extend(ways.flat_map(|way| [way.ios, way.bytes]));
            let cells = test.readings.iter().filter_map(|reading| reading.exported.as_deref());
            let driven = cells.clone().map(|cell| &cell.driven);
            all.instants.extend(driven.flat_map(|driven| {
                [driven.start_ns, driven.duration_ns, driven.gap_before_ns, driven.user_ns, driven.system_ns]
                    .into_iter()
                    .flatten()
            }));
            let times = test.readings.iter().filter_map(|reading| reading.times.as_ref());
            all.slots += times.map(|times| times.0.span() as u64).sum::<u64>();
            all.slots += SLOTS_OF_READING * (test.readings.len() + cells.count()) as u64;
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

/// Returns the memory for everything in a record except the histograms and series of a workload.
fn further_slots(event: &Event) -> u64 {
    match event {
        Event::Preconditioned(segment) | Event::Measured(segment) => {
            let Segment { workload, errors, io_path, host, power, on_file, verified, .. } = segment;
            slots_of(&(workload, errors, io_path, host, power, on_file, verified))
        }
        Event::Cut(Cut { workload, errors, .. }) => slots_of(&(workload, errors)),
        other => slots_of(other),
    }
}

impl Numbers {
    fn take_segment(&mut self, segment: &Segment) {
        // Growing the lists step by step would take longer than adding up most segments.
        self.amounts.reserve(AMOUNTS_OF_SEGMENT);
        self.instants.reserve(INSTANTS_OF_SEGMENT);
        self.take_stretch(segment.start_ns, segment.end_ns);
        for direction in [&segment.read, &segment.write] {
            self.amounts.extend([direction.ios, direction.bytes]);
            self.slots += direction.latency.span() as u64;
        }
        self.take_series(&segment.series);
        self.amounts.extend(segment.errors.iter().map(|error| error.count));
        self.amounts.extend(segment.gap_before.map(|gap| gap.length_ns));
        if let Some(verified) = &segment.verified {
            self.amounts.extend([verified.checked_blocks, verified.wrong_blocks]);
            self.slots += SLOTS_OF_PLACE * (verified.places.len() as u64 + 2);
        }
        if let Some(host) = &segment.host {
            let effort = host.effort;
            self.amounts.extend([effort.user_ns, effort.system_ns, host.repeats]);
            self.amounts.extend([effort.voluntary_switches, effort.involuntary_switches]);
            self.amounts.extend([effort.major_faults, effort.minor_faults]);
        }
    }

    /// Records the start and end of an activity, in ns on the target's clock.
    fn take_stretch(&mut self, start_ns: u64, end_ns: u64) {
        self.instants.extend([start_ns, end_ns]);
        self.amounts.push(end_ns.saturating_sub(start_ns));
    }

    fn take_series(&mut self, series: &Series) {
        let columns = [&series.read_ios, &series.write_ios, &series.latency_mean_ns, &series.latency_max_ns];
        let rows = columns.map(|column| column.len() as u64);
        self.slots += rows.iter().sum::<u64>();
        self.slots += series.times.as_ref().map_or(0, |times| times.bytes().div_ceil(8) as u64);
        let length_ns = series.interval_ns.saturating_mul(rows.into_iter().max().unwrap_or(0));
        self.instants.push(length_ns);
        self.instants.extend(series.latency_mean_ns.iter().chain(&series.latency_max_ns).max());
        let ios = series.read_ios.iter().chain(&series.write_ios);
        self.amounts.push(ios.fold(0, |sum, ios| sum.saturating_add(ios)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Direction, Entry, ErrorCount, ExportedRow, ImportedTest, IoEngine, IoPath, PathRemark, Purged,
        ToldFigure,
    };
    use serde_json::json;

    #[test]
    fn a_forged_journal_cannot_take_all_memory() {
        let full = Amounts { records: MOST_RECORDS, ..Amounts::default() };
        assert!(full.clone().take(&Event::Closed).is_err());
        assert!(Amounts { records: 0, ..full }.take(&Event::Closed).is_ok());
        let wide = Amounts { slots: MOST_SLOTS + 1, ..Amounts::default() };
        assert!(wide.clone().take(&Event::Closed).is_err());
        assert!(size_of::<Entry>() as u64 <= 8 * SLOTS_OF_RECORD, "{}", size_of::<Entry>());
        let further = |left: u64| Amounts { further_slots: MOST_FURTHER_SLOTS - left, ..Amounts::default() };
        assert!(further(SLOTS_OF_RECORD - 1).take(&Event::Closed).is_err());
        // All lists count, and so do the strings in them.
        let errors = vec![ErrorCount { kind: "x".into(), count: 1 }; 1000];
        let mut cell = measured(0, 1, series(1, 0));
        let Event::Measured(segment) = &mut cell else { panic!("a segment") };
        let room = SLOTS_OF_RECORD + further_slots(&Event::Measured(segment.clone()));
        segment.errors = errors;
        let figures = vec![
            ToldFigure {
                name: "x".into(),
                key: None,
                value: None,
                unit: "x".into(),
                host_limited: false
            };
            1000
        ];
        let imported = Event::Imported(ImportedTest { figures, ..ImportedTest::default() });
        for event in [cell, imported] {
            assert!(further(room + 4_000).take(&event).is_err(), "{event:?}");
            assert!(further(room + 100_000).take(&event).is_ok(), "{event:?}");
        }
    }

    /// Returns the maximum number of events of this kind in a journal, at most ten.
    fn times_taken(event: &Event) -> usize {
        let mut amounts = Amounts::default();
        (0..10).take_while(|_| amounts.take(event).is_ok()).count()
    }

    fn measured(start_ns: u64, end_ns: u64, series: Series) -> Event {
        let workload = r#"{"access":"random","read_percent":0,"block_bytes":4096,"threads":1,"queue_depth":1,
            "range":{"start_bytes":0,"segment_bytes":4096,"stride_bytes":4096,"segments":1},
            "data_pattern":"random","until":{"duration_ns":1},"seed":1}"#;
        Event::Measured(Segment {
            workload: serde_json::from_str(workload).expect("a workload"),
            start_ns,
            end_ns,
            read: Direction::default(),
            write: Direction::default(),
            series,
            errors: Vec::new(),
            io_path: IoPath {
                engine: IoEngine::Simulated,
                fallbacks: Vec::new(),
                remarks: Vec::new(),
                choice: None,
            },
            gap_before: None,
            on_file: None,
            power: None,
            verified: None,
            synced: None,
            host: None,
            detail: None,
        })
    }

    fn series(interval_ns: u64, rows: usize) -> Series {
        let zeros = || vec![0; rows].into();
        Series {
            interval_ns,
            read_ios: zeros(),
            write_ios: zeros(),
            latency_mean_ns: zeros(),
            latency_max_ns: zeros(),
            times: None,
        }
    }

    #[test]
    fn the_lengths_of_all_workloads_can_be_added() {
        let long = MOST / 4;
        assert_eq!(times_taken(&measured(long, 2 * long, series(1, 0))), 4);
        assert_eq!(times_taken(&measured(0, 1_000_000_000, series(1, 0))), 10);
        let purged = |end_ns: u64| {
            Event::Purged(Purged {
                method: "discard".into(),
                name: None,
                pts_purge: true,
                start_ns: 0,
                end_ns,
                evidence: Vec::new(),
                samples_read: false,
            })
        };
        assert_eq!(times_taken(&purged(long)), 4);
        assert_eq!(times_taken(&purged(1)), 10);
    }

    #[test]
    fn the_end_of_every_interval_is_representable() {
        assert_eq!(times_taken(&measured(0, 1, series(MOST / 2, 2))), 10);
        assert_eq!(times_taken(&measured(0, 1, series(MOST / 2, 3))), 0);
        assert_eq!(times_taken(&measured(0, 1, series(u64::MAX, 1))), 0);
    }

    #[test]
    fn evidence_counts_with_that_of_members() {
        assert!(size_of::<PurgeEvidence>() as u64 <= 8 * SLOTS_OF_EVIDENCE);
        let member = |evidence| PurgeEvidence::Member {
            model: None,
            identity: String::new(),
            method: String::new(),
            duration_ns: 0,
            evidence,
        };
        assert_eq!(pieces(&[]), 0);
        assert_eq!(pieces(&[member(vec![PurgeEvidence::PasswordRemoved]), PurgeEvidence::ContentKept]), 3);
    }

    #[test]
    fn series_take_memory_too() {
        let mut amounts = Amounts { slots: MOST_SLOTS - 7, ..Amounts::default() };
        assert!(amounts.take(&measured(0, 1, series(1, 2))).is_err(), "two rows of four values");
    }

    /// Even the smallest list element takes no more memory than is counted for it.
    #[test]
    fn elements_of_lists_are_not_larger_than_they_count() {
        let row: ExportedRow =
            serde_json::from_value(json!({"name": "", "values": [], "absent": [], "host_limited": []}))
                .expect("a row");
        let figure: ToldFigure =
            serde_json::from_value(json!({"name": "", "value": null, "unit": ""})).expect("a figure");
        let error = ErrorCount { kind: String::new(), count: 0 };
        let evidence = PurgeEvidence::ContentKept;
        let sizes = [
            ("row", size_of::<ExportedRow>(), slots_of(&row)),
            ("figure", size_of::<ToldFigure>(), slots_of(&figure)),
            ("error", size_of::<ErrorCount>(), slots_of(&error)),
            ("remark", size_of::<PathRemark>(), slots_of(&PathRemark::Buffered)),
            ("evidence", size_of::<PurgeEvidence>(), slots_of(&evidence) + SLOTS_OF_EVIDENCE),
            ("string", size_of::<String>(), slots_of("")),
        ];
        for (name, bytes, slots) in sizes {
            assert!(bytes as u64 <= 8 * slots, "{name}: {bytes} B, {slots} slots");
        }
    }
}
