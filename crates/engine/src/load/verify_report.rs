//! Result of verifying stamped blocks.

use std::fmt;

use super::stamp_run::StampRun;

/// Maximum number of wrong blocks to list; the count includes all wrong blocks.
const MOST_PLACES: usize = 32;

/// How a block differs from the data written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// The stamp is intact but the data is not, or a block that was written has no stamp.
    Corrupt,
    /// The block contains data written for another offset.
    Misdirected {
        /// Offset that the block was written for.
        of_bytes: u64,
    },
    /// The block contains data that was overwritten earlier.
    Lost {
        /// Sequence number, starting at 1, of the write whose data the block contains; 0 if no write of this
        /// run wrote that data.
        found: u32,
        /// Sequence number of the last write; 0 if unknown, because another process wrote it.
        written: u32,
    },
    /// The block has no stamp, and it is unknown whether it ever had a stamp.
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

/// A block that does not contain what was written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongPlace {
    /// Byte offset on the target.
    pub offset_bytes: u64,
    /// Length of the block.
    pub length_bytes: u32,
    /// The defect.
    pub wrong: Wrong,
}

/// Result of verifying stamped blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Number of verified blocks.
    pub checked: u64,
    /// The run in the stamps of the written blocks; `None` if the load did not write.
    pub run: Option<StampRun>,
    /// Whether the load only read, and accepted the stamps of every run.
    pub any_run: bool,
    /// Number of reads that could not be checked, because the stamped blocks are longer than the reads.
    pub unchecked: u64,
    /// Length of the longest of these blocks; 0 if there are none.
    pub longer_bytes: u32,
    counts: [u64; 4],
    /// The first wrong blocks that were found.
    pub places: Vec<WrongPlace>,
}

impl VerifyReport {
    /// Returns the number of wrong blocks.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the kinds of wrong blocks with their counts.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        KINDS.into_iter().zip(self.counts)
    }

    /// Adds the results of another verification.
    pub fn add(&mut self, other: Self) {
        self.checked += other.checked;
        self.run = self.run.or(other.run);
        self.any_run |= other.any_run;
        self.unchecked += other.unchecked;
        self.longer_bytes = self.longer_bytes.max(other.longer_bytes);
        self.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.places.extend(other.places);
        self.places.truncate(MOST_PLACES);
    }

    /// Reserves memory for the whole list, so that `note` never allocates.
    pub(crate) fn with_room(run: Option<StampRun>, any_run: bool) -> Self {
        Self { run, any_run, places: Vec::with_capacity(MOST_PLACES), ..Self::default() }
    }

    /// Notes a read that ends before the stamped block.
    pub(crate) fn note_longer(&mut self, length_bytes: u32) {
        self.unchecked += 1;
        self.longer_bytes = self.longer_bytes.max(length_bytes);
    }

    /// Returns the final report. If blocks are longer than the reads, a read without a stamp may be from the middle of a
    /// block, so it has not been checked.
    pub(crate) fn settled(mut self) -> Self {
        if self.unchecked > 0 {
            let unstamped = std::mem::take(&mut self.counts[Wrong::Unstamped.kind()]);
            self.checked -= unstamped;
            self.unchecked += unstamped;
            self.places.retain(|place| place.wrong != Wrong::Unstamped);
        }
        self
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
            Wrong::Lost { written: 0, .. } => write!(f, "lost: contains what another run wrote"),
            Wrong::Lost { found: 0, written } => {
                write!(f, "lost: contains none of the {written} writes to it")
            }
            Wrong::Lost { found, written } => write!(f, "lost: contains write {found} of {written}"),
            Wrong::Unstamped => write!(f, "no stamp"),
        }
    }
}

impl fmt::Display for VerifyReport {
    /// Writes a summary line and one line per listed block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks checked, {} wrong", self.checked, self.wrong())?;
        for (name, count) in self.counts().filter(|(_, count)| *count > 0) {
            write!(f, ", {count} {name}")?;
        }
        if self.unchecked > 0 {
            let (reads, bytes) = (self.unchecked, self.longer_bytes);
            write!(f, ", {reads} reads not checked: stamped in blocks of {bytes} B, which are longer")?;
        }
        if let Some(run) = self.run {
            write!(f, "; stamped by run {run}")?;
        } else if self.any_run {
            f.write_str("; stamps of every run were accepted")?;
        }
        for place in &self.places {
            write!(f, "\n       {place}")?;
        }
        let more = self.wrong() - self.places.len() as u64;
        if more > 0 { write!(f, "\n       and {more} more") } else { Ok(()) }
    }
}
