//! Rates per interval, in fio's terms: minimum, maximum, mean and standard deviation.

use record::Segment;
use serde::Serialize;

use super::part::{Part, Way, per_second};

/// Statistics of a rate over the intervals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub stddev: f64,
    pub samples: u64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / count;
        // As in fio, the intervals are a sample; a single interval has no deviation.
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let variance = squares / (count - 1.0).max(1.0);
        Self {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(0.0, f64::max),
            mean,
            stddev: variance.sqrt(),
            samples: values.len() as u64,
        }
    }

    fn scaled(self, factor: f64) -> Self {
        Self {
            min: self.min * factor,
            max: self.max * factor,
            mean: self.mean * factor,
            stddev: self.stddev * factor,
            samples: self.samples,
        }
    }
}

/// Rates of one direction over the complete intervals of all segments.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rates {
    pub iops: Spread,
    /// In KiB per second.
    pub bandwidth: Spread,
}

impl Part {
    /// Returns the rates of one kind of I/O per interval. The rates of concurrent streams are added.
    pub(super) fn rates(&self, way: Way) -> Rates {
        let mut per_interval: Vec<f64> = Vec::new();
        let (mut ios, mut bytes) = (0, 0);
        for segment in &self.segments {
            let Some(direction) = way.of(segment) else { continue };
            (ios, bytes) = (ios + direction.ios, bytes + direction.bytes);
            let rates = complete(segment, way == Way::Read);
            per_interval.resize(per_interval.len().max(rates.len()), 0.0);
            per_interval.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate);
        }
        if ios == 0 {
            return Rates::default();
        }
        let iops = Spread::of(&per_interval);
        Rates { iops, bandwidth: iops.scaled(bytes as f64 / ios as f64 / 1024.0) }
    }
}

/// Returns the I/Os per second of each interval. The last interval is omitted if there are others, because it
/// may be shorter.
fn complete(segment: &Segment, reads: bool) -> Vec<f64> {
    let series = &segment.series;
    let counts = if reads { &series.read_ios } else { &series.write_ios };
    let seconds = series.interval_ns as f64 / 1e9;
    match counts.len() {
        0 => Vec::new(),
        1 => counts.iter().map(|count| per_second(count as f64, segment.seconds().min(seconds))).collect(),
        more => counts.range(0..more - 1).map(|count| per_second(count as f64, seconds)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_usual_statistics() {
        let spread = Spread::of(&[2.0, 4.0, 4.0, 6.0, 9.0]);
        assert_eq!((spread.min, spread.max, spread.mean, spread.samples), (2.0, 9.0, 5.0, 5));
        assert!((spread.stddev - 7.0_f64.sqrt()).abs() < 1e-12, "sample variance (9+1+1+1+16)/4: {spread:?}");
        assert_eq!(Spread::of(&[7.0]).stddev, 0.0);
        assert_eq!(Spread::of(&[]), Spread::default());
        assert!((spread.scaled(4.0).stddev - 4.0 * spread.stddev).abs() < 1e-12);
    }
}
