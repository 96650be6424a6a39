//! Checks a journal record by record, in constant memory, as its bytes arrive.

use super::detail::Detail;
use super::line::{MAGIC, OLDEST_VERSION, VERSION, parse_line};
use crate::amounts::Amounts;
use crate::chain::version_in;
use crate::{Digest, Entry, Order};

/// The reason for rejecting a line as the next line in a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// The first line is not the header of a journal.
    #[error("it does not start like a journal")]
    NotAJournal,
    /// This build cannot read the journal's version.
    #[error("it has journal version {found}, which this version of Plateau cannot read")]
    Version {
        /// Version of the journal.
        found: u32,
    },
    /// A record is damaged or is not the next record.
    #[error("record {seq}: {problem}")]
    Record {
        /// Number of the record.
        seq: u64,
        /// What is wrong with it.
        problem: String,
    },
}

/// The verified part of a journal.
#[derive(Debug, Clone, Default)]
pub struct Verifier {
    bytes: u64,
    records: u64,
    digest: Option<Digest>,
    amounts: Amounts,
    /// None if the order of the records is not checked.
    order: Option<Order>,
}

impl Verifier {
    /// Returns a verifier that also checks that a run of these tests can write its records in this order.
    #[must_use]
    pub fn of_run(tests: &[String]) -> Self {
        Self { order: Some(Order::of(tests)), ..Self::default() }
    }

    /// Checks the next line, including its newline; returns its record, or `None` for the first line in the journal.
    ///
    /// # Errors
    /// Returns an error if the line is not the next record. In that case, the journal's state does not change.
    pub fn take(&mut self, line: &[u8]) -> Result<Option<Entry>, Unverified> {
        let Some(digest) = self.digest else {
            let found = version_in(line, MAGIC).ok_or(Unverified::NotAJournal)?;
            if !(OLDEST_VERSION..=VERSION).contains(&found) {
                return Err(Unverified::Version { found });
            }
            (self.digest, self.bytes) = (Some(Digest::of(line)), line.len() as u64);
            return Ok(None);
        };
        let seq = self.records;
        let damaged = |problem: String| Unverified::Record { seq, problem };
        let (entry, digest) = parse_line(line, seq, digest, Detail::All).map_err(damaged)?;
        let mut amounts = self.amounts;
        amounts.take(&entry.event).map_err(|problem| damaged(problem.into()))?;
        let mut order = self.order.clone();
        order.as_mut().map_or(Ok(()), |order| order.take(&entry.event)).map_err(damaged)?;
        (self.digest, self.amounts, self.order) = (Some(digest), amounts, order);
        self.bytes += line.len() as u64;
        self.records += 1;
        Ok(Some(entry))
    }

    /// Returns the number of bytes verified.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of verified records, not counting the first line.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Returns the hash of the last record, which covers everything before it; `None` before the first line.
    #[must_use]
    pub const fn digest(&self) -> Option<Digest> {
        self.digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Journal, read_journal};

    #[test]
    fn a_verifier_accepts_what_a_reader_accepts_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("journal");
        let mut journal = Journal::create(&path).expect("a journal");
        for length_ns in 0..5 {
            journal.append(Event::Idled { length_ns }).expect("appended");
        }
        let bytes = std::fs::read(&path).expect("readable");
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let mut verifier = Verifier::default();
        assert_eq!(verifier.take(lines[1]), Err(Unverified::NotAJournal));
        for (index, line) in lines.iter().enumerate() {
            let entry = verifier.take(line).expect("intact");
            assert_eq!(entry.map(|entry| entry.seq + 1), (index > 0).then_some(index as u64));
            // A line is accepted only once, in order, complete and unchanged.
            let before = verifier.clone();
            let mut changed = line.to_vec();
            changed[line.len() / 2] ^= 1;
            for wrong in [*line, &changed, &line[..line.len() - 1], b"", lines[0]] {
                assert!(verifier.take(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
            }
            assert_eq!((verifier.bytes(), verifier.digest()), (before.bytes(), before.digest()));
        }
        let loaded = read_journal(&path).expect("readable");
        assert_eq!(verifier.bytes(), bytes.len() as u64);
        assert_eq!(verifier.records(), 5);
        assert_eq!(verifier.digest(), Some(loaded.digest));
    }
}
