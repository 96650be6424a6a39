//! The event queue: completions of program operations, erase operations and commands.
//!
//! Each die and each command in flight has at most one pending event. Events are kept in winner trees instead
//! of a heap: an update replays the matches from the leaf to the root. Writes nearly always complete in the
//! order in which the buffer accepted them, so they use a FIFO instead. In a tie, the lower leaf wins, so that
//! runs are reproducible; dies come before commands.

use std::collections::BTreeSet;

/// The time of a leaf without a pending event.
pub(crate) const NEVER: u64 = u64::MAX;

/// Time and leaf of an event in one integer, with the leaf in the low bits so that keys sort by time first.
type Key = u64;

/// No event. No real key has this value, because no leaf has all bits set.
const NO_EVENT: Key = Key::MAX;

/// Leaves with an index below the number of dies represent dies; the others represent commands in flight.
pub(crate) struct Events {
    dies: Tree,
    commands: Tree,
    in_order: Fifo,
    first_command: usize,
    leaf_bits: u32,
    leaf_mask: u64,
    /// The earliest time that does not fit in a key.
    too_late_ns: u64,
    /// Events whose time does not fit in a key; they follow all events with a key.
    overflow: BTreeSet<(u64, usize)>,
}

impl Events {
    pub(crate) fn new(dies: usize, commands: usize) -> Self {
        let leaf_bits = usize::BITS - (dies + commands).leading_zeros();
        Self {
            dies: Tree::new(dies),
            commands: Tree::new(commands),
            in_order: Fifo::new(commands),
            first_command: dies,
            leaf_bits,
            leaf_mask: (1 << leaf_bits) - 1,
            too_late_ns: NO_EVENT >> leaf_bits,
            overflow: BTreeSet::new(),
        }
    }

    #[inline]
    fn leaf_of(&self, key: Key) -> usize {
        (key & self.leaf_mask) as usize
    }

    /// Returns an event's key. An event whose time does not fit in a key goes to `overflow`.
    #[inline(always)]
    fn key(&mut self, leaf: usize, time_ns: u64) -> Key {
        if !self.overflow.is_empty() {
            self.remove_overflow(leaf);
        }
        if time_ns >= self.too_late_ns {
            return self.add_overflow(leaf, time_ns);
        }
        time_ns << self.leaf_bits | leaf as u64
    }

    #[cold]
    fn add_overflow(&mut self, leaf: usize, time_ns: u64) -> Key {
        if time_ns != NEVER {
            self.overflow.insert((time_ns, leaf));
        }
        NO_EVENT
    }

    #[cold]
    fn remove_overflow(&mut self, leaf: usize) {
        self.overflow.retain(|event| event.1 != leaf);
    }

    #[inline]
    pub(crate) fn set_die(&mut self, die: usize, time_ns: u64) {
        let key = self.key(die, time_ns);
        self.dies.set(die, key);
    }

    /// Sets the completion time of the command on `leaf`, replacing the event just returned by
    /// [`next`](Self::next).
    #[inline(always)]
    pub(crate) fn set(&mut self, leaf: usize, time_ns: u64) {
        let key = self.key(leaf, time_ns);
        self.pop_if_first(leaf);
        self.commands.set(leaf - self.first_command, key);
    }

    /// Same as [`set`](Self::set), but faster if the time is later than that of every event appended before. The
    /// command must not have a pending event.
    #[inline]
    pub(crate) fn append(&mut self, leaf: usize, time_ns: u64) {
        let key = self.key(leaf, time_ns);
        if !self.in_order.append(key) {
            self.commands.set(leaf - self.first_command, key);
        }
    }

    /// Clears the event just returned by [`next`](Self::next).
    #[inline]
    pub(crate) fn clear(&mut self, leaf: usize) {
        self.clear_known(leaf);
    }

    /// Removes an event, whether or not it is the earliest.
    pub(crate) fn forget(&mut self, leaf: usize) {
        if !self.clear_known(leaf) {
            let mask = self.leaf_mask;
            self.in_order.remove(|key| key & mask == leaf as u64);
        }
    }

    #[inline]
    fn pop_if_first(&mut self, leaf: usize) -> bool {
        let first = self.leaf_of(self.in_order.front) == leaf;
        if first {
            self.in_order.pop();
        }
        first
    }

    #[inline]
    fn clear_known(&mut self, leaf: usize) -> bool {
        if !self.overflow.is_empty() {
            self.remove_overflow(leaf);
        }
        let place = leaf - self.first_command;
        if self.pop_if_first(leaf) {
            return true;
        }
        let in_tree = self.commands.is_set(place);
        if in_tree {
            self.commands.set(place, NO_EVENT);
        }
        in_tree
    }

    /// Returns the time and leaf of the earliest event; the time is [`NEVER`] if there is none.
    #[inline(always)]
    pub(crate) fn next(&self) -> (u64, usize) {
        let key = earlier(earlier(self.commands.first(), self.in_order.front), self.dies.first());
        if key == NO_EVENT {
            return self.overflow.first().copied().unwrap_or((NEVER, 0));
        }
        (key >> self.leaf_bits, self.leaf_of(key))
    }
}

#[inline]
fn earlier(one: Key, other: Key) -> Key {
    std::hint::select_unpredictable(one < other, one, other)
}

struct Tree {
    nodes: Vec<Key>,
    places: usize,
}

impl Tree {
    fn new(leaves: usize) -> Self {
        let places = leaves.next_power_of_two();
        Self { nodes: vec![NO_EVENT; 2 * places], places }
    }

    #[inline(always)]
    fn set(&mut self, place: usize, key: Key) {
        let nodes = &mut self.nodes[..];
        let mut at = self.places + place;
        // The winner stays in a register on its way up. Only its opponents are read from memory, and these
        // reads are independent of each other.
        let mut first = key;
        nodes[at] = first;
        while at > 1 {
            first = earlier(first, nodes[at ^ 1]);
            at /= 2;
            nodes[at] = first;
        }
    }

    #[inline]
    fn is_set(&self, place: usize) -> bool {
        self.nodes[self.places + place] != NO_EVENT
    }

    #[inline]
    fn first(&self) -> Key {
        self.nodes[1]
    }
}

/// Events in ascending order.
struct Fifo {
    /// A ring buffer; unused entries are [`NO_EVENT`].
    ring: Vec<Key>,
    first: usize,
    end: usize,
    /// The first event in the queue.
    front: Key,
    /// The event that was added last.
    last: Key,
}

impl Fifo {
    fn new(most: usize) -> Self {
        let ring = vec![NO_EVENT; most.next_power_of_two()];
        Self { ring, first: 0, end: 0, front: NO_EVENT, last: NO_EVENT }
    }

    /// Appends an event. Returns false if the event is earlier than the last one, or is [`NO_EVENT`].
    #[inline]
    fn append(&mut self, key: Key) -> bool {
        let fits = (self.front == NO_EVENT || key > self.last) && key != NO_EVENT;
        if fits {
            let place = self.end & (self.ring.len() - 1);
            self.ring[place] = key;
            self.end += 1;
            self.last = key;
            self.front = self.front.min(key);
        }
        fits
    }

    /// Removes the first event.
    #[inline]
    fn pop(&mut self) {
        let last_place = self.ring.len() - 1;
        self.ring[self.first & last_place] = NO_EVENT;
        self.first += 1;
        self.front = self.ring[self.first & last_place];
    }

    /// Removes an event from any position.
    fn remove(&mut self, is_it: impl Fn(Key) -> bool) {
        let kept: Vec<Key> = (self.first..self.end)
            .map(|at| self.ring[at & (self.ring.len() - 1)])
            .filter(|&key| !is_it(key))
            .collect();
        *self = Self::new(self.ring.len());
        kept.into_iter().for_each(|key| {
            assert!(
                self.append(key),
                "the rest of an ordered sequence is in \
            order"
            )
        });
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
        /// Compares the queue with a plain list. Events of dies and commands are set, cleared and replaced as in a
        /// drive; some of their times do not fit in a key.
        #[test]
        fn the_next_event_is_the_earliest(steps in prop::collection::vec((0usize..12, 0u64..50, 0u8..8), 1..400)) {
            let (dies, commands) = (3, 9);
            let mut events = Events::new(dies, commands);
            let mut list = vec![NEVER; dies + commands];
            for (leaf, time_ns, what) in steps {
                let time_ns = if time_ns < 42 { time_ns } else { NEVER - 100 + time_ns };
                let (next_ns, next) = events.next();
                if leaf < dies {
                    events.set_die(leaf, time_ns);
                    list[leaf] = time_ns;
                } else if list[leaf] == NEVER {
                    if what < 3 { events.set(leaf, time_ns) } else { events.append(leaf, time_ns) }
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
