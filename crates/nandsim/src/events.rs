//! The next thing that happens: programs and erases that end, and commands that are answered.
//!
//! Every die and every command in flight has at most one pending event. Winner trees hold them, in which a
//! replay from a leaf to the root replaces a heap; writes are nearly always answered in the order in which
//! the buffer took them, and stand in line instead. On equal times the lower leaf goes first, which keeps
//! runs reproducible: dies come before commands.

/// The time of a leaf that has nothing pending.
pub(crate) const NEVER: u64 = u64::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    time_ns: u64,
    leaf: u32,
}

/// Nothing, which belongs to nobody.
const NOTHING: Node = Node { time_ns: NEVER, leaf: u32::MAX };

/// Leaves from 0 to the number of dies are dies, those behind are commands in flight.
pub(crate) struct Events {
    dies: Tree,
    commands: Tree,
    line: Line,
    first_command: usize,
}

impl Events {
    pub(crate) fn new(dies: usize, commands: usize) -> Self {
        Self {
            dies: Tree::new(0, dies),
            commands: Tree::new(dies, commands),
            line: Line::new(commands),
            first_command: dies,
        }
    }

    #[inline]
    pub(crate) fn set_die(&mut self, die: usize, time_ns: u64) {
        self.dies.set(die, time_ns);
    }

    /// Sets the answer of the command on `leaf`, in place of the one that came last.
    #[inline]
    pub(crate) fn set(&mut self, leaf: usize, time_ns: u64) {
        self.line.leave(leaf);
        self.commands.set(leaf - self.first_command, time_ns);
    }

    /// The same for one that is likely to come after all that [`join`](Self::join)ed before; the command has
    /// nothing pending.
    #[inline]
    pub(crate) fn join(&mut self, leaf: usize, time_ns: u64) {
        if !self.line.join(Node { time_ns, leaf: leaf as u32 }) {
            self.commands.set(leaf - self.first_command, time_ns);
        }
    }

    /// The answer that came last is over.
    #[inline]
    pub(crate) fn clear(&mut self, leaf: usize) {
        self.clear_known(leaf);
    }

    /// Takes back an answer, whether it came or not.
    pub(crate) fn forget(&mut self, leaf: usize) {
        if !self.clear_known(leaf) {
            self.line.forget(leaf);
        }
    }

    #[inline]
    fn clear_known(&mut self, leaf: usize) -> bool {
        let place = leaf - self.first_command;
        if self.line.leave(leaf) {
            return true;
        }
        let in_tree = self.commands.is_set(place);
        if in_tree {
            self.commands.set(place, NEVER);
        }
        in_tree
    }

    /// Time and leaf of the earliest event; [`NEVER`] when there is none.
    #[inline]
    pub(crate) fn next(&self) -> (u64, usize) {
        let (die, command) = (self.dies.first(), self.commands.first().min(self.line.first()));
        let first = if die.time_ns <= command.time_ns { die } else { command };
        (first.time_ns, first.leaf as usize)
    }
}

struct Tree {
    nodes: Vec<Node>,
    places: usize,
}

impl Tree {
    fn new(first_leaf: usize, leaves: usize) -> Self {
        let places = leaves.next_power_of_two();
        let mut nodes = vec![NOTHING; 2 * places];
        for (place, node) in nodes[places..].iter_mut().enumerate() {
            node.leaf = (first_leaf + place) as u32;
        }
        Self { nodes, places }
    }

    #[inline]
    fn set(&mut self, place: usize, time_ns: u64) {
        let mut at = self.places + place;
        // The winner stays at hand on its way up: only its rivals come from memory, and none waits for another.
        let mut first = Node { time_ns, ..self.nodes[at] };
        self.nodes[at] = first;
        while at > 1 {
            let rival = self.nodes[at ^ 1];
            // The left one wins on equal times.
            let bound = rival.time_ns.saturating_add(u64::from(at.is_multiple_of(2)));
            first = std::hint::select_unpredictable(first.time_ns < bound, first, rival);
            at /= 2;
            self.nodes[at] = first;
        }
    }

    #[inline]
    fn is_set(&self, place: usize) -> bool {
        self.nodes[self.places + place].time_ns != NEVER
    }

    #[inline]
    fn first(&self) -> Node {
        self.nodes[1]
    }
}

/// Events in the order in which they come.
struct Line {
    /// A ring; what is not taken is nothing.
    ring: Vec<Node>,
    first: usize,
    end: usize,
    last: Node,
}

impl Line {
    fn new(most: usize) -> Self {
        Self { ring: vec![NOTHING; most.next_power_of_two()], first: 0, end: 0, last: NOTHING }
    }

    #[inline]
    fn first(&self) -> Node {
        self.ring[self.first & (self.ring.len() - 1)]
    }

    /// Takes an event unless it comes before the last one in line.
    #[inline]
    fn join(&mut self, node: Node) -> bool {
        let fits = self.first == self.end || node > self.last;
        if fits {
            let place = self.end & (self.ring.len() - 1);
            self.ring[place] = node;
            self.end += 1;
            self.last = node;
        }
        fits
    }

    /// Whether `leaf` was the first in line; it is no more.
    #[inline]
    fn leave(&mut self, leaf: usize) -> bool {
        let place = self.first & (self.ring.len() - 1);
        let first = self.ring[place].leaf as usize == leaf;
        if first {
            self.ring[place] = NOTHING;
            self.first += 1;
        }
        first
    }

    /// Takes `leaf` out of the line, wherever it stands.
    fn forget(&mut self, leaf: usize) {
        let kept: Vec<Node> = (self.first..self.end)
            .map(|at| self.ring[at & (self.ring.len() - 1)])
            .filter(|node| node.leaf as usize != leaf)
            .collect();
        self.ring.fill(NOTHING);
        (self.first, self.end) = (0, 0);
        kept.into_iter().for_each(|node| assert!(self.join(node), "a line is in order"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn earliest_first_and_lower_leaf_on_ties() {
        for leaves in [1, 2, 3, 40] {
            let mut events = Events::new(2, leaves);
            assert_eq!(events.next().0, NEVER);
            for leaf in (0..2 + leaves).rev() {
                let time_ns = 100 - (leaf as u64 / 2);
                if leaf < 2 { events.set_die(leaf, time_ns) } else { events.set(leaf, time_ns) }
            }
            let mut seen = Vec::new();
            while events.next().0 != NEVER {
                let (time, leaf) = events.next();
                seen.push((time, leaf));
                if leaf < 2 { events.set_die(leaf, NEVER) } else { events.clear(leaf) }
            }
            assert_eq!(seen.len(), 2 + leaves);
            assert!(seen.is_sorted(), "{seen:?}");
        }
    }

    proptest! {
        /// Against a list: dies and commands that get, lose and replace events as a drive does it.
        #[test]
        fn the_earliest_of_a_list_comes_next(steps in prop::collection::vec((0usize..12, 0u64..50, 0u8..8), 1..400)) {
            let (dies, commands) = (3, 9);
            let mut events = Events::new(dies, commands);
            let mut list = vec![NEVER; dies + commands];
            for (leaf, time_ns, what) in steps {
                let (next_ns, next) = events.next();
                if leaf < dies {
                    events.set_die(leaf, time_ns);
                    list[leaf] = time_ns;
                } else if list[leaf] == NEVER {
                    if what < 3 { events.set(leaf, time_ns) } else { events.join(leaf, time_ns) }
                    list[leaf] = time_ns;
                } else if what == 0 {
                    events.forget(leaf);
                    list[leaf] = NEVER;
                } else if next_ns != NEVER && next >= dies && what < 4 {
                    events.set(next, time_ns);
                    list[next] = time_ns;
                } else if next_ns != NEVER && next >= dies {
                    events.clear(next);
                    list[next] = NEVER;
                }
                let earliest = (0..list.len()).map(|leaf| (list[leaf], leaf)).min().unwrap();
                let found = events.next();
                prop_assert_eq!(found.0, earliest.0);
                prop_assert!(earliest.0 == NEVER || found == earliest);
            }
        }
    }
}
