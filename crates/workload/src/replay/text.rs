//! The result of a replay as text and as a document.

use serde_json::{Value, json};
use stdx::Histogram;

use super::{Offsets, Played, SECOND_NS, grouped, span};

impl Played<'_> {
    /// Returns the start of the last I/O as a multiple of the planned time; `None` in a closed loop, or if all I/Os were due at
    /// once.
    fn ratio(&self) -> Option<f64> {
        let is_planned = self.options.closed.is_none() && self.replayed.last_due_ns > 0;
        is_planned.then(|| self.replayed.last_start_ns as f64 / self.replayed.last_due_ns as f64)
    }

    pub fn text(&self) -> String {
        let replayed = &self.replayed;
        let ios = replayed.read.ios + replayed.write.ios;
        let mut lines = vec![format!(
            "{} I/Os of {} replayed on {} in {}",
            grouped(ios as f64, 0),
            self.options.trace.display(),
            self.options.target,
            seconds(replayed.length_ns)
        )];
        let mut row = |name: &str, text: String| lines.push(format!("{name:<10} {text}"));
        match self.options.closed {
            Some(depth) => row(
                "times",
                format!(
                    "CLOSED LOOP: {depth} I/Os outstanding; the replay does not follow the times in the trace ({})",
                    span(self.trace.summary.end_ns)
                ),
            ),
            None => {
                let speed = match self.options.speed {
                    1.0 => "as in the trace".to_owned(),
                    factor => format!("as in the trace, divided by {factor}"),
                };
                let planned = seconds(replayed.last_due_ns);
                let took = match self.ratio() {
                    Some(ratio) => format!("the replay took {ratio:.4} times that"),
                    None => format!("the replay took {}", seconds(replayed.last_start_ns)),
                };
                row("times", format!("{speed}: {planned} planned until the last I/O starts; {took}"));
                row("lateness", times(&replayed.lateness));
                if replayed.held_back > 0 {
                    let count = grouped(replayed.held_back as f64, 0);
                    row(
                        "",
                        format!("{count} I/Os waited because {} were outstanding", replayed.most_outstanding),
                    );
                }
            }
        }
        row("offsets", offsets(self.options.offsets).to_owned());
        row("depth", format!("up to {} outstanding", replayed.most_outstanding));
        for (name, now, then) in [
            ("reads", &replayed.read.latency, &self.trace.responses[0]),
            ("writes", &replayed.write.latency, &self.trace.responses[1]),
        ] {
            if now.count() > 0 {
                row(name, times(now));
                row(
                    "",
                    if then.count() > 0 {
                        format!("in the trace: {}", times(then))
                    } else {
                        "not recorded in the trace".into()
                    },
                );
            }
        }
        if self.left_out > 0 {
            row("left out", format!("{} trims, flushes and empty I/Os", grouped(self.left_out as f64, 0)));
        }
        if let Some(path) = &replayed.io_path {
            row("engine", path.to_string());
        }
        lines.join("\n")
    }

    pub fn document(&self) -> Value {
        let replayed = &self.replayed;
        json!({
            "trace": self.options.trace.to_string_lossy(),
            "target": self.options.target,
            "loop": if self.options.closed.is_some() { "closed" } else { "open" },
            "speed": self.options.speed,
            "offsets": offsets(self.options.offsets),
            "read_ios": replayed.read.ios,
            "write_ios": replayed.write.ios,
            "read_bytes": replayed.read.bytes,
            "written_bytes": replayed.write.bytes,
            "left_out": self.left_out,
            "planned_ns": replayed.last_due_ns,
            "last_start_ns": replayed.last_start_ns,
            "length_ns": replayed.length_ns,
            "ratio": self.ratio(),
            "lateness_ns": numbers(&replayed.lateness),
            "held_back": replayed.held_back,
            "most_outstanding": replayed.most_outstanding,
            "read_response_ns": numbers(&replayed.read.latency),
            "write_response_ns": numbers(&replayed.write.latency),
            "original_read_response_ns": numbers(&self.trace.responses[0]),
            "original_write_response_ns": numbers(&self.trace.responses[1]),
            "engine": replayed.io_path.as_ref().map(ToString::to_string),
        })
    }
}

const fn offsets(how: Offsets) -> &'static str {
    match how {
        Offsets::Refuse => "as in the trace",
        Offsets::Wrap => "as in the trace, continued at the start after the end of the target",
        Offsets::Scale => "as in the trace, scaled to the whole target",
    }
}

fn seconds(ns: u64) -> String {
    format!("{:.4} s", ns as f64 / SECOND_NS as f64)
}

fn times(times: &Histogram) -> String {
    let at = |share: f64| milliseconds(times.quantile(share));
    format!(
        "mean {}, median {}, 99 % {}, max {} ms",
        milliseconds(times.mean().map(|ns| ns as u64)),
        at(0.5),
        at(0.99),
        milliseconds(times.max())
    )
}

fn milliseconds(ns: Option<u64>) -> String {
    ns.map_or_else(|| "n/a".into(), |ns| grouped(ns as f64 / 1e6, 3))
}

fn numbers(times: &Histogram) -> Value {
    json!({
        "mean": times.mean(),
        "median": times.quantile(0.5),
        "p99": times.quantile(0.99),
        "max": times.max(),
    })
}
