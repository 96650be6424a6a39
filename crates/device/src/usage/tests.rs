//! Hand-written and random stacks: each user of the target's bytes must be found, starting from the target.

use proptest::prelude::*;

use super::facts::{By, Span, Unseen, refusal};
use super::*;
use crate::refusal::Access;
use sysfs::DeviceNumber;

fn device(minor: u32) -> Thing {
    Thing::Device(DeviceNumber { major: 7, minor })
}

fn file(inode: u64) -> Thing {
    Thing::File { volume: DeviceNumber { major: 8, minor: 1 }, inode }
}

/// Returns a host with the devices `7:0` to `7:9` and the files 0 to 9.
fn host() -> Facts {
    let mut facts = Facts::default();
    for minor in 0..10 {
        facts.node(device(minor), format!("loop{minor}"));
        facts.node(file(u64::from(minor)), format!("/f{minor}"));
    }
    facts
}

fn put(facts: &mut Facts, upper: Thing, lower: Thing, span: Span, kind: Kind) {
    let (upper, lower) = (facts.node(upper, "upper"), facts.node(lower, "lower"));
    facts.layer(upper, lower, span, kind);
}

fn mounted() -> By {
    By::Mount { at: "/mnt".into(), namespace_of: None }
}

fn is_mounted(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Mounted { .. })
}

#[test]
fn an_unused_object_is_not_reported() {
    let facts = host();
    assert_eq!(users(&facts, device(0)), []);
    assert_eq!(users(&facts, file(0)), []);
    assert_eq!(users(&facts, file(99)), [], "a file that no fact mentions");
    assert!(
        matches!(users(&facts, device(99))[..], [Refusal::Unknown { .. }]),
        "a device that is not listed"
    );
}

#[test]
fn a_second_loop_device_over_the_same_file_counts() {
    let mut facts = host();
    put(&mut facts, device(0), file(0), Span::ALL, Kind::Loop);
    assert_eq!(users(&facts, device(0)), []);
    put(&mut facts, device(1), file(0), Span::ALL, Kind::Loop);
    facts.used(device(1), "", mounted());
    let found = users(&facts, device(0));
    assert!(found.contains(&Refusal::Shared { below: "/f0".into(), by: "loop1".into() }), "{found:?}");
    assert!(found.iter().any(is_mounted), "{found:?}");
}

#[test]
fn parts_that_do_not_overlap_do_not_count() {
    let mut facts = host();
    put(&mut facts, device(0), file(0), Span::of(0, 100), Kind::Loop);
    put(&mut facts, device(1), file(0), Span::of(100, 100), Kind::Loop);
    facts.used(device(1), "", mounted());
    assert_eq!(users(&facts, device(0)), []);
    assert!(!users(&facts, file(0)).is_empty());
    // A loop device over the second half of the first loop device, which covers only part of the file.
    put(&mut facts, device(2), device(0), Span::of(50, 0), Kind::Loop);
    put(&mut facts, device(3), file(0), Span::of(10, 20), Kind::Loop);
    let shared = |found: &[Refusal], by: &str| {
        found.iter().any(|refusal| matches!(refusal, Refusal::Shared { by: other, .. } if other == by))
    };
    assert!(!shared(&users(&facts, device(2)), "loop3"));
    assert!(shared(&users(&facts, device(0)), "loop3"));
}

#[test]
fn mounts_of_any_layer_above_count() {
    let mut facts = host();
    put(&mut facts, device(1), device(0), Span::of(16, 0), Kind::Loop);
    put(&mut facts, device(2), device(1), Span::ALL, Kind::Stacked);
    facts.used(device(2), "", mounted());
    let found = users(&facts, device(0));
    assert!(found.contains(&Refusal::LoopBacking { by: "loop1".into() }), "{found:?}");
    assert!(found.iter().any(is_mounted), "{found:?}");
    let held = users(&facts, device(1));
    assert!(held.contains(&Refusal::Held { device: "loop1".into(), by: "loop2".into() }), "{held:?}");
}

#[test]
fn processes_locks_and_exports_below_count() {
    let process = By::Process { pid: 9, name: "qemu".into(), access: Access::Writing };
    for by in [process, By::Lock, By::Swap, mounted(), By::Export { name: "target/core".into() }] {
        let mut facts = host();
        put(&mut facts, device(0), file(0), Span::ALL, Kind::Loop);
        facts.used(file(0), "", by.clone());
        assert_eq!(users(&facts, device(0)), [refusal("/f0".into(), &by)]);
    }
}

#[test]
fn partitions_count_for_their_disk_and_not_for_each_other() {
    let mut facts = host();
    put(&mut facts, device(1), device(0), Span::of(512, 512), Kind::Partition);
    put(&mut facts, device(2), device(0), Span::of(1024, 512), Kind::Partition);
    facts.used(device(1), "", mounted());
    let disk = users(&facts, device(0));
    assert!(
        disk.iter().any(is_mounted) && disk.contains(&Refusal::Partitions { names: "loop1, loop2".into() })
    );
    assert_eq!(users(&facts, device(2)), [Refusal::IsPartition { of: "loop0".into() }]);
    put(&mut facts, device(3), device(2), Span::ALL, Kind::Loop);
    assert_eq!(
        users(&facts, device(3)),
        [],
        "a loop device over a partition reaches nothing of the other one"
    );
    put(&mut facts, device(4), device(1), Span::ALL, Kind::Loop);
    assert!(users(&facts, device(4)).iter().any(is_mounted));
}

#[test]
fn all_lower_devices_must_be_writable() {
    let read_only = |what: &str| Refusal::ReadOnlyBelow { what: what.into() };
    for kind in [Kind::Loop, Kind::Stacked] {
        let mut facts = host();
        put(&mut facts, device(1), device(0), Span::ALL, kind);
        put(&mut facts, device(2), device(1), Span::ALL, kind);
        let place = facts.place_of(device(0)).expect("a node");
        facts.nodes[place].is_read_only = true;
        assert_eq!(users(&facts, device(2)), [read_only("loop0")]);
        assert!(users(&facts, device(1)).contains(&read_only("loop0")));
        assert!(
            !users(&facts, device(0)).contains(&read_only("loop0")),
            "its own is asked of the device itself"
        );
        assert_eq!(users(&facts, device(3)), []);
    }
}

#[test]
fn parts_of_a_device_that_has_the_same_bytes_twice_count_for_each_other() {
    // An array of two loop devices over one file, and two loop devices over its halves.
    let mut facts = host();
    for (loop_device, start) in [(0, 0), (1, 50)] {
        put(&mut facts, device(2), device(loop_device), Span::ALL, Kind::Stacked);
        put(&mut facts, device(loop_device), file(0), Span::of(start, 100), Kind::Loop);
    }
    put(&mut facts, device(3), device(2), Span::of(0, 100), Kind::Loop);
    assert_eq!(users(&facts, device(3)), [], "nothing else is built on it");
    put(&mut facts, device(4), device(2), Span::of(100, 100), Kind::Loop);
    let shared = Refusal::Shared { below: "loop2".into(), by: "loop4".into() };
    assert!(users(&facts, device(3)).contains(&shared));

    // The same, over non-overlapping parts of the file.
    let mut facts = host();
    for (loop_device, start) in [(0, 0), (1, 100)] {
        put(&mut facts, device(2), device(loop_device), Span::ALL, Kind::Stacked);
        put(&mut facts, device(loop_device), file(0), Span::of(start, 100), Kind::Loop);
    }
    put(&mut facts, device(3), device(2), Span::of(0, 100), Kind::Loop);
    put(&mut facts, device(4), device(2), Span::of(100, 100), Kind::Loop);
    assert_eq!(users(&facts, device(3)), []);
}

#[test]
fn a_device_reached_around_another_counts() {
    // A mapping of a disk (0) and of a loop device (1) over that disk, a loop device (3) over the mapping's beginning,
    // and another (2) over a later part of the first loop device.
    let mut facts = host();
    put(&mut facts, device(1), device(0), Span::ALL, Kind::Loop);
    for lower in [0, 1] {
        put(&mut facts, device(4), device(lower), Span::ALL, Kind::Stacked);
    }
    put(&mut facts, device(3), device(4), Span::of(0, 1), Kind::Loop);
    put(&mut facts, device(2), device(1), Span::of(2, 0), Kind::Loop);
    facts.used(device(2), "", mounted());
    assert!(users(&facts, device(3)).iter().any(is_mounted));

    // A case that the property test below found: a device over both the disk and the loop device.
    let mut facts = host();
    put(&mut facts, device(1), device(0), Span::ALL, Kind::Loop);
    put(&mut facts, device(4), device(1), Span::ALL, Kind::Loop);
    put(&mut facts, device(4), device(0), Span::ALL, Kind::Stacked);
    put(&mut facts, device(3), device(4), Span::of(0, 1), Kind::Loop);
    put(&mut facts, device(2), device(1), Span::of(2, 0), Kind::Loop);
    facts.used(device(2), "", mounted());
    assert!(users(&facts, device(3)).iter().any(is_mounted));
}

#[test]
fn uninspected_objects_count() {
    let mut facts = host();
    put(&mut facts, device(0), device(1), Span::ALL, Kind::Loop);
    let place = facts.place_of(device(1)).expect("a node");
    facts.nodes[place].problem = Some(Refusal::Unknown { what: "holders: EACCES".into() });
    assert_eq!(users(&facts, device(0)), [Refusal::Unknown { what: "holders: EACCES".into() }]);
}

#[test]
fn an_unseen_user_may_use_any_device_or_any_file() {
    let unseen = |is_of_file| Unseen { what: "which file?".into(), is_of_file };
    let refusals = [Refusal::UnknownUser { what: "which file?".into() }];
    let mut facts = host();
    put(&mut facts, device(1), file(0), Span::ALL, Kind::Loop);
    facts.unseen.push(unseen(true));
    assert_eq!(users(&facts, device(0)), []);
    assert_eq!(users(&facts, device(1)), refusals);
    assert_eq!(users(&facts, file(1)), [], "the kernel knows better");
    facts.unseen = vec![unseen(false)];
    assert_eq!(users(&facts, device(0)), refusals);
}

#[test]
fn both_names_of_a_file_on_an_overlay_count() {
    let mut facts = host();
    put(&mut facts, file(1), file(0), Span::ALL, Kind::Overlay);
    put(&mut facts, device(0), file(0), Span::of(50, 50), Kind::Loop);
    put(&mut facts, device(1), file(1), Span::of(0, 60), Kind::Loop);
    put(&mut facts, device(2), file(1), Span::of(0, 50), Kind::Loop);
    facts.used(device(1), "", mounted());
    assert!(users(&facts, device(0)).iter().any(is_mounted));
    assert!(users(&facts, file(0)).iter().any(is_mounted));
    assert!(users(&facts, file(0)).contains(&Refusal::LoopBacking { by: "loop2".into() }));
    facts.uses.clear();
    facts.used(file(1), "", mounted());
    assert!(users(&facts, device(0)).iter().any(is_mounted));
}

/// A layer of a random stack: `upper` always has the higher number, because no node is built on itself.
fn layers() -> impl Strategy<Value = Vec<(usize, usize, u64, u64, bool)>> {
    let layer = (0usize..12, 0usize..12, 0u64..8, 0u64..8, any::<bool>());
    prop::collection::vec(layer, 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Compares the search with a simpler method that marks individual bytes: a user must be found if it
    /// reaches a byte of a node that the target also reaches.
    #[test]
    fn a_user_of_the_same_bytes_is_never_missed(drawn in layers(), target in 0usize..12, used in 0usize..12) {
        let mut facts = Facts::default();
        let things: Vec<Thing> = (0..12).map(device).collect();
        for thing in &things {
            facts.node(*thing, thing.to_string());
        }
        let mut built: Vec<(usize, usize, Span, Kind)> = Vec::new();
        for (a, b, start, length, stacked) in drawn {
            let (lower, upper) = (a.min(b), a.max(b));
            if lower == upper || built.iter().any(|layer| (layer.0, layer.1) == (upper, lower)) {
                continue;
            }
            let kind = if stacked { Kind::Stacked } else { Kind::Loop };
            let span = if stacked { Span::ALL } else { Span::of(start, length) };
            built.push((upper, lower, span, kind));
            put(&mut facts, things[upper], things[lower], span, kind);
        }
        facts.used(things[used], "", mounted());
        // For each upper node, the bytes in each lower node that `of` reaches through the upper node; a
        // stacked layer reaches all bytes.
        const ITSELF: usize = 12;
        let reached = |of: usize| {
            let mut marks = vec![[[false; 64]; 13]; 12];
            marks[of][ITSELF] = [true; 64];
            for node in (0..12).rev() {
                for &(upper, lower, span, kind) in built.iter().filter(|layer| layer.0 == node) {
                    for byte in 0..64usize {
                        if !marks[upper].iter().any(|way| way[byte]) { continue; }
                        let below = byte as u64 + span.start;
                        match kind {
                            Kind::Stacked => marks[lower][upper] = [true; 64],
                            _ if below < span.end && below < 64 => marks[lower][upper][below as usize] = true,
                            _ => {}
                        }
                    }
                }
            }
            marks
        };
        // Bytes that both nodes reach through the same upper node are compared at that node instead.
        let (own, other) = (reached(target), reached(used));
        let meet = |node: usize, byte: usize| {
            let ways = (0..13).filter(|&via| own[node][via][byte]);
            ways.into_iter().any(|one| (0..13).any(|way| other[node][way][byte] && (one != way || one == ITSELF)))
        };
        let touch = (0..12).any(|node| (0..64).any(|byte| meet(node, byte)));
        let found = users(&facts, things[target]);
        if touch {
            prop_assert!(!found.is_empty(), "{built:?} {target} {used}");
        }
        let is_alone = built.is_empty() && target != used;
        prop_assert!(!is_alone || found.is_empty(), "{found:?}");
    }
}
