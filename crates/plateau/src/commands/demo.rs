//! `plateau demo`: the whole method on a simulated drive.

use crate::cli::{Asked, Cli, Demo, Run};
use crate::failure::Done;
use crate::wanted::Wanted;
use crate::{conduct, models};

pub fn run(cli: &Cli, options: &Demo) -> Done {
    let asked = Asked {
        words: vec!["iops".into(), format!("sim:{}", models::model("--model ", &options.model)?)],
        profile: Some(options.profile.clone()),
        scale: Some(options.scale.clone()),
        seed: Some(options.seed),
        ..Asked::default()
    };
    let run = Run { asked, ..Run::default() };
    let wanted = Wanted::of(&run.asked)?;
    let done = conduct::perform(cli.library.as_deref(), wanted, &run)?;
    conduct::finish(cli, done)
}
