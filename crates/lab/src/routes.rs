//! Every route of the server. A single table contains the access, description and handler of each route. The
//! router, the API description and the tests of the gate are derived from it.

use crate::app::{Answer, App, Call, Content, Handler, Method, Reception, Route};
use crate::body::{Body, Field};
use crate::gate::Access;
use crate::receive::{BEGIN, RECORDS, SETTLE, STATE};
use crate::{api, assets, metrics, openapi, pages};

/// The filters and the order of a list of runs.
const SELECTION: &[Field] = &[
    Field::at_most_once("q"),
    Field::at_most_once("state"),
    Field::at_most_once("test"),
    Field::at_most_once("drive"),
    Field::at_most_once("archived"),
    Field::at_most_once("sort"),
];
const LIST: &[Field] = &[
    Field::at_most_once("q"),
    Field::at_most_once("state"),
    Field::at_most_once("test"),
    Field::at_most_once("drive"),
    Field::at_most_once("archived"),
    Field::at_most_once("sort"),
    Field::at_most_once("page"),
];
/// The fields of the form that a link fills in, or the name of an earlier start to take them from.
const PREFILLED: &[Field] = &[
    Field::at_most_once("again"),
    Field::at_most_once("target"),
    Field::at_most_once("file"),
    Field::at_most_once("size"),
    Field::at_most_once("scale"),
    Field::at_most_once("kind"),
    Field::any_number("tests"),
    Field::at_most_once("profile"),
    Field::at_most_once("preset"),
    Field::at_most_once("plan"),
];

/// Statuses of a request that reads the whole library.
const LIBRARY: &[u16] = &[200, 500];
/// Statuses of a request that reads a run.
const OF_RUN: &[u16] = &[200, 404, 500];
/// Statuses of a request that changes what is recorded about a run.
const LABELLED: &[u16] = &[303, 404, 422, 500];
/// Statuses of a request that starts, stops or continues a run, or withdraws a plan.
const OPERATED: &[u16] = &[303, 404, 409, 422, 500, 503];
/// Statuses of a request from a host that sends its runs.
const RECEIVED: &[u16] = &[200, 404, 409, 422, 503];

const TAG: Body = Body::Form(&[Field::once("tag")]);
const NO_FIELDS: Body = Body::Form(&[]);
const IDENTITY: Body = Body::Form(&[Field::at_most_once("identity")]);
const PLAN: Body = Body::Form(&[
    Field::at_most_once("target"),
    Field::at_most_once("file"),
    Field::at_most_once("size"),
    Field::at_most_once("scale"),
    Field::at_most_once("kind"),
    Field::any_number("tests"),
    Field::at_most_once("profile"),
    Field::at_most_once("preset"),
    Field::at_most_once("plan"),
]);

const fn page(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    let handler = Handler::Answer(answer);
    Route {
        method: Method::Get,
        path,
        access: Access::Viewer,
        content: Content::Page,
        about,
        query: &[],
        body: Body::Empty,
        answers: &[200],
        handler,
    }
}

/// A change that only operators can make.
const fn change(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    let (method, access) = (Method::Post, Access::Operator);
    Route { method, access, body: NO_FIELDS, answers: OPERATED, ..page(path, about, answer) }
}

/// A change of what is recorded about a run.
const fn label(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    Route { answers: LABELLED, ..change(path, about, answer) }
}

/// A page about a run.
const fn of_run(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    Route { answers: OF_RUN, ..page(path, about, answer) }
}

const fn json(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    Route { content: Content::Json, ..page(path, about, answer) }
}

const fn public(path: &'static str, about: &'static str, answer: fn(&App, &Call) -> Answer) -> Route {
    Route { access: Access::Public, ..page(path, about, answer) }
}

/// A part of all pages.
const fn asset(
    path: &'static str,
    media_type: &'static str,
    about: &'static str,
    answer: fn(&App, &Call) -> Answer,
) -> Route {
    Route { content: Content::Asset(media_type), ..public(path, about, answer) }
}

/// A request from a host that sends its runs.
const fn sent(
    method: Method,
    path: &'static str,
    about: &'static str,
    body: Body,
    reception: Reception,
) -> Route {
    Route {
        method,
        path,
        access: Access::Sender,
        content: Content::Json,
        about,
        query: &[],
        body,
        answers: RECEIVED,
        handler: Handler::Receive(reception),
    }
}

/// All routes.
pub const ROUTES: &[Route] = &[
    asset("/static/lab.css", "text/css", "the style of the pages", assets::style),
    asset("/static/live.js", "text/javascript", "the script of the pages", assets::script),
    asset("/static/icon.svg", "image/svg+xml", "the icon of the pages", assets::icon),
    asset("/favicon.ico", "image/svg+xml", "the icon, for pages that do not link to it", assets::icon),
    Route {
        method: Method::Get,
        path: "/enter",
        access: Access::Public,
        content: Content::Page,
        about: "exchanges the token of a link for a cookie",
        query: &[Field::once("token")],
        body: Body::Empty,
        answers: &[303, 401],
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
        body: Body::Form(&[Field::once("name"), Field::once("password")]),
        answers: &[303, 401, 429],
        handler: Handler::Login,
    },
    page("/account", "who is signed in", pages::account::page),
    Route {
        access: Access::Viewer,
        answers: &[303],
        ..change("/leave", "ends the session", pages::account::leave)
    },
    Route {
        query: LIST,
        answers: LIBRARY,
        ..page("/", "runs in progress and the library", pages::library::page)
    },
    Route {
        query: PREFILLED,
        ..page("/start", "the form to start a run, and the waiting runs", pages::start::form)
    },
    Route {
        body: PLAN,
        answers: &[303, 422],
        ..change("/start", "estimates a plan for a target", pages::start::plan)
    },
    Route {
        answers: &[200, 303, 404],
        ..page("/start/{id}", "a planned, waiting or started run", pages::start::page)
    },
    Route {
        body: Body::Form(&[Field::once("identity")]),
        ..change("/start/{id}", "starts a planned run; the identity confirms it", pages::start::confirm)
    },
    change("/start/{id}/withdraw", "withdraws a waiting run", pages::start::withdraw),
    Route { body: TAG, ..label("/runs/{id}/tag", "adds a tag to a run", pages::labels::tag) },
    Route { body: TAG, ..label("/runs/{id}/untag", "removes a tag from a run", pages::labels::untag) },
    Route {
        body: Body::Form(&[Field::once("note")]),
        ..label("/runs/{id}/note", "adds a note to a run", pages::labels::note)
    },
    label("/runs/{id}/archive", "hides a run from lists", pages::labels::archive),
    label("/runs/{id}/unarchive", "shows a run in lists again", pages::labels::unarchive),
    change("/runs/{id}/stop", "stops a run, like Ctrl-C", pages::start::stop),
    Route {
        body: IDENTITY,
        ..change("/runs/{id}/resume", "continues an interrupted run", pages::start::resume)
    },
    Route {
        body: IDENTITY,
        ..change(
            "/runs/{id}/restart",
            "restarts the interrupted test of a run from its purge",
            pages::start::restart,
        )
    },
    Route {
        answers: LIBRARY,
        ..page("/drives", "tested drives and block devices of the host", pages::drives::list)
    },
    Route {
        query: &[Field::at_most_once("id")],
        answers: OF_RUN,
        ..page("/drive", "results and runs of a drive", pages::drives::one)
    },
    page("/fleet", "the jobs of campaigns on the drives of several hosts", pages::fleet::page),
    Route {
        query: &[Field::at_least_twice("run")],
        answers: &[200, 422],
        ..page("/compare", "a comparison of runs; the first is the baseline", api::compare)
    },
    of_run("/runs/{id}", "a run: live until it is complete, then its report", pages::reported::page),
    Route {
        query: &[Field::at_most_once("width")],
        ..of_run("/runs/{id}/live", "the part of the page of a run that changes", pages::run::part)
    },
    of_run(
        "/runs/{id}/second",
        "the part of the page of a run that changes every second",
        pages::second::part,
    ),
    Route {
        content: Content::Picture,
        query: &[Field::at_most_once("record"), Field::at_most_once("narrow")],
        ..of_run(
            "/runs/{id}/timeline",
            "the latest hour of a run on one time axis, as SVG",
            pages::timeline::picture,
        )
    },
    Route {
        query: &[Field::at_most_once("test"), Field::at_most_once("from")],
        ..of_run(
            "/runs/{id}/exhibits",
            "the tables and charts of a test of a run that do not fit on its page",
            pages::exhibits::page,
        )
    },
    of_run("/runs/{id}/page", "the page of a run as one file", pages::run::file),
    of_run("/runs/{id}/report", "the report of a run", api::report),
    Route {
        content: Content::File,
        answers: &[200, 404, 422, 500],
        ..page("/runs/{id}/export/{format}", "the data of a run as a file", api::export)
    },
    page("/api", "the addresses for programs", pages::api::page),
    json("/api/openapi.json", "this description", openapi::openapi),
    Route { query: SELECTION, answers: LIBRARY, ..json("/api/runs", "all runs, newest first", api::runs) },
    Route { answers: OF_RUN, ..json("/api/runs/{id}", "a run with its current state", api::run) },
    Route {
        method: Method::Get,
        path: "/api/runs/{id}/events",
        access: Access::Viewer,
        content: Content::Events,
        about: "new records of a run as they reach the disk; the id of an event is the number of its record",
        query: &[Field::at_most_once("after")],
        body: Body::Empty,
        answers: OF_RUN,
        handler: Handler::Events,
    },
    json("/api/starts", "runs planned, queued or started through this server", api::starts),
    Route {
        answers: LIBRARY,
        ..json("/api/drives", "tested drives with the history of their figures", api::tested)
    },
    Route { answers: LIBRARY, ..json("/api/devices", "block devices of the host", api::devices) },
    Route {
        query: &[Field::at_least_twice("run")],
        answers: &[200, 422],
        ..json("/api/compare", "a comparison of runs; the first is the baseline", api::compared)
    },
    Route {
        answers: LIBRARY,
        ..json(
            "/api/changes",
            "tags, notes and archived runs that users added, with author and time",
            api::changes,
        )
    },
    json("/api/fleet", "the jobs of campaigns: running, waiting or failed, and why", pages::fleet::document),
    sent(Method::Get, "/receive/v1/runs/{id}", "how much of a run the server has", Body::Empty, STATE),
    sent(Method::Post, "/receive/v1/runs/{id}", "adds a run of another host", Body::Json, BEGIN),
    Route {
        query: &[Field::once("at")],
        ..sent(
            Method::Post,
            "/receive/v1/runs/{id}/records",
            "appends records to a run of another host",
            Body::Records,
            RECORDS,
        )
    },
    sent(
        Method::Post,
        "/receive/v1/runs/{id}/state",
        "states that all records were sent",
        Body::Json,
        SETTLE,
    ),
    Route {
        content: Content::Metrics,
        answers: LIBRARY,
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
