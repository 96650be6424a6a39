//! fio's terse output, version 3: one line of fields for each job. Scripts select fields by their position.

use pts::response::Percentile;
use record::Direction;

use super::part::{Part, Way, per_second};
use super::times::{BEYOND_PPM, counted, stddev};

/// Number of percentiles in a line.
const PERCENTILES: usize = 20;
/// Number of fio's default percentiles; the other fields are empty.
const DEFAULT_PERCENTILES: usize = 17;
/// Upper bounds of the response times in us.
pub const BOUNDS_US: &[u64] = &[
    2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2_000, 4_000, 10_000, 20_000, 50_000, 100_000, 250_000,
    500_000, 750_000, 1_000_000, 2_000_000,
];
/// Upper bounds of the queue-depth bins; the last field counts all greater depths.
const DEPTHS: &[u16] = &[1, 2, 4, 8, 16, 32];

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
        let percent = |ns: u64| format!("{:.6}%", per_second(ns as f64, self.seconds()) / 1e7);
        fields.extend([percent(effort.user_ns), percent(effort.system_ns)]);
        fields.push((effort.voluntary_switches + effort.involuntary_switches).to_string());
        fields.extend(["0".to_owned(), "0".to_owned()]);
        fields.extend(self.depth_fields());
        fields.extend(shares(&self.time_shares()).map(|share| format!("{share:.2}%")));
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
        let depth = self.segments.iter().map(|segment| segment.workload.queue_depth).max().unwrap_or(0);
        let place = DEPTHS.iter().position(|bound| depth <= *bound).unwrap_or(DEPTHS.len());
        (0..=DEPTHS.len()).map(move |index| if index == place { "100.0%".into() } else { "0.0%".into() })
    }

    /// Returns the number of reads and writes up to each of [`BOUNDS_US`], and the number beyond the last bound.
    pub(super) fn time_shares(&self) -> Vec<u64> {
        let mut counts = vec![0; BOUNDS_US.len() + 1];
        for (_, direction) in self.directions() {
            for (ns, count) in counted(&direction.latency, self.has_maxima()).bins {
                counts[BOUNDS_US.partition_point(|bound| *bound * 1000 < ns)] += count;
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
