//! Data faults: commands succeed, but reads return data that differs from what was written.

use std::ops::Range;

/// A region whose data differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFault {
    /// The affected bytes.
    pub bytes: Range<u64>,
    /// How the data is changed.
    pub defect: DataDefect,
    /// Start time in ns.
    pub from_ns: u64,
}

/// How data is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataDefect {
    /// Bits are flipped when data is read.
    Flipped,
    /// Writes are acknowledged but not stored, so reads return older data.
    Lost,
}

/// Data that, when it was read, differed from what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongData {
    /// First affected byte in the read.
    pub offset_bytes: u64,
    /// Number of affected bytes in the read.
    pub length_bytes: u32,
    /// How the data was changed.
    pub defect: DataDefect,
}

/// Results of reads since the last call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundData {
    /// Number of reads with wrong data.
    pub reads: u64,
    /// The first affected locations.
    pub places: Vec<WrongData>,
}

/// Maximum number of locations in the list; the count includes all locations.
const MOST_PLACES: usize = 32;

/// Records which regions with a fault contain data, and the results of reading them.
#[derive(Debug, Default)]
pub(crate) struct DataWatch {
    /// For each fault, whether it affects data that was written.
    written: Vec<bool>,
    found: FoundData,
}

impl DataWatch {
    /// Discards the record of writes and the results of reads.
    pub(crate) fn renew(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn take_found(&mut self) -> FoundData {
        std::mem::take(&mut self.found)
    }

    /// Processes a command that is accepted now.
    pub(crate) fn see(&mut self, faults: &[DataFault], now_ns: u64, read: bool, bytes: Range<u64>) {
        self.written.resize(faults.len(), false);
        for (fault, written) in faults.iter().zip(&mut self.written) {
            let (from, to) = (fault.bytes.start.max(bytes.start), fault.bytes.end.min(bytes.end));
            if from >= to {
                continue;
            }
            let is_due = fault.from_ns <= now_ns;
            if !read {
                *written |= is_due || fault.defect == DataDefect::Flipped;
            } else if *written && is_due {
                self.found.reads += 1;
                if self.found.places.len() < MOST_PLACES {
                    let length_bytes = (to - from) as u32;
                    self.found.places.push(WrongData {
                        offset_bytes: from,
                        length_bytes,
                        defect: fault.defect,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_that_was_written_can_be_wrong() {
        let fault = |defect, from_ns| DataFault { bytes: 4096..8192, defect, from_ns };
        let faults = [fault(DataDefect::Flipped, 100), fault(DataDefect::Lost, 100)];
        let mut watch = DataWatch::default();
        watch.see(&faults, 200, true, 0..16384);
        assert_eq!(watch.take_found(), FoundData::default(), "nothing was written");
        watch.see(&faults, 50, false, 0..8192);
        watch.see(&faults, 60, true, 0..8192);
        assert_eq!(watch.take_found(), FoundData::default(), "too early");
        watch.see(&faults, 150, true, 0..6144);
        let place = |defect| WrongData { offset_bytes: 4096, length_bytes: 2048, defect };
        let found = watch.take_found();
        assert_eq!(
            (found.reads, found.places),
            (1, vec![place(DataDefect::Flipped)]),
            "this write was not lost"
        );
        watch.see(&faults, 160, false, 4096..6144);
        watch.see(&faults, 170, true, 0..6144);
        assert_eq!(watch.take_found().reads, 2);
        watch.renew();
        watch.see(&faults, 180, true, 0..6144);
        watch.see(&faults, 190, true, 8192..16384);
        assert_eq!(watch.take_found(), FoundData::default());
    }
}
