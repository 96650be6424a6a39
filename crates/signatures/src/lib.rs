//! Signatures of file systems, volume managers and partition tables.
//!
//! The tables err on the side of refusing: unknown content is erased only after confirmation, and known content
//! is never erased. A backup copy counts as much as a primary, because the data can be restored from it.
//! Formats that only libblkid recognizes also count.
//!
//! [`find`] reads a device and runs `blkid -p` on it; [`probe`] is the part that only reads. Neither writes.
#![forbid(unsafe_code)]

mod checked;
mod copies;
mod formats;
mod kinds;
mod second_opinion;
mod view;

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt as _};

use formats::{At, ROWS};
pub use kinds::{Format, Found, Signature};
use second_opinion::Opinion;
use view::View;

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A signature.
    Signature(Signature),
    /// Why there is no second opinion.
    Undecided(String),
}

/// Returns all signatures on the target that the tables or the second opinion recognize.
///
/// # Errors
/// Returns an error if the target cannot be read.
pub fn find(device: &File, capacity_bytes: u64, target: &str) -> io::Result<Vec<Finding>> {
    let found = probe(device, capacity_bytes)?;
    let second = beyond(&found, second_opinion::ask(device), target);
    Ok(grouped(&found, target, device.metadata()?.file_type().is_block_device())
        .into_iter()
        .map(Finding::Signature)
        .chain(second)
        .collect())
}

/// Returns the signatures, with all copies of the same format and length combined.
fn grouped(found: &[Found], target: &str, is_device: bool) -> Vec<Signature> {
    let mut signatures: Vec<Signature> = Vec::new();
    for (index, &Found { format: of, is_copy, at_bytes, length_bytes }) in found.iter().enumerate() {
        let is_alike = |other: &&Found| {
            is_copy && other.is_copy && other.format == of && other.length_bytes == length_bytes
        };
        if found[..index].iter().any(|other| is_alike(&other)) {
            continue;
        }
        let target = target.to_owned();
        let alike: Vec<u64> = found.iter().filter(is_alike).map(|other| other.at_bytes).collect();
        signatures.push(if alike.len() > 1 {
            Signature::Copies { of, at_bytes: alike, length_bytes, target, is_device }
        } else {
            Signature::Known { of, is_copy, at_bytes, length_bytes, target }
        });
    }
    signatures
}

/// Returns the finding that the second opinion adds to the signatures found by the tables.
fn beyond(found: &[Found], opinion: Opinion, target: &str) -> Option<Finding> {
    let second =
        |types| Some(Finding::Signature(Signature::SecondOpinion { types, target: target.to_owned() }));
    match opinion {
        Opinion::Nothing | Opinion::None => None,
        // The signatures found by the tables already show which formats conflict.
        Opinion::Ambivalent if !found.is_empty() => None,
        Opinion::Ambivalent => second(Vec::new()),
        Opinion::Content(mut types) => {
            types.retain(|name| !found.iter().any(|one| one.format.blkid.contains(&name.as_str())));
            if types.is_empty() { None } else { second(types) }
        }
        Opinion::Undecided(what) => Some(Finding::Undecided(what)),
    }
}

/// Returns all signatures on the device that the tables recognize. Copies are omitted while their primary
/// exists, because the primary must be cleared first.
///
/// # Errors
/// Returns an error if either end of the device cannot be read.
pub fn probe(device: &impl FileExt, capacity_bytes: u64) -> io::Result<Vec<Found>> {
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
