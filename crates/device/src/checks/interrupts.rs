//! Interrupts and NUMA: whether all completions are handled by one CPU, or by CPUs on a remote NUMA node.

use engine::parse_cpu_list;

use super::check::{Check, Finding, Scene, entries, read};

pub(super) const CHECK: Check = Check { name: "interrupts and NUMA", look };

fn look(scene: &Scene<'_>) -> Finding {
    let Some(device) = &scene.device else { return Finding::not_here("the target is a file") };
    let Some(function) = scene.nearest_with("msi_irqs") else {
        return Finding::not_here(format!("{} raises no interrupts of its own", device.kname));
    };
    let of_irq = |number: &str| {
        let file = |name: &str| scene.proc(&format!("irq/{number}/{name}")).filter(|text| !text.is_empty());
        parse_cpu_list(&file("effective_affinity_list").or_else(|| file("smp_affinity_list"))?).ok()
    };
    let irqs = entries(&function.join("msi_irqs"), "")
        .iter()
        .filter_map(|path| of_irq(&path.file_name()?.to_string_lossy()))
        .collect::<Vec<_>>();
    let near = device.numa_node().and_then(|node| {
        let text = read(scene.roots.sys.join(format!("devices/system/node/node{node}/cpulist")))?;
        Some((node, parse_cpu_list(&text).ok()?))
    });
    judge(&irqs, near.as_ref(), &scene.online())
}

/// Checks which CPUs handle each interrupt, given the CPUs of the drive's NUMA node and the online CPUs.
fn judge(irqs: &[Vec<u32>], near: Option<&(u32, Vec<u32>)>, online: &[u32]) -> Finding {
    if irqs.is_empty() {
        return Finding::not_here("the kernel does not report which CPUs handle the drive's interrupts");
    }
    let mut reached: Vec<u32> = irqs.iter().flatten().copied().collect();
    reached.sort_unstable();
    reached.dedup();
    if irqs.len() > 2 && reached.len() == 1 && online.len() > 1 {
        return Finding::warn(
            format!("all {} interrupts of the drive are handled by CPU {}", irqs.len(), reached[0]),
            "start irqbalance, or spread them with /proc/irq/NUMBER/smp_affinity_list",
        );
    }
    if let Some((node, cpus)) = near
        && cpus.len() < online.len()
        && !reached.iter().any(|cpu| cpus.contains(cpu))
    {
        return Finding::warn(
            format!("no interrupt of the drive is handled by a CPU on its NUMA node {node}"),
            format!("move them to node {node} with /proc/irq/NUMBER/smp_affinity_list"),
        );
    }
    let node = near.map_or_else(String::new, |(node, _)| format!("; the drive is on NUMA node {node}"));
    Finding::ok(format!("{} interrupts on {} of {} CPUs{node}", irqs.len(), reached.len(), online.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn};

    #[test]
    fn one_busy_or_only_far_processors_are_reported() {
        let online: Vec<u32> = (0..8).collect();
        let near = (1, vec![4, 5, 6, 7]);
        let spread: Vec<Vec<u32>> = online.iter().map(|&cpu| vec![cpu]).collect();
        let cases = [
            (vec![], None, NotHere),
            (spread.clone(), Some(&near), Ok),
            (vec![vec![0], vec![0], vec![0]], None, Warn),
            (vec![vec![0], vec![1], vec![2]], Some(&near), Warn),
            (vec![vec![0], vec![0], vec![5]], Some(&near), Ok),
        ];
        for (irqs, near, verdict) in cases {
            assert_eq!(judge(&irqs, near, &online).verdict, verdict, "{irqs:?}");
        }
        assert_eq!(judge(&spread[..1], None, &[0]).found, "1 interrupts on 1 of 1 CPUs");
    }
}
