//! The maximum power of an NVMe drive's current power state: an upper bound, not a measurement.
//!
//! Reading the state sends a command to the drive, so it is read only while there is no load.

use record::{PowerFacts, PowerSubject};

use crate::error::PowerError;
use crate::source::{BoundReader, Kind, Opened, Pace, Sample, Source, Surroundings};

pub(super) const KIND: Kind = Kind {
    name: "nvme",
    argument: None,
    about: "maximum power of the NVMe drive in its power state, as reported by the drive",
    is_per_drive: true,
    needs_trust: false,
    open,
};

struct Nvme {
    bound: BoundReader,
}

impl Source for Nvme {
    fn pace(&self) -> Pace {
        Pace::AtEnds
    }

    fn begin(&mut self) -> Result<Vec<Sample>, PowerError> {
        self.read()
    }

    fn read(&mut self) -> Result<Vec<Sample>, PowerError> {
        let microwatts = (self.bound)().ok_or_else(|| PowerError::absent("nvme", UNREPORTED))?;
        Ok(vec![Sample::now(microwatts as f64 / 1e6)])
    }
}

const UNREPORTED: &str = "the drive does not report its power state or the maximum power of that state";

fn open(_: &str, around: Surroundings) -> Result<Opened, PowerError> {
    let bound = around.bound.ok_or_else(|| PowerError::absent("nvme", "the target is not an NVMe drive"))?;
    let mut nvme = Nvme { bound };
    nvme.read()?;
    let facts = PowerFacts {
        source: String::new(),
        meter: "maximum power of the NVMe power state, an upper bound".into(),
        subject: PowerSubject::UpperBound,
        resolution_microwatts: None,
        // An upper bound has no tolerance.
        tolerance_ppm: Some(0),
    };
    Ok(Opened { facts, source: Box::new(nvme) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_read_at_both_ends() {
        let mut readings = [Some(8_500_000), Some(8_500_000), Some(6_000_000), None].into_iter();
        let bound: BoundReader = Box::new(move || readings.next().flatten());
        let around = Surroundings { bound: Some(bound), ..Surroundings::default() };
        let mut opened = open("", around).expect("reported");
        assert_eq!(opened.facts.subject, PowerSubject::UpperBound);
        assert_eq!(opened.source.begin().expect("reported"), [Sample::now(8.5)]);
        assert_eq!(opened.source.read().expect("reported"), [Sample::now(6.0)]);
        assert!(opened.source.read().is_err());
        assert!(open("", Surroundings::default()).is_err(), "not an NVMe drive");
    }
}
