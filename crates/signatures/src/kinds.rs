//! The formats that can be recognized, and the facts about a signature that was found.

use std::fmt;

/// Maximum number of copies reported at once; the others are found after these are cleared.
pub(super) const MOST_COPIES: usize = 16;

/// A file system, volume manager or partition table that can be recognized by its signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    pub(super) name: &'static str,
    /// Names of the format in libblkid.
    pub(super) blkid: &'static [&'static str],
}

impl Format {
    /// Returns the name with its article, such as `an XFS file system`.
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
        /// The format to which it belongs.
        of: Format,
        /// Whether the signature is a backup copy of a primary that no longer exists.
        is_copy: bool,
        /// Offset in bytes.
        at_bytes: u64,
        /// Number of bytes to overwrite to clear the signature.
        length_bytes: u64,
        /// The target as specified by the user.
        target: String,
    },
    /// Several backup copies of one format whose primary no longer exists.
    Copies {
        /// The format to which they belong.
        of: Format,
        /// Offsets of the copies in bytes, in the order in which to clear them.
        at_bytes: Vec<u64>,
        /// Number of bytes to overwrite at each offset to clear it.
        length_bytes: u64,
        /// The target as specified by the user.
        target: String,
        /// Whether the target is a block device, which may be discarded as a whole.
        is_device: bool,
    },
    /// Recognized only by libblkid.
    SecondOpinion {
        /// The types reported by libblkid; empty if it reports several that exclude each other.
        types: Vec<String>,
        /// The target as specified by the user.
        target: String,
    },
}

impl Signature {
    /// Returns whether the signature belongs to a member of an md array.
    #[must_use]
    pub fn is_linux_raid(&self) -> bool {
        const NAME: &str = "linux_raid_member";
        match self {
            Self::Known { of, .. } | Self::Copies { of, .. } => of.blkid.contains(&NAME),
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
                "it carries a backup copy of the signature of {} at byte {at_bytes}, whose primary copy no \
                 longer exists, so its data may be recoverable; if it is not needed, clear the copy with dd \
                 if=/dev/zero of={} bs=1 seek={at_bytes} count={length_bytes} conv=notrunc",
                of.name,
                quoted(target)
            ),
            Self::Copies { of, at_bytes, length_bytes, target, is_device } => {
                copies(f, of, (at_bytes, *length_bytes), target, *is_device)
            }
            Self::SecondOpinion { types, target } => {
                let what = if types.is_empty() {
                    "several conflicting signatures".to_owned()
                } else {
                    types.join(" and ")
                };
                write!(
                    f,
                    "blkid recognizes {what} on it, so it probably contains data; check with wipefs {0} and, \
                     if it does not, remove the signature with wipefs -a {0}",
                    quoted(target)
                )
            }
        }
    }
}

/// Formats several copies of one format. The command contains no semicolon, because refusals are separated by
/// semicolons.
fn copies(
    f: &mut fmt::Formatter<'_>,
    of: &Format,
    (at_bytes, length_bytes): (&[u64], u64),
    target: &str,
    is_device: bool,
) -> fmt::Result {
    /// Number of offsets named in the sentence; the command contains all of them.
    const NAMED: usize = 3;
    let texts: Vec<String> = at_bytes.iter().map(u64::to_string).collect();
    let or_more = if texts.len() >= MOST_COPIES { " or more" } else { "" };
    let places = match texts.as_slice() {
        [named @ .., last] if named.len() < NAMED => format!("{} and {last}", named.join(", ")),
        all => format!("{} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
    };
    let quoted = quoted(target);
    // xargs replaces this placeholder wherever it occurs, so it must not occur in the path.
    let mut offset = "{}".to_owned();
    while quoted.contains(&offset) {
        offset.push('@');
    }
    // When a run on a file is resumed, the file is also searched for signatures, but a file cannot be
    // discarded.
    let discard = if is_device {
        format!(", or discard the whole device with blkdiscard -f {quoted}, if that makes it read as zeros")
    } else {
        String::new()
    };
    write!(
        f,
        "it carries {}{or_more} backup copies of the signature of {}, at bytes {places}, whose primary copy no \
         longer exists, so its data may be recoverable; if it is not needed, clear the copies with printf \
         '%s\\n' {} | \
         xargs -I'{offset}' dd if=/dev/zero of={quoted} bs=1 seek='{offset}' count={length_bytes} conv=notrunc{discard}",
        texts.len(),
        of.name,
        texts.join(" ")
    )
}

/// Quotes the path as a single shell word.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// A signature found by a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub(super) format: Format,
    pub(super) is_copy: bool,
    pub(super) at_bytes: u64,
    pub(super) length_bytes: u64,
}

impl Found {
    pub(super) const fn primary(format: Format, at_bytes: u64, length_bytes: u64) -> Self {
        Self { format, is_copy: false, at_bytes, length_bytes }
    }

    /// Returns the offset and length of the signature in bytes.
    pub const fn place(&self) -> (u64, u64) {
        (self.at_bytes, self.length_bytes)
    }

    pub(super) const fn copy(format: Format, at_bytes: u64, length_bytes: u64) -> Self {
        Self { format, is_copy: true, at_bytes, length_bytes }
    }
}
