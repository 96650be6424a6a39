//! Response times by I/O priority.

use record::{IoPriority, Segment};
use stdx::Histogram;

use super::part::{Part, Way};

impl Part {
    /// Returns the response times of one kind of I/O by priority, which is `None` for that of the process. As in fio, the
    /// result is empty unless there are at least two priorities.
    pub(super) fn priorities(&self, way: Way) -> Vec<(Option<IoPriority>, Histogram)> {
        let mut all: Vec<(Option<IoPriority>, Histogram)> = Vec::new();
        for (priority, latency) in self.segments.iter().flat_map(|segment| of_segment(segment, way)) {
            match all.iter_mut().find(|(known, _)| *known == priority) {
                Some((_, sum)) => sum.merge(latency),
                None => all.push((priority, latency.clone())),
            }
        }
        if all.len() < 2 { Vec::new() } else { all }
    }
}

fn of_segment(segment: &Segment, way: Way) -> Vec<(Option<IoPriority>, &Histogram)> {
    let Some(direction) = way.of(segment).filter(|direction| direction.ios > 0) else { return Vec::new() };
    match &segment.detail {
        Some(detail) if !detail.priorities.is_empty() => {
            let same = detail.priorities.iter().filter(|times| times.read == (way == Way::Read));
            same.map(|times| (times.priority, &times.latency)).collect()
        }
        _ => {
            let commands = segment.workload.commands.as_ref();
            vec![(commands.and_then(|commands| commands.priority), &direction.latency)]
        }
    }
}

#[cfg(test)]
mod tests {
    use record::{Direction, PriorityTimes, SegmentDetail};

    use super::super::tests::part;
    use super::*;

    fn times(ns: u64, count: u64) -> Histogram {
        let mut times = Histogram::new();
        (0..count).for_each(|_| times.record(ns));
        times
    }

    #[test]
    fn clones_of_a_group_are_combined_by_priority() {
        let idle = IoPriority { class: 3, level: 0, hint: 0 };
        let high = IoPriority { class: 1, level: 0, hint: 0 };
        let of = |priority, ns, count| PriorityTimes { read: true, priority, latency: times(ns, count) };
        let mut group = part(1, None, false);
        assert!(group.priorities(Way::Read).is_empty());
        let mut more = part(1, None, false).segments;
        group.segments.append(&mut more);
        let priorities = vec![of(Some(idle), 3000, 80), of(Some(high), 1000, 20)];
        let detail = SegmentDetail { priorities, ..SegmentDetail::default() };
        group.segments[0].read = Direction { ios: 100, bytes: 100 * 4096, latency: times(2600, 100) };
        group.segments[0].detail = Some(Box::new(detail));
        group.segments[1].read = Direction { ios: 5, bytes: 5 * 4096, latency: times(9000, 5) };
        let counts: Vec<_> =
            group.priorities(Way::Read).iter().map(|(priority, times)| (*priority, times.count())).collect();
        assert_eq!(counts, [(Some(idle), 80), (Some(high), 20), (None, 5)]);
        assert!(group.priorities(Way::Write).is_empty());
        let text = group.text(None);
        assert!(text.contains("read I/Os of priority 1/0/0 (19.048 %)\n"), "{text}");
        let parts = [group];
        let origin = super::super::tests::origin();
        let document = serde_json::to_value(super::super::Document::of(&parts, None, &origin)).unwrap();
        let prios = document["jobs"][0]["read"]["prios"].as_array().expect("priorities");
        let fields = |row: &serde_json::Value| {
            ["prioclass", "prio", "priohint"].map(|name| row[name].as_u64().expect("a number"))
        };
        assert_eq!(prios.iter().map(fields).collect::<Vec<_>>(), [[3, 0, 0], [1, 0, 0], [0, 0, 0]]);
        assert_eq!(prios[1]["clat_ns"]["N"], 20);
        assert!(document["jobs"][0]["write"].get("prios").is_none());
    }
}
