//! Idle time of the host's CPUs, from `/proc/stat`.

use anyhow::Context as _;

/// Runs `work` and returns the fraction of CPU time (0 to 1) for which the CPUs were idle during that time.
pub fn idle_share_during<T>(work: impl FnOnce() -> T) -> (T, anyhow::Result<f64>) {
    let before = now();
    let value = work();
    let share = before.and_then(|before| Ok(share(before, now()?)));
    (value, share)
}

/// Idle and total time of all CPUs in ticks.
type Times = (u64, u64);

fn now() -> anyhow::Result<Times> {
    parse(&std::fs::read_to_string("/proc/stat").context("/proc/stat")?).context("/proc/stat has no line cpu")
}

/// Parses the `cpu` line: user, nice, system, idle, iowait, irq, softirq, steal; user and nice include guest time.
fn parse(text: &str) -> Option<Times> {
    let fields = text.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<u64> = fields.split_whitespace().take(8).map_while(|t| t.parse().ok()).collect();
    let [_, _, _, idle, waiting, ..] = times[..] else { return None };
    Some((idle + waiting, times.iter().sum()))
}

fn share((idle0, total0): Times, (idle1, total1): Times) -> f64 {
    idle1.saturating_sub(idle0) as f64 / total1.saturating_sub(total0).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_includes_waiting_for_devices() {
        let before = parse("cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 1").expect("a line");
        let after = parse("cpu  60 0 20 100 20 0 0 0 0 0\n").expect("a line");
        assert!((share(before, after) - 0.4).abs() < 1e-9);
        assert_eq!(parse("intr 1 2 3"), None);
    }
}
