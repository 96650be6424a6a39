//! Reads the bodies of requests from other hosts, in bounded memory and time. Each sender has one request at a time, so
//! a host that stops sending in the middle of a request delays only itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use futures_util::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// A body up to this size is small: a piece of a journal, or the beginning of a typical run.
const SMALL_BYTES: usize = 2 << 20;
/// Number of small bodies that are held in memory at the same time.
const MOST_SMALL: usize = 16;
/// Number of large bodies: exceptionally long records, and runs with large files.
const MOST_LARGE: usize = 1;
/// Number of requests that are carried out at the same time, after they have been read.
const MOST_WORKING: usize = 2;
/// A body must arrive within this time plus the time that its length takes at the lowest speed.
const WITHIN: Duration = Duration::from_secs(60);
const LEAST_BYTES_PER_SECOND: u64 = 64_000;
/// Longest time during which no part of a body arrives.
const STALL: Duration = Duration::from_secs(20);

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRead {
    TooLong,
    TooSlow,
}

/// Limits the bodies that a server reads at the same time.
pub struct Receiving {
    turns: Mutex<BTreeMap<String, Arc<Semaphore>>>,
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
    working: Arc<Semaphore>,
    /// Longest time during which no part of a body arrives.
    stall: Duration,
}

/// A body, with the permits that it occupies until it is dropped.
pub struct Taken {
    pub body: Vec<u8>,
    _shares: [Option<OwnedSemaphorePermit>; 3],
}

impl Receiving {
    pub fn new() -> Self {
        let of = |most| Arc::new(Semaphore::new(most));
        Self {
            turns: Mutex::default(),
            small: of(MOST_SMALL),
            large: of(MOST_LARGE),
            working: of(MOST_WORKING),
            stall: STALL,
        }
    }

    /// Reads a body of at most `most_bytes` that an admitted sender sends.
    pub async fn body(&self, sender: &str, body: Body, most_bytes: usize) -> Result<Taken, NotRead> {
        let stated = body.size_hint().upper();
        // A body of unknown length may have any length.
        let length = stated.map_or(most_bytes, |length| usize::try_from(length).unwrap_or(usize::MAX));
        if length > most_bytes {
            return Err(NotRead::TooLong);
        }
        let turn = self.turn(sender).acquire_owned().await.ok();
        let memory = if length <= SMALL_BYTES { &self.small } else { &self.large };
        let memory = Arc::clone(memory).acquire_owned().await.ok();
        let body = read(body, length, self.stall).await?;
        let working = Arc::clone(&self.working).acquire_owned().await.ok();
        Ok(Taken { body, _shares: [turn, memory, working] })
    }

    fn turn(&self, sender: &str) -> Arc<Semaphore> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(sender.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))))
    }
}

async fn read(body: Body, most_bytes: usize, stall: Duration) -> Result<Vec<u8>, NotRead> {
    let allowed = Duration::from_secs(most_bytes as u64 / LEAST_BYTES_PER_SECOND);
    let deadline = Instant::now() + WITHIN + allowed;
    let (mut stream, mut bytes) = (body.into_data_stream(), Vec::new());
    loop {
        let next = timeout_at(deadline.min(Instant::now() + stall), stream.next()).await;
        match next.map_err(|_| NotRead::TooSlow)? {
            None => return Ok(bytes),
            Some(Ok(piece)) if piece.len() > most_bytes - bytes.len() => return Err(NotRead::TooLong),
            Some(Ok(piece)) => bytes.extend_from_slice(&piece),
            // The connection was lost, so nobody reads the response.
            Some(Err(_)) => return Err(NotRead::TooSlow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use futures_util::{FutureExt as _, stream};

    /// Returns a body of which only the first part arrives.
    fn stalled() -> Body {
        let begin = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"begin"))]);
        Body::from_stream(begin.chain(stream::pending()))
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(test);
    }

    #[test]
    fn a_stalled_body_delays_its_own_sender_only() {
        run(async {
            let receiving = Arc::new(Receiving { stall: Duration::from_millis(20), ..Receiving::new() });
            let begun = Instant::now();
            let of_rack7 = |_| {
                let receiving = Arc::clone(&receiving);
                tokio::spawn(async move { receiving.body("rack7", stalled(), 1000).await.err() })
            };
            let stuck: Vec<_> = (0..3).map(of_rack7).collect();
            tokio::task::yield_now().await;
            let taken = receiving.body("rack8", Body::from("records"), 1000).now_or_never();
            assert_eq!(taken.expect("no wait").expect("a body").body, b"records");
            for task in stuck {
                assert_eq!(task.await.expect("ended"), Some(NotRead::TooSlow));
            }
            assert!(begun.elapsed() >= 3 * receiving.stall, "one after the other");
        });
    }

    #[test]
    fn one_large_body_is_held_at_a_time_and_small_ones_pass() {
        run(async {
            let receiving = Receiving::new();
            let large = || Body::from(vec![0; SMALL_BYTES + 1]);
            let most_bytes = 2 * SMALL_BYTES;
            let first = receiving.body("rack7", large(), most_bytes).await.expect("a body");
            let second = receiving.body("rack8", large(), most_bytes).now_or_never();
            assert!(second.is_none(), "it waits");
            assert!(receiving.body("rack9", Body::from("small"), most_bytes).await.is_ok());
            drop(first);
            assert!(receiving.body("rack8", large(), most_bytes).await.is_ok());
        });
    }

    #[test]
    fn bodies_have_a_limit_whether_or_not_they_state_their_length() {
        run(async {
            let receiving = Receiving::new();
            let unstated = |bytes: &'static [u8]| {
                Body::from_stream(stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(bytes))]))
            };
            for body in [Body::from("four+"), unstated(b"four+")] {
                assert_eq!(receiving.body("r", body, 4).await.err(), Some(NotRead::TooLong));
            }
            for body in [Body::from("four"), unstated(b"four")] {
                assert_eq!(
                    receiving.body("r", body, 4).await.map(|taken| taken.body).ok(),
                    Some(b"four".into())
                );
            }
            assert!(receiving.body("r", Body::empty(), 0).await.is_ok());
        });
    }
}
