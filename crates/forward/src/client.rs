//! A server as the destination of a transfer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outbound::curl::{self, AGENT, CurlError, Request, Response};
use outbound::process::ProcessError;
use stdx::text::{short, with_causes};
use transfer::protocol::{Begin, Problem, ROOT, Reply};
use transfer::{Destination, First, Received, SourceState, TransferError};

use crate::address::Address;

/// Time limit of a request, excluding the time needed to send its body.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// Slowest connection over which a whole body can be sent: 64 kB/s.
const LEAST_BYTES_PER_SECOND: u64 = 64_000;

/// How the sender proves its identity to a server.
#[derive(Clone)]
pub enum Credential {
    /// With a token.
    Token(String),
    /// With a certificate in the TLS handshake.
    Certificate {
        /// The certificate as PEM.
        file: PathBuf,
        /// Its private key as PEM, not encrypted.
        key: PathBuf,
    },
}

/// How to reach a server.
#[derive(Clone)]
pub struct Connection {
    /// Where it is.
    pub address: Address,
    /// How the sender proves its identity.
    pub credential: Credential,
    /// File with the CA certificates to trust for the server; None for the host's CA certificates.
    pub ca_file: Option<PathBuf>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the credential.
        f.debug_struct("Connection").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A server that receives runs.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    /// Directory of the run being sent.
    directory: String,
    stop: Arc<AtomicBool>,
}

impl Client {
    /// Returns a client for a server. Requests are aborted once `stop` is set.
    #[must_use]
    pub fn of(connection: Connection, stop: Arc<AtomicBool>) -> Self {
        Self { connection, directory: String::new(), stop }
    }

    /// Sets the directory of the run to send next.
    pub fn set_directory(&mut self, directory: String) {
        self.directory = directory;
    }

    /// Sends a request about run `id`. `at` is the offset in the journal at which the records in the request
    /// begin.
    fn request(
        &self,
        id: &str,
        path: &str,
        body: Option<(&str, &[u8])>,
        at: u64,
    ) -> Result<Reply, TransferError> {
        if !record::is_run_id(id) {
            return Err(TransferError::Refused { text: format!("{} is not the id of a run", short(id)) });
        }
        let unreachable = |text: String| TransferError::Unreachable { text };
        let mut request = Request::default();
        let address = &self.connection.address;
        request.option("proto", if address.is_encrypted() { "=https" } else { "=http" });
        request.option("url", &format!("{}{ROOT}/{id}{path}", address.as_str()));
        request.option("user-agent", AGENT);
        match &self.connection.credential {
            Credential::Token(token) => {
                request.secret("header", &format!("Authorization: Bearer {token}"), token);
            }
            Credential::Certificate { file, key } => {
                // curl would take the text after a colon for a password.
                let file = file.to_string_lossy().replace('\\', "\\\\").replace(':', "\\:");
                request.option("cert", &file);
                request.option("key", &key.to_string_lossy());
                // Without a password, curl would prompt for the password of an encrypted key on the terminal. curl 8.6
                // and later refuse an empty one; other keys ignore it.
                request.option("pass", "-");
            }
        }
        if let Some(file) = &self.connection.ca_file {
            request.option("cacert", &file.to_string_lossy());
        }
        let length = body.map_or(0, |(_, bytes)| bytes.len() as u64);
        let limit = ANSWER_WITHIN + Duration::from_secs(length / LEAST_BYTES_PER_SECOND);
        let response = match body {
            None => curl::exchange(request, limit, &self.stop).map_err(|error| self.of_curl(&error))?,
            Some((content_type, bytes)) => {
                let io = |error| unreachable(format!("the request cannot be prepared: {error}"));
                request.body(bytes).map_err(io)?;
                for header in [&format!("Content-Type: {content_type}"), "Expect:"] {
                    request.option("header", header);
                }
                curl::exchange(request, limit, &self.stop).map_err(|error| self.of_curl(&error))?
            }
        };
        reply(&response, id, at)
    }

    fn of_curl(&self, error: &CurlError) -> TransferError {
        let text = match error {
            CurlError::Process(ProcessError::Stopped) => "stopped".into(),
            // The error messages of curl contain the address where it matters.
            error => format!("{}: {}", self.connection.address.as_str(), with_causes(error)),
        };
        TransferError::Unreachable { text }
    }
}

/// Interprets a response.
fn reply(response: &Response, id: &str, at: u64) -> Result<Reply, TransferError> {
    let text = String::from_utf8_lossy(&response.body);
    if response.status == 200 {
        return serde_json::from_str(&text).map_err(|_| TransferError::Unreachable {
            text: "the server's response is not that of a plateau server of this version".into(),
        });
    }
    if let Ok(problem) = serde_json::from_str::<Problem>(&text) {
        return Err(problem.error(id, at));
    }
    // The server's web pages are for browsers.
    let line = match text.trim_start() {
        page if page.starts_with('<') => format!("status {}", response.status),
        text => short(text.lines().next().unwrap_or_default().trim()),
    };
    match response.status {
        // Somebody must correct the token, or the server's name or mode.
        401 | 403 | 421 => {
            Err(TransferError::NotAdmitted { text: format!("the server refuses this sender: {line}") })
        }
        404 | 405 => Err(TransferError::NotAdmitted {
            text: "the server does not receive runs; is it a `plateau serve` of this version?".into(),
        }),
        status => {
            Err(TransferError::Unreachable { text: format!("the server answered with status {status}") })
        }
    }
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, TransferError> {
    serde_json::to_vec(value).map_err(|error| TransferError::Refused { text: error.to_string() })
}

const JSON: &str = "application/json";

impl Destination for Client {
    fn received(&mut self, id: &str) -> Result<Option<Received>, TransferError> {
        Ok(self.request(id, "", None, 0)?.received)
    }

    fn begin(&mut self, first: &First<'_>, state: SourceState) -> Result<Received, TransferError> {
        let body = json(&Begin::of(first, state, &self.directory))?;
        stated(self.request(first.id, "", Some((JSON, &body)), 0)?)
    }

    fn append(&mut self, id: &str, at: u64, records: &[u8]) -> Result<Received, TransferError> {
        let path = format!("/records?at={at}");
        stated(self.request(id, &path, Some(("application/octet-stream", records)), at)?)
    }

    fn settle(&mut self, id: &str, state: SourceState) -> Result<(), TransferError> {
        let body = json(&state)?;
        self.request(id, "/state", Some((JSON, &body)), 0).map(drop)
    }
}

fn stated(reply: Reply) -> Result<Received, TransferError> {
    let text = || "the server does not say what it has received".into();
    reply.received.ok_or_else(|| TransferError::Unreachable { text: text() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, body: &str) -> Result<Reply, TransferError> {
        reply(&Response { status, body: body.into() }, "r", 9)
    }

    #[test]
    fn responses_of_other_servers_are_not_taken_for_acceptance() {
        assert_eq!(of(200, "{\"received\":null}").expect("a reply").received, None);
        let received = of(200, "{\"received\":{\"bytes\":3,\"digest\":\"a\"}}").expect("a reply").received;
        assert_eq!(received.map(|received| received.bytes), Some(3));
        let gap = of(409, "{\"problem\":\"gap\",\"text\":\"x\",\"have_bytes\":7}");
        assert!(matches!(gap, Err(TransferError::Gap { have_bytes: 7, at: 9, .. })), "{gap:?}");
        for status in [401, 403, 404, 405, 421] {
            assert!(matches!(of(status, "no\n"), Err(TransferError::NotAdmitted { .. })), "{status}");
        }
        let page = of(401, "<!DOCTYPE html>\n<title>Sign in</title>").expect_err("not admitted").to_string();
        assert!(page.contains("status 401") && !page.contains('<'), "{page}");
        for (status, body) in
            [(0, ""), (200, "<html>"), (200, ""), (500, ""), (502, "bad gateway"), (503, "{}"), (302, "")]
        {
            assert!(matches!(of(status, body), Err(TransferError::Unreachable { .. })), "{status}");
        }
    }
}
