//! Random I/O in a prescribed order of block numbers.

/// Block numbers in the order in which they are accessed. At the end, the sequence starts over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// The block numbers, counted from the start of the span.
    pub blocks: Vec<u32>,
    /// Whether each repetition is as many blocks further on as the sequence is long.
    pub strided: bool,
}

impl Sequence {
    /// Maximum number of block numbers.
    pub const MOST_BLOCKS: usize = 64;

    /// Returns why a span of `blocks` blocks does not contain the sequence; `None` if it does.
    pub(super) fn problem(&self, blocks: u64) -> Option<String> {
        if self.blocks.is_empty() || self.blocks.len() > Self::MOST_BLOCKS {
            return Some(format!("a sequence has 1 to {} block numbers", Self::MOST_BLOCKS));
        }
        let beyond = self.blocks.iter().find(|block| u64::from(**block) >= blocks)?;
        Some(format!(
            "block {beyond} of its sequence is beyond the end of the range, which has {blocks} blocks"
        ))
    }

    /// Returns the block of access `number`, counted from 0.
    pub(super) fn block(&self, number: u64) -> u64 {
        let length = self.blocks.len() as u64;
        let first = if self.strided { number / length * length } else { 0 };
        first + u64::from(self.blocks[(number % length) as usize])
    }

    /// Returns the number of accesses before the first one that is beyond a span of `blocks` blocks; `None` if none is.
    #[must_use]
    pub fn accesses_within(&self, blocks: u64) -> Option<u64> {
        let length = self.blocks.len() as u64;
        let first_beyond = |(index, block): (usize, &u32)| match blocks.checked_sub(u64::from(*block)) {
            None | Some(0) => Some(index as u64),
            Some(room) => self.strided.then(|| room.div_ceil(length) * length + index as u64),
        };
        self.blocks.iter().enumerate().filter_map(first_beyond).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(blocks: &[u32], strided: bool, count: u64) -> Vec<u64> {
        let sequence = Sequence { blocks: blocks.to_vec(), strided };
        (0..count).map(|number| sequence.block(number)).collect()
    }

    /// The orders that fio's manual and its example `sequence-distribution` state.
    #[test]
    fn blocks_follow_the_sequence() {
        assert_eq!(order(&[2, 0, 1], false, 6), [2, 0, 1, 2, 0, 1]);
        assert_eq!(order(&[2, 0, 1], true, 6), [2, 0, 1, 5, 3, 4]);
        assert_eq!(order(&[7], true, 3), [7, 8, 9]);
    }

    #[test]
    fn strided_sequences_end_with_the_span() {
        for (blocks, strided) in
            [(&[2, 0, 1][..], true), (&[2, 0, 1], false), (&[0, 9, 3, 3], true), (&[5], true)]
        {
            let sequence = Sequence { blocks: blocks.to_vec(), strided };
            for span in 1..40 {
                let beyond = (0..200).find(|number| sequence.block(*number) >= span);
                assert_eq!(sequence.accesses_within(span), beyond, "{sequence:?} in {span} blocks");
            }
        }
    }

    #[test]
    fn impossible_sequences_are_named() {
        let problem = |blocks: Vec<u32>| Sequence { blocks, strided: false }.problem(12);
        assert_eq!(problem(vec![11, 0]), None);
        assert!(problem(vec![0, 12]).is_some_and(|text| text.contains("block 12 ")));
        assert!(problem(Vec::new()).is_some() && problem(vec![0; 65]).is_some());
    }
}
