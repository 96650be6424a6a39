//! One-line descriptions of targets, and the label of simulated results outside their report.

use stdx::units::amount_base10;

use crate::{RunFile, SimulatedFacts, TargetKind};

impl RunFile {
    /// Formats the kind, path, model, identity and capacity of the target. Names may contain control characters.
    #[must_use]
    pub fn target_line(&self) -> String {
        let target = &self.target;
        if let Some(origin) = &self.origin {
            let model = target.model.as_deref().or(Some(&*target.path)).filter(|model| !model.is_empty());
            let model = model.unwrap_or("model not in the file");
            let capacity = match target.capacity_bytes {
                0 => "capacity not in the file".to_owned(),
                bytes => amount_base10(bytes),
            };
            let simulated = origin.simulated.as_deref().map(|label| format!(", {label}")).unwrap_or_default();
            return format!("IMPORTED from {}{simulated}: {model}, {capacity}", origin.tool);
        }
        if let Some(sim) = &target.simulated {
            return format!("{}, {}", sim.label_in_full(), amount_base10(target.capacity_bytes));
        }
        let kind = if target.kind == TargetKind::File { "file " } else { "" };
        let model = target.model.as_deref().map(|m| format!(", {m}")).unwrap_or_default();
        format!(
            "{kind}{}{model}, identity {}, {}",
            target.path,
            target.identity,
            amount_base10(target.capacity_bytes)
        )
    }
}

impl SimulatedFacts {
    /// Formats the model, version, scale and seed: `SIMULATED sas-slc-2011 v2 1/512 seed 1`.
    #[must_use]
    pub fn label(&self) -> String {
        format!(
            "SIMULATED {} v{} 1/{} seed {}",
            self.model, self.model_version, self.scale_divisor, self.seed
        )
    }

    /// Formats the full label, for places with enough space: `SIMULATED sas-slc-2011 (model version 2, scale 1/512,
    /// seed 1)`.
    #[must_use]
    pub fn label_in_full(&self) -> String {
        format!(
            "SIMULATED {} (model version {}, scale 1/{}, seed {})",
            self.model, self.model_version, self.scale_divisor, self.seed
        )
    }
}
