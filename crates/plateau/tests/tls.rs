//! `plateau serve` with TLS: curl, OpenSSL and Chromium agree with it, and unusable certificates and keys are refused.

#[path = "support/lab_server/mod.rs"]
mod lab_server;
mod support;

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use lab_server::{Response, Server, demo, in_progress};
use serde_json::Value;
use support::{Bench, texts};

/// Time after which a test fails instead of waiting.
const PATIENCE: Duration = Duration::from_secs(120);
const SELF_SIGNED: &str = "--tls-self-signed";
/// curl's exit code if it does not trust the certificate.
const NOT_TRUSTED: i32 = 60;

fn is_missing(programs: &[&str]) -> bool {
    let runs = |program: &str| {
        let version = if program == "openssl" { "version" } else { "--version" };
        let status = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let missing = programs.iter().find(|program| !runs(program));
    missing.inspect(|program| skips::without(program)).is_some()
}

/// A server with TLS, and what it printed.
struct Secure {
    server: Server,
    port: u16,
    link: String,
    certificate: PathBuf,
    fingerprint: String,
}

impl Secure {
    fn start(bench: &Bench, options: &[&str]) -> Self {
        let options = if options.contains(&"--listen") {
            options.to_vec()
        } else {
            [&["--listen", "127.0.0.1:0"], options].concat()
        };
        let mut command = bench.command(&[&["--json", "serve"], &options[..]].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
        let document = lab_server::document(&mut child);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (address, link) = (text(&document["address"]), text(&document["link"]));
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
        let certificate = &document["certificate"];
        let (file, fingerprint) = (text(&certificate["file"]).into(), text(&certificate["sha256"]));
        Self {
            server: Server { child, address, link: link.clone() },
            port,
            link,
            certificate: file,
            fingerprint,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.port)
    }

    /// Runs curl and lets it trust only the server's certificate.
    fn curl(&self, arguments: &[&str]) -> Output {
        curl(&[&["--cacert", self.certificate.to_str().expect("text")], arguments].concat())
    }

    fn get(&self, path: &str, headers: &[&str]) -> Response {
        let headers: Vec<&str> = headers.iter().flat_map(|header| ["-H", header]).collect();
        let (out, errors) = texts(&self.curl(&[&headers[..], &[&self.url(path)]].concat()));
        assert!(!out.is_empty(), "{errors}");
        Response::of(&out)
    }

    /// Signs in with the link and returns the cookie header.
    fn enter(&self) -> String {
        let path = self.link.split_once(&format!(":{}", self.port)).expect("the link names the port").1;
        let response = self.get(path, &[]);
        assert_eq!(response.status, 303, "{response:?}");
        let set = response.header("set-cookie").expect("a cookie");
        assert!(set.contains("; Secure"), "{set}");
        response.cookie().trim_end().to_owned()
    }
}

fn curl(arguments: &[&str]) -> Output {
    Command::new("curl").args(["-sS", "-i", "--max-time", "60"]).args(arguments).output().expect("curl")
}

fn openssl(arguments: &[&str]) -> String {
    let output = Command::new("openssl").args(arguments).output().expect("openssl");
    let (out, errors) = texts(&output);
    assert!(output.status.success(), "openssl {arguments:?}: {errors}");
    out
}

/// The fingerprint of a certificate according to OpenSSL.
fn fingerprint(certificate: &Path) -> String {
    let path = certificate.to_str().expect("text");
    let line = openssl(&["x509", "-noout", "-fingerprint", "-sha256", "-in", path]);
    line.trim_end().split_once('=').expect("a fingerprint").1.to_owned()
}

/// The fingerprint of the certificate that a server presents.
fn presented(bench: &Bench, port: u16) -> String {
    let mut client = Command::new("openssl");
    client.args(["s_client", "-connect", &format!("127.0.0.1:{port}")]).stdin(Stdio::null());
    let output = client.output().expect("openssl");
    let path = bench.path("presented.pem");
    std::fs::write(&path, output.stdout).expect("written");
    fingerprint(&path)
}

#[test]
fn a_self_signed_certificate_is_trusted_by_its_file_and_for_its_names_only() {
    if is_missing(&["curl", "openssl"]) {
        return;
    }
    let bench = Bench::new();
    let secure = Secure::start(&bench, &[SELF_SIGNED, "--allow-host", "lab.example"]);
    let cookie = secure.enter();
    let page = secure.get("/", &[&cookie]);
    assert_eq!(page.status, 200, "{}", page.head);
    assert_eq!(page.header("strict-transport-security"), None, "browsers would no longer accept exceptions");
    assert_eq!(secure.fingerprint, fingerprint(&secure.certificate));
    assert_eq!(secure.fingerprint, presented(&bench, secure.port));
    let strict = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile"];
    let file = secure.certificate.to_str().expect("text");
    assert!(openssl(&[&strict[..], &[file, file]].concat()).contains("OK"));

    assert_eq!(curl(&[&secure.url("/")]).status.code(), Some(NOT_TRUSTED), "without the file");
    for (name, code) in [("lab.example", 0), ("localhost", 0), ("other.example", NOT_TRUSTED)] {
        let place = format!("{name}:{}:127.0.0.1", secure.port);
        let output = secure.curl(&["--resolve", &place, &format!("https://{name}:{}/", secure.port)]);
        assert_eq!(output.status.code(), Some(code), "{name}: {output:?}");
        assert!(code != 0 || Response::of(&texts(&output).0).status == 401, "{name}");
    }
    for (versions, is_enough) in
        [(["--tls-max", "1.3"], true), (["--tls-max", "1.2"], true), (["--tls-max", "1.1"], false)]
    {
        // Recent builds of OpenSSL offer old versions only at this level.
        let more = ["--tlsv1.0", "--ciphers", "DEFAULT:@SECLEVEL=0"];
        let output = secure.curl(&[&versions[..], &more, &[&secure.url("/")]].concat());
        assert_eq!(output.status.success(), is_enough, "{versions:?}: {output:?}");
    }
}

#[test]
fn pages_of_an_encrypted_server_have_the_scheme_https() {
    if is_missing(&["curl"]) {
        return;
    }
    let bench = Bench::new();
    let secure = Secure::start(&bench, &[SELF_SIGNED]);
    let own = format!("127.0.0.1:{}", secure.port);
    for (origin, status) in
        [(format!("https://{own}"), 401), (format!("http://{own}"), 403), ("null".into(), 403)]
    {
        let header = format!("Origin: {origin}");
        let output = secure.curl(&["-H", &header, "-d", "name=ann&password=wrong", &secure.url("/login")]);
        assert_eq!(Response::of(&texts(&output).0).status, status, "{origin}: {output:?}");
    }
    let other = secure.get("/", &["Host: evil.example"]);
    assert_eq!(other.status, 421, "{}", other.head);
    let answers: Vec<u16> = (0..12)
        .map(|_| {
            let output = secure.curl(&[
                "-H",
                &format!("Origin: https://{own}"),
                "-d",
                "name=a",
                &secure.url("/login"),
            ]);
            Response::of(&texts(&output).0).status
        })
        .collect();
    assert_eq!(answers.last(), Some(&429), "failed logins are limited: {answers:?}");
}

#[test]
fn a_certificate_is_kept_until_the_names_change() {
    if is_missing(&["openssl"]) {
        return;
    }
    let bench = Bench::new();
    let started = |options: &[&str]| {
        let secure = Secure::start(&bench, &[&[SELF_SIGNED], options].concat());
        assert_eq!(presented(&bench, secure.port), secure.fingerprint);
        secure.fingerprint.clone()
    };
    let first = started(&[]);
    assert_eq!(started(&[]), first);
    let named = started(&["--allow-host", "lab.example"]);
    assert_ne!(named, first);
    assert_eq!(started(&["--allow-host", "lab.example:443"]), named, "the port is not part of a name");
    let kept = bench.state.path().join("lab/tls.json");
    let mode = std::fs::metadata(&kept).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&kept, Permissions::from_mode(0o644)).expect("permissions");
    let errors = bench.fails(2, &["serve", "--listen", "127.0.0.1:0", SELF_SIGNED]);
    assert!(errors.contains("other users can read") && errors.contains("0600"), "{errors}");
    std::fs::remove_file(&kept).expect("removed");
    assert_ne!(started(&["--allow-host", "lab.example"]), named);
    let errors = bench.fails(2, &["serve", "--listen", "127.0.0.1:0", SELF_SIGNED, "--allow-host", "a b"]);
    assert!(errors.contains("'a b'"), "{errors}");
}

#[test]
fn an_expired_certificate_is_renewed_or_reported() {
    if is_missing(&["openssl", "faketime"]) {
        return;
    }
    let bench = Bench::new();
    let (certificate, key) = supplied_at(&bench, "old", &EC, &["faketime", "-f", "-900d"]);
    let expired = fingerprint(Path::new(&certificate));
    let mut command =
        bench.command(&["serve", "--listen", "127.0.0.1:0", "--tls-cert", &certificate, "--tls-key", &key]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
    let lines =
        BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("readable"));
    let shown: Vec<String> = lines.take(4).collect();
    child.kill().and_then(|()| child.wait()).expect("a child");
    let shown = shown.join("\n");
    assert!(shown.contains(&expired) && shown.contains("warning") && shown.contains("expired on"), "{shown}");

    // The same certificate, as if the server had generated it long ago.
    let first = Secure::start(&bench, &[SELF_SIGNED]).fingerprint.clone();
    let kept = bench.state.path().join("lab/tls.json");
    let mut document: Value = serde_json::from_str(&support::text(&kept)).expect("JSON");
    document["certificate"] = support::text(Path::new(&certificate)).into();
    document["key"] = support::text(Path::new(&key)).into();
    std::fs::write(&kept, document.to_string()).expect("written");
    let renewed = Secure::start(&bench, &[SELF_SIGNED]);
    assert!(renewed.fingerprint != expired && renewed.fingerprint != first);
    assert_eq!(presented(&bench, renewed.port), renewed.fingerprint);
    let fingerprint = renewed.fingerprint.clone();
    drop(renewed);
    assert_eq!(Secure::start(&bench, &[SELF_SIGNED]).fingerprint, fingerprint, "the new one is kept");
}

/// Generates a key and a certificate with OpenSSL; returns their paths.
fn supplied(bench: &Bench, name: &str, algorithm: &[&str]) -> (String, String) {
    supplied_at(bench, name, algorithm, &["env"])
}

/// Same as [`supplied`], but the program `by` starts OpenSSL.
fn supplied_at(bench: &Bench, name: &str, algorithm: &[&str], by: &[&str]) -> (String, String) {
    let path = |kind: &str| bench.path(&format!("{name}.{kind}")).to_str().expect("text").to_owned();
    let (certificate, key) = (path("crt"), path("key"));
    let fixed = [
        "openssl",
        "req",
        "-x509",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=lab.example",
        "-keyout",
        &key,
        "-out",
        &certificate,
    ];
    let named = ["-addext", "subjectAltName=IP:127.0.0.1"];
    let mut command = Command::new(by[0]);
    let output = command.args(&by[1..]).args(fixed).args(named).args(algorithm).output().expect("openssl");
    assert!(output.status.success(), "{output:?}");
    (certificate, key)
}

const EC: [&str; 4] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

#[test]
fn supplied_certificates_of_every_kind_are_used() {
    if is_missing(&["curl", "openssl"]) {
        return;
    }
    let bench = Bench::new();
    let p384 = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"];
    for (name, algorithm) in [
        ("p256", &EC[..]),
        ("p384", &p384),
        ("rsa", &["-newkey", "rsa:2048"]),
        ("ed25519", &["-newkey", "ed25519"]),
    ] {
        let (certificate, key) = supplied(&bench, name, algorithm);
        let secure = Secure::start(&bench, &["--tls-cert", &certificate, "--tls-key", &key]);
        assert_eq!(secure.fingerprint, fingerprint(Path::new(&certificate)), "{name}");
        for version in ["1.2", "1.3"] {
            let output = secure.curl(&["--tls-max", version, &secure.url("/")]);
            assert_eq!(Response::of(&texts(&output).0).status, 401, "{name}, TLS {version}: {output:?}");
        }
    }
}

#[test]
fn a_replaced_certificate_is_used_without_a_restart() {
    if is_missing(&["openssl"]) {
        return;
    }
    let bench = Bench::new();
    let (certificate, key) = supplied(&bench, "one", &EC);
    let (other_certificate, other_key) = supplied(&bench, "two", &EC);
    let secure = Secure::start(&bench, &["--tls-cert", &certificate, "--tls-key", &key]);
    let wait_for = |expected: &str| {
        let begun = Instant::now();
        while presented(&bench, secure.port) != expected {
            assert!(begun.elapsed() < PATIENCE, "the certificate is not replaced");
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    let replace = |from: &str, to: &str| {
        let next = format!("{to}.next");
        std::fs::copy(from, &next).and_then(|_| std::fs::rename(&next, to)).expect("replaced");
    };
    replace(&other_certificate, &certificate);
    replace(&other_key, &key);
    let other = fingerprint(Path::new(&other_certificate));
    wait_for(&other);
    std::fs::write(&certificate, "damaged").expect("written");
    // The server checks the files every 2 s and reads changed files only at the second check.
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(presented(&bench, secure.port), other, "the previous certificate remains in use");
    let (third, third_key) = supplied(&bench, "three", &EC);
    replace(&third, &certificate);
    // At first, others can read the key, which the server notices; this is then fixed without changing the
    // file's content.
    std::fs::set_permissions(&third_key, Permissions::from_mode(0o644)).expect("our own");
    replace(&third_key, &key);
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(presented(&bench, secure.port), other, "a key that others can read is not used");
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("our own");
    wait_for(&fingerprint(Path::new(&third)));
}

#[test]
fn unusable_certificates_and_keys_are_refused_before_anything_is_served() {
    if is_missing(&["openssl"]) {
        return;
    }
    let bench = Bench::new();
    let (certificate, key) = supplied(&bench, "one", &EC);
    let (_, other_key) = supplied(&bench, "two", &EC);
    let path = |name: &str| bench.path(name).to_str().expect("text").to_owned();
    let [link, readable, empty, encrypted, weak, gone] =
        ["link", "readable", "empty", "encrypted", "weak", "gone"].map(path);
    symlink(&key, &link).expect("a link");
    std::fs::copy(&key, &readable).expect("a copy");
    std::fs::set_permissions(&readable, Permissions::from_mode(0o604)).expect("permissions");
    std::fs::write(&empty, "").expect("a file");
    std::fs::set_permissions(&empty, Permissions::from_mode(0o600)).expect("permissions");
    openssl(&["pkcs8", "-topk8", "-in", &key, "-out", &encrypted, "-passout", "pass:secret"]);
    openssl(&["genrsa", "-out", &weak, "1024"]);
    for private in [&encrypted, &weak] {
        std::fs::set_permissions(private, Permissions::from_mode(0o600)).expect("permissions");
    }
    for (certificate, key, expected) in [
        (&certificate, &link, "symbolic link"),
        (&certificate, &readable, "other users can read"),
        (&certificate, &empty, "no unencrypted private key"),
        (&certificate, &encrypted, "no unencrypted private key"),
        (&certificate, &weak, "not the key of the certificate"),
        (&certificate, &other_key, "not the key of the certificate"),
        (&certificate, &gone, "No such file"),
        (&certificate, &"/dev/null".to_owned(), "character device"),
        (&empty, &key, "no certificate"),
        (&key, &key, "no certificate"),
        (&gone, &key, "No such file"),
    ] {
        let errors = bench
            .fails(2, &["serve", "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key]);
        assert!(errors.contains(expected), "{certificate} {key}: {errors}");
        assert!(errors.contains(certificate.as_str()) || errors.contains(key.as_str()), "{errors}");
    }
    for options in [
        &["--tls-cert", &certificate][..],
        &["--tls-key", &key],
        &[SELF_SIGNED, "--tls-cert", &certificate, "--tls-key", &key],
    ] {
        bench.fails(2, &[&["serve", "--listen", "127.0.0.1:0"], options].concat());
    }
}

#[test]
fn an_unencrypted_request_is_told_to_use_https() {
    let bench = Bench::new();
    let secure = Secure::start(&bench, &[SELF_SIGNED]);
    let connect = || {
        let stream = TcpStream::connect(("127.0.0.1", secure.port)).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    };
    for request in
        ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), format!("POST / {}", "x".repeat(100_000))]
    {
        let mut stream = connect();
        // The server may have closed the connection before the whole request was sent.
        drop(stream.write_all(request.as_bytes()));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8_lossy(&answer);
        let response = Response::of(&answer);
        assert_eq!(response.status, 400, "{answer}");
        assert!(response.body.contains("https://"), "{answer}");
    }
    let mut stream = connect();
    stream.write_all(&[0; 100]).expect("writable");
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    assert!(answer.is_empty(), "neither TLS nor HTTP: {answer:?}");
}

#[test]
fn clients_that_never_complete_their_handshake_block_nobody_and_are_disconnected() {
    if is_missing(&["curl"]) {
        return;
    }
    let bench = Bench::new();
    let secure = Secure::start(&bench, &[SELF_SIGNED]);
    let mut idle: Vec<TcpStream> = (0..200)
        .map(|_| TcpStream::connect(("127.0.0.1", secure.port)).expect("the server listens"))
        .collect();
    for stream in idle.iter_mut().step_by(2) {
        // The beginning of a handshake.
        drop(stream.write_all(&[22, 3, 1, 2, 0, 1]));
    }
    assert_eq!(secure.get("/", &[]).status, 401);
    for mut stream in idle {
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // Anything but a timeout means that the connection has ended: it may also have been reset.
        let end = stream.read(&mut [0; 64]);
        assert!(!end.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "it is still open");
    }
}

/// Starts curl on a run's events and waits until the first has arrived.
fn open_stream(secure: &Secure, run: &str, cookie: &str) -> Child {
    let url = secure.url(&format!("/api/runs/{run}/events"));
    let mut command = Command::new("curl");
    command
        .args(["-sSN", "--max-time", "120", "--cacert"])
        .arg(&secure.certificate)
        .args(["-H", cookie, &url]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("curl");
    child.stdout.as_mut().expect("piped").read_exact(&mut [0; 1]).expect("the stream is open");
    child
}

#[test]
fn events_arrive_over_tls_and_a_signal_ends_the_server_although_a_stream_is_open() {
    if is_missing(&["curl"]) {
        return;
    }
    let bench = Bench::new();
    let run = demo(&bench);
    let mut secure = Secure::start(&bench, &[SELF_SIGNED]);
    let cookie = secure.enter();
    let whole = secure.get(&format!("/api/runs/{run}/events"), &[&cookie]).body;
    let journal = support::text(&bench.library().join(&run).join("journal"));
    assert_eq!(whole.matches("event: record").count(), journal.lines().count() - 1, "every record");
    assert!(whole.contains("event: end"), "{whole}");
    let _lock = in_progress(&bench, &run);
    let mut stream = open_stream(&secure, &run, &cookie);
    // Keep reading, because the server disconnects a client that does not read.
    let mut rest = stream.stdout.take().expect("piped");
    let reading = std::thread::spawn(move || rest.read_to_end(&mut Vec::new()));
    let begun = Instant::now();
    secure.server.signal("-TERM");
    assert_eq!(secure.server.end(), Some(0));
    println!("the server ended after {} ms", begun.elapsed().as_millis());
    reading.join().expect("read").expect("readable");
    assert!(stream.wait().expect("curl").success(), "the stream ended properly");
}

#[test]
fn an_encrypted_server_may_listen_on_every_address() {
    if is_missing(&["curl"]) {
        return;
    }
    let bench = Bench::new();
    let secure = Secure::start(&bench, &["--listen", "0.0.0.0:0", SELF_SIGNED]);
    assert!(secure.link.starts_with(&secure.url("/enter?token=")), "{}", secure.link);
    let cookie = secure.enter();
    assert_eq!(secure.get("/", &[&cookie]).status, 200);
    drop(secure);
    let named = Secure::start(&bench, &["--listen", "0.0.0.0:0", SELF_SIGNED, "--allow-host", "lab.example"]);
    assert!(
        named.link.starts_with(&format!("https://lab.example:{}/enter?token=", named.port)),
        "{}",
        named.link
    );
}

#[test]
fn a_browser_that_knows_the_key_shows_the_pages() {
    const BROWSER: &str = "chromium";
    if is_missing(&["openssl", BROWSER]) {
        return;
    }
    let bench = Bench::new();
    let run = demo(&bench);
    let secure = Secure::start(&bench, &[SELF_SIGNED]);
    let script = "openssl x509 -noout -pubkey -in \"$0\" | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl base64";
    let output = Command::new("sh").args(["-c", script]).arg(&secure.certificate).output().expect("a shell");
    let key = texts(&output).0.trim_end().to_owned();
    let dom = |known: &[&str]| {
        let profile = bench.path("profile");
        let output = Command::new("timeout")
            .args(["300", BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(known)
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(["--dump-dom", &secure.link])
            .output();
        texts(&output.expect("a browser")).0
    };
    assert!(!dom(&[]).contains(&run), "the certificate is unknown");
    let page = dom(&[&format!("--ignore-certificate-errors-spki-list={key}")]);
    assert!(page.contains(&run), "{page}");
}
