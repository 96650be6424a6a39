//! Counts layers and outcomes, because a layer type that is never generated is never tested.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::build::Stack;
use super::plan::{Reason, StackPlan};

/// The outcome of a stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StackOutcome {
    Refused(Reason),
    RefusedForSignature,
    Accepted,
    /// The kernel refused to create the target.
    NotBuilt,
}

/// Counts by kind. `xtask` adds up the counts of several processes.
#[derive(Default, Serialize)]
pub struct Counts {
    layers: BTreeMap<String, u64>,
    /// Layers that are targets or lie below a target.
    targets: BTreeMap<String, u64>,
    uses: BTreeMap<String, u64>,
    failures: BTreeMap<String, u64>,
    outcomes: BTreeMap<String, u64>,
}

fn add(counts: &mut BTreeMap<String, u64>, kind: impl Into<String>) {
    *counts.entry(kind.into()).or_default() += 1;
}

impl Counts {
    pub fn built(&mut self, plan: &StackPlan, stack: &Stack<'_>) {
        let made = stack.made();
        let below = plan.below(plan.target);
        for (index, node) in plan.nodes.iter().enumerate().filter(|(index, _)| made[*index]) {
            add(&mut self.layers, node.what.kind());
            if made[plan.target] && below.contains(&index) {
                add(&mut self.targets, node.what.kind());
            }
        }
        for (one, _) in plan.uses.iter().zip(&stack.used).filter(|(_, used)| **used) {
            add(&mut self.uses, one.using.kind());
        }
        for (what, why) in &stack.failures {
            add(&mut self.failures, format!("{}: {why}", what.kind()));
        }
    }

    pub fn add(&mut self, outcome: StackOutcome) {
        let kind = match outcome {
            StackOutcome::Refused(reason) => format!("refused: {}", reason.kind()),
            StackOutcome::RefusedForSignature => "refused for a signature".into(),
            StackOutcome::Accepted => "accepted and written".into(),
            StackOutcome::NotBuilt => "without a target".into(),
        };
        add(&mut self.outcomes, kind);
    }

    /// Writes JSON to a file or prints a summary.
    pub fn report(&self, file: Option<&Path>) -> io::Result<()> {
        if let Some(file) = file {
            return fs::write(file, serde_json::to_vec(self)?);
        }
        let all = [
            ("layers", &self.layers),
            ("at or below targets", &self.targets),
            ("uses", &self.uses),
            ("not built", &self.failures),
            ("outcomes", &self.outcomes),
        ];
        for (title, counts) in all {
            println!("{title}:");
            counts.iter().for_each(|(kind, count)| println!("{count:8} {kind}"));
        }
        Ok(())
    }
}
