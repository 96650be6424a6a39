//! A proxy that loses, cuts off, delays and duplicates requests and responses, at random but reproducibly.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SEED: u64 = 20_261_126;

pub struct Unreliable {
    listener: TcpListener,
    faults: Arc<AtomicUsize>,
}

impl Unreliable {
    pub fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").expect("a port"), faults: Arc::default() }
    }

    pub fn address(&self) -> String {
        self.listener.local_addr().expect("bound").to_string()
    }

    pub fn faults(&self) -> usize {
        self.faults.load(Ordering::Relaxed)
    }

    pub fn seed(&self) -> String {
        format!("seed {SEED}")
    }

    /// Passes connections to `server`, one at a time, until the end of the test.
    pub fn serve(&self, server: &str) {
        let (listener, faults, server) =
            (self.listener.try_clone().expect("a copy"), Arc::clone(&self.faults), server.to_owned());
        std::thread::spawn(move || {
            let mut random = SEED;
            for client in listener.incoming().flatten() {
                let mut draw = |below: u64| {
                    // xorshift64
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    random % below
                };
                let fault = Fault::drawn(draw(10));
                if fault != Fault::None {
                    faults.fetch_add(1, Ordering::Relaxed);
                }
                let share = draw(100);
                // The other end may have given up.
                let _ = pass(client, &server, fault, share);
            }
        });
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The request is lost.
    LostRequest,
    /// Only part of the request arrives.
    CutRequest,
    /// The request arrives, but its response is lost.
    LostResponse,
    CutResponse,
    /// The request arrives twice.
    Twice,
    /// The request arrives a second time, after later requests.
    Late,
    Delayed,
}

impl Fault {
    const fn drawn(number: u64) -> Self {
        match number {
            0 => Self::LostRequest,
            1 => Self::CutRequest,
            2 => Self::LostResponse,
            3 => Self::CutResponse,
            4 => Self::Twice,
            5 => Self::Late,
            6 => Self::Delayed,
            _ => Self::None,
        }
    }
}

fn pass(mut client: TcpStream, server: &str, fault: Fault, share: u64) -> std::io::Result<()> {
    let request = request(&mut client)?;
    let part = |bytes: &[u8]| bytes[..bytes.len() * share as usize / 100].to_vec();
    match fault {
        Fault::LostRequest => {}
        Fault::CutRequest => drop(exchange(server, &part(&request), true)),
        Fault::LostResponse => drop(exchange(server, &request, false)?),
        Fault::CutResponse => client.write_all(&part(&exchange(server, &request, false)?))?,
        Fault::Twice => {
            drop(exchange(server, &request, false)?);
            client.write_all(&exchange(server, &request, false)?)?;
        }
        Fault::Late => {
            client.write_all(&exchange(server, &request, false)?)?;
            let server = server.to_owned();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(60));
                drop(exchange(&server, &request, false));
            });
        }
        Fault::Delayed => {
            std::thread::sleep(Duration::from_millis(30));
            client.write_all(&exchange(server, &request, false)?)?;
        }
        Fault::None => client.write_all(&exchange(server, &request, false)?)?,
    }
    client.shutdown(Shutdown::Both)
}

/// Reads a whole request and asks the server to close the connection after its response.
fn request(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 65536];
    loop {
        let read = client.read(&mut chunk)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..read]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        if bytes.len() >= end + 4 + length.unwrap_or(0_usize) {
            let mut request = bytes[..end].to_vec();
            request.extend_from_slice(b"\r\nConnection: close");
            request.extend_from_slice(&bytes[end..]);
            return Ok(request);
        }
    }
}

fn exchange(server: &str, request: &[u8], is_cut: bool) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server)?;
    stream.write_all(request)?;
    if is_cut {
        stream.shutdown(Shutdown::Both)?;
        return Ok(Vec::new());
    }
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    Ok(response)
}
