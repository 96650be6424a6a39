//! The server, a thin shell that passes requests through the gate to the route functions.

use std::future::IntoFuture as _;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{map_request, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use futures_util::future::{Either, select};
use record::wall_now;
use rustls::server::danger::ClientCertVerifier;
use stdx::units::amount_base2;
use tokio::sync::Semaphore;

use crate::announce::{Announce, Announcement, Troubles, keep_current};
use crate::app::{Answer, App, Call, Handler, Method, Options, Reception, Route};
use crate::connections::{Client, Connections};
use crate::error::ServeError;
use crate::events;
use crate::gate::{Access, Facts, Gate, Refusal, Transport};
use crate::links::{host_of, link, origin, own};
use crate::pages::entrance;
use crate::pages::frame::problem;
use crate::pages::opened::opened;
use crate::receive;
use crate::receiving::Receiving;
use crate::routes::ROUTES;
use crate::senders::Senders;
use crate::starts::Queue;
use crate::tls::{Certificate, Certificates, Tls, clients};
use crate::users::Users;

mod admission;
use admission::{Denied, MOST_FORM_BYTES, NoSuchPage, admitted_call, facts, of_parts};

/// Interval at which the stop signal is checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Time allowed for requests in progress after the stop signal.
const GRACE: Duration = Duration::from_millis(1500);
/// Time within which a server ends after the stop signal, whatever its clients do. The signal and the start of the grace
/// period are each noticed after `LOOK_EVERY` at the latest.
pub const ENDS_WITHIN: Duration = Duration::from_secs(2);
const _: () = assert!(2 * LOOK_EVERY.as_millis() + GRACE.as_millis() < ENDS_WITHIN.as_millis());
/// Number of passwords checked at the same time: each check takes 19 MiB and most of a core.
const MOST_CHECKS: usize = 2;
/// Content security policy of all pages: nothing from other origins, and no inline style or script.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A server that listens but does not yet serve requests.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// Scheme and host of links.
    origin: String,
    certificates: Option<Arc<Certificates>>,
    /// Verifies the certificates of hosts that send runs; None if they need a token.
    clients: Option<Arc<dyn ClientCertVerifier>>,
    app: Arc<App>,
}

impl Server {
    /// Listens on the address that the options name.
    ///
    /// # Errors
    /// Returns an error if the address is not a loopback address and connections are not encrypted, if the address or
    /// the certificate cannot be used, if another server uses the folder, or if the file with waiting runs exists but
    /// cannot be read.
    pub fn bind(options: Options) -> Result<Self, ServeError> {
        let address = options.listen;
        let is_encrypted = options.tls != Tls::Off;
        if !address.ip().is_loopback() && !is_encrypted && !options.behind_proxy {
            return Err(ServeError::NotLoopback { address });
        }
        // Checked before the address: a second server usually has the same folder and address, and the error
        // about the folder explains more.
        let queue = match &options.embedding {
            Some(_) => Queue::beside(&options.folder),
            None => match Queue::open(&options.folder) {
                Err(ServeError::InUse { .. }) if options.read_only => Queue::beside(&options.folder),
                queue => queue?,
            },
        };
        let mut names = vec![host_of(own(address.ip())), "localhost".into()];
        names.extend(options.allowed_hosts.iter().cloned());
        let certificates = Certificates::of(&options.tls, &names, &options.folder, wall_now())?;
        let clients = options.client_ca.as_deref().map(clients::verifier).transpose()?;
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let origin = origin(address, is_encrypted, &options.allowed_hosts);
        let users = Users::at(&options.folder);
        let transport = Transport { behind_proxy: options.behind_proxy, is_encrypted };
        let gate = Gate::new(&names, address.port(), transport, options.read_only, users)?;
        let gate = gate.admitting(Senders::at(&options.folder), clients.is_some());
        let app = Arc::new(App::new(gate, ROUTES, queue, options)?);
        Ok(Self { listener, address, origin, certificates, clients, app })
    }

    /// Returns the address that the server listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the first page.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/", self.origin)
    }

    /// Returns the certificate that browsers see; None without TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<Certificate> {
        self.certificates.as_ref().map(|certificates| certificates.certificate())
    }

    /// Returns the link that admits the next browser; None if users must sign in, because the output may be kept
    /// in a log.
    #[must_use]
    pub fn link(&self) -> Option<String> {
        self.app.invitation().map(|token| link(&self.origin, &token))
    }

    /// Serves requests until `stop` is set. Announces the next link whenever a link has been used, unless links
    /// must not be printed, and announces changes of the certificate.
    ///
    /// # Errors
    /// Returns an error if the server cannot be started.
    pub fn run(
        self,
        stop: &Arc<AtomicBool>,
        announce: impl Fn(Announcement<'_>) + Send + Sync + 'static,
    ) -> Result<(), ServeError> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(16).build()?;
        let (app, origin) = (self.app, self.origin);
        let announce: Announce = Arc::new(announce);
        let result = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let connections = match &self.certificates {
                Some(certificates) => {
                    tokio::spawn(keep_current(Arc::clone(certificates), Arc::clone(&announce)));
                    Connections::encrypted(listener, certificates.config(self.clients)?)?
                }
                None => Connections::plain(listener),
            };
            let router = router(&app, announce, origin);
            let (asked, stopping) = (Arc::clone(stop), Arc::clone(&app));
            let signal = async move {
                while !asked.load(Ordering::Relaxed) {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                // Otherwise, open event streams would keep the server running.
                stopping.stop();
            };
            let router = router.into_make_service_with_connect_info::<Client>();
            let serving = axum::serve(connections, router).with_graceful_shutdown(signal).into_future();
            let deadline = async {
                while !app.is_stopping() {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
                tokio::time::sleep(GRACE).await;
            };
            match select(pin!(serving), pin!(deadline)).await {
                Either::Left((served, _)) => served.map_err(ServeError::from),
                // Requests that take longer are abandoned.
                Either::Right(((), _)) => Ok(()),
            }
        });
        runtime.shutdown_timeout(Duration::ZERO);
        result
    }
}

/// The state that every request needs.
#[derive(Clone)]
struct Shared {
    app: Arc<App>,
    announce: Announce,
    /// Scheme and host of links.
    origin: Arc<str>,
    /// One permit for each concurrent password check.
    checks: Arc<Semaphore>,
    receiving: Arc<Receiving>,
    /// Reports runs from other hosts that could not be stored.
    troubles: Arc<Troubles>,
}

/// The router, derived from the route table.
fn router(app: &Arc<App>, announce: Announce, origin: String) -> Router {
    let mut router = Router::new();
    for route in ROUTES.iter().filter(|route| app.has(route)) {
        if let Handler::Receive(reception) = &route.handler {
            router = router.route(route.path, receiving(route, reception));
            continue;
        }
        // No extractor may answer before the gate, so the request is taken apart in `respond`.
        let handler = move |State(shared): State<Shared>, request: Request| respond(route, shared, request);
        router = router.route(
            route.path,
            match route.method {
                Method::Get => get(handler),
                Method::Post => post(handler),
            },
        );
    }
    let shared = Shared {
        app: Arc::clone(app),
        troubles: Arc::new(Troubles::reported_to(Arc::clone(&announce))),
        announce,
        origin: origin.into(),
        checks: Arc::new(Semaphore::new(MOST_CHECKS)),
        receiving: Arc::new(Receiving::new()),
    };
    let unknown = |status: StatusCode| {
        move |State(shared): State<Shared>, headers: HeaderMap| async move {
            // Only visitors who are signed in are told which addresses exist.
            match shared.app.gate.judge(&facts(&headers), Access::Viewer) {
                Ok(_) => nothing_here(status),
                Err(refusal) => refused(refusal),
            }
        }
    };
    router
        .fallback(unknown(StatusCode::NOT_FOUND))
        .method_not_allowed_fallback(unknown(StatusCode::METHOD_NOT_ALLOWED))
        .layer(map_request(with_host))
        .layer(map_response(with_headers))
        .with_state(shared)
}

/// Returns the handler of a request from another host. The request body may be long, so it is read only after
/// the sender has been identified.
fn receiving(route: &'static Route, reception: &'static Reception) -> MethodRouter<Shared> {
    let handler = move |State(shared): State<Shared>,
                        ConnectInfo(client): ConnectInfo<Client>,
                        request: Request| async move {
        let (mut parts, body) = request.into_parts();
        let headers = std::mem::take(&mut parts.headers);
        let facts = Facts { certified: client.names(), ..facts(&headers) };
        let visitor = match shared.app.gate.judge(&facts, route.access) {
            Ok(visitor) => visitor,
            Err(refusal) => return response(Answer::error(refusal.status(), refusal.text())),
        };
        let sender = visitor.as_ref().and_then(|visitor| visitor.user.clone()).unwrap_or_default();
        let call = match of_parts(&mut parts).await {
            Ok(call) => Call { visitor, ..call },
            Err(NoSuchPage) => return response(Answer::error(404, "there is no such address")),
        };
        let taken = match shared.receiving.body(&sender, body, reception.most_bytes).await {
            Ok(taken) => taken,
            Err(why) => return response(receive::not_read(why, reception.most_bytes)),
        };
        let (app, troubles) = (shared.app, shared.troubles);
        let answered = tokio::task::spawn_blocking(move || {
            // Once started, a request is carried out even if its sender disconnects, and it releases its permits
            // only at the end.
            let result = (reception.answer)(&app, &call, &taken.body);
            drop(taken);
            if let Err(error) = &result {
                troubles.report(&sender, error);
            }
            receive::answer(result)
        });
        answered.await.map_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response(), response)
    };
    match route.method {
        Method::Get => get(handler),
        Method::Post => post(handler),
    }
}

async fn respond(route: &'static Route, shared: Shared, request: Request) -> Response {
    let (call, headers) = match admitted_call(route, &shared.app, &shared.checks, request).await {
        Ok(admitted) => admitted,
        Err(Denied::Refused(refusal)) => return refused(refusal),
        Err(Denied::NoSuchPage) => return nothing_here(StatusCode::NOT_FOUND),
        Err(Denied::TooLong) => {
            let text = format!("A form may have at most {}.", amount_base2(MOST_FORM_BYTES as u64));
            return response(Answer { status: 413, ..Answer::html(problem("Too long", &text)) });
        }
    };
    match route.handler {
        // Link previewers send a HEAD request first, which must not use up the link.
        Handler::Entrance if call.is_head => nothing_here(StatusCode::METHOD_NOT_ALLOWED),
        Handler::Entrance => enter(&shared, &call),
        Handler::Login => login(shared, call).await,
        Handler::Events => {
            let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
            let last = last.or_else(|| call.query("after")).and_then(|text| text.parse::<u64>().ok());
            let next = last.map_or(0, |last| last.saturating_add(1));
            events(shared.app, call, next).await
        }
        Handler::Receive(_) => nothing_here(StatusCode::NOT_FOUND),
        Handler::Answer(answer) => {
            let app = Arc::clone(&shared.app);
            let answered = tokio::task::spawn_blocking(move || answer(&app, &call)).await;
            answered.map_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response(), response)
        }
    }
}

/// Returns the records of a run from number `next` on as a stream, or an error if the run cannot be read.
async fn events(app: Arc<App>, call: Call, next: u64) -> Response {
    let Some(visitor) = call.visitor.clone() else { return refused(Refusal::NotSignedIn) };
    let (id, own) = (call.name().to_owned(), Arc::clone(&app));
    match tokio::task::spawn_blocking(move || opened(&own, &call).map(drop)).await {
        Ok(Ok(())) => events::events(app, visitor, id, next).into_response(),
        Ok(Err(unopened)) => response(unopened.answer()),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Signs a browser in with a name and a password. Logins wait for their turn without occupying the threads that
/// answer other requests.
async fn login(shared: Shared, call: Call) -> Response {
    let failed = || StatusCode::INTERNAL_SERVER_ERROR.into_response();
    let attempt = match shared.app.gate.attempt() {
        Ok(attempt) => attempt,
        Err(refusal) => return refused(refusal),
    };
    let Ok(permit) = shared.checks.acquire_owned().await else { return failed() };
    let app = shared.app;
    let checked = tokio::task::spawn_blocking(move || {
        // The check continues even if the browser disconnects, so the permit is released only when the check
        // ends.
        let _permit = permit;
        app.gate.login(attempt, call.form("name"), call.form("password"))
    });
    match checked.await {
        Ok(Ok(Ok(cookie))) => admitted(cookie),
        Ok(Ok(Err(refusal))) => refused(refusal),
        Ok(Err(_)) | Err(_) => failed(),
    }
}

/// Signs a browser in and shows the first page.
fn enter(shared: &Shared, call: &Call) -> Response {
    match shared.app.gate.enter(call.query("token").unwrap_or_default()) {
        Ok(Some(cookie)) => {
            if let Some(next) = shared.app.invitation() {
                (shared.announce)(Announcement::Link(&link(&shared.origin, &next)));
            }
            admitted(cookie)
        }
        Ok(None) => refused(Refusal::NotSignedIn),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn admitted(cookie: String) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)])
        .into_response()
}

fn refused(refusal: Refusal) -> Response {
    let is_stranger = matches!(refusal, Refusal::NotSignedIn | Refusal::WrongPassword);
    response(Answer { status: refusal.status(), ..Answer::html(entrance::page(refusal.text(), is_stranger)) })
}

/// Answers a request for an address that does not exist or does not support the method.
fn nothing_here(status: StatusCode) -> Response {
    let (title, text) = match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            ("Not possible", "This address does not support this request method.")
        }
        _ => ("No such page", "This server has no page with this address."),
    };
    response(Answer { status: status.as_u16(), ..Answer::html(problem(title, text)) })
}

fn response(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, answer.body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    let text = |text: String| HeaderValue::from_str(&text).ok();
    if let Some(policy) = answer.policy.and_then(text) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    if let Some(location) = answer.location.and_then(text) {
        headers.insert(header::LOCATION, location);
    }
    // Names of runs consist only of letters, digits, '-', '_' and '.'.
    if let Some(save_as) = answer.save_as.and_then(|name| text(format!("attachment; filename=\"{name}\""))) {
        headers.insert(header::CONTENT_DISPOSITION, save_as);
    }
    response
}

/// Sets the host of a request that names it in its first line, as for a proxy, whatever its header says (RFC 9112,
/// section 3.2.2).
async fn with_host(mut request: Request) -> Request {
    let named = request.uri().authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    if let Some(Ok(host)) = named {
        request.headers_mut().insert(header::HOST, host);
    }
    request
}

/// Adds the headers that every response has.
async fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // With `no-referrer`, browsers would send `Origin: null` with the forms of these pages.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
