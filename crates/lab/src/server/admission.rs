//! Passes requests through the gate. Nothing of a request but its headers is looked at before the gate has admitted
//! its sender: neither the path, which may be malformed, nor the body, which may be long.

use std::sync::Arc;

use axum::RequestPartsExt as _;
use axum::body::to_bytes;
use axum::extract::{RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method as HttpMethod, header};
use tokio::sync::Semaphore;

use crate::app::{App, Call, Handler, Method, Route};
use crate::basic::Credentials;
use crate::gate::{Access, Facts, Refusal, Visitor};

/// Size limit of a form, with room for the encoded text of a plan.
pub const MOST_FORM_BYTES: usize = 256 << 10;
const FORM: &str = "application/x-www-form-urlencoded";

/// Why a request is not carried out.
pub enum Denied {
    Refused(Refusal),
    NoSuchPage,
    TooLong,
}

impl From<Refusal> for Denied {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The path of a request has no meaning.
pub struct NoSuchPage;

impl From<NoSuchPage> for Denied {
    fn from(_: NoSuchPage) -> Self {
        Self::NoSuchPage
    }
}

/// Returns the call that the first line of a request describes.
pub async fn of_parts(parts: &mut Parts) -> Result<Call, NoSuchPage> {
    let params: RawPathParams = parts.extract().await.map_err(|_| NoSuchPage)?;
    let path = params.iter().map(|(_, value)| value.to_owned()).collect();
    let query = parts.uri.query().unwrap_or_default();
    let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    Ok(Call { path, query, is_head: parts.method == HttpMethod::HEAD, ..Call::default() })
}

/// Passes a request through the gate, before its path is interpreted and before its body is read.
pub async fn admitted_call(
    route: &'static Route,
    app: &Arc<App>,
    checks: &Arc<Semaphore>,
    request: Request,
) -> Result<(Call, HeaderMap), Denied> {
    let (mut parts, body) = request.into_parts();
    let headers = std::mem::take(&mut parts.headers);
    let facts = facts(&headers);
    let is_change = route.method == Method::Post;
    let visitor = match credentials(route, &headers) {
        Some(credentials) => Some(reader(app, checks, &facts, credentials).await?),
        None => {
            // The token of a change may be in the form, which is read only if the sender may make the change.
            let is_complete = !is_change || route.access == Access::Public;
            app.gate.judge(&Facts { is_change: is_change && is_complete, ..facts }, route.access)?
        }
    };
    let mut call = Call { visitor, ..of_parts(&mut parts).await? };
    if is_change {
        let body = to_bytes(body, MOST_FORM_BYTES).await.map_err(|_| Denied::TooLong)?;
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        // Bodies of other types are not read, so such a request has no token.
        if kind.is_some_and(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == FORM)) {
            call.form = form_urlencoded::parse(&body).into_owned().collect();
        }
        let csrf = facts.csrf.or_else(|| Some(call.form("csrf")).filter(|token| !token.is_empty()));
        let judged = app.gate.judge(&Facts { csrf, is_change, ..facts }, route.access);
        call.visitor = judged?;
    }
    Ok((call, headers))
}

pub fn facts(headers: &HeaderMap) -> Facts<'_> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // A header that is not text or that occurs several times must not count as absent.
    let origin =
        headers.get(header::ORIGIN).map(|_| only(headers, header::ORIGIN).unwrap_or("not one origin"));
    let csrf = headers.get("x-csrf-token").and_then(|value| value.to_str().ok());
    let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let (host, cookies) = (only(headers, header::HOST), text(header::COOKIE));
    Facts { host, origin, cookies, csrf, bearer, certified: &[], is_change: false }
}

/// Returns the text of a header; None if there is none or if there are several, of which a proxy could use another one.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).into_iter();
    let value = all.next()?;
    if all.next().is_some() { None } else { value.to_str().ok() }
}

/// Returns the user name and password in a read-only request. Event streams last longer than a request, so they
/// need a session.
fn credentials(route: &Route, headers: &HeaderMap) -> Option<Credentials> {
    let reads = route.access == Access::Viewer && matches!(route.handler, Handler::Answer(_));
    let header = headers.get(header::AUTHORIZATION).filter(|_| reads && route.method == Method::Get)?;
    Credentials::parse(header.to_str().ok()?)
}

/// Checks the host and origin of a request, and then its name and password.
async fn reader(
    app: &Arc<App>,
    checks: &Arc<Semaphore>,
    facts: &Facts<'_>,
    credentials: Credentials,
) -> Result<Visitor, Refusal> {
    app.gate.judge(facts, Access::Public)?;
    let attempt = app.gate.attempt()?;
    let permit = Arc::clone(checks).acquire_owned().await.map_err(|_| Refusal::NotSignedIn)?;
    let app = Arc::clone(app);
    let checked = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        app.gate.reader(attempt, &credentials.name, &credentials.password)
    });
    checked.await.unwrap_or(Err(Refusal::NotSignedIn))
}
