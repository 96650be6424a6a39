//! What jobs came to: their segments put together, as text and as JSON in fio's words.

use drive::Findings;
use record::{Direction, Effort, Segment, TargetFacts};
use serde_json::{Map, Value, json};
use stdx::Histogram;
use stdx::histogram::slot_bounds;
use stdx::units::{SECOND_NS, count_of, grouped};

use crate::summary::simulated;

/// Percentiles of the text, with fio's default ones that people look at.
const SHOWN: &[f64] = &[50.0, 90.0, 99.0, 99.9, 99.99, 99.999];
/// fio's own, and one more.
const PERCENTILES: &[f64] = &[
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99,
    99.999,
];
/// Length of the longest bar.
const BAR: f64 = 40.0;
/// An open loop that reaches less of its rate than this had more to do than the target can.
const REACHED_SHARE: f64 = 0.98;

/// One line of the results: a job, or a group of jobs.
pub struct Part {
    pub name: String,
    /// Where its I/Os went.
    pub target: TargetFacts,
    pub segments: Vec<Segment>,
    pub findings: Option<Findings>,
    pub notes: Vec<String>,
}

impl Part {
    /// Adds another job of the same group.
    pub fn join(&mut self, other: Self) {
        self.segments.extend(other.segments);
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        match (&mut self.findings, other.findings) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
    }

    /// From the first counted moment of its first segment to the last one's end.
    fn seconds(&self) -> f64 {
        let start = self.segments.iter().map(|segment| segment.start_ns).min().unwrap_or(0);
        let end = self.segments.iter().map(|segment| segment.end_ns).max().unwrap_or(0);
        end.saturating_sub(start) as f64 / SECOND_NS as f64
    }

    /// Reads and writes of all segments.
    pub fn directions(&self) -> [(&'static str, Direction); 2] {
        let sum = |of: fn(&Segment) -> &Direction| {
            let mut sum = Direction::default();
            for direction in self.segments.iter().map(of) {
                sum.ios += direction.ios;
                sum.bytes += direction.bytes;
                sum.latency.merge(&direction.latency);
            }
            sum
        };
        [("read", sum(|segment| &segment.read)), ("write", sum(|segment| &segment.write))]
    }

    fn effort(&self) -> Option<Effort> {
        let mut sum = Effort::default();
        for segment in &self.segments {
            sum.add(&segment.host.as_ref()?.effort);
        }
        Some(sum)
    }

    /// I/Os per second that were asked for by a schedule.
    fn asked_per_second(&self) -> Option<f64> {
        let rates = self.segments.iter().map(|segment| segment.workload.regime.arrivals);
        rates.map(|rate| rate.map(|rate| f64::from(rate.per_second))).sum()
    }

    /// Whether response time maxima say something: a smaller simulated drive has smaller bursts.
    fn has_maxima(&self) -> bool {
        self.target.simulated.as_ref().is_none_or(|sim| sim.scale_divisor == 1)
    }

    /// What a reader must know of a simulated target.
    fn simulation(&self) -> Vec<String> {
        let Some(sim) = &self.target.simulated else { return Vec::new() };
        let mut remarks = vec![simulated(sim)];
        if !self.has_maxima() {
            let n = sim.scale_divisor;
            remarks.push(format!(
                "scale 1/{n}: capacity, runtime and ramps are divided by {n}; maximum response times mean nothing and \
                 are left out"
            ));
        }
        remarks.extend(sim.faults.iter().map(|fault| format!("injected fault {fault}")));
        remarks
    }

    /// What a reader must know beside the numbers.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.simulation();
        remarks.extend(self.notes.iter().cloned());
        let ios: u64 = self.directions().iter().map(|(_, direction)| direction.ios).sum();
        if ios == 0 {
            remarks.push("nothing counts: it ended within its ramp, or no I/O came back in time".into());
        }
        if let Some(asked) = self.asked_per_second() {
            let done = per_second(ios as f64, self.seconds());
            if done < asked * REACHED_SHARE && ios > 0 {
                remarks.push(format!(
                    "{} of {} I/Os per second: more arrived than was done, and response times grew with the length of \
                     the load",
                    grouped(done, 0),
                    grouped(asked, 0)
                ));
            }
        }
        remarks
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            out.push_str(&format!(
                "{}: {}, {} with {} each, {:.3} s, engine {}\n",
                self.name,
                segment.workload,
                count_of(segment.workload.threads.into(), "thread"),
                count_of(segment.workload.queue_depth.into(), "outstanding I/O"),
                segment.seconds(),
                segment.engine
            ));
        }
        for (name, direction) in self.directions().into_iter().filter(|(_, direction)| direction.ios > 0) {
            out.push_str(&direction_text(name, &direction, self.seconds(), self.has_maxima()));
        }
        if let Some(effort) = self.effort() {
            out.push_str(&self.effort_text(&effort));
        }
        if let Some(findings) = &self.findings {
            out.push_str(&format!("verify {findings}\n"));
        }
        self.remarks().iter().for_each(|remark| out.push_str(&format!("note   {remark}\n")));
        out
    }

    fn effort_text(&self, effort: &Effort) -> String {
        let ios: u64 = self.directions().iter().map(|(_, direction)| direction.ios).sum();
        format!(
            "cpu    user {:.1} %  system {:.1} % of one processor  {:.0} ns per I/O  {} context switches\n",
            effort.user_ns as f64 / self.seconds().max(1e-9) / 1e7,
            effort.system_ns as f64 / self.seconds().max(1e-9) / 1e7,
            effort.cpu_ns() as f64 / ios.max(1) as f64,
            grouped((effort.voluntary_switches + effort.involuntary_switches) as f64, 0)
        )
    }

    pub fn json(&self) -> Value {
        let mut document = Map::new();
        document.insert("jobname".into(), json!(self.name));
        document.insert("target".into(), json!(self.target));
        let workloads: Vec<_> = self.segments.iter().map(|segment| &segment.workload).collect();
        let engines: Vec<_> = self.segments.iter().map(|segment| &segment.engine).collect();
        document.insert("workloads".into(), json!(workloads));
        document.insert("engines".into(), json!(engines));
        document.insert("seconds".into(), json!(self.seconds()));
        for (name, direction) in self.directions() {
            document.insert(name.into(), direction_json(&direction, self.seconds(), self.has_maxima()));
        }
        let effort = self.effort().map(|e| {
            json!({
                "user_ns": e.user_ns, "system_ns": e.system_ns,
                "voluntary_switches": e.voluntary_switches, "involuntary_switches": e.involuntary_switches,
            })
        });
        document.insert("cpu".into(), json!(effort));
        document.insert("verify".into(), json!(self.findings.as_ref().map(findings_json)));
        document.insert("notes".into(), json!(self.remarks()));
        Value::Object(document)
    }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

fn direction_text(name: &str, direction: &Direction, seconds: f64, has_maxima: bool) -> String {
    let latency = &direction.latency;
    let mut out = format!(
        "{name:<6} {} IOPS  {} MB/s  {} I/Os\n       response time in us: mean {}  min {}  max {}\n      ",
        grouped(per_second(direction.ios as f64, seconds), 0),
        grouped(per_second(direction.bytes as f64, seconds) / 1e6, 1),
        grouped(direction.ios as f64, 0),
        grouped(latency.mean().unwrap_or(0.0) / 1e3, 1),
        microseconds(latency.min()),
        if has_maxima { microseconds(latency.max()) } else { "n/a".into() },
    );
    for percent in SHOWN {
        out.push_str(&format!(" p{percent} {} ", microseconds(latency.quantile(percent / 100.0))));
    }
    out.push('\n');
    for (from_ns, to_ns, count) in rows(latency) {
        let share = count as f64 / direction.ios.max(1) as f64;
        let bar = "#".repeat((share * BAR).round() as usize);
        let bounds = format!("{} to {} us", bound(from_ns), bound(to_ns));
        out.push_str(&format!("       {bounds:<24} {:>7.3} %  {bar}\n", share * 100.0));
    }
    out
}

/// Counts between 1, 2, 5, 10, ... from the first to the last that holds something. A slot belongs where its middle
/// lies.
fn rows(latency: &Histogram) -> Vec<(u64, u64, u64)> {
    let mut bounds = vec![0u64];
    let mut decade = 100u64;
    while decade <= u64::MAX / 100 {
        bounds.extend([decade, 2 * decade, 5 * decade]);
        decade *= 10;
    }
    let mut counts = vec![0u64; bounds.len()];
    for (slot, count) in latency.filled() {
        let middle = middle(slot);
        counts[bounds.partition_point(|bound| *bound <= middle) - 1] += count;
    }
    let first = counts.iter().position(|count| *count > 0);
    let last = counts.iter().rposition(|count| *count > 0);
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    (first..=last).map(|i| (bounds[i], bounds.get(i + 1).copied().unwrap_or(u64::MAX), counts[i])).collect()
}

fn middle(slot: usize) -> u64 {
    let (low, high) = slot_bounds(slot);
    low + (high - low) / 2
}

fn bound(ns: u64) -> String {
    grouped(ns as f64 / 1e3, usize::from(ns < 1000 && ns > 0))
}

fn microseconds(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".into(), |ns| grouped(ns as f64 / 1e3, 1))
}

/// fio's names where it has one. A bin is what one slot of the histogram counted, by its middle.
fn direction_json(direction: &Direction, seconds: f64, has_maxima: bool) -> Value {
    let latency = &direction.latency;
    let percentiles: Map<String, Value> = PERCENTILES
        .iter()
        .map(|percent| (format!("{percent:.6}"), json!(latency.quantile(percent / 100.0))))
        .collect();
    let bins: Map<String, Value> =
        latency.filled().map(|(slot, count)| (middle(slot).to_string(), json!(count))).collect();
    json!({
        "io_bytes": direction.bytes,
        "io_kbytes": direction.bytes >> 10,
        "bw_bytes": per_second(direction.bytes as f64, seconds).round() as u64,
        "bw": (per_second(direction.bytes as f64, seconds) / 1024.0).round() as u64,
        "iops": per_second(direction.ios as f64, seconds),
        "runtime": (seconds * 1e3).round() as u64,
        "total_ios": direction.ios,
        "lat_ns": {
            "min": latency.min(), "max": latency.max().filter(|_| has_maxima), "mean": latency.mean(), "N": latency.count(),
            "percentile": percentiles, "bins": bins,
        },
    })
}

fn findings_json(findings: &Findings) -> Value {
    let places: Vec<Value> = findings
        .places
        .iter()
        .map(|place| json!({ "offset_bytes": place.offset_bytes, "problem": place.to_string() }))
        .collect();
    let counts: Map<String, Value> =
        findings.counts().map(|(name, count)| (name.to_owned(), json!(count))).collect();
    json!({ "checked_blocks": findings.checked, "wrong_blocks": findings.wrong(), "kinds": counts, "places": places })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(values_ns: &[u64]) -> Direction {
        let mut latency = Histogram::new();
        values_ns.iter().for_each(|ns| latency.record(*ns));
        Direction { ios: latency.count(), bytes: latency.count() * 4096, latency }
    }

    #[test]
    fn every_io_is_in_a_row_of_the_histogram() {
        let rows = rows(&direction(&[50, 100, 150, 4_999, 5_000, 1_000_000, u64::MAX]).latency);
        assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), 7);
        assert_eq!((rows[0], rows[1]), ((0, 100, 1), (100, 200, 2)));
        assert!(rows.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert_eq!(super::rows(&Histogram::new()), []);
    }

    #[test]
    fn percentiles_are_those_of_the_bins_beside_them() {
        let values: Vec<u64> = (1..=20_000).map(|i| i * i % 7_000_003 + 200).collect();
        let document = direction_json(&direction(&values), 2.0, true);
        assert_eq!(document["iops"], 10_000.0);
        let bins = document["lat_ns"]["bins"].as_object().unwrap();
        let mut bins: Vec<(u64, u64)> =
            bins.iter().map(|(ns, count)| (ns.parse().unwrap(), count.as_u64().unwrap())).collect();
        bins.sort_unstable();
        assert_eq!(bins.iter().map(|bin| bin.1).sum::<u64>(), 20_000);
        let (least, most) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        for percent in PERCENTILES {
            let wanted = (percent / 100.0 * 20_000.0).ceil() as u64;
            let mut seen = 0;
            let at = bins.iter().find(|bin| {
                seen += bin.1;
                seen >= wanted
            });
            let told = document["lat_ns"]["percentile"][format!("{percent:.6}")].as_u64().unwrap();
            assert_eq!(told, at.unwrap().0.clamp(*least, *most), "{percent}");
        }
    }
}
