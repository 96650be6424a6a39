//! A launcher that serves a socket: one connection, one request, one response. Because the service has more
//! privileges than its clients, it accepts only a [`Request`].

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Component, Path};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stdx::files::{Links, read_text};
use stdx::text::with_causes;

use crate::error::{LaunchError, at};
use crate::launcher::{Launched, Launcher};
use crate::request::{MOST_REQUEST_BYTES, Request};

/// How long a client waits for the stop signal to be sent to a run.
const STOPPED_WITHIN: Duration = Duration::from_secs(60);
/// Time limit for a client to send its request.
const SENT_WITHIN: Duration = Duration::from_secs(10);
/// Size limit of a response.
const MOST_ANSWER_BYTES: u64 = 64 << 10;

/// Size limit of the user list.
const MOST_PASSWD_BYTES: u64 = 4 << 20;

/// A launcher's response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The run that has begun, continues or is being stopped.
    Run(String),
    /// Why nothing was done.
    Error(String),
}

/// Returns the UID of a user, given as a number or a name in `/etc/passwd`; `None` if there is no such user.
#[must_use]
pub fn uid(user: &str) -> Option<u32> {
    if let Ok(number) = user.parse() {
        return Some(number);
    }
    let users = read_text(Path::new("/etc/passwd"), Links::Followed, MOST_PASSWD_BYTES).ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(user)).then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

/// Returns the user at the other end of a socket.
///
/// # Errors
/// Returns an error if the descriptor is not a Unix socket.
pub fn peer(socket: impl AsFd) -> std::io::Result<u32> {
    let peer = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(peer.uid.as_raw())
}

/// Serves the single request on a connection, if its sender is one of `allowed`. Returns what was launched.
///
/// # Errors
/// Returns an error if the connection fails. A refused request is not an error but a response.
pub fn serve_one(
    connection: &UnixStream,
    allowed: &[u32],
    launcher: &Launcher,
    name: &str,
) -> std::io::Result<Option<Launched>> {
    let uid = peer(connection)?;
    connection.set_read_timeout(Some(SENT_WITHIN))?;
    let answered = if allowed.contains(&uid) {
        read(connection).and_then(|request| {
            let request = on_device(request)?;
            launcher.perform(&request, name).map_err(|error| with_causes(&error))
        })
    } else {
        Err(format!("user {uid} may not use this launcher"))
    };
    let (answer, launched) = match answered {
        Ok(launched) => (Answer::Run(launched.run.clone()), Some(launched)),
        Err(why) => (Answer::Error(why), None),
    };
    let mut connection = connection;
    connection.write_all(&serde_json::to_vec(&answer)?)?;
    // The client waits until the response ends, not until this process does.
    connection.shutdown(Shutdown::Write)?;
    Ok(launched)
}

fn read(connection: &UnixStream) -> Result<Request, String> {
    let mut bytes = Vec::new();
    let limit = MOST_REQUEST_BYTES as u64 + 1;
    connection.take(limit).read_to_end(&mut bytes).map_err(|error| format!("no request: {error}"))?;
    if bytes.len() > MOST_REQUEST_BYTES {
        return Err(format!("the request is longer than {MOST_REQUEST_BYTES} bytes"));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("not a request: {error}"))
}

/// Returns the request, with its target resolved to a device node. No other target is accepted: this process has the
/// privileges to overwrite or create any file, and a file's identity is only its name. Links are resolved in advance,
/// because users can replace those in `/dev/shm` at any time.
fn on_device(request: Request) -> Result<Request, String> {
    let Request::Start(mut start) = request else { return Ok(request) };
    if start.target.is_simulated() {
        return Ok(Request::Start(start));
    }
    let typed = start.target.path.escape_debug().to_string();
    let refused = || {
        format!(
            "this launcher accepts only block devices under /dev and simulated drives, and '{typed}' is neither; run `plateau run` for files"
        )
    };
    if start.target.size.is_some() || !is_below_dev(Path::new(&start.target.path)) {
        return Err(refused());
    }
    let node = Path::new(&start.target.path).canonicalize().map_err(|_| refused())?;
    let is_block = node.symlink_metadata().is_ok_and(|found| found.file_type().is_block_device());
    let path = node.to_str().filter(|_| is_block && is_below_dev(&node)).ok_or_else(refused)?;
    start.target.path = path.to_owned();
    Ok(Request::Start(start))
}

fn is_below_dev(path: &Path) -> bool {
    path.starts_with("/dev") && !path.components().any(|part| part == Component::ParentDir)
}

/// Sends a request to the launcher at `socket` and returns the run.
///
/// # Errors
/// Returns an error if there is no launcher, or if it refused the request.
pub fn through(socket: &Path, request: &Request) -> Result<String, LaunchError> {
    request.check()?;
    let exchange = || -> std::io::Result<Vec<u8>> {
        let mut stream = UnixStream::connect(socket)?;
        // Otherwise, the launcher responds once the run has started, which may take as long as formatting the drive; if
        // it exits without a response, the connection closes.
        let limit = matches!(request, Request::Stop { .. }).then_some(STOPPED_WITHIN);
        stream.set_read_timeout(limit)?;
        stream.write_all(&serde_json::to_vec(request)?)?;
        stream.shutdown(Shutdown::Write)?;
        let mut bytes = Vec::new();
        stream.take(MOST_ANSWER_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = exchange().map_err(at(socket))?;
    match serde_json::from_slice(&bytes).map_err(|error| at(socket)(error.into()))? {
        Answer::Run(run) => Ok(run),
        Answer::Error(why) => Err(LaunchError::Refused(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Plan, Start, Target};

    /// Returns a launcher whose program must never be started.
    fn launcher(dir: &Path) -> Launcher {
        Launcher {
            program: "/nonexistent/program".into(),
            library: dir.join("runs"),
            folder: dir.join("lab"),
        }
    }

    fn ask(bytes: &[u8], allowed: &[u32]) -> Answer {
        let dir = tempfile::tempdir().expect("a folder");
        let (here, mut there) = UnixStream::pair().expect("a pair of sockets");
        let bytes = bytes.to_vec();
        let client = std::thread::spawn(move || {
            // The launcher may close the connection before it has read a long request to the end.
            drop(there.write_all(&bytes));
            drop(there.shutdown(Shutdown::Write));
            let mut answer = Vec::new();
            there.read_to_end(&mut answer).expect("readable");
            serde_json::from_slice(&answer).expect("an answer")
        });
        let launched = serve_one(&here, allowed, &launcher(dir.path()), "1").expect("answered");
        assert!(launched.is_none());
        client.join().expect("a client")
    }

    fn own() -> u32 {
        rustix::process::getuid().as_raw()
    }

    #[test]
    fn users_are_named_or_numbered() {
        assert_eq!((uid("root"), uid("4711"), uid("no such user")), (Some(0), Some(4711), None));
    }

    #[test]
    fn only_requests_of_allowed_users_are_carried_out() {
        let stop = br#"{"stop":{"run":"abc"}}"#;
        let says = |answer: Answer, text: &str| match answer {
            Answer::Error(why) => assert!(why.contains(text), "{why}"),
            Answer::Run(run) => panic!("{run}"),
        };
        says(ask(stop, &[own()]), "does not contain");
        says(ask(stop, &[own() + 1]), "may not use");
        says(ask(stop, &[]), "may not use");
        says(ask(b"", &[own()]), "not a request");
        says(ask(br#"{"exec":{"run":"abc"}}"#, &[own()]), "not a request");
        says(ask(br#"{"stop":{"run":"../abc"}}"#, &[own()]), "not valid");
        says(ask(&vec![b' '; MOST_REQUEST_BYTES + 2], &[own()]), "longer than");
        let start =
            br#"{"start":{"plan":{"preset":"quick"},"target":{"path":"sim:sas-slc-2011"},"identity":""}}"#;
        says(ask(start, &[own()]), "/nonexistent/program");
    }

    #[test]
    fn only_block_devices_and_simulated_drives_are_targets() {
        let dir = tempfile::tempdir_in("/dev/shm").expect("a folder that users can write to");
        let file = dir.path().join("shadow");
        std::fs::write(&file, "precious").expect("a file");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let of = |path: &Path| path.display().to_string();
        for path in
            [of(&file), of(&link), "/etc/passwd".into(), "/dev/../etc/passwd".into(), "/dev/null".into()]
        {
            let request = start(&path, None);
            match ask(&request, &[own()]) {
                Answer::Error(why) => assert!(why.contains("only block devices"), "{path}: {why}"),
                Answer::Run(run) => panic!("{path}: {run}"),
            }
        }
        let new = of(&dir.path().join("nologin"));
        for path in [new.as_str(), "/dev/sda"] {
            let Answer::Error(why) = ask(&start(path, Some("1G")), &[own()]) else { panic!("{path}") };
            assert!(why.contains("only block devices"), "{path}: {why}");
        }
    }

    fn start(path: &str, size: Option<&str>) -> Vec<u8> {
        let plan = Plan::Preset("quick".into());
        let target = Target { path: path.into(), scale: None, size: size.map(Into::into) };
        let request = Request::Start(Start { plan, target, identity: "shadow".into() });
        serde_json::to_vec(&request).expect("JSON")
    }
}
