//! Signatures of file systems, volume managers and partition tables.
//!
//! The tables err towards refusing: unknown content is erased only after confirmation, known content never. A
//! backup copy counts like a primary, because the data can be restored from it. Formats that only libblkid
//! recognizes count as well.

mod checked;
mod copies;
mod formats;
pub(crate) mod kinds;
mod second_opinion;
mod view;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::refusal::Refusal;
use formats::{At, ROWS};
pub(crate) use kinds::Found;
pub use kinds::{Format, Signature};
use second_opinion::Opinion;
use view::View;

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

/// Returns the refusal that the second opinion adds to the signatures found by the tables.
fn beyond(found: &[Found], opinion: Opinion, target: &str) -> Option<Refusal> {
    let second =
        |types| Some(Refusal::Signature(Signature::SecondOpinion { types, target: target.to_owned() }));
    match opinion {
        Opinion::Nothing | Opinion::None => None,
        // The tables have already found the signatures that conflict.
        Opinion::Ambivalent if !found.is_empty() => None,
        Opinion::Ambivalent => second(Vec::new()),
        Opinion::Content(mut types) => {
            types.retain(|name| !found.iter().any(|one| one.format.blkid.contains(&name.as_str())));
            if types.is_empty() { None } else { second(types) }
        }
        Opinion::Undecided(what) => Some(Refusal::Unknown { what }),
    }
}

/// Returns every signature on the device that the tables recognize. Copies are omitted while their primary
/// exists, because that must be cleared first anyway.
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
