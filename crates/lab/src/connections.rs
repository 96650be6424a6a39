//! Connections of browsers, encrypted or not. With TLS, a connection is handed to the server after its handshake.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::open_connections::{OpenConnections, Place};
use crate::tls::names_of_certificate;

/// Time within which a handshake must be complete.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Number of concurrent handshakes. If there are more, the oldest is abandoned, so that clients that never complete
/// their handshake do not keep others from connecting.
const MOST_HANDSHAKES: usize = 64;
/// Number of connections whose handshake is complete but which the server has not accepted yet.
const MOST_READY: usize = 16;
/// First byte of a TLS handshake (RFC 8446, section 5.1).
const HANDSHAKE_RECORD: u8 = 22;
/// Number of bytes read from an unencrypted request before its connection is closed.
const MOST_PLAIN_BYTES: usize = 64 << 10;
/// The answer to an unencrypted request.
const PLAIN_ANSWER: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
Content-Length: 75\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n\
This server encrypts connections: use an address that begins with https://\n";

/// Where connections come from.
pub struct Connections {
    source: Source,
    open: Arc<OpenConnections>,
}

enum Source {
    Plain(TcpListener),
    Encrypted(Encrypted),
}

impl Connections {
    pub fn plain(listener: TcpListener) -> Self {
        Self { source: Source::Plain(listener), open: OpenConnections::permitted() }
    }

    pub fn encrypted(listener: TcpListener, config: ServerConfig) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (done, ready) = mpsc::channel(MOST_READY);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let accepting = tokio::spawn(accept_all(listener, acceptor, done));
        let source = Source::Encrypted(Encrypted { address, ready, accepting });
        Ok(Self { source, open: OpenConnections::permitted() })
    }
}

/// The client of a connection: the names in its certificate, which was verified in the handshake. Empty if it has none.
#[derive(Debug, Clone, Default)]
pub struct Client(Arc<[String]>);

impl Client {
    pub fn names(&self) -> &[String] {
        &self.0
    }

    fn of(stream: &TlsStream<TcpStream>) -> Self {
        let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        Self(certificate.map(|certificate| names_of_certificate(certificate)).unwrap_or_default().into())
    }
}

impl Connected<IncomingStream<'_, Connections>> for Client {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        match &stream.io().stream {
            Stream::Plain(_) => Self::default(),
            Stream::Encrypted(stream) => Self::of(stream),
        }
    }
}

/// Connections whose handshake is complete.
struct Encrypted {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    accepting: JoinHandle<()>,
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = match &mut self.source {
            Source::Plain(listener) => {
                let (stream, address) = Listener::accept(listener).await;
                (Stream::Plain(stream), address)
            }
            Source::Encrypted(encrypted) => match encrypted.ready.recv().await {
                Some((stream, address)) => (Stream::Encrypted(Box::new(stream)), address),
                // The task that accepts connections ends only with this listener.
                None => std::future::pending().await,
            },
        };
        (Connection { stream, place: self.open.enter() }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        match &self.source {
            Source::Plain(listener) => listener.local_addr(),
            Source::Encrypted(encrypted) => Ok(encrypted.address),
        }
    }
}

/// Accepts connections and starts their handshakes, which do not wait for one another.
async fn accept_all(
    mut listener: TcpListener,
    acceptor: TlsAcceptor,
    done: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    let mut handshakes: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        let (stream, address) = Listener::accept(&mut listener).await;
        handshakes.retain(|handshake| !handshake.is_finished());
        if handshakes.len() >= MOST_HANDSHAKES
            && let Some(oldest) = handshakes.pop_front()
        {
            oldest.abort();
        }
        let (acceptor, done) = (acceptor.clone(), done.clone());
        handshakes.push_back(tokio::spawn(async move {
            let Ok(Some(stream)) = tokio::time::timeout(HANDSHAKE, handshake(stream, &acceptor)).await else {
                return;
            };
            // This fails only if the server has stopped accepting connections.
            drop(done.send((stream, address)).await);
        }));
    }
}

/// Completes the handshake. A client that does not encrypt its request is told to do so.
async fn handshake(mut stream: TcpStream, acceptor: &TlsAcceptor) -> Option<TlsStream<TcpStream>> {
    let mut first = [0];
    match stream.peek(&mut first).await {
        Ok(1) if first[0] == HANDSHAKE_RECORD => acceptor.accept(stream).await.ok(),
        Ok(1) if first[0].is_ascii_uppercase() => {
            // If this fails, there is nobody to report it to.
            drop(refuse(&mut stream).await);
            None
        }
        _ => None,
    }
}

async fn refuse(stream: &mut TcpStream) -> io::Result<()> {
    let mut left = PLAIN_ANSWER;
    while !left.is_empty() {
        let written = std::future::poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, left)).await?;
        left = &left[written..];
    }
    std::future::poll_fn(|cx| Pin::new(&mut *stream).poll_shutdown(cx)).await?;
    // If a connection is closed before its request is read, the client may not see the answer.
    let (mut buffer, mut total) = ([0; 4096], 0);
    while total < MOST_PLAIN_BYTES {
        let mut read = ReadBuf::new(&mut buffer);
        std::future::poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, &mut read)).await?;
        match read.filled().len() {
            0 => break,
            count => total += count,
        }
    }
    Ok(())
}

/// A connection, encrypted or not, in one type: with two types, the program would contain the HTTP code twice.
pub struct Connection {
    stream: Stream,
    place: Place,
}

enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Connection {
    /// Performs an operation, unless the connection has been closed.
    fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        operation: impl FnOnce(&mut Stream, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Err(closed) = self.place.check(cx) {
            return Poll::Ready(Err(closed));
        }
        let done = operation(&mut self.stream, cx);
        if done.is_ready() {
            self.place.used();
        }
        done
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.get_mut().poll(cx, |stream, cx| match stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Encrypted(stream) => Pin::new(stream).poll_read(cx, buffer),
        })
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll(cx, |stream, cx| match stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Encrypted(stream) => Pin::new(stream).poll_write(cx, bytes),
        })
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Most of the time, there is nothing left to flush, so flushing does not count as use.
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Encrypted(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll(cx, |stream, cx| match stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Stream::Encrypted(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_unencrypted_requests_has_its_length() {
        let text = std::str::from_utf8(PLAIN_ANSWER).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("an empty line");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{}: {text}", body.len());
    }
}
