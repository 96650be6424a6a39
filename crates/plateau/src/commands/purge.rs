//! `plateau purge TARGET`.

use std::sync::atomic::Ordering;

use crate::output::printer;
use console::{Audience as _, Step};
use device::{OpenOptions, PurgeOptions, Purging};
use engine::Flow;
use prepare::models;
use record::{SimulatedFacts, TargetFacts};
use serde_json::json;
use stdx::units::{SECOND_NS, amount_base10};

use crate::cli::{Cli, Purge};
use crate::failure::Done;
use crate::output::places;
use crate::run::request;
use crate::run::signals;
use console::progress::Progress;
use prepare::others;

pub fn run(cli: &Cli, options: &Purge) -> Done {
    let open = OpenOptions {
        scale: options.scale.clone(),
        sim_seed: request::USUAL_SEED,
        libraries: places::libraries(cli.library.as_deref()),
        ..OpenOptions::default()
    };
    let drive = device::open(&models::existing_target(&options.target)?, &open)?;
    let identity = drive.facts().identity.clone();
    let typed = options.erase.iter().find(|typed| **typed == identity).or(options.erase.first());
    let mut armed = drive.arm(typed.map(String::as_str))?;
    let facts = armed.facts().clone();
    let how = PurgeOptions {
        method: options.method.clone(),
        verify: options.verify_purge,
        also_erase: options.erase.iter().filter(|typed| **typed != identity).cloned().collect(),
    };
    armed.check_purge(&how)?;
    print_target(&facts);
    others::note(&facts, &places::state()?, "plateau purge");
    let interrupted = signals::watch()?;
    let mut progress = Progress::of_purge(&facts);
    let purged = armed.purge_with(&how, &mut |purging| {
        match purging {
            Purging::Step(text) => progress.step(Step::PurgeStep(text)),
            Purging::ShareDone(share) => progress.share_done(share),
            Purging::Expected(length) => progress.expected(length),
            Purging::Waiting => {}
        }
        if interrupted.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    });
    drop(progress);
    let purged = purged?;
    let seconds = (purged.end_ns - purged.start_ns) as f64 / SECOND_NS as f64;
    if cli.json {
        return printer::print_json(&json!({
            "target": facts,
            "method": purged.method,
            "pts_purge": purged.pts_purge,
            "seconds": seconds,
            "evidence": purged.evidence,
        }));
    }
    let evidence: String = purged.evidence.iter().map(|line| format!("  {line}\n")).collect();
    let (time, end) = facts.simulated.as_ref().map_or_else(Default::default, rehearsed);
    printer::print(&format!("purged by {} in {seconds:.1} s{time}\n{evidence}{end}", purged.method))
}

/// Returns text that qualifies the elapsed time, and a remark that the simulated drive existed only during this
/// command.
fn rehearsed(simulated: &SimulatedFacts) -> (String, &'static str) {
    let time = match simulated.scale_divisor {
        1 => " of simulated time".to_owned(),
        n => format!(" of simulated time at scale 1/{n}"),
    };
    let end =
        "  rehearsal only: the drive existed only during this command; `plateau run` purges its own drive\n";
    (time, end)
}

fn print_target(facts: &TargetFacts) {
    let capacity = amount_base10(facts.capacity_bytes);
    let what = match &facts.simulated {
        // A simulated drive's path is its identity and contains its model.
        Some(_) => format!("{} (simulated), {capacity}", facts.path),
        None => {
            let model = facts.model.as_deref().unwrap_or("model unknown");
            format!("{}: {model} {}, {capacity}", facts.path, facts.identity)
        }
    };
    printer::print_line(&format!("erasing {what}"));
}
