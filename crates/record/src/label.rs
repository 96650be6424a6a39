//! The label of simulated results that are used outside their report.

use crate::SimulatedFacts;

impl SimulatedFacts {
    /// Formats model, version, scale and seed: `SIMULATED sas-slc-2011 v2 1/512 seed 1`.
    #[must_use]
    pub fn label(&self) -> String {
        format!(
            "SIMULATED {} v{} 1/{} seed {}",
            self.model, self.model_version, self.scale_divisor, self.seed
        )
    }

    /// Formats the same for text with enough space: `SIMULATED sas-slc-2011 (model version 2, scale 1/512, seed 1)`.
    #[must_use]
    pub fn label_in_full(&self) -> String {
        format!(
            "SIMULATED {} (model version {}, scale 1/{}, seed {})",
            self.model, self.model_version, self.scale_divisor, self.seed
        )
    }
}
