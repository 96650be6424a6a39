//! Chooses the engines of a real target.

use engine::{Choosing, Clock, LoadOptions};
use record::Workload;

use crate::target::Held;

/// Measures the engines on a target for each manner of driving it, and keeps the choices in its options.
pub(crate) fn choose(
    held: &Held,
    path: &str,
    clock: Clock,
    options: &mut LoadOptions,
    (workloads, manners): (&[Workload], &[usize]),
    by: &Choosing<'_>,
) {
    for manner in 0..=options.others.len() {
        let of_manner = workloads.iter().zip(manners).filter(|(_, number)| **number == manner);
        let of_manner: Vec<Workload> = of_manner.map(|(workload, _)| workload.clone()).collect();
        let target = held.to_load(path, clock, options.of_manner(manner));
        let choices = engine::choose(&target, &of_manner, by);
        options.of_manner_mut(manner).choices = choices;
    }
}
