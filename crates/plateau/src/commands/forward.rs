//! `plateau forward` and `plateau push`: send runs to a server, continuously or once.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forward::{Address, Client, Connection, Round, Service};
use serde_json::{Value, json};
use stdx::text::with_causes;
use transfer::{Source, TransferError, send};

use super::copy;
use crate::cli::{Cli, Forward, Push, ServerOptions};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::run::signals;

pub fn run(cli: &Cli, options: &Forward) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let stop = signals::watch()?;
    let connection = connection(&options.to, &options.server)?;
    let root = library.root().to_owned();
    let mut service = Service::of(library, Client::of(connection, Arc::clone(&stop)), Arc::clone(&stop));
    if options.once {
        return once(cli, service.round()?);
    }
    if cli.json {
        printer::print_json(&json!({ "library": places::text_of(&root), "server": options.to.as_str() }))?;
    } else {
        printer::print(&format!("forwarding the runs in {} to {}", root.display(), options.to.as_str()))?;
    }
    service.follow(options.look_every, &mut |line| printer::print_line(line));
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

/// `plateau push RUN... URL`.
pub fn push(cli: &Cli, options: &Push) -> Done {
    let library = places::library(cli.library.as_deref())?;
    let runs = places::chosen(&library, &options.runs, options.all)?;
    // All runs are checked before the first run is sent.
    for run in &runs {
        copy::check(run, options.in_progress)?;
    }
    let stop: Arc<AtomicBool> = signals::watch()?;
    let mut client = Client::of(connection(&options.to, &options.server)?, Arc::clone(&stop));
    let mut pushed = Vec::new();
    for run in runs {
        let id = run.file.id.clone();
        client.set_directory(run.dir.display().to_string());
        let go_on = &mut |_| {
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let sent = send(&mut Source::of(run), &mut client, go_on).and_then(|sent| match sent.has_all {
            true => Ok(sent),
            false => Err(TransferError::Unreachable { text: "stopped".into() }),
        });
        let sent = sent.map_err(|error| {
            Failure::from(error).of_run(&id).with_document(json!({ "pushed": pushed.clone() }))
        })?;
        if !cli.json {
            printer::print(&copy::text(&id, sent, false))?;
        }
        pushed.push(copy::document(&id, sent));
    }
    if cli.json { printer::print_json(&json!({ "pushed": pushed })) } else { Ok(()) }
}

fn connection(address: &Address, options: &ServerOptions) -> Done<Connection> {
    let file = options.token_file.clone().map_or_else(default_token, Ok)?;
    let token = outbound::read_secret(&file).map_err(|error| {
        let text = format!(
            "{}; write the token that `plateau sender add` printed on the server to this file, or specify another one with \
             --token-file",
            with_causes(&error)
        );
        Failure::text(Exit::Usage, text)
    })?;
    if let Some(path) = options.ca_file.as_ref().filter(|path| !path.is_file()) {
        return Err(Failure::text(Exit::Usage, format!("--ca-file {} is not a file", path.display())));
    }
    let ca_file = options.ca_file.as_deref().map(std::path::absolute).transpose()?;
    Ok(Connection { address: address.clone(), token, ca_file })
}

fn default_token() -> Done<PathBuf> {
    places::config().map(|folder| folder.join("token"))
}
