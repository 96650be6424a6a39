//! Adds files to the facts, together with the files that store their content.

use std::path::Path;

use super::descriptor;
use super::facts::{By, Facts, Kind, Span};
use super::overlay::{self, Overlays, Stored};
use super::thing::Thing;
use crate::refusal::Refusal;

/// Maximum number of stacked overlays that are followed: the kernel's own limit (`FILESYSTEM_MAX_STACK_DEPTH`).
const DEEPEST: u32 = 2;

/// Returns the node of the object at `path` in a visible mount namespace.
pub(super) fn node_at(facts: &mut Facts, overlays: &Overlays<'_>, thing: Thing, path: &Path) -> usize {
    let node = facts.node(thing, path.display().to_string());
    add_stored(facts, overlays, node, overlays.stored(thing, path));
    node
}

/// Adds the location where the content of a file is stored.
pub(super) fn add_stored(facts: &mut Facts, overlays: &Overlays<'_>, node: usize, stored: Stored) {
    let (mut node, mut stored) = (node, stored);
    for depth in 0..=DEEPEST {
        let is_upper = matches!(stored, Stored::Upper { .. });
        let (path, thing, file) = match stored {
            Stored::Here => return,
            Stored::Upper { path, thing, file } | Stored::Lower { path, thing, file } if depth < DEEPEST => {
                (path, thing, file)
            }
            Stored::Upper { .. } | Stored::Lower { .. } | Stored::Unknown => break,
        };
        let lower = facts.node(thing, path.display().to_string());
        facts.layer(node, lower, Span::ALL, Kind::Overlay);
        // The mount belongs to a process that is not visible here.
        if is_upper && overlay::reopened(&file).is_some_and(descriptor::locked_by_others) {
            facts.used(thing, "", By::Lock);
        }
        (node, stored) = (lower, overlays.stored_below(&path, &file));
    }
    let what = format!(
        "{} is on overlayfs, whose layers are not visible from here; use a file on a volume or bind mount",
        facts.name(node)
    );
    facts.nodes[node].problem = Some(Refusal::UnknownUser { what });
}
