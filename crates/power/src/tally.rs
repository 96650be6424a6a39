//! Mean, extremes and standard error of samples.

use record::{Power, PowerFacts, PowerSubject};

use crate::source::Sample;

/// Adds up samples. Sums are relative to the first sample, so that little precision is lost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    count: u32,
    origin: f64,
    seconds: f64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Tally {
    pub(crate) fn add(&mut self, sample: Sample) {
        if self.count == 0 {
            (self.origin, self.min, self.max) = (sample.watts, sample.watts, sample.watts);
        }
        let distance = sample.watts - self.origin;
        self.count = self.count.saturating_add(1);
        self.seconds += sample.seconds;
        self.sum += distance * sample.seconds;
        self.squares += distance * distance * sample.seconds;
        self.min = self.min.min(sample.watts);
        self.max = self.max.max(sample.watts);
    }

    /// Returns the power over all samples; `None` if there are none.
    pub(crate) fn power(&self, facts: &PowerFacts) -> Option<Power> {
        if self.count == 0 || self.seconds <= 0.0 {
            return None;
        }
        let relative = self.sum / self.seconds;
        let count = f64::from(self.count);
        let variance = (self.squares / self.seconds - relative * relative).max(0.0) * count / (count - 1.0);
        let is_bound = facts.subject == PowerSubject::UpperBound;
        let mean_microwatts = microwatts(if is_bound { self.max } else { self.origin + relative });
        // An upper bound has no spread: it is the value that the drive reports before and after a load.
        let standard_error =
            if is_bound { Some(0.0) } else { (self.count > 1).then(|| (variance / count).sqrt()) };
        Some(Power {
            mean_microwatts,
            min_microwatts: microwatts(self.min),
            max_microwatts: microwatts(self.max),
            samples: self.count,
            standard_error_microwatts: standard_error.map(microwatts),
            tolerance_microwatts: facts.tolerance_at(mean_microwatts),
        })
    }
}

fn microwatts(watts: f64) -> u64 {
    (watts * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(samples: &[(f64, f64)], subject: PowerSubject) -> Option<Power> {
        let facts = PowerFacts {
            source: "rapl".into(),
            meter: "m".into(),
            subject,
            resolution_microwatts: None,
            tolerance_ppm: Some(10_000),
        };
        let mut tally = Tally::default();
        samples.iter().for_each(|&(watts, seconds)| tally.add(Sample { watts, seconds }));
        tally.power(&facts)
    }

    #[test]
    fn the_standard_error_is_the_deviation_over_the_root_of_the_number() {
        let power =
            power(&[(4.0, 1.0), (6.0, 1.0), (5.0, 1.0), (5.0, 1.0)], PowerSubject::Drive).expect("samples");
        assert_eq!((power.mean_microwatts, power.samples), (5_000_000, 4));
        assert_eq!((power.min_microwatts, power.max_microwatts), (4_000_000, 6_000_000));
        // s = sqrt(2 / 3), divided by sqrt(4).
        assert_eq!(power.standard_error_microwatts, Some(408_248));
        assert_eq!(power.tolerance_microwatts, Some(50_000));
    }

    #[test]
    fn samples_count_by_the_time_that_they_cover() {
        let power = power(&[(10.0, 3.0), (2.0, 1.0)], PowerSubject::Host).expect("samples");
        assert_eq!(power.mean_microwatts, 8_000_000);
    }

    #[test]
    fn one_sample_has_no_standard_error_and_a_bound_does_not_scatter() {
        let one = power(&[(3.0, 1.0)], PowerSubject::Drive).expect("a sample");
        assert_eq!(one.standard_error_microwatts, None);
        let bound = power(&[(6.0, 1.0), (8.5, 1.0)], PowerSubject::UpperBound).expect("both ends");
        assert_eq!((bound.mean_microwatts, bound.standard_error_microwatts), (8_500_000, Some(0)));
        assert_eq!(power(&[], PowerSubject::Drive), None);
    }
}
