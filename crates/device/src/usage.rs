//! Finds users of a target, under any name and at any level of its storage stack.
//!
//! Block devices are identified by their number, files by volume and inode; paths are used only in messages. [`Facts`]
//! are gathered in one pass ([`gather`]) and evaluated by a pure function ([`users`]). The evaluation walks
//! down from the target to everything that the target is built on, and from there up to everything else that
//! uses the same bytes. Some facts are available only through the open descriptor ([`descriptor`]).
//!
//! Limits: access by a server on another host or by a FUSE server is not visible. Processes that `/proc` does
//! not list are found only if they have a claim or lease that the kernel checks.

mod claims;
pub(crate) mod descriptor;
mod facts;
mod gather;
mod kept;
pub(crate) mod loops;
mod mountinfo;
mod mounts;
pub(crate) mod overlay;
mod processes;
mod procfs;
mod rings;
mod stored;
mod thing;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

pub(crate) use facts::Facts;
use facts::{Kind, Layer, Way};
pub(crate) use gather::gather;
pub(crate) use thing::{Thing, thing_at, thing_of_file};

use crate::refusal::Refusal;
use sysfs::Roots;

/// Number of attempts, and the pause between them, if only transient refusals are found.
const LOOKS: u32 = 12;
const PAUSE: Duration = Duration::from_millis(50);

/// Repeats the inspection until no transient refusals are left: udev, for example, briefly locks new devices.
pub(crate) fn settled(mut look: impl FnMut() -> Vec<Refusal>) -> Vec<Refusal> {
    let mut found = look();
    for _ in 1..LOOKS {
        let mut protecting = found.iter().filter(|refusal| refusal.protects_data()).peekable();
        if protecting.peek().is_none() || !protecting.all(Refusal::is_transient) {
            break;
        }
        std::thread::sleep(PAUSE);
        found = look();
    }
    found
}

/// Returns all users of the bytes of `target`, and any write-protected device below it. Unless a user is found,
/// also searches for exclusive claims below the target.
pub(crate) fn users_and_claims(roots: &Roots, facts: &Facts, target: Thing) -> Vec<Refusal> {
    let mut found = users(facts, target);
    if !found.iter().any(Refusal::protects_data) && claims::any_below(roots, facts, target) {
        found.push(Refusal::Busy);
    }
    found
}

/// Returns all users of the bytes of `target`, and any write-protected device below it. A file that the facts
/// do not contain is not in use.
pub(crate) fn users(facts: &Facts, target: Thing) -> Vec<Refusal> {
    let Some(place) = facts.place_of(target) else {
        let unknown = |number| Refusal::Unknown { what: format!("the kernel does not list device {number}") };
        return match target {
            Thing::Device(number) => vec![unknown(number)],
            Thing::File { .. } => Vec::new(),
        };
    };
    let below = facts.below(place);
    let mut found = Vec::new();
    // For a file, the kernel itself can detect the unseen users.
    if let Thing::Device(_) = target {
        found.extend(facts.unseen_users(&below));
    }
    let of = |layer: &Layer| Refusal::IsPartition { of: facts.name(layer.lower) };
    let is_own = |layer: &&Layer| layer.upper == place && layer.kind == Kind::Partition;
    found.extend(facts.layers.iter().filter(is_own).map(of));
    found.extend(upwards(facts, place, &below));
    for (&node, ways) in below.iter().filter(|(node, _)| **node != place) {
        found.extend(facts.users_of(node));
        // Which lower devices a stacked device writes to is unknown, so all of them must be writable.
        let is_read_only = facts.nodes[node].is_read_only;
        found.extend(is_read_only.then(|| Refusal::ReadOnlyBelow { what: facts.name(node) }));
        let others = facts.layers.iter().filter(|layer| layer.lower == node);
        let others = others.filter(|layer| !below.contains_key(&layer.upper));
        let mut others = others.peekable();
        let is_blurred =
            others.peek().is_some() && (facts.reaches_twice(node) || facts.is_bypassed(node, &below));
        let meets = |layer: &&Layer| is_blurred || ways.iter().any(|way| way.span.overlaps(layer.span));
        for layer in others.filter(meets) {
            found.push(Refusal::Shared { below: facts.name(node), by: facts.name(layer.upper) });
            found.extend(facts.users_of(layer.upper));
            found.extend(facts.above(layer.upper).into_iter().flat_map(|upper| facts.users_of(upper)));
        }
    }
    let mut unique: Vec<Refusal> = Vec::new();
    found.into_iter().for_each(|refusal| {
        if !unique.contains(&refusal) {
            unique.push(refusal);
        }
    });
    unique
}

/// Returns everything that is built on these regular files, under any name: loop devices, mounts, swap space, exports,
/// and users of an unknown file that may be one of them. Other paths are ignored. Returns nothing if this cannot be
/// determined: a user who may replace a file, for example inside a container, may lack the permission to query it.
///
/// All files are checked together, because the check inspects all processes on the host.
pub fn built_on_files<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Vec<(&'p Path, Refusal)> {
    let of = |path: &'p Path| thing_at(path).map(|thing| (thing, path));
    let mut files: Vec<(Thing, &Path)> = paths.into_iter().filter_map(of).collect();
    files.retain(|(thing, _)| matches!(thing, Thing::File { .. }));
    if files.is_empty() {
        return Vec::new();
    }
    let Ok(facts) = gather(&Roots::default(), &files) else { return Vec::new() };
    let mut found = Vec::new();
    for (file, path) in files {
        let known = found.len();
        found.extend(users(&facts, file).into_iter().filter(is_built_on_it).map(|user| (path, user)));
        // A mount keeps the file open even if no visible mount table lists it.
        if found.len() == known
            && let Some(what) = facts.unseen_user_of_files()
            && overlay::opened_nothing(path).is_some_and(|file| rings::is_open(&file))
        {
            found.push((path, Refusal::UnknownUser { what: what.to_owned() }));
        }
    }
    found
}

/// Returns whether a user of a file has built something on it, rather than just opened it.
pub(crate) fn is_built_on_it(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::LoopBacking { .. }
            | Refusal::Held { .. }
            | Refusal::Shared { .. }
            | Refusal::Mounted { .. }
            | Refusal::Swap { .. }
            | Refusal::Exported { .. }
    )
}

/// Returns the files that the target is built on, at any level.
pub(crate) fn files_below(facts: &Facts, target: Thing) -> Vec<Thing> {
    let below = facts.place_of(target).map(|place| facts.below(place)).unwrap_or_default();
    let things = below.into_keys().filter_map(|node| facts.nodes[node].thing);
    things.filter(|thing| matches!(thing, Thing::File { .. })).collect()
}

/// Returns the users of the target itself and of everything built on it.
fn upwards(facts: &Facts, target: usize, below: &BTreeMap<usize, Vec<Way>>) -> Vec<Refusal> {
    let mut found: Vec<Refusal> = facts.users_of(target).collect();
    let mut partitions = Vec::new();
    for layer in facts.layers.iter().filter(|layer| layer.lower == target) {
        // A corrupt /sys could list a device both above and below the target; such a device has already been
        // counted below.
        if below.contains_key(&layer.upper) {
            continue;
        }
        let (device, by) = (facts.name(target), facts.name(layer.upper));
        match layer.kind {
            Kind::Partition => {
                partitions.push(by);
                found.extend(upwards(facts, layer.upper, below));
            }
            // A file on an overlay is a node only if it is in use.
            Kind::Overlay => found.extend(upwards(facts, layer.upper, below)),
            Kind::Loop => found.push(Refusal::LoopBacking { by }),
            Kind::Stacked => found.push(Refusal::Held { device, by }),
        }
        if !matches!(layer.kind, Kind::Partition | Kind::Overlay) {
            let uppers = facts.above(layer.upper).into_iter().chain([layer.upper]);
            found.extend(uppers.flat_map(|upper| facts.users_of(upper)));
        }
    }
    if !partitions.is_empty() {
        partitions.sort();
        found.push(Refusal::Partitions { names: partitions.join(", ") });
    }
    found
}

#[cfg(test)]
mod tests;
