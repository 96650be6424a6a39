//! `plateau notify`: sends notices about the runs in the library.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::notify::config::CampaignPlaces;
use ::notify::decide::{Held, Jobs};
use ::notify::{Channel, Config, MemoryError, Notice, ReadJobs, Service, ServiceError, Subject, read_config};
use cluster::{InQueue, Surveyor, Whose};
use record::{Digest, Library};
use serde_json::{Value, json};
use stdx::text::{short, slug, with_causes};

use crate::cli::{Cli, Notify};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::signals;

pub fn run(cli: &Cli, options: &Notify) -> Done {
    let path = options.config.clone().map_or_else(default_config, Ok)?;
    let config = config(&path)?;
    let root = places::library(cli.library.as_deref())?.root().to_owned();
    let folder = folder(&root)?;
    let channels: Vec<Channel> =
        config.channels.iter().map(|entry| Channel::of(entry.clone(), &folder.join("test"))).collect();
    if let Some(name) = &options.test {
        return test(cli, &path, &channels, name);
    }
    let unusable = channels.iter().filter_map(|channel| Some((channel, channel.check().err()?)));
    let unusable: Vec<String> = unusable
        .map(|(channel, error)| format!("channel '{}': {}", channel.name(), with_causes(&error)))
        .collect();
    if !unusable.is_empty() {
        return Err(Failure::text(Exit::Usage, unusable.join("\n")));
    }
    let jobs = jobs(&config, &places::library(cli.library.as_deref())?);
    let mut service = Service::open(config, &root, &folder, &stdx::host_name(), jobs).map_err(failure)?;
    let stop = signals::watch()?;
    if options.once {
        return once(cli, &mut service, &stop);
    }
    let names: Vec<&str> = channels.iter().map(Channel::name).collect();
    if cli.json {
        printer::print_json(&json!({ "library": places::text_of(&root), "channels": names }))?;
    } else {
        printer::print(&format!("watching {} for: {}", root.display(), names.join(", ")))?;
    }
    service.run(&stop, &printer::print_line);
    Ok(())
}

/// Returns the function that reads the jobs of the campaigns in a configuration.
fn jobs(config: &Config, library: &Library) -> ReadJobs {
    let surveyor = |places: &CampaignPlaces| {
        let CampaignPlaces { file, inventory, logs } = places.clone();
        Surveyor::of(file, inventory, logs, library.clone(), Whose::Everyones)
    };
    let all: Vec<Surveyor> = config.campaigns.iter().map(surveyor).collect();
    Arc::new(move || {
        let mut jobs = Jobs::default();
        for surveyor in &all {
            let in_queue = surveyor.in_queue().unwrap_or_else(|failure| {
                jobs.unknown.push(format!("campaign {}: {}", surveyor.campaign.display(), failure.message()));
                Vec::new()
            });
            for InQueue { job, number, held, output_bytes } in in_queue {
                jobs.queued.insert(job.id.clone());
                let run = Subject::of_job(
                    &job.id,
                    job.work.tests.as_deref().unwrap_or_default(),
                    &job.drive.path,
                    &job.drive.identity,
                );
                jobs.held.extend(held.map(|reason| Held {
                    run,
                    number,
                    reason: short(&reason),
                    output_bytes,
                }));
            }
        }
        jobs
    })
}

fn default_config() -> Done<PathBuf> {
    places::config().map(|folder| folder.join("notify.toml"))
}

fn config(path: &Path) -> Done<Config> {
    let text = read_config(path).map_err(|error| {
        let text =
            format!("{}; docs/guide/notify.md shows an example of a configuration", with_causes(&error));
        Failure::text(Exit::Usage, text)
    })?;
    Config::read(&path.display().to_string(), &text).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Failure::text(Exit::Usage, lines.join("\n"))
    })
}

/// Returns the folder that stores what was observed in a library.
fn folder(library: &Path) -> Done<PathBuf> {
    let text = places::text_of(library);
    let digest = Digest::of(text.as_bytes()).to_string();
    Ok(places::state()?.join("notify").join(format!("{}-{}", slug(&text), &digest[..8])))
}

fn test(cli: &Cli, path: &Path, channels: &[Channel], name: &str) -> Done {
    let Some(channel) = channels.iter().find(|channel| channel.name() == name) else {
        let names: Vec<&str> = channels.iter().map(Channel::name).collect();
        let meant = stdx::nearest(name, names.iter().copied());
        let hint = meant.map_or_else(
            || format!("its channels: {}", names.join(", ")),
            |meant| format!("did you mean '{meant}'?"),
        );
        let text = format!("{} has no channel '{name}'; {hint}", path.display());
        return Err(Failure::text(Exit::Usage, text));
    };
    let stop = signals::watch()?;
    let notice = Notice::sample(&stdx::host_name(), record::wall_now());
    channel.deliver(&notice, &stop).map_err(|error| {
        let text = format!("the sample was not delivered through '{name}': {}", with_causes(&error));
        Failure::text(Exit::Busy, text)
    })?;
    let delivered = [delivery(&notice, name)];
    if cli.json {
        return printer::print_json(&json!({ "delivered": delivered, "undelivered": [] }));
    }
    printer::print(&format!("a sample was delivered through '{name}'"))
}

fn once(cli: &Cli, service: &mut Service, stop: &AtomicBool) -> Done {
    let (delivered, undelivered) =
        service.once(record::wall_now(), stop, &printer::print_line).map_err(failure)?;
    let document = json!({
        "delivered": delivered.iter().map(|one| delivery(&one.notice, &one.channel)).collect::<Vec<_>>(),
        "undelivered": undelivered
            .iter()
            .map(|one| {
                let mut document = delivery(&one.notice, &one.channel);
                document["problem"] = json!(one.problem);
                document
            })
            .collect::<Vec<_>>(),
    });
    if !cli.json && !delivered.is_empty() {
        let line = |notice: &Notice, channel: &str| format!("{channel}: {}\n", ::notify::subject(notice));
        printer::print(&delivered.iter().map(|one| line(&one.notice, &one.channel)).collect::<String>())?;
    }
    if undelivered.is_empty() {
        return if cli.json { printer::print_json(&document) } else { Ok(()) };
    }
    let problems: Vec<String> = undelivered
        .iter()
        .map(|one| {
            format!("notice {} is not delivered through '{}': {}", one.notice.id, one.channel, one.problem)
        })
        .collect();
    let text = format!("{}; the next `plateau notify` tries again", problems.join("\n"));
    Err(Failure::text(Exit::Busy, text).with_document(document))
}

fn delivery(notice: &Notice, channel: &str) -> Value {
    json!({ "notice": notice.id, "event": notice.event().word(), "run": notice.run.id, "channel": channel })
}

fn failure(error: ServiceError) -> Failure {
    let exit = match &error {
        ServiceError::Memory(MemoryError::Busy { .. }) => Exit::Busy,
        ServiceError::Memory(_) | ServiceError::Thread(_) | ServiceError::Panicked(_) => Exit::Internal,
        ServiceError::Observe(_) => Exit::Run,
        ServiceError::Stopped => Exit::Interrupted,
    };
    Failure::new(exit, error)
}
