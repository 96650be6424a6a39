//! Hosts that identify themselves with a certificate: it must come from the right authority and be for a name that was
//! added.

use std::process::Command;

use super::*;
use lab_server::Response;

/// Exit code of curl if the server refuses the handshake.
const HANDSHAKE_REFUSED: [i32; 2] = [35, 56];

/// Certificates of an authority, in the folder of a bench.
struct Authority<'a> {
    bench: &'a Bench,
    name: &'a str,
}

impl<'a> Authority<'a> {
    fn new(bench: &'a Bench, name: &'a str) -> Self {
        let authority = Self { bench, name };
        // Omit the extensions that the host's own configuration would add.
        fs::write(authority.path("cnf"), "[req]\ndistinguished_name = dn\n[dn]\n").expect("writable");
        let ca = ["-addext", "basicConstraints=critical,CA:TRUE"];
        authority.request(name, &[], &ca);
        authority
    }

    fn path(&self, kind: &str) -> String {
        path_of(self.bench, &format!("{}.{kind}", self.name))
    }

    /// Issues a certificate to `name`, with a key in a file of its own; returns the paths of both.
    fn issue(&self, name: &str, extensions: &[&str]) -> [String; 2] {
        let authority = [self.path("crt"), self.path("key")];
        self.request(name, &["-CA", &authority[0], "-CAkey", &authority[1]], extensions)
    }

    fn request(&self, name: &str, by: &[&str], extensions: &[&str]) -> [String; 2] {
        let [certificate, key] = ["crt", "key"].map(|kind| path_of(self.bench, &format!("{name}.{kind}")));
        let (config, subject) = (self.path("cnf"), format!("/O=Lab/CN={name}"));
        let fixed = ["req", "-x509", "-nodes", "-days", "2", "-config", &config, "-subj", &subject];
        let files =
            ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", &key, "-out", &certificate];
        let arguments = [&fixed[..], &files, by, extensions].concat();
        let output = Command::new("openssl").args(&arguments).output().expect("openssl");
        assert!(output.status.success(), "{arguments:?}: {:?}", texts(&output));
        [certificate, key]
    }
}

fn path_of(bench: &Bench, name: &str) -> String {
    bench.path(name).to_str().expect("text").to_owned()
}

const CLIENT: [&str; 2] = ["-addext", "extendedKeyUsage=clientAuth"];

fn are_programs_missing() -> bool {
    if !Path::new("/usr/bin/openssl").exists() {
        skips::without("openssl");
        return true;
    }
    !has_curl()
}

/// A server that receives runs from hosts with a certificate of `authority`.
fn server(authority: &Authority<'_>) -> (Lab, String, String) {
    let lab = Lab::new(&["--tls-self-signed", "--client-ca", &authority.path("crt")]);
    let trusted = lab.bench.state.path().join("lab/tls-certificate.pem");
    let url = format!("https://{}", lab.server.address);
    (lab, url, trusted.to_str().expect("text").to_owned())
}

#[test]
fn a_host_is_admitted_by_a_certificate_of_the_authority_for_a_name_that_was_added() {
    if are_programs_missing() {
        return;
    }
    let host = Bench::new();
    let authority = Authority::new(&host, "ca");
    let (lab, url, trusted) = server(&authority);
    host.ok(&SHORT);
    let id = id_of(&host.runs()[0]);
    let added = lab.bench.json(&["sender", "add", "rack7", "--certificate"]);
    assert_eq!(added, serde_json::json!({ "name": "rack7", "token": null }));
    let arguments = |[certificate, key]: &[String; 2]| {
        let fixed =
            ["push", &id, &url, "--ca-file", &trusted, "--client-cert", certificate, "--client-key", key];
        fixed.map(str::to_owned)
    };
    let fails = |code: i32, pair: &[String; 2]| {
        let arguments = arguments(pair);
        host.fails(code, &arguments.each_ref().map(String::as_str))
    };
    let nothing = || assert_eq!(content(&lab.bench.library()), [], "nothing was stored");

    // Certificates from another authority, and from the right one for another name or purpose.
    let other = Authority::new(&host, "other");
    let of_other = other.issue("rack7", &CLIENT);
    fails(75, &of_other);
    nothing();
    fails(75, &authority.issue("rack7", &["-addext", "extendedKeyUsage=serverAuth"]));
    nothing();
    let rack8 = authority.issue("rack8", &CLIENT);
    let errors = fails(2, &rack8);
    assert!(errors.contains("no accepted certificate") && errors.contains("plateau sender add"), "{errors}");
    nothing();
    // A token is not enough, even one that is valid.
    let token = token_file(&host, &lab.token("rack9"));
    let errors = host.fails(2, &["push", &id, &url, "--ca-file", &trusted, "--token-file", &token]);
    assert!(errors.contains("no accepted certificate"), "{errors}");
    nothing();

    let rack7 = authority.issue("rack7", &CLIENT);
    host.ok(&arguments(&rack7).each_ref().map(String::as_str));
    assert_eq!(journal(&lab.bench.library(), &id), journal(&host.library(), &id));
    assert!(lab.bench.ok(&["show", &id]).contains("copy of rack7:/"));
    // The alternative names take precedence over the common name.
    let named =
        authority.issue("node", &[&CLIENT[..], &["-addext", "subjectAltName=DNS:RACK7,DNS:node"]].concat());
    host.ok(&arguments(&named).each_ref().map(String::as_str));
    lab.bench.ok(&["sender", "add", "rack8", "--certificate"]);
    assert!(fails(6, &rack8).contains("another run"), "the run is that of rack7");
    lab.bench.ok(&["sender", "remove", "rack7"]);
    assert!(fails(2, &rack7).contains("no accepted certificate"));
}

#[test]
fn browsers_need_no_certificate_where_hosts_need_one() {
    if are_programs_missing() {
        return;
    }
    let host = Bench::new();
    let authority = Authority::new(&host, "ca");
    let (lab, url, trusted) = server(&authority);
    lab.bench.ok(&["sender", "add", "rack7", "--certificate"]);
    let curl = |arguments: &[&str]| {
        let fixed = ["-sS", "-i", "--max-time", "60", "--cacert", &trusted];
        let output = Command::new("curl").args(fixed).args(arguments).output().expect("curl");
        let code = output.status.code().expect("an exit code");
        (code, (code == 0).then(|| Response::of(&texts(&output).0)))
    };
    let status = |arguments: &[&str]| curl(arguments).1.expect("an answer").status;
    let link = lab.server.link.clone();
    let entered = curl(&[&link]).1.expect("an answer");
    assert_eq!(entered.status, 303, "{entered:?}");
    let cookie = entered.cookie();
    assert_eq!(status(&["-H", cookie.trim_end(), &url]), 200);

    let [certificate, key] = authority.issue("rack7", &CLIENT);
    let pair = ["--cert", &certificate, "--key", &key];
    let state = format!("{url}/receive/v1/runs/r");
    for version in ["1.2", "1.3"] {
        let limit = ["--tls-max", version];
        assert_eq!(status(&[&limit[..], &pair, &[&state]].concat()), 200, "TLS {version}");
        assert_eq!(status(&[&limit[..], &[&state]].concat()), 401, "TLS {version}");
        assert_eq!(status(&[&limit[..], &pair, &[&url]].concat()), 401, "a host sees no pages");
        // A browser that has signed in is not a sender.
        assert_eq!(status(&[&limit[..], &["-H", cookie.trim_end(), &state]].concat()), 401);
        let [certificate, key] = Authority::new(&host, "other").issue("rack9", &CLIENT);
        let (code, _) = curl(&[&limit[..], &["--cert", &certificate, "--key", &key, &state]].concat());
        assert!(HANDSHAKE_REFUSED.contains(&code), "TLS {version}: {code}");
    }
}

#[test]
fn certificates_that_cannot_be_used_are_refused_before_anything_is_sent_or_served() {
    use std::os::unix::fs::PermissionsExt as _;

    if are_programs_missing() {
        return;
    }
    let host = Bench::new();
    let authority = Authority::new(&host, "ca");
    let ca = authority.path("crt");
    let [certificate, key] = authority.issue("rack7", &CLIENT);
    host.ok(&SHORT);
    let url = "https://127.0.0.1:1";
    let push = |url: &str, options: &[&str]| host.fails(2, &[&["push", "--all", url], options].concat());
    push(url, &["--client-cert", &certificate]);
    push(url, &["--client-key", &key]);
    push(url, &["--client-cert", &certificate, "--client-key", &key, "--token-file", &key]);
    let errors = push("http://127.0.0.1:1", &["--client-cert", &certificate, "--client-key", &key]);
    assert!(errors.contains("not encrypted") && errors.contains("https://"), "{errors}");
    let gone = path_of(&host, "gone");
    assert!(push(url, &["--client-cert", &gone, "--client-key", &key]).contains("--client-cert"));
    assert!(push(url, &["--client-cert", &certificate, "--client-key", &gone]).contains("--client-key"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o604)).expect("our own");
    let errors = push(url, &["--client-cert", &certificate, "--client-key", &key]);
    assert!(errors.contains("can be read by other users"), "{errors}");

    let serve = |options: &[&str]| host.fails(2, &[&["serve", "--listen", "127.0.0.1:0"], options].concat());
    assert!(serve(&["--client-ca", &ca]).contains("--tls"), "without TLS, there are no certificates");
    let encrypted = |file: &str| serve(&["--tls-self-signed", "--client-ca", file]);
    assert!(encrypted(&gone).contains("No such file"));
    assert!(encrypted(&key).contains("no certificate"), "a key is none");
    fs::set_permissions(&ca, fs::Permissions::from_mode(0o666)).expect("our own");
    let errors = encrypted(&ca);
    assert!(errors.contains("other users can change") && errors.contains(&ca), "{errors}");
}
