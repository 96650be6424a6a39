//! fio's terse output, version 3: one line of fields for each job. Scripts select fields by their position.

use pts::response::Percentile;
use record::Direction;

use super::part::{Part, Way, per_second};
use super::times::{BEYOND_PPM, counted, stddev};

/// Number of percentiles in a line.
const PERCENTILES: usize = 20;
/// Number of fio's default percentiles; the other fields are empty.
const DEFAULT_PERCENTILES: usize = 17;
/// Upper bounds of the response times in ns; a bin does not include its bound. The lines have no bins below 1 us: their
/// first bin includes these.
pub const BOUNDS_NS: &[u64] = &[
    2,
    4,
    10,
    20,
    50,
    100,
    250,
    500,
    750,
    1000,
    2_000,
    4_000,
    10_000,
    20_000,
    50_000,
    100_000,
    250_000,
    500_000,
    750_000,
    1_000_000,
    2_000_000,
    4_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    750_000_000,
    1_000_000_000,
    2_000_000_000,
];
/// Number of bins of each unit, except for the last: 2 to 1000 ns, 2 to 1000 us, and 2 ms to 2 s.
pub const BINS_PER_UNIT: usize = 10;
/// Upper bounds of the queue-depth bins; the last bin counts all greater depths.
pub const DEPTHS: &[u16] = &[1, 2, 4, 8, 16, 32];

impl Part {
    /// Formats the results as a line of fio's terse output, version 3. Fields that are not measured are 0.
    #[must_use]
    pub fn terse(&self) -> String {
        let mut fields: Vec<String> = vec![
            "3".into(),
            format!("plateau-{}", env!("CARGO_PKG_VERSION")),
            self.name.replace(';', ","),
            "0".into(),
            "0".into(),
        ];
        for (way, direction) in self.directions().into_iter().filter(|(way, _)| *way != Way::Trim) {
            self.direction_fields(&direction, way, &mut fields);
        }
        let effort = self.effort().unwrap_or_default();
        let percent = |ns: u64| format!("{:.6}%", self.percent_per_clone(ns));
        fields.extend([percent(effort.user_ns), percent(effort.system_ns)]);
        fields.push((effort.voluntary_switches + effort.involuntary_switches).to_string());
        fields.extend([effort.major_faults.to_string(), effort.minor_faults.to_string()]);
        fields.extend(self.depth_fields());
        let mut counts = self.time_counts();
        let below_1_us: u64 = counts.drain(..BINS_PER_UNIT).sum();
        counts[0] += below_1_us;
        fields.extend(shares(&counts).map(|share| format!("{share:.2}%")));
        if let Some(errors) = self.tolerated() {
            fields.extend([errors.total.to_string(), errors.first_number().to_string()]);
        }
        fields.join(";") + "\n"
    }

    fn direction_fields(&self, direction: &Direction, way: Way, fields: &mut Vec<String>) {
        let (latency, seconds) = (&direction.latency, self.seconds());
        let us = |ns: Option<u64>| (ns.unwrap_or(0) / 1000).to_string();
        let times = [
            us(latency.min()),
            us(latency.max().filter(|_| self.has_maxima())),
            format!("{:.6}", latency.mean().unwrap_or(0.0) / 1e3),
            format!("{:.6}", stddev(latency) / 1e3),
        ];
        fields.push((direction.bytes >> 10).to_string());
        fields.push(format!("{:.0}", per_second(direction.bytes as f64, seconds) / 1024.0));
        fields.push(format!("{:.0}", per_second(direction.ios as f64, seconds)));
        fields.push(format!("{:.0}", seconds * 1e3));
        fields.extend(["0".to_owned(), "0".to_owned(), "0.000000".to_owned(), "0.000000".to_owned()]);
        fields.extend(times.clone());
        for index in 0..PERCENTILES {
            fields.push(match BEYOND_PPM.get(index).filter(|_| index < DEFAULT_PERCENTILES) {
                Some(beyond_ppm) => {
                    let name = 100.0 - f64::from(*beyond_ppm) / 1e4;
                    let ns = Percentile { name: "", beyond_ppm: *beyond_ppm }.ns_of(latency);
                    format!("{name:.6}%={}", ns.unwrap_or(0) / 1000)
                }
                None => "0%=0".into(),
            });
        }
        fields.extend(times);
        let rates = self.rates(way).bandwidth;
        fields.push(format!("{:.0}", rates.min));
        fields.push(format!("{:.0}", rates.max));
        let share = if direction.ios > 0 { 100.0 } else { 0.0 };
        fields.push(format!("{share:.6}%"));
        fields.push(format!("{:.6}", rates.mean));
        fields.push(format!("{:.6}", rates.stddev));
    }

    /// Returns the queue depth fields. All I/Os are counted at the requested depth.
    fn depth_fields(&self) -> impl Iterator<Item = String> {
        let place = self.depth_bin();
        (0..=DEPTHS.len()).map(move |index| if index == place { "100.0%".into() } else { "0.0%".into() })
    }

    /// Returns the index in [`DEPTHS`] of the requested depth; the number of bounds if it is greater than all of them.
    pub(super) fn depth_bin(&self) -> usize {
        let depth = self.depth();
        DEPTHS.iter().position(|bound| depth <= *bound).unwrap_or(DEPTHS.len())
    }

    /// Returns the number of I/Os below each of [`BOUNDS_NS`] but not below the previous one, and the number of those not
    /// below the last bound.
    pub(super) fn time_counts(&self) -> Vec<u64> {
        let mut counts = vec![0; BOUNDS_NS.len() + 1];
        for (_, direction) in self.directions() {
            for (ns, count) in counted(&direction.latency, self.has_maxima()).bins {
                counts[BOUNDS_NS.partition_point(|bound| *bound <= ns)] += count;
            }
        }
        counts
    }
}

/// Converts counts to percentages.
pub fn shares(counts: &[u64]) -> impl Iterator<Item = f64> {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    counts.iter().map(move |count| *count as f64 * 100.0 / all)
}

#[cfg(test)]
mod tests {
    use super::super::tests::part;

    /// The positions that scripts rely on, counted from 1.
    #[test]
    fn fields_are_where_fio_has_them() {
        let mut part = part(400_000_000, None, false);
        (0..1000).for_each(|_| part.segments[0].read.latency.record(150_000));
        let line = part.terse();
        let fields: Vec<&str> = line.trim_end().split(';').collect();
        // Excludes the disk fields, which fio prints only if it has measured them.
        assert_eq!(fields.len(), 121, "{line}");
        assert_eq!(fields[..5], ["3", &format!("plateau-{}", env!("CARGO_PKG_VERSION")), "job", "0", "0"]);
        assert_eq!((fields[5], fields[6], fields[7], fields[8]), ("4000", "4000", "1000", "1000"), "{line}");
        assert_eq!((fields[13], fields[17]), ("150", "1.000000%=150"), "{line}");
        assert_eq!((fields[46], fields[48]), ("0", "0"), "{line}");
        assert_eq!((fields[87], fields[92]), ("40.000000%", "100.0%"), "{line}");
        assert_eq!(fields[105], "100.00%", "250 us: {line}");
    }
}
