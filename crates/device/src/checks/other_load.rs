//! Other load: other programs' I/Os on the drive and their CPU usage.

use super::check::{Check, Finding, Scene};

pub(super) const CHECK: Check = Check { name: "other load", look };

/// Maximum share of the CPU time that other programs may use.
const BUSY_WARN: f64 = 0.10;
const BUSY_INVALID: f64 = 0.50;

/// A snapshot of the counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    /// Numbers of completed I/Os and of I/Os in flight; `None` if there is no device.
    ios: Option<(u64, u64)>,
    /// CPU time of all CPUs in ticks: busy and total.
    ticks: Option<(u64, u64)>,
}

fn look(scene: &Scene<'_>) -> Finding {
    let before = counters(scene);
    std::thread::sleep(scene.watched);
    judge(before, counters(scene))
}

fn counters(scene: &Scene<'_>) -> Counters {
    let stat = scene.device.as_ref().and_then(|device| device.attribute("stat"));
    Counters { ios: stat.as_deref().and_then(ios), ticks: scene.proc("stat").as_deref().and_then(ticks) }
}

/// Returns the completed reads, writes and discards, and I/Os in flight, from a block device's `stat` file.
fn ios(text: &str) -> Option<(u64, u64)> {
    let fields: Vec<u64> = text.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let discards = fields.get(11).copied().unwrap_or(0);
    Some((fields.first()? + fields.get(4)? + discards, *fields.get(8)?))
}

/// Returns the busy and total ticks, from the `cpu` line of `/proc/stat`.
fn ticks(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // Guest time is already included in user time.
    let fields: Vec<u64> = line.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
    let total: u64 = fields.iter().sum();
    let idle = fields.get(3)? + fields.get(4)?;
    Some((total - idle, total))
}

fn judge(before: Counters, after: Counters) -> Finding {
    let device = before.ios.zip(after.ios).map(|((before, _), (after, flying))| {
        match (after.saturating_sub(before), flying) {
            (0, 0) => Finding::ok("no other I/O on the drive"),
            (done, flying) => Finding::invalid(
                format!("other I/O on the drive: {done} completed, {flying} in flight"),
                "find the process with lsof or iotop, and stop it",
            ),
        }
    });
    let busy = before.ticks.zip(after.ticks).filter(|(before, after)| after.1 > before.1);
    let processors = busy.map(|(before, after)| {
        let share = after.0.saturating_sub(before.0) as f64 / (after.1 - before.1) as f64;
        let found = format!("the CPUs are {:.0} % busy", share * 100.0);
        let fix = "stop other processes (see top), or wait until they finish";
        match share {
            share if share > BUSY_INVALID => Finding::invalid(found, fix),
            share if share > BUSY_WARN => Finding::warn(found, fix),
            _ => Finding::ok(found),
        }
    });
    Finding::worst_of([device, processors].into_iter().flatten().collect())
        .unwrap_or_else(|| Finding::not_here("the kernel does not report the load"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn, WouldInvalidate};

    #[test]
    fn counters_are_read_as_the_kernel_writes_them() {
        assert_eq!(ios("  10 0 80 5 20 0 160 9 1 14 14 3 0 24 0 0 0"), Some((33, 1)));
        assert_eq!(ios("10 0 80 5 20 0 160 9 0 14 14"), Some((30, 0)));
        assert_eq!(ios(""), None);
        assert_eq!(ticks("cpu  10 0 20 60 10 0 0 0 5 0\ncpu0 1 1"), Some((30, 100)));
        assert_eq!(ticks("intr 1"), None);
    }

    #[test]
    fn the_worst_of_drive_and_processors_counts() {
        let at = |ios, busy, total| Counters { ios, ticks: Some((busy, total)) };
        let cases = [
            (at(Some((5, 0)), 0, 0), at(Some((5, 0)), 1, 100), Ok),
            (at(Some((5, 0)), 0, 0), at(Some((5, 0)), 30, 100), Warn),
            (at(Some((5, 0)), 0, 0), at(Some((5, 0)), 80, 100), WouldInvalidate),
            (at(Some((5, 0)), 0, 0), at(Some((6, 0)), 1, 100), WouldInvalidate),
            (at(Some((5, 0)), 0, 0), at(Some((5, 2)), 1, 100), WouldInvalidate),
            (Counters::default(), Counters::default(), NotHere),
        ];
        for (before, after, verdict) in cases {
            assert_eq!(judge(before, after).verdict, verdict, "{after:?}");
        }
    }
}
