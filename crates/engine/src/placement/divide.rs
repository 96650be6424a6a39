//! Divides cores among concurrent loads.

use std::collections::BTreeMap;

use super::processor::Processor;

/// Assigns cores to targets in turn, near the target if possible; all CPUs of a core go to the same target.
/// If `leave_one` is set and there are more cores than targets, the first core is not used, because much of
/// the kernel's own work runs there. All shares are empty if there are fewer cores than targets.
pub(super) fn divided(processors: &[Processor], nodes: &[Option<u32>], leave_one: bool) -> Vec<Vec<u32>> {
    let mut shares = vec![Vec::new(); nodes.len()];
    let mut cores: BTreeMap<u32, (u32, Vec<u32>)> = BTreeMap::new();
    for processor in processors {
        cores.entry(processor.core).or_insert((processor.node, Vec::new())).1.push(processor.number);
    }
    let mut free: Vec<(u32, Vec<u32>)> = cores.into_values().collect();
    if nodes.is_empty() || free.len() < nodes.len() {
        return shares;
    }
    if leave_one && free.len() > nodes.len() {
        free.remove(0);
    }
    // All targets get the same number of cores, so that their results are comparable.
    for _ in 0..free.len() / nodes.len() {
        for (share, near) in shares.iter_mut().zip(nodes) {
            let place = free.iter().position(|(node, _)| Some(*node) == *near).unwrap_or(0);
            share.extend(free.remove(place).1);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the CPUs of a host with this many cores of two CPUs each; the second half of the cores is on
    /// node 1.
    fn host(cores: u32) -> Vec<Processor> {
        let of =
            |number| Processor { number, core: number % cores, node: u32::from(number % cores >= cores / 2) };
        (0..2 * cores).map(of).collect()
    }

    #[test]
    fn cores_are_assigned_near_the_targets() {
        let shares = divided(&host(4), &[Some(1), Some(0)], true);
        assert_eq!(shares, [vec![2, 6], vec![1, 5]]);
        assert_eq!(divided(&host(4), &[None, None], false), [vec![0, 4, 2, 6], vec![1, 5, 3, 7]]);
        assert_eq!(divided(&host(2), &[None, None], true), [vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn too_few_cores_are_not_divided() {
        assert_eq!(divided(&host(2), &[None, None, None], true), [vec![], vec![], vec![0u32; 0]]);
    }

    proptest! {
        #[test]
        fn no_cpu_is_assigned_twice_and_shares_are_equal(
            cores in 1u32..20,
            nodes in prop::collection::vec(prop::option::of(0u32..2), 1..8),
            leave_one: bool,
        ) {
            let shares = divided(&host(cores), &nodes, leave_one);
            let mut all: Vec<u32> = shares.iter().flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len(), shares.iter().map(Vec::len).sum::<usize>());
            prop_assert!(shares.iter().all(|share| share.len() == shares[0].len()));
            prop_assert_eq!(shares[0].is_empty(), (cores as usize) < nodes.len());
        }
    }
}
