//! `plateau forward` and `plateau push`: send runs to a server, continuously or once.

mod metrics;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cluster::reach;
use forward::{Address, Client, Connection, Credential, Round, Service};
use record::{Library, Run};
use serde_json::{Value, json};
use stdx::text::with_causes;
use transfer::TransferError;

use super::copy;
use crate::cli::{Cli, Forward, Push, ServerOptions};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::several::{self, Deed};
use crate::run::signals;

pub fn run(cli: &Cli, options: &Forward) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let stop = signals::watch()?;
    let connection = connection(&options.to, &options.server)?;
    let root = library.root().to_owned();
    reach::note_if_shared(&root);
    let mut service = Service::of(library, Client::of(connection, Arc::clone(&stop)), Arc::clone(&stop));
    if options.once {
        return once(cli, service.round()?);
    }
    let metrics = metrics::server(cli, options, service.status())?;
    if cli.json {
        let address = metrics.as_ref().map(|server| server.address().to_string());
        let server = options.to.as_str();
        printer::print_json(
            &json!({ "library": places::text_of(&root), "server": server, "metrics": address }),
        )?;
    } else {
        printer::print(&format!("forwarding the runs in {} to {}", root.display(), options.to.as_str()))?;
        metrics.iter().try_for_each(metrics::describe)?;
    }
    std::thread::scope(|scope| {
        if let Some(server) = metrics {
            scope.spawn(|| metrics::serve(server, &stop));
        }
        service.follow(options.look_every, &mut |line| printer::print_line(line));
    });
    Ok(())
}

fn once(cli: &Cli, round: Round) -> Done {
    let sent: Vec<Value> = round.sent.iter().map(|(id, sent)| copy::document(id, *sent)).collect();
    let failed: Vec<Value> =
        round.failed.iter().map(|(id, problem)| json!({ "run": id, "problem": problem })).collect();
    let document = json!({ "sent": sent, "failed": failed });
    if !round.failed.is_empty() {
        let lines: Vec<String> =
            round.failed.iter().map(|(id, problem)| format!("run {id} was not sent: {problem}")).collect();
        return Err(Failure::text(Exit::Run, lines.join("\n")).with_document(document));
    }
    if cli.json {
        return printer::print_json(&document);
    }
    match round.sent.is_empty() {
        true => printer::print("nothing new"),
        false => {
            let lines = round.sent.iter().map(|(id, sent)| copy::text(id, *sent, false) + "\n");
            printer::print(&lines.collect::<String>())
        }
    }
}

/// `plateau push RUN... URL`. A run that cannot be sent does not keep the others from being sent.
pub fn push(cli: &Cli, options: &Push) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let stop: Arc<AtomicBool> = signals::watch()?;
    let mut client = Client::of(connection(&options.to, &options.server)?, Arc::clone(&stop));
    let (runs, mut failures) = requested(&library, options)?;
    let (mut pushed, mut is_server_failing) = (Vec::new(), false);
    let mut runs = runs.into_iter();
    for run in runs.by_ref() {
        let id = run.file.id.clone();
        if let Err(failure) = copy::check(&run, options.in_progress) {
            failures.push(failure);
            continue;
        }
        match forward::push(run, &mut client, &stop) {
            Ok(sent) => {
                is_server_failing = false;
                if !cli.json {
                    printer::print(&copy::text(&id, sent, false))?;
                }
                pushed.push(copy::document(&id, sent));
            }
            Err(error) => {
                let is_over = stop.load(Ordering::Relaxed) || forward::ends_push(&error, is_server_failing);
                is_server_failing = matches!(error, TransferError::Unreachable { .. });
                failures.push(Failure::from(error).of_run(&id));
                if is_over {
                    break;
                }
            }
        }
    }
    let not_tried: Vec<String> = runs.map(|run| run.file.id).collect();
    let deed = Deed { key: "pushed", word: "sent" };
    several::conclude(cli, &deed, &pushed, failures, &not_tried)
}

/// The runs to send, and the reasons why the other runs in the library cannot be read.
fn requested(library: &Library, options: &Push) -> Done<(Vec<Run>, Vec<Failure>)> {
    if !options.all {
        return Ok((places::chosen(library, &options.runs, false)?, Vec::new()));
    }
    several::every(library)
}

fn connection(address: &Address, options: &ServerOptions) -> Done<Connection> {
    let credential = match (&options.client_cert, &options.client_key, &options.token_file) {
        (Some(file), Some(key), _) => certificate(address, file, key)?,
        (.., Some(file)) => token(file)?,
        _ => token(&places::config()?.join("token"))?,
    };
    let ca_file = options.ca_file.as_deref().map(|path| regular("--ca-file", path)).transpose()?;
    Ok(Connection { address: address.clone(), credential, ca_file })
}

fn token(file: &Path) -> Done<Credential> {
    outbound::read_secret(file).map(Credential::Token).map_err(|error| {
        let text = format!(
            "{}; write the token that `plateau sender add` printed on the server to this file, or specify another one with \
             --token-file",
            with_causes(&error)
        );
        Failure::text(Exit::Usage, text)
    })
}

/// A certificate and its key, which curl reads.
fn certificate(address: &Address, file: &Path, key: &Path) -> Done<Credential> {
    if !address.is_encrypted() {
        let text =
            format!("'{}' is not encrypted, so a certificate has no effect; use https://", address.as_str());
        return Err(Failure::text(Exit::Usage, text));
    }
    let file = regular("--client-cert", file)?;
    outbound::check_secret(key).map_err(|error| {
        Failure::text(Exit::Usage, format!("--client-key {}: {}", key.display(), with_causes(&error)))
    })?;
    Ok(Credential::Certificate { file, key: std::path::absolute(key)? })
}

/// The absolute path of a file that curl reads.
fn regular(option: &str, path: &Path) -> Done<PathBuf> {
    if !path.is_file() {
        return Err(Failure::text(Exit::Usage, format!("{option} {} is not a file", path.display())));
    }
    Ok(std::path::absolute(path)?)
}
