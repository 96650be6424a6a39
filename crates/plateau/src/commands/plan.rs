//! `plateau plan TESTS TARGET`: how long a run would take, and what it would write and erase. The target is inspected
//! but not changed.

mod endurance;
mod presets;
mod rehearsed;

use device::Drive;
use estimate::assumed::Assumed;
use estimate::dry::{Cost, Estimate};
use pts::{Context, Profile};
use record::{RunFile, TargetFacts};
use serde_json::{Value, json};
use stdx::units::{amount_base10, grouped, span};

use crate::cli::inapplicable;
use crate::cli::{Cli, PlanCommand, ResumableSettings};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::summary;
use crate::run::lifecycle;
use crate::run::rehearsal::{self, Rehearsal};
use crate::run::request::RunRequest;
use crate::run::speeds::{self, Known};
use endurance::Endurance;

/// All results that the command prints.
struct Planned {
    file: RunFile,
    refusals: Vec<String>,
    needs_erase: bool,
    known: Known,
    estimates: Vec<Estimate>,
    modified: Vec<pts::Deviation>,
    endurance: Option<Endurance>,
    rehearsal: Option<Rehearsal>,
}

pub fn run(cli: &Cli, options: &PlanCommand) -> Done {
    if options.list {
        return presets::list(cli);
    }
    if let Some(path) = &options.check {
        return presets::check(cli, path);
    }
    estimate(cli, options, &ResumableSettings::default())
}

/// Estimates a run with these drive settings (purge, write cache, tuning).
pub fn estimate(cli: &Cli, options: &PlanCommand, handling: &ResumableSettings) -> Done {
    let usage = |text: String| Failure::text(Exit::Usage, text);
    let library = places::library(cli.library.as_deref())?;
    let mut request = RunRequest::of(&options.request, handling)?;
    let typed = options.request.settings.given().iter().chain(handling.given());
    inapplicable::check(&request.target, typed, &[])?;
    request.open.libraries = vec![library.root().to_owned()];
    let (file, drive) = lifecycle::prepare(request, lifecycle::Being::now())?;
    let known = speeds::of(&file, &options.assumptions, &library)?;
    let health = drive.about().map(|about| about.health).unwrap_or_default();
    let endurance = Endurance::of(options.tbw, &health).map_err(usage)?;
    let model =
        options.rehearse.clone().or_else(|| own_model(&file.target).filter(|_| !options.no_rehearsal));
    let rehearsal = model.map(|model| rehearsal::rehearse(&file, &model)).transpose()?;
    let planned = plan(file, &drive, known).map_err(usage)?;
    let planned = Planned { endurance, rehearsal, ..planned };
    if cli.json { printer::print_json(&document(&planned)) } else { printer::print(&text(&planned)) }
}

fn plan(file: RunFile, drive: &Drive, known: Known) -> Result<Planned, String> {
    let context = Context::of(&file)?;
    let estimates = speeds::estimates(&file, &known.assumed)?;
    let outcomes: Vec<_> = estimates.iter().map(|estimate| estimate.outcome.clone()).collect();
    let modified = pts::modifications(&file, context.profile, &outcomes);
    let refusals = drive.refusals().iter().map(ToString::to_string).collect();
    let needs_erase = drive.needs_erase_confirmation();
    let (endurance, rehearsal) = (None, None);
    Ok(Planned { file, refusals, needs_erase, known, estimates, modified, endurance, rehearsal })
}

/// Returns a simulated drive's model, for `--rehearse`.
fn own_model(target: &TargetFacts) -> Option<String> {
    target.simulated.as_ref()?;
    target.path.strip_prefix("sim:").map(str::to_owned)
}

impl Planned {
    fn total(&self, of: fn(&Estimate) -> Cost) -> Cost {
        self.estimates.iter().map(of).fold(Cost::default(), Cost::and)
    }

    fn drive_fills(&self, bytes: u64) -> f64 {
        bytes as f64 / self.file.target.capacity_bytes.max(1) as f64
    }

    fn what_is_lost(&self) -> String {
        let target = &self.file.target;
        if self.needs_erase {
            format!("everything on {}; confirm with {}", target.path, summary::erase_options(target))
        } else {
            "nothing: it contains no data".into()
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
    let modified = pts::listed(&planned.modified);
    line("modified", if modified.is_empty() { "no" } else { &modified });
    assumptions(&planned.known.assumed).iter().for_each(|text| line("assumed", text));
    line("", &format!("{}; purge times are not included", planned.known.source));
    let written = |of: fn(&Estimate) -> Cost| planned.total(of).written_bytes();
    if planned.file.target.simulated.is_none() {
        let (least, most) = (written(|estimate| estimate.shortest), written(|estimate| estimate.longest));
        line("endurance", &endurance::line(planned.endurance.as_ref(), least, most));
    }
    if planned.file.scale_divisor() > 1 {
        line("note", "times are in the drive's scaled virtual time");
    }
    if planned.estimates.iter().any(|estimate| estimate.shortest != estimate.longest) {
        line("shortest", "steady state is reached as early as possible");
        line("longest", "steady state is not reached within the round limit");
    }
    out.push('\n');
    let width = planned.estimates.iter().map(|estimate| estimate.test.len()).max().unwrap_or(0).max(8);
    // Only tests without a fixed length have a shortest and a longest case.
    let of_case = if planned.estimates.iter().any(|e| cells(planned, e.shortest) != cells(planned, e.longest))
    {
        10
    } else {
        0
    };
    let mut row = |name: &str, case: &str, cells: [&str; 5]| {
        let [steps, time, exact, estimated, fills] = cells;
        let line = format!(
            "{name:<width$}  {case:<of_case$}{steps:<5}  {time:<12}  {exact:<8}  {estimated:<11}  {fills}"
        );
        out.push_str(line.trim_end());
        out.push('\n');
    };
    row("test", "", ["steps", "time", "precond.", "cells write", "fills"]);
    let all = (planned.estimates.len() > 1)
        .then(|| ("all", planned.total(|e| e.shortest), planned.total(|e| e.longest)));
    let each = planned.estimates.iter().map(|e| (e.test.as_str(), e.shortest, e.longest));
    for (name, shortest, longest) in each.chain(all) {
        let (least, most) = (cells(planned, shortest), cells(planned, longest));
        if least == most {
            row(name, "", least.each_ref().map(String::as_str));
        } else {
            row(name, "shortest", least.each_ref().map(String::as_str));
            row("", "longest", most.each_ref().map(String::as_str));
        }
    }
    planned.rehearsal.iter().for_each(|rehearsal| out.push_str(&rehearsed::text(rehearsal)));
    out
}

/// Formats the assumed speeds.
fn assumptions(assumed: &Assumed) -> [String; 3] {
    let (figures, megabytes) = (assumed.figures(), |rate: f64| grouped(rate / 1e6, 0));
    [
        format!(
            "sequential writes {} MB/s, reads {} MB/s",
            megabytes(figures.sequential_write),
            megabytes(figures.sequential_read)
        ),
        format!(
            "random 4 KiB writes {} IOPS ({} when fresh, for {:.2} drive fills), reads {} IOPS",
            grouped(figures.random_write_iops, 0),
            grouped(figures.fresh_write_iops, 0),
            assumed.saturation.fills,
            grouped(figures.random_read_iops, 0)
        ),
        format!(
            "one outstanding I/O: writes {:.3} ms, reads {:.3} ms",
            assumed.alone.write_seconds * 1e3,
            assumed.alone.read_seconds * 1e3
        ),
    ]
}

fn cells(planned: &Planned, cost: Cost) -> [String; 5] {
    [
        cost.steps.to_string(),
        span(cost.duration_ns),
        amount_base10(cost.precondition_bytes),
        amount_base10(cost.cell_bytes),
        grouped(planned.drive_fills(cost.written_bytes()), 1),
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
        "modified": pts::texts(&planned.modified),
        "assumed": assumed_json(&planned.known.assumed),
        "source": planned.known.source,
        "endurance": planned.endurance.as_ref().map(|endurance| json!({
            "rated_bytes": endurance.rated_bytes,
            "source": endurance.source,
            "shortest_percent": endurance.share_percent(planned.total(|e| e.shortest).written_bytes()),
            "longest_percent": endurance.share_percent(planned.total(|e| e.longest).written_bytes()),
        })),
        "rehearsal": planned.rehearsal.as_ref().map(rehearsed::document),
        "tests": planned.estimates.iter().map(|estimate| json!({
            "test": estimate.test,
            "outline": estimate.outcome.outline,
            "shortest": cost(estimate.shortest),
            "longest": cost(estimate.longest),
        })).collect::<Vec<_>>(),
        "shortest": cost(planned.total(|estimate| estimate.shortest)),
        "longest": cost(planned.total(|estimate| estimate.longest)),
    })
}

fn assumed_json(assumed: &Assumed) -> Value {
    let figures = assumed.figures();
    json!({
        "sequential_write_bytes_per_second": figures.sequential_write,
        "sequential_read_bytes_per_second": figures.sequential_read,
        "random_4k_write_iops": figures.random_write_iops,
        "random_4k_read_iops": figures.random_read_iops,
        "fresh_4k_write_iops": figures.fresh_write_iops,
        "fresh_fills": assumed.saturation.fills,
        "idle_gain_bytes_per_second": assumed.saturation.idle_gain_bytes_per_second,
        "alone_write_ms": assumed.alone.write_seconds * 1e3,
        "alone_read_ms": assumed.alone.read_seconds * 1e3,
    })
}
