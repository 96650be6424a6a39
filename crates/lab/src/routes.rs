//! Every route of the server. A single table contains the access, description and handler of each route. The
//! router, the API description and the tests of the gate are derived from it.

use crate::app::{Answer, App, Call, Content, Handler, Method, Reception, Route};
use crate::gate::Access;
use crate::receive::{BEGIN, RECORDS, SETTLE, STATE};
use crate::{api, assets, metrics, openapi, pages};

const SELECTION: &[&str] = &["q", "state", "test", "drive", "archived"];

const fn page(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    let handler = Handler::Answer(answer);
    Route {
        method: Method::Get,
        path,
        access: Access::Viewer,
        content: Content::Page,
        about,
        query: &[],
        handler,
    }
}

/// A change that only operators can make.
const fn change(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    Route { method: Method::Post, access: Access::Operator, ..page(path, about, answer) }
}

const fn json(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    Route { content: Content::Json, ..page(path, about, answer) }
}

const fn public(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    Route { access: Access::Public, ..page(path, about, answer) }
}

/// A request from a host that sends its runs.
const fn sent(method: Method, path: &'static str, about: &'static str, reception: Reception) -> Route {
    Route {
        method,
        path,
        access: Access::Sender,
        content: Content::Json,
        about,
        query: &[],
        handler: Handler::Receive(reception),
    }
}

/// All routes.
pub const ROUTES: &[Route] = &[
    public("/static/lab.css", "the style of the pages", assets::style),
    public("/static/live.js", "the script of the pages", assets::script),
    public("/static/icon.svg", "the icon of the pages", assets::icon),
    public("/favicon.ico", "the icon, for pages that do not link to it", assets::icon),
    Route {
        method: Method::Get,
        path: "/enter",
        access: Access::Public,
        content: Content::Page,
        about: "exchanges the token of a link for a cookie",
        query: &["token"],
        handler: Handler::Entrance,
    },
    public("/login", "the form to sign in", pages::account::login),
    Route {
        method: Method::Post,
        path: "/login",
        access: Access::Public,
        content: Content::Page,
        about: "exchanges a name and a password for a cookie",
        query: &[],
        handler: Handler::Login,
    },
    page("/account", "who is signed in", pages::account::page),
    Route { access: Access::Viewer, ..change("/leave", "ends the session", pages::account::leave) },
    page("/", "runs in progress and the library", pages::library::page),
    page("/start", "the form to start a run, and the waiting runs", pages::start::form),
    change("/start", "estimates a plan for a target", pages::start::plan),
    page("/start/{id}", "a planned, waiting or started run", pages::start::page),
    change("/start/{id}", "starts a planned run; the identity confirms it", pages::start::confirm),
    change("/start/{id}/withdraw", "withdraws a waiting run", pages::start::withdraw),
    change("/runs/{id}/tag", "adds a tag to a run", pages::labels::tag),
    change("/runs/{id}/untag", "removes a tag from a run", pages::labels::untag),
    change("/runs/{id}/note", "adds a note to a run", pages::labels::note),
    change("/runs/{id}/archive", "hides a run from lists", pages::labels::archive),
    change("/runs/{id}/unarchive", "shows a run in lists again", pages::labels::unarchive),
    change("/runs/{id}/stop", "stops a run, like Ctrl-C", pages::start::stop),
    change("/runs/{id}/resume", "continues an interrupted run", pages::start::resume),
    change(
        "/runs/{id}/restart",
        "restarts the interrupted test of a run from its purge",
        pages::start::restart,
    ),
    page("/drives", "tested drives and block devices of the host", pages::drives::list),
    page("/drive", "results and runs of a drive", pages::drives::one),
    page("/fleet", "the jobs of campaigns on the drives of several hosts", pages::fleet::page),
    page("/compare", "a comparison of runs; the first is the baseline", api::compare),
    page("/runs/{id}", "a run, live while it is in progress", pages::run::page),
    page("/runs/{id}/live", "the part of the page of a run that changes", pages::run::part),
    page("/runs/{id}/second", "the part of the page of a run that changes every second", pages::second::part),
    Route {
        content: Content::File,
        query: &["record"],
        ..page("/runs/{id}/heat", "the response times of a run over time, as SVG", pages::heat::picture)
    },
    page("/runs/{id}/page", "the page of a run as one file", pages::run::file),
    page("/runs/{id}/report", "the report of a run", api::report),
    Route {
        content: Content::File,
        ..page("/runs/{id}/export/{format}", "the data of a run as a file", api::export)
    },
    page("/api", "the addresses for programs", pages::api::page),
    json("/api/openapi.json", "this description", openapi::openapi),
    Route { query: SELECTION, ..json("/api/runs", "all runs, newest first", api::runs) },
    json("/api/runs/{id}", "a run with its current state", api::run),
    Route {
        method: Method::Get,
        path: "/api/runs/{id}/events",
        access: Access::Viewer,
        content: Content::Events,
        about: "new records of a run as they reach the disk; the id of an event is the number of its record",
        query: &["after"],
        handler: Handler::Events,
    },
    json("/api/starts", "runs planned, queued or started through this server", api::starts),
    json("/api/drives", "tested drives with the history of their figures", api::tested),
    json("/api/fleet", "the jobs of campaigns: running, waiting or failed, and why", pages::fleet::document),
    sent(Method::Get, "/receive/v1/runs/{id}", "how much of a run the server has", STATE),
    sent(Method::Post, "/receive/v1/runs/{id}", "adds a run of another host", BEGIN),
    Route {
        query: &["at"],
        ..sent(
            Method::Post,
            "/receive/v1/runs/{id}/records",
            "appends records to a run of another host",
            RECORDS,
        )
    },
    sent(Method::Post, "/receive/v1/runs/{id}/state", "states that all records were sent", SETTLE),
    Route {
        content: Content::Metrics,
        ..page("/metrics", "runs by state and runs in progress, for Prometheus", metrics::metrics)
    },
];

/// Every route: method, path with placeholders, and required access.
pub fn addresses() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    ROUTES.iter().map(|route| {
        let method = match route.method {
            Method::Get => "GET",
            Method::Post => "POST",
        };
        let access = match route.access {
            Access::Public => "public",
            Access::Viewer => "viewer",
            Access::Operator => "operator",
            Access::Sender => "sender",
        };
        (method, route.path, access)
    })
}
