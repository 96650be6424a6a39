//! Decides which targets can be tested at the same time, and which shared resources must be noted in the results.

use std::path::PathBuf;

use device::{Attached, Link};
use record::TargetFacts;
use stdx::units::grouped;

/// Utilization of a link or of the processors above which it may limit results.
const SATURATED: f64 = 0.7;
/// Purge methods that affect only one of the controller's namespaces.
const OF_ONE_NAMESPACE: [&str; 3] = ["discard", "write-zeroes", "overwrite"];

/// Facts about a target that is tested at the same time as others.
#[derive(Debug, Clone)]
pub struct Target {
    /// The target.
    pub facts: TargetFacts,
    /// Position of the target in the topology.
    pub attached: Attached,
    /// Resolved path; `None` for a simulated drive.
    pub file: Option<PathBuf>,
    /// Expected maximum throughput; 0 for a simulated drive, because it does not use the host's links.
    pub bytes_per_second: f64,
    /// Expected maximum IOPS.
    pub iops: f64,
}

/// Returns the first reason why these targets cannot be tested at the same time.
#[must_use]
pub fn refusal(targets: &[Target], purge: Option<&str>) -> Option<String> {
    let pairs = targets.iter().enumerate().flat_map(|(i, a)| targets[i + 1..].iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a.file.is_some() && b.file.is_some()).find_map(|(a, b)| {
        let (one, other) = (&a.facts.path, &b.facts.path);
        if a.file == b.file || same_serial(a, b) {
            return Some(format!("{one} and {other} are the same drive; specify each drive once"));
        }
        if a.attached.disk.is_some() && a.attached.disk == b.attached.disk {
            return Some(format!(
                "{one} and {other} are parts of the same disk; test them one after another"
            ));
        }
        let controller =
            a.attached.controller.as_ref().filter(|_| a.attached.controller == b.attached.controller)?;
        let alone = purge.is_some_and(|name| OF_ONE_NAMESPACE.contains(&name));
        (!alone).then(|| {
            format!(
                "{one} and {other} are namespaces of {controller}, and a format or sanitize of one may erase \
                 the other; choose --purge-method discard, or test them one after another"
            )
        })
    })
}

/// Namespaces report the serial number of their controller, so equal serial numbers alone prove nothing.
fn same_serial(a: &Target, b: &Target) -> bool {
    a.facts.serial.is_some()
        && (&a.facts.serial, &a.facts.model, &a.facts.identity)
            == (&b.facts.serial, &b.facts.model, &b.facts.identity)
}

/// Returns for each target which of its shared resources the targets together may saturate.
#[must_use]
pub fn shared(targets: &[Target], cpu_ns_per_io: f64, processors: usize) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new(); targets.len()];
    for link in links(targets) {
        let users: Vec<usize> = (0..targets.len()).filter(|&i| has(&targets[i], link)).collect();
        let needed: f64 = users.iter().map(|&i| targets[i].bytes_per_second).sum();
        let possible = link.bytes_per_second;
        if users.len() < 2 || possible.is_some_and(|possible| needed <= SATURATED * possible) {
            continue;
        }
        let megabytes = |rate: f64| format!("{} MB/s", grouped(rate / 1e6, 0));
        let carries =
            possible.map_or_else(|| "of unknown speed".to_owned(), |p| format!("of {}", megabytes(p)));
        let text = format!(
            "{} {carries} shared by {} drives under test at the same time, expected to move {}",
            link.name,
            users.len(),
            megabytes(needed)
        );
        users.iter().for_each(|&i| all[i].push(text.clone()));
    }
    let needed: f64 = targets.iter().map(|target| target.iops).sum::<f64>() * cpu_ns_per_io / 1e9;
    let real = targets.iter().filter(|target| target.iops > 0.0).count();
    if real > 1 && needed > SATURATED * processors as f64 {
        let text = format!(
            "{real} drives under test at the same time, expected to need {needed:.1} of {processors} CPUs"
        );
        let concerned = targets.iter().zip(&mut all).filter(|(target, _)| target.iops > 0.0);
        concerned.for_each(|(_, flags)| flags.push(text.clone()));
    }
    all
}

/// Returns each link once, in target order.
fn links(targets: &[Target]) -> Vec<&Link> {
    let mut all: Vec<&Link> = Vec::new();
    for link in targets.iter().flat_map(|target| &target.attached.links) {
        if all.iter().all(|known| known.name != link.name) {
            all.push(link);
        }
    }
    all
}

fn has(target: &Target, link: &Link) -> bool {
    target.attached.links.iter().any(|known| known.name == link.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::TargetKind;

    fn target(name: &str, links: &[(&str, Option<f64>)], gigabytes_per_second: f64) -> Target {
        let link = |(name, bytes_per_second): &(&str, Option<f64>)| Link {
            name: (*name).into(),
            bytes_per_second: *bytes_per_second,
        };
        Target {
            facts: TargetFacts {
                kind: TargetKind::Block,
                path: format!("/dev/{name}"),
                identity: format!("serial of {name}"),
                attachment: None,
                vendor: None,
                model: None,
                serial: Some(format!("serial of {name}")),
                firmware: None,
                interface: None,
                nand: None,
                capacity_bytes: 1 << 30,
                logical_block_bytes: 512,
                physical_block_bytes: 512,
                rotational: Some(false),
                simulated: None,
                array: None,
            },
            attached: Attached {
                disk: Some(name.into()),
                controller: None,
                links: links.iter().map(link).collect(),
                enclosure: None,
                slot: None,
                numa_node: None,
            },
            file: Some(format!("/dev/{name}").into()),
            bytes_per_second: gigabytes_per_second * 1e9,
            iops: 100_000.0,
        }
    }

    #[test]
    fn the_same_drive_twice_is_refused() {
        let (a, b) = (target("sda", &[], 0.5), target("sdb", &[], 0.5));
        assert_eq!(refusal(&[a.clone(), b.clone()], None), None);
        assert!(refusal(&[a.clone(), b.clone(), a.clone()], None).unwrap().contains("the same drive"));
        // Two paths to the same drive.
        let facts = TargetFacts { path: "/dev/sdb".into(), ..a.facts.clone() };
        assert!(refusal(&[a.clone(), Target { facts, ..b }], None).unwrap().contains("the same drive"));
        let mut part = target("sda1", &[], 0.5);
        part.attached.disk = Some("sda".into());
        let text = refusal(&[a, part], None).unwrap();
        assert!(text.contains("/dev/sda and /dev/sda1") && text.contains("same disk"), "{text}");
    }

    #[test]
    fn namespaces_of_a_controller_need_a_purge_of_one() {
        let namespace = |name: &str| {
            let mut of = target(name, &[], 1.0);
            of.attached.controller = Some("nvme0".into());
            of
        };
        let both = [namespace("nvme0n1"), namespace("nvme0n2")];
        assert!(refusal(&both, None).unwrap().contains("namespaces of nvme0"));
        assert!(refusal(&both, Some("nvme-format-user")).is_some());
        assert_eq!(refusal(&both, Some("discard")), None);
    }

    #[test]
    fn a_link_that_is_too_slow_for_both_is_reported_for_both() {
        let bridge = ("PCIe 0000:00:1c.0", Some(4e9));
        let slow = [target("a", &[bridge], 2.0), target("b", &[bridge], 2.0), target("c", &[], 2.0)];
        let text = shared(&slow, 0.0, 8);
        assert_eq!(
            text[0],
            [
                "PCIe 0000:00:1c.0 of 4,000 MB/s shared by 2 drives under test at the same time, expected to move 4,000 MB/s"
            ]
        );
        assert_eq!((&text[1], text[2].len()), (&text[0], 0));
        let fast = [target("a", &[bridge], 1.0), target("b", &[bridge], 1.0)];
        assert!(shared(&fast, 0.0, 8).iter().all(Vec::is_empty), "half of what it carries");
        let unknown = ("SATA ata3", None);
        let text = shared(&[target("a", &[unknown], 0.1), target("b", &[unknown], 0.1)], 0.0, 8);
        assert!(text[0][0].contains("of unknown speed"), "{text:?}");
    }

    #[test]
    fn insufficient_processors_are_reported() {
        let both = [target("a", &[], 1.0), target("b", &[], 1.0)];
        // At 10 us each, 200,000 IOPS need two processors.
        let text = shared(&both, 10_000.0, 2);
        assert!(text[1][0].contains("expected to need 2.0 of 2 CPUs"), "{text:?}");
        assert!(shared(&both, 10_000.0, 4).iter().all(Vec::is_empty));
    }
}
