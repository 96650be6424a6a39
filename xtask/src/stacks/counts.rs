//! Counts of layers and outcomes of random stacks.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

/// Layers that a run in the virtual machine must cover; the names are the same as in
/// `crates/device/tests/stacks/plan.rs`.
const REQUIRED: &[&str] = &[
    "dm-crypt",
    "dm-linear",
    "dm-snapshot",
    "file",
    "loop",
    "md raid0",
    "md raid1",
    "md raid10",
    "md raid5",
    "partition",
];

type ByKind = BTreeMap<String, u64>;

/// Numbers of layers and outcomes of each kind, as reported by the test.
#[derive(Debug, Default, Deserialize)]
pub struct Counts {
    layers: ByKind,
    /// Layers by kind, counting only targets and the layers below them.
    targets: ByKind,
    uses: ByKind,
    failures: ByKind,
    outcomes: ByKind,
}

impl Counts {
    pub fn parse(json: &[u8]) -> anyhow::Result<Self> {
        serde_json::from_slice(json).context("cannot parse the test's counts")
    }

    pub fn add(&mut self, other: Self) {
        let ours =
            [&mut self.layers, &mut self.targets, &mut self.uses, &mut self.failures, &mut self.outcomes];
        let others = [other.layers, other.targets, other.uses, other.failures, other.outcomes];
        for (ours, others) in ours.into_iter().zip(others) {
            others.into_iter().for_each(|(kind, count)| *ours.entry(kind).or_default() += count);
        }
    }

    /// Returns the number of stacks with a correct outcome.
    pub fn stacks(&self) -> u64 {
        self.outcomes.values().sum()
    }

    pub fn print(&self) {
        println!("layers built, and how many of them at or below targets:");
        for (kind, count) in &self.layers {
            println!("{count:8} {:8} {kind}", self.targets.get(kind).copied().unwrap_or(0));
        }
        for (title, counts) in [
            ("uses", &self.uses),
            ("layers that the kernel refused", &self.failures),
            ("outcomes", &self.outcomes),
        ] {
            println!("{title}:");
            counts.iter().for_each(|(kind, count)| println!("{count:8} {kind}"));
        }
    }

    /// Fails if a required kind of layer was never built as a target or below one.
    pub fn all_kinds(&self) -> anyhow::Result<()> {
        let missing: Vec<&str> =
            REQUIRED.iter().copied().filter(|kind| !self.targets.contains_key(*kind)).collect();
        ensure!(missing.is_empty(), "never built at or below a target: {}", missing.join(", "));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_was_never_built_is_missed() {
        let mut counts = Counts::default();
        for kind in REQUIRED {
            assert!(counts.all_kinds().is_err_and(|error| error.to_string().contains(kind)));
            let json = format!(
                r#"{{"layers":{{"{kind}":2}},"targets":{{"{kind}":1}},"uses":{{}},"failures":{{}},"outcomes":{{"accepted":1}}}}"#
            );
            counts.add(Counts::parse(json.as_bytes()).expect("counts"));
        }
        counts.all_kinds().expect("all kinds");
        assert_eq!(counts.stacks(), REQUIRED.len() as u64);
    }
}
