//! `plateau plan TESTS TARGET`: what a run would take, write and erase. The target is looked at, not touched.

use drive::Drive;
use nandsim::Model;
use pts::dry::{Assumed, Cost, Estimate, estimate};
use pts::{Context, Profile, Test};
use record::{RunFile, TargetFacts};
use serde_json::{Value, json};
use stdx::units::{amount_base10, grouped, parse_size, span};

use crate::cli::{Cli, Plan};
use crate::failure::{Done, Exit, Failure};
use crate::{conduct, printer, summary};

/// What is assumed of a drive that nobody said anything about.
const USUAL_BYTES_PER_SECOND: f64 = 500e6;

/// Everything that is printed.
struct Planned {
    file: RunFile,
    refusals: Vec<String>,
    needs_erase: bool,
    assumed: Assumed,
    /// Where the assumption is from.
    source: &'static str,
    estimates: Vec<Estimate>,
    modified: Vec<String>,
}

pub fn run(cli: &Cli, options: &Plan) -> Done {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let typed = options.assume_write.as_deref().map(rate).transpose().map_err(usage)?;
    let (file, drive) = conduct::prepare(&options.asked)?;
    let (speed, source) = match (typed, modelled(&file.target)) {
        (Some(typed), _) => (typed, "as given"),
        (None, Some(modelled)) => (modelled, "what the model's flash and link allow"),
        (None, None) => (USUAL_BYTES_PER_SECOND, "--assume-write takes another one"),
    };
    let planned = plan(file, &drive, Assumed { write_bytes_per_second: speed }, source).map_err(usage)?;
    if cli.json { printer::print_json(&document(&planned)) } else { printer::print(&text(&planned)) }
}

fn plan(file: RunFile, drive: &Drive, assumed: Assumed, source: &'static str) -> Result<Planned, String> {
    let context = Context::of(&file)?;
    let tests = file.tests.iter().map(|name| estimate(&context, Test::named(name)?, assumed));
    let estimates = tests.collect::<Result<Vec<_>, String>>()?;
    let outcomes: Vec<_> = estimates.iter().map(|estimate| estimate.outcome.clone()).collect();
    let modified = pts::modifications(&file, context.profile, &outcomes);
    let refusals = drive.refusals().iter().map(ToString::to_string).collect();
    let needs_erase = drive.needs_erase_confirmation();
    Ok(Planned { file, refusals, needs_erase, assumed, source, estimates, modified })
}

/// Bytes per second from text such as `500MB/s`.
fn rate(text: &str) -> Result<f64, String> {
    let amount = text.trim().strip_suffix("/s").unwrap_or(text);
    let bytes = parse_size(amount).map_err(|problem| format!("--assume-write: {problem}"))?;
    match bytes {
        1_000_000.. => Ok(bytes as f64),
        _ => Err(format!("--assume-write {text}: at least 1MB/s is possible, such as 500MB/s")),
    }
}

/// What the slowest of cells, channels, link and controller of a simulated drive lets through; its caches and
/// its heat are left out.
fn modelled(target: &TargetFacts) -> Option<f64> {
    let model = Model::named(&target.simulated.as_ref()?.model).ok()?;
    let (geometry, timing) = (&model.geometry, &model.timing);
    let unit_bytes = f64::from(geometry.program_unit_bytes);
    let held_us = if timing.die_held_through_transfer { unit_bytes / timing.channel_mb_per_s } else { 0.0 };
    let channels = f64::from(geometry.channels);
    let dies = channels * f64::from(geometry.dies_per_channel);
    // Bytes per microsecond are MB/s.
    let limits = [
        dies * unit_bytes / (timing.program_us + held_us),
        channels * timing.channel_mb_per_s,
        timing.link_mb_per_s,
        f64::from(geometry.map_unit_bytes) / timing.map_unit_us.max(1e-3),
    ];
    limits.into_iter().min_by(f64::total_cmp).map(|megabytes| megabytes * 1e6)
}

impl Planned {
    fn total(&self, of: fn(&Estimate) -> Cost) -> Cost {
        self.estimates.iter().map(of).fold(Cost::default(), Cost::and)
    }

    fn drive_fills(&self, bytes: u64) -> f64 {
        bytes as f64 / self.file.target.capacity_bytes.max(1) as f64
    }

    fn what_is_lost(&self) -> String {
        let identity = &self.file.target.identity;
        if self.needs_erase {
            format!("everything on {}; confirmed with --erase '{identity}'", self.file.target.path)
        } else {
            "nothing: there is nothing on it to lose".into()
        }
    }
}

fn text(planned: &Planned) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| out.push_str(&format!("{name:<9} {text}\n"));
    line("target", &summary::target(&planned.file));
    line("lost", &planned.what_is_lost());
    planned.refusals.iter().for_each(|refusal| line("refused", refusal));
    let profile = Profile::named(&planned.file.profile).map_or("", |profile| profile.revision);
    line("profile", profile);
    let modified = planned.modified.join("; ");
    line("modified", if modified.is_empty() { "no" } else { &modified });
    line(
        "assumed",
        &format!(
            "sequential writes at {} MB/s ({}); random I/O of B bytes at B / (B + 16 KiB) of it, 0.1 ms at least; \
             the time of a purge is left out",
            grouped(planned.assumed.write_bytes_per_second / 1e6, 0),
            planned.source
        ),
    );
    if planned.file.scale_divisor() > 1 {
        line("note", "times are those of the drive's own scaled clock");
    }
    out.push('\n');
    let mut row = |cells: [&str; 6]| {
        let [name, steps, time, exact, estimated, fills] = cells;
        out.push_str(&format!("{name:<8}  {steps:<14}  {time:<32}  {exact:<15}  {estimated:<22}  {fills}\n"));
    };
    row(["test", "steps", "time", "preconditioning", "cells write about", "drive fills"]);
    for estimate in &planned.estimates {
        let cells = cells(planned, estimate.shortest, estimate.longest);
        row([estimate.test.name, &cells[0], &cells[1], &cells[2], &cells[3], &cells[4]]);
    }
    if planned.estimates.len() > 1 {
        let cells = cells(planned, planned.total(|e| e.shortest), planned.total(|e| e.longest));
        row(["all", &cells[0], &cells[1], &cells[2], &cells[3], &cells[4]]);
    }
    out
}

fn cells(planned: &Planned, shortest: Cost, longest: Cost) -> [String; 5] {
    let range = |of: &dyn Fn(Cost) -> String| {
        let (low, high) = (of(shortest), of(longest));
        if low == high { low } else { format!("{low} to {high}") }
    };
    [
        range(&|cost| cost.steps.to_string()),
        range(&|cost| span(cost.duration_ns)),
        range(&|cost| amount_base10(cost.precondition_bytes)),
        range(&|cost| amount_base10(cost.cell_bytes)),
        range(&|cost| grouped(planned.drive_fills(cost.written_bytes()), 1)),
    ]
}

fn document(planned: &Planned) -> Value {
    let file = &planned.file;
    let cost = |cost: Cost| {
        json!({
            "steps": cost.steps,
            "rounds": cost.rounds,
            "duration_ns": cost.duration_ns,
            "precondition_bytes": cost.precondition_bytes,
            "estimated_cell_bytes": cost.cell_bytes,
            "drive_fills": planned.drive_fills(cost.written_bytes()),
        })
    };
    json!({
        "target": file.target,
        "erase": planned.needs_erase.then_some(&file.target.identity),
        "refusals": planned.refusals,
        "profile": file.profile,
        "settings": file.settings,
        "modified": planned.modified,
        "assumed_write_bytes_per_second": planned.assumed.write_bytes_per_second,
        "tests": planned.estimates.iter().map(|estimate| json!({
            "test": estimate.test.name,
            "outline": estimate.outcome.outline,
            "shortest": cost(estimate.shortest),
            "longest": cost(estimate.longest),
        })).collect::<Vec<_>>(),
        "shortest": cost(planned.total(|estimate| estimate.shortest)),
        "longest": cost(planned.total(|estimate| estimate.longest)),
    })
}
