//! What a check of stamped blocks found.

use std::fmt;

/// Places that are kept; all are counted.
const MOST_PLACES: usize = 32;

/// How a block differs from what was written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// It has its stamp, but not its data, or it has no stamp where one was written.
    Corrupt,
    /// It holds what was written for another place.
    Misdirected {
        /// That place.
        of_bytes: u64,
    },
    /// It holds what was there before the last write.
    Lost {
        /// Number of the write that it holds, counted from 1; 0 for none of this run.
        found: u32,
        /// Number of the last write.
        written: u32,
    },
    /// It has no stamp, and nobody here knows whether it ever had one.
    Unstamped,
}

const KINDS: [&str; 4] = ["corrupt", "misdirected", "lost", "unstamped"];

impl Wrong {
    const fn kind(self) -> usize {
        match self {
            Self::Corrupt => 0,
            Self::Misdirected { .. } => 1,
            Self::Lost { .. } => 2,
            Self::Unstamped => 3,
        }
    }
}

/// A block that does not hold what was written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongPlace {
    /// Where on the target.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u32,
    /// What is wrong.
    pub wrong: Wrong,
}

/// What checks of stamped blocks found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Blocks that were checked.
    pub checked: u64,
    counts: [u64; 4],
    /// The first wrong ones.
    pub places: Vec<WrongPlace>,
}

impl Findings {
    /// Blocks that were wrong.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Kinds of wrong blocks with their counts.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        KINDS.into_iter().zip(self.counts)
    }

    /// Counts those of another check as well.
    pub fn add(&mut self, other: Self) {
        self.checked += other.checked;
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.places.extend(other.places);
        self.places.truncate(MOST_PLACES);
    }

    /// Room for every place, so that noting one allocates nothing.
    pub(crate) fn with_room() -> Self {
        Self { places: Vec::with_capacity(MOST_PLACES), ..Self::default() }
    }

    pub(crate) fn note(&mut self, offset_bytes: u64, length_bytes: u32, wrong: Wrong) {
        self.counts[wrong.kind()] += 1;
        if self.places.len() < MOST_PLACES {
            self.places.push(WrongPlace { offset_bytes, length_bytes, wrong });
        }
    }
}

impl fmt::Display for WrongPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B at byte {}: ", self.length_bytes, self.offset_bytes)?;
        match self.wrong {
            Wrong::Corrupt => write!(f, "corrupt"),
            Wrong::Misdirected { of_bytes } => {
                write!(f, "misdirected: contains what was written to byte {of_bytes}")
            }
            Wrong::Lost { found: 0, written } => {
                write!(f, "lost: contains none of the {written} writes to it")
            }
            Wrong::Lost { found, written } => write!(f, "lost: contains write {found} of {written}"),
            Wrong::Unstamped => write!(f, "no stamp"),
        }
    }
}

impl fmt::Display for Findings {
    /// One line, and one for each place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks checked, {} wrong", self.checked, self.wrong())?;
        for (name, count) in self.counts().filter(|(_, count)| *count > 0) {
            write!(f, ", {count} {name}")?;
        }
        for place in &self.places {
            write!(f, "\n       {place}")?;
        }
        let more = self.wrong() - self.places.len() as u64;
        if more > 0 { write!(f, "\n       and {more} more") } else { Ok(()) }
    }
}
