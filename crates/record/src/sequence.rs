//! A prescribed order of random I/Os.

use serde::{Deserialize, Serialize};

/// The order of the random I/Os of each thread, as numbers of blocks of the range; reads and writes each follow it, and
/// it starts over at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// 1 to 64 block numbers.
    pub blocks: Vec<u32>,
    /// Whether each repetition is as many blocks further on as the sequence is long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strided: bool,
}

impl From<Sequence> for stdx::access::Sequence {
    fn from(sequence: Sequence) -> Self {
        let Sequence { blocks, strided } = sequence;
        Self { blocks, strided }
    }
}
