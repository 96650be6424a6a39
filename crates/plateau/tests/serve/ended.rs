//! A signal ends the server, whatever its clients do.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use crate::lab_server::{Server, demo, in_progress};
use crate::open_stream;
use crate::support::Bench;

#[test]
fn a_signal_ends_the_server_although_streams_and_requests_are_open() {
    // On a busy host, more time may pass until the process has ended, so the limit itself is checked.
    assert_eq!(lab::ENDS_WITHIN, Duration::from_secs(2));
    for signal in ["-TERM", "-INT"] {
        let bench = Bench::new();
        let run = demo(&bench);
        let mut server = Server::start(&bench);
        let cookie = server.enter();
        let _lock = in_progress(&bench, &run);
        let _streams = [(); 7].map(|()| open_stream(&server, &run, &cookie));
        // The rest of this request never arrives, so only the limit ends it.
        let mut stuck = TcpStream::connect(&server.address).expect("the server listens");
        let begun = server.posted("/leave", &cookie, &[("csrf", &server.csrf(&cookie))]);
        stuck.write_all(&begun.as_bytes()[..begun.len() - 1]).expect("writable");
        server.signal(signal);
        assert_eq!(server.end(), Some(0), "{signal}");
    }
}
