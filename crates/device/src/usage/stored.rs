//! Files as nodes of the facts, along with the files that store their content.

use std::path::Path;

use super::descriptor;
use super::facts::{By, Facts, Kind, Span};
use super::overlay::{self, Overlays, Stored};
use super::thing::Thing;
use crate::refusal::Refusal;

/// Returns the node of what is at `path` in a visible mount namespace.
pub(super) fn node_at(facts: &mut Facts, overlays: &Overlays<'_>, thing: Thing, path: &Path) -> usize {
    let node = facts.node(thing, path.display().to_string());
    add_stored(facts, node, overlays.stored(thing, path));
    node
}

/// Adds where the content of a file is stored.
pub(super) fn add_stored(facts: &mut Facts, node: usize, stored: Stored) {
    match stored {
        Stored::Here => {}
        Stored::Upper { path, thing, file } => {
            let lower = facts.node(thing, path.display().to_string());
            facts.layer(node, lower, Span::ALL, Kind::Overlay);
            // Of a process that is not visible here.
            if overlay::reopened(&file).is_some_and(descriptor::locked_by_others) {
                facts.used(thing, "", By::Lock);
            }
        }
        Stored::Lower { path, thing } => {
            let lower = facts.node(thing, path.display().to_string());
            facts.layer(node, lower, Span::ALL, Kind::Overlay);
        }
        Stored::Unknown => {
            let what = format!(
                "{} is on overlayfs, whose layers are not visible from here; use a file on a volume or bind mount",
                facts.name(node)
            );
            facts.nodes[node].problem = Some(Refusal::UnknownUser { what });
        }
    }
}
