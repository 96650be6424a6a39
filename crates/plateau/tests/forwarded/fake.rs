//! A server that fails for one run and refuses all others.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Ids of the runs that were requested.
pub type Requested = Arc<Mutex<Vec<String>>>;

/// Starts the server, which fails with status 500 for the run named `broken`. Returns its URL.
pub fn failing_for(broken: &str) -> (String, Requested) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (requested, broken) = (Requested::default(), broken.to_owned());
    let seen = Arc::clone(&requested);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let id = answer(client, &broken).expect("a request");
            seen.lock().expect("no panic").push(id);
        }
    });
    (url, requested)
}

/// Answers a request without a body and returns the id in its address.
fn answer(mut client: TcpStream, broken: &str) -> std::io::Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte)? == 1 {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let id = path.rsplit('/').next().unwrap_or_default().to_owned();
    // Longer than the part of a program's output that Plateau usually keeps.
    let refusal = format!("{{\"problem\":\"refused\",\"text\":\"no{}\"}}", " ".repeat(20_000));
    let (status, body) = if id == broken { (500, "") } else { (422, &*refusal) };
    let length = body.len();
    write!(client, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")?;
    Ok(id)
}
