//! A request that names several hosts or origins could be for another one than the server checks.

use crate::lab_server::{Response, Server};
use crate::support::Bench;

#[test]
fn a_request_names_one_host_and_one_origin() {
    let bench = Bench::new();
    let server = Server::start(&bench);
    let (cookie, own) = (server.enter(), server.address.as_str());
    let ask = |target: &str, headers: &str| {
        let request = format!("GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n{cookie}\r\n");
        Response::of(&server.raw(&request)).status
    };
    let (host, origin) = (format!("Host: {own}\r\n"), format!("Origin: http://{own}\r\n"));
    let (foreign_host, foreign_origin) = ("Host: evil.example\r\n", "Origin: http://evil.example\r\n");
    assert_eq!(ask("/api", &format!("{host}{origin}")), 200);
    for hosts in [format!("{host}{foreign_host}"), format!("{foreign_host}{host}"), format!("{host}{host}")] {
        assert_eq!(ask("/api", &hosts), 421, "{hosts}");
    }
    for origins in [format!("{origin}{foreign_origin}"), format!("{foreign_origin}{origin}")] {
        assert_eq!(ask("/api", &format!("{host}{origins}")), 403, "{origins}");
    }
    // The first line decides if it names a host.
    assert_eq!(ask(&format!("http://{own}/api"), foreign_host), 200);
    for target in ["http://evil.example/api", "http://evil.example/nothing"] {
        assert_eq!(ask(target, &host), 421, "{target}");
    }
    assert_eq!(ask(&format!("http://ann@{own}/api"), &host), 421, "a user is no part of a host");
}
