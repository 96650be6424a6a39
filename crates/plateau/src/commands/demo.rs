//! `plateau demo`: the whole method on a simulated drive.

use crate::cli::{Asked, Changes, Cli, Demo, Driving, Handling, Run, SimFaults};
use crate::conduct;
use crate::failure::Done;
use crate::wanted::Wanted;

pub fn run(cli: &Cli, options: &Demo) -> Done {
    let asked = Asked {
        words: vec!["iops".into(), format!("sim:{}", options.model)],
        profile: Some(options.profile.clone()),
        preset: None,
        plan: None,
        size: None,
        scale: Some(options.scale.clone()),
        seed: Some(options.seed),
        cpus_allowed: None,
        numa_cpu_nodes: None,
        driving: Driving::default(),
        sim_faults: SimFaults::default(),
        changes: Changes::default(),
    };
    let run = Run { asked, erase: Vec::new(), report: Vec::new(), handling: Handling::default() };
    let wanted = Wanted::of(&run.asked)?;
    let done = conduct::perform(cli.library.as_deref(), wanted, &run)?;
    conduct::finish(cli, done)
}
