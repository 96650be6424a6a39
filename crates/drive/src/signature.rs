//! Signatures of file systems, volume managers and partition tables.
//!
//! The tables err towards refusing: unknown content is erased only after confirmation, known content never. A backup
//! copy counts like a primary, because the data can be restored from it. What libblkid recognizes beyond the tables
//! counts as well.

mod checked;
mod copies;
mod formats;
mod second_opinion;
mod view;

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::refusal::Refusal;
use formats::{At, ROWS};
use second_opinion::Opinion;
use view::View;

/// A file system, volume manager or partition table that can be recognized by its signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    name: &'static str,
    /// Names that libblkid uses for it.
    blkid: &'static [&'static str],
}

impl Format {
    /// Name with its article, such as `an XFS file system`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// A signature found on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signature {
    /// Recognized by our own tables.
    Known {
        /// The format it belongs to.
        of: Format,
        /// Whether it is a backup of a primary that no longer exists.
        is_copy: bool,
        /// Offset in bytes.
        at_bytes: u64,
        /// Number of bytes to overwrite to clear it.
        length_bytes: u64,
        /// The target as named by the user.
        target: String,
    },
    /// Recognized only by libblkid.
    SecondOpinion {
        /// libblkid's names; empty for several that exclude each other.
        types: Vec<String>,
        /// The target as named by the user.
        target: String,
    },
}

impl Signature {
    /// Whether it belongs to a member of an md array.
    #[must_use]
    pub fn is_linux_raid(&self) -> bool {
        const NAME: &str = "linux_raid_member";
        match self {
            Self::Known { of, .. } => of.blkid.contains(&NAME),
            Self::SecondOpinion { types, .. } => types.iter().any(|name| name == NAME),
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known { of, is_copy: false, at_bytes, target, .. } => write!(
                f,
                "it carries the signature of {} at byte {at_bytes}, so it probably contains data; if it does \
                 not, remove the signature with wipefs -a {}",
                of.name,
                quoted(target)
            ),
            Self::Known { of, is_copy: true, at_bytes, length_bytes, target } => write!(
                f,
                "it carries a backup copy of the signature of {} at byte {at_bytes}, whose primary copy is \
                 gone, so its data may be recoverable; if nobody needs it, clear the copy with dd \
                 if=/dev/zero of={} bs=1 seek={at_bytes} count={length_bytes} conv=notrunc",
                of.name,
                quoted(target)
            ),
            Self::SecondOpinion { types, target } => {
                let what = if types.is_empty() {
                    "several conflicting signatures".to_owned()
                } else {
                    types.join(" and ")
                };
                write!(
                    f,
                    "blkid recognizes {what} on it, so it probably contains data; look with wipefs {0} and, \
                     if it does not, remove the signature with wipefs -a {0}",
                    quoted(target)
                )
            }
        }
    }
}

/// Quotes the path as a single shell word.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// A signature found by a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    format: Format,
    is_copy: bool,
    at_bytes: u64,
    length_bytes: u64,
}

impl Found {
    const fn primary(format: Format, at_bytes: u64, length_bytes: u64) -> Self {
        Self { format, is_copy: false, at_bytes, length_bytes }
    }

    /// Returns its offset and length in bytes.
    pub(crate) const fn place(&self) -> (u64, u64) {
        (self.at_bytes, self.length_bytes)
    }

    const fn copy(format: Format, at_bytes: u64, length_bytes: u64) -> Self {
        Self { format, is_copy: true, at_bytes, length_bytes }
    }
}

/// Returns a refusal for each signature on the target.
///
/// # Errors
/// Fails when the target cannot be read.
pub(crate) fn refusals(device: &File, capacity_bytes: u64, target: &str) -> io::Result<Vec<Refusal>> {
    let found = probe(device, capacity_bytes)?;
    let second = beyond(&found, second_opinion::ask(device), target);
    let known = found.into_iter().map(|Found { format: of, is_copy, at_bytes, length_bytes }| {
        Refusal::Signature(Signature::Known {
            of,
            is_copy,
            at_bytes,
            length_bytes,
            target: target.to_owned(),
        })
    });
    Ok(known.chain(second).collect())
}

/// Returns the refusal that the second opinion adds to the signatures found.
fn beyond(found: &[Found], opinion: Opinion, target: &str) -> Option<Refusal> {
    let second =
        |types| Some(Refusal::Signature(Signature::SecondOpinion { types, target: target.to_owned() }));
    match opinion {
        Opinion::Nothing | Opinion::None => None,
        // The tables' own findings already say which formats conflict.
        Opinion::Ambivalent if !found.is_empty() => None,
        Opinion::Ambivalent => second(Vec::new()),
        Opinion::Content(mut types) => {
            types.retain(|name| !found.iter().any(|one| one.format.blkid.contains(&name.as_str())));
            if types.is_empty() { None } else { second(types) }
        }
        Opinion::Undecided(what) => Some(Refusal::Unknown { what }),
    }
}

/// Returns every signature on the device that the tables recognize. Copies are left out while their primary exists,
/// because that must be cleared first anyway.
///
/// # Errors
/// Fails when one of the ends of the device cannot be read.
pub(crate) fn probe(device: &impl FileExt, capacity_bytes: u64) -> io::Result<Vec<Found>> {
    let view = View::new(device, capacity_bytes)?;
    let mut found: Vec<Found> = Vec::new();
    let mut add = |one: Found| {
        if !found.contains(&one) {
            found.push(one);
        }
    };
    rows(&view).into_iter().for_each(&mut add);
    checked::CHECKS.iter().flat_map(|check| check(&view)).for_each(&mut add);
    copies::ext(&view).into_iter().chain(copies::xfs(&view)).for_each(&mut add);
    let has_primary = |format: Format| found.iter().any(|one| !one.is_copy && one.format == format);
    let stands = |one: &&Found| !one.is_copy || !has_primary(one.format);
    Ok(found.iter().filter(stands).copied().collect())
}

fn rows(view: &View<'_>) -> Vec<Found> {
    let places = ROWS.iter().flat_map(|row| row.at.iter().map(move |&at| (row, at)));
    places
        .filter_map(|(row, at)| {
            let at_bytes = match at {
                At::Start(bytes) => Some(bytes),
                At::End(bytes) => view.before_end(bytes, 1),
                At::RoundedEnd(bytes, unit) => view.before_end(bytes, unit),
            }?;
            let length_bytes = row.magic.len() as u64;
            let found = Found { format: row.format, is_copy: row.is_copy, at_bytes, length_bytes };
            view.has(at_bytes, row.magic).then_some(found)
        })
        .collect()
}

#[cfg(test)]
mod tests;
