//! The next thing that happens: a winner tree with one leaf per die and per command in flight.
//!
//! Every die and every slot has at most one pending event, so a replay from its leaf to the root
//! replaces a heap. On equal times the lower leaf goes first, which keeps runs reproducible.

/// The time of a leaf that has nothing pending.
pub(crate) const NEVER: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
struct Node {
    time_ns: u64,
    leaf: u32,
}

pub(crate) struct Events {
    nodes: Vec<Node>,
    first_leaf: usize,
}

impl Events {
    pub(crate) fn new(leaves: usize) -> Self {
        let first_leaf = leaves.next_power_of_two();
        let mut nodes = vec![Node { time_ns: NEVER, leaf: 0 }; 2 * first_leaf];
        for (leaf, node) in nodes[first_leaf..].iter_mut().enumerate() {
            node.leaf = leaf as u32;
        }
        Self { nodes, first_leaf }
    }

    #[inline]
    pub(crate) fn set(&mut self, leaf: usize, time_ns: u64) {
        let mut at = self.first_leaf + leaf;
        // The winner stays at hand on its way up: only its rivals come from memory, and none waits for another.
        let mut first = Node { time_ns, leaf: leaf as u32 };
        self.nodes[at] = first;
        while at > 1 {
            let rival = self.nodes[at ^ 1];
            let left = at.is_multiple_of(2);
            let wins = (first.time_ns < rival.time_ns) | ((first.time_ns == rival.time_ns) & left);
            first = std::hint::select_unpredictable(wins, first, rival);
            at /= 2;
            self.nodes[at] = first;
        }
    }

    /// Time and leaf of the earliest event; [`NEVER`] when there is none.
    #[inline]
    pub(crate) fn next(&self) -> (u64, usize) {
        let root = self.nodes[1];
        (root.time_ns, root.leaf as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earliest_first_and_lower_leaf_on_ties() {
        for leaves in [1, 2, 3, 40] {
            let mut events = Events::new(leaves);
            assert_eq!(events.next().0, NEVER);
            for leaf in (0..leaves).rev() {
                events.set(leaf, 100 - (leaf as u64 / 2));
            }
            let mut seen = Vec::new();
            while events.next().0 != NEVER {
                let (time, leaf) = events.next();
                seen.push((time, leaf));
                events.set(leaf, NEVER);
            }
            assert_eq!(seen.len(), leaves);
            assert!(seen.is_sorted(), "{seen:?}");
        }
    }
}
