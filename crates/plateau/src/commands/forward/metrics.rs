//! The metrics of a host without pages, which `plateau forward` serves.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forward::Status;
use lab::{Metric, Options, Server, Users};

use crate::cli::{Cli, Forward};
use crate::commands::serve as pages;
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue::judged_by;
use crate::output::places;
use crate::output::printer;

/// Listens at the requested address; returns None if none was requested.
pub fn server(cli: &Cli, options: &Forward, status: Arc<Status>) -> Done<Option<Server>> {
    let listening = &options.listening;
    let Some(listen) = options.listen else {
        let text = "these options apply to the server of /metrics; add --listen to start it";
        return if listening.is_any() { Err(Failure::text(Exit::Usage, text)) } else { Ok(None) };
    };
    let library = places::library(cli.library.as_deref())?;
    let (folder, metrics) = (pages::folder()?, Box::new(move || metrics(&status)));
    let options = Options {
        allowed_hosts: listening.allow_host.clone(),
        behind_proxy: listening.behind_proxy,
        tls: pages::tls(listening),
        ..Options::embedded(listen, library, folder, judged_by(), metrics)
    };
    Server::bind(options).map(Some).map_err(pages::failure)
}

/// Prints where the metrics are, and what is missing to read them.
pub fn describe(server: &Server) -> Done {
    printer::print(&format!("metrics at {}metrics", server.url()))?;
    if let Some(certificate) = server.certificate() {
        printer::print(&pages::described(&certificate))?;
    }
    if Users::at(&pages::folder()?).may_exist() {
        return Ok(());
    }
    printer::print("no user can read them yet; `plateau user add prometheus --role viewer` adds one")
}

/// Serves requests until `stop` is set. Whatever happens here, runs are still sent.
pub fn serve(server: Server, stop: &Arc<AtomicBool>) {
    if let Err(error) = server.run(stop, |announcement| printer::print_line(&pages::announced(&announcement)))
    {
        printer::print_line(&format!("metrics are no longer served: {}", stdx::text::with_causes(&error)));
    }
}

/// Returns nothing if the library cannot be listed, which the response then reports as an error.
fn metrics(status: &Status) -> Vec<Metric> {
    let Ok(reading) = status.reading() else { return Vec::new() };
    let gauge = |name, help, value| Metric { name, help, value, is_counter: false };
    vec![
        gauge(
            "plateau_forward_behind_bytes",
            "Bytes of journals that the server has not confirmed to this process.",
            reading.behind_bytes as f64,
        ),
        gauge(
            "plateau_forward_success_age_seconds",
            "Time since bytes were last confirmed or a check that reached the server where necessary, or since the start.",
            reading.success_age.as_secs_f64(),
        ),
        gauge(
            "plateau_forward_unsent_runs",
            "Runs that cannot be read or that the server refuses.",
            reading.unsent_runs as f64,
        ),
        Metric {
            is_counter: true,
            ..gauge(
                "plateau_forward_failures",
                "Failed attempts to reach the server or to send a run.",
                reading.failures as f64,
            )
        },
    ]
}
