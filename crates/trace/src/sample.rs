//! A synthetic trace for trying out commands: a database that serves queries, writes its log, and writes a checkpoint
//! in a burst every half second.

use std::io::Write;

use stdx::Rng;

use crate::file::{Origin, Summary, Writer};
use crate::{Io, Op, TraceError};

const LENGTH_NS: u64 = 2_000_000_000;
const CHECKPOINT_EVERY_NS: u64 = 500_000_000;
const CHECKPOINT_WRITES: u64 = 128;
/// Mean time between two queries.
const QUERY_NS: u64 = 700_000;
const DATA_BYTES: u64 = 192 << 20;
const LOG_START: u64 = DATA_BYTES;
const LOG_BYTES: u64 = 32 << 20;

/// Writes the trace: about 4,200 I/Os in two seconds on 224 MiB.
///
/// # Errors
/// Returns an error if the output cannot be written.
pub fn sample<W: Write>(output: W, seed: u64) -> Result<(W, Summary), TraceError> {
    let origin = Origin { source: "sample".into(), resolution_ns: 1, is_anonymised: false };
    let mut rng = Rng::from_seed(seed);
    let mut ios = Vec::new();
    let (mut now_ns, mut log) = (0, LOG_START);
    while now_ns < LENGTH_NS {
        let hot = rng.below(10) < 8;
        let range = if hot { DATA_BYTES / 10 } else { DATA_BYTES };
        let length = if rng.below(5) == 0 { 16_384 } else { 8192 };
        let offset = rng.below(range / 16_384) * 16_384;
        let read = Io {
            issue_ns: now_ns,
            response_ns: Some(80_000 + rng.below(60_000)),
            offset_bytes: offset,
            length_bytes: length,
            op: Op::Read,
        };
        ios.push(read);
        if rng.below(3) == 0 {
            let issue_ns = now_ns + 200_000;
            let response_ns = Some(25_000 + rng.below(10_000));
            ios.push(Io { issue_ns, response_ns, offset_bytes: log, length_bytes: 4096, op: Op::Write });
            log = LOG_START + (log + 4096 - LOG_START) % LOG_BYTES;
        }
        now_ns += QUERY_NS / 4 + rng.below(QUERY_NS * 3 / 2);
    }
    for checkpoint in 1..LENGTH_NS / CHECKPOINT_EVERY_NS {
        for write in 0..CHECKPOINT_WRITES {
            ios.push(Io {
                issue_ns: checkpoint * CHECKPOINT_EVERY_NS + write * 20_000,
                response_ns: Some(400_000 + rng.below(400_000)),
                offset_bytes: rng.below(DATA_BYTES / 16_384) * 16_384,
                length_bytes: 16_384,
                op: Op::Write,
            });
        }
    }
    ios.sort_by_key(|io| io.issue_ns);
    let mut writer = Writer::new(output, &origin)?;
    ios.into_iter().try_for_each(|io| writer.push(io))?;
    writer.finish(0, 0)
}
