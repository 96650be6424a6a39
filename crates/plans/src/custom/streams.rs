//! The streams that a cell mixes, and what the inner tables of a custom test have in common.

use record::{Access, IoKind};

use crate::limits;
use crate::table::{Key, in_order};
use crate::value::{Problem, Value};

/// fio's names for the kinds of workload: access order and percentage of reads, or `None` for a mix.
pub const RW: &[(&str, (Access, Option<u8>))] = &[
    ("read", (Access::Sequential, Some(100))),
    ("write", (Access::Sequential, Some(0))),
    ("rw", (Access::Sequential, None)),
    ("randread", (Access::Random, Some(100))),
    ("randwrite", (Access::Random, Some(0))),
    ("randrw", (Access::Random, None)),
];

/// Reads a table within a value, and returns the first error in it.
pub fn inner<T: Default>(value: Value<'_>, keys: &[Key<T>]) -> Result<T, Problem> {
    let mut read = T::default();
    for (name, item) in in_order(value.table()?) {
        let Some(key) = keys.iter().find(|key| key.name == name.get_ref()) else {
            let known: Vec<_> = keys.iter().map(|key| key.name).collect();
            let text = format!("unknown key '{}'; available keys: {}", name.get_ref(), known.join(", "));
            return Err(Problem { at: name.span(), text });
        };
        (key.set)(&mut read, Value(item))
            .map_err(|problem| Problem { text: format!("{}: {}", key.name, problem.text), ..problem })?;
    }
    Ok(read)
}

/// Values read from a stream's table.
#[derive(Default)]
pub struct DraftStream {
    rw: Option<(Access, Option<u8>)>,
    mix: Option<u8>,
    block_bytes: Option<u32>,
    share: Option<u8>,
}

pub const STREAM: &[Key<DraftStream>] = &[
    Key {
        name: "rw",
        about: "I/O pattern of the stream, named as in fio",
        set: |draft, value| value.word(RW).map(|rw| draft.rw = Some(rw)),
    },
    Key {
        name: "rwmixread",
        about: "percentage of reads, for rw and randrw",
        set: |draft, value| value.whole(&limits::READ_PERCENT).map(|mix| draft.mix = Some(mix)),
    },
    Key {
        name: "bs",
        about: "block size of the stream",
        set: |draft, value| value.block_bytes().map(|bytes| draft.block_bytes = Some(bytes)),
    },
    Key {
        name: "share",
        about: "percentage of the I/Os; the shares of all streams add up to 100",
        set: |draft, value| value.whole(&limits::STREAM_SHARE).map(|share| draft.share = Some(share)),
    },
];

pub fn stream(value: Value<'_>) -> Result<IoKind, Problem> {
    let draft = inner(value, STREAM)?;
    let (Some((access, read)), Some(block_bytes), Some(share_percent)) =
        (draft.rw, draft.block_bytes, draft.share)
    else {
        return value.problem("a stream needs rw, bs and share");
    };
    match read.xor(draft.mix) {
        Some(read_percent) => Ok(IoKind { share_percent, access, read_percent, block_bytes }),
        None => value.problem("rwmixread is required for rw and randrw, and not allowed for other streams"),
    }
}
