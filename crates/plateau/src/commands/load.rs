//! `plateau load TARGET`: one workload, in fio's words.
//!
//! Reads open the target for reading only and need no confirmation. Everything that writes is armed
//! exactly as `plateau run` arms it.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use drive::{Armed, Effort, Flow, OpenOptions, Outcome, Reader, Tick};
use record::{Segment, TargetFacts, Workload};
use serde_json::{Value, json};
use stdx::units::{SECOND_NS, grouped};

use crate::cli::{Cli, Load};
use crate::failure::{Done, Exit, Failure};
use crate::load_job::{self, Job};
use crate::{conduct, printer};

/// Percentiles that are shown, with fio's default ones that people look at.
const PERCENTILES: &[(&str, f64)] =
    &[("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999), ("p99.999", 0.99999)];

/// The target, with no more rights than the workload needs.
enum Opened {
    ToRead(Reader),
    ToWrite(Armed),
}

pub fn run(cli: &Cli, options: &Load) -> Done {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let job = Job::of(options).map_err(usage)?;
    let is_file = !options.target.starts_with("sim:")
        && !std::fs::metadata(&options.target)
            .is_ok_and(|m| std::os::unix::fs::FileTypeExt::is_block_device(&m.file_type()));
    let open = OpenOptions {
        size_bytes: job.size_bytes.filter(|_| is_file),
        scale: options.scale.clone(),
        sim_seed: options.seed,
        ..OpenOptions::default()
    };
    let drive = drive::open(&options.target, &open)?;
    // What cannot be done is found before anything is made or opened for writing.
    job.workload(drive.facts()).map_err(usage)?;
    let mut opened = if job.writes() {
        Opened::ToWrite(drive.arm(options.erase.as_deref())?)
    } else {
        Opened::ToRead(drive.open_to_read()?)
    };
    let workload = job.workload(opened.facts()).map_err(usage)?;
    let interrupted = conduct::watch_interrupts()?;
    let outcome = opened.run(&workload, &interrupted)?;
    let Outcome::Finished(segment) = outcome else {
        return Err(Failure::text(Exit::Interrupted, "interrupted; nothing of an incomplete load is kept"));
    };
    if cli.json {
        return printer::print_json(&document(&segment, opened.facts(), opened.effort()));
    }
    printer::print(&text(&segment, opened.effort()))
}

impl Opened {
    fn facts(&self) -> &TargetFacts {
        match self {
            Self::ToRead(reader) => reader.facts(),
            Self::ToWrite(armed) => armed.facts(),
        }
    }

    fn effort(&self) -> Option<Effort> {
        match self {
            Self::ToRead(reader) => reader.effort(),
            Self::ToWrite(armed) => armed.effort(),
        }
    }

    fn run(&mut self, workload: &Workload, interrupted: &AtomicBool) -> Done<Outcome> {
        let live = std::io::stderr().is_terminal();
        let mut on_tick = |tick: &Tick| {
            if live {
                printer_line(workload, tick);
            }
            if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
        };
        let outcome = match self {
            Self::ToRead(reader) => reader.run(workload, &mut on_tick),
            Self::ToWrite(armed) => armed.run(workload, &mut on_tick),
        };
        if live {
            drop(write!(std::io::stderr(), "\r\x1b[2K"));
        }
        Ok(outcome?)
    }
}

/// Rewrites the one line; a terminal that is gone is no reason to end a load.
fn printer_line(workload: &Workload, tick: &Tick) {
    let mut out = std::io::stderr().lock();
    drop(write!(out, "\r\x1b[2K{}", live_line(workload, tick)).and_then(|()| out.flush()));
}

fn live_line(workload: &Workload, tick: &Tick) -> String {
    let seconds = tick.interval_ns.max(1) as f64 / SECOND_NS as f64;
    format!(
        "{:.0} %  {workload}  {} IOPS  {} MB/s  mean {} us  max {} us",
        tick.share_done * 100.0,
        grouped((tick.read_ios + tick.write_ios) as f64 / seconds, 0),
        grouped(tick.bytes as f64 / seconds / 1e6, 1),
        grouped(tick.latency_mean_ns as f64 / 1e3, 1),
        grouped(tick.latency_max_ns as f64 / 1e3, 1)
    )
}

fn text(segment: &Segment, effort: Option<Effort>) -> String {
    let workload = &segment.workload;
    let mut out = format!(
        "{workload}, {} threads with {} outstanding I/Os each, {:.3} s, engine {}\n",
        workload.threads,
        workload.queue_depth,
        segment.seconds(),
        segment.engine
    );
    for (name, direction) in load_job::directions(segment) {
        out.push_str(&format!(
            "{name:<6} {} IOPS  {} MB/s  {} I/Os\n       response time in us: mean {}  min {}  max {}\n      ",
            grouped(direction.ios as f64 / segment.seconds(), 0),
            grouped(direction.bytes as f64 / segment.seconds() / 1e6, 1),
            grouped(direction.ios as f64, 0),
            grouped(direction.latency.mean().unwrap_or(0.0) / 1e3, 1),
            microseconds(direction.latency.min()),
            microseconds(direction.latency.max()),
        ));
        for (name, share) in PERCENTILES {
            out.push_str(&format!(" {name} {} ", microseconds(direction.latency.quantile(*share))));
        }
        out.push('\n');
    }
    if let Some(effort) = effort {
        let ios = (segment.read.ios + segment.write.ios).max(1) as f64;
        out.push_str(&format!(
            "cpu    user {:.1} %  system {:.1} % of one processor  {:.0} ns per I/O  {} context switches\n",
            effort.user_ns as f64 / segment.seconds() / 1e7,
            effort.system_ns as f64 / segment.seconds() / 1e7,
            effort.cpu_ns() as f64 / ios,
            grouped((effort.voluntary_switches + effort.involuntary_switches) as f64, 0)
        ));
    }
    out
}

fn microseconds(ns: Option<u64>) -> String {
    ns.map_or_else(|| "-".into(), |ns| grouped(ns as f64 / 1e3, 1))
}

fn document(segment: &Segment, target: &TargetFacts, effort: Option<Effort>) -> Value {
    let mut directions = serde_json::Map::new();
    for (name, direction) in load_job::directions(segment) {
        let quantiles: serde_json::Map<_, _> = PERCENTILES
            .iter()
            .map(|(name, share)| ((*name).to_owned(), json!(direction.latency.quantile(*share))))
            .collect();
        directions.insert(
            name.to_owned(),
            json!({
                "ios": direction.ios,
                "bytes": direction.bytes,
                "iops": direction.ios as f64 / segment.seconds(),
                "latency_ns": {
                    "mean": direction.latency.mean(), "min": direction.latency.min(),
                    "max": direction.latency.max(), "percentiles": quantiles,
                },
            }),
        );
    }
    json!({
        "target": target,
        "workload": segment.workload,
        "seconds": segment.seconds(),
        "engine": segment.engine,
        "directions": directions,
        "cpu": effort.map(|e| json!({
            "user_ns": e.user_ns, "system_ns": e.system_ns,
            "voluntary_switches": e.voluntary_switches, "involuntary_switches": e.involuntary_switches,
        })),
    })
}
