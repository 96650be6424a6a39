//! `plateau demo`: runs the whole method on a simulated drive.

use plans::settings::typed;
use prepare::models;

use crate::cli::{Cli, Demo, PlannedSettings, RequestOptions, ResumableSettings};
use crate::failure::{Done, Exit, Failure};
use crate::run::lifecycle;
use crate::run::request::RunRequest;

pub fn run(cli: &Cli, options: &Demo) -> Done {
    let settings = [("scale", &options.scale), ("seed", &options.seed.to_string())];
    let settings = settings.into_iter().map(|(name, value)| typed(name, value)).collect::<Result<_, _>>();
    let settings = settings.map_err(|text| Failure::text(Exit::Usage, text))?;
    let request = RequestOptions {
        words: vec!["iops".into(), format!("sim:{}", models::model("--model ", &options.model)?)],
        profile: Some(options.profile.clone()),
        settings: PlannedSettings::of(settings),
        ..RequestOptions::default()
    };
    let request = RunRequest::of(&request, &ResumableSettings::default())?;
    let done = lifecycle::perform(cli.library.as_deref(), request, &[])?;
    lifecycle::finish(cli, done)?.done()
}
