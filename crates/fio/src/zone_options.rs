//! The options of a job about the zones of a zoned block device.

use record::{EarlyResets, Zoned};

/// The options of a job about the zones of a zoned block device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZoneOptions {
    /// `zonemode=zbd`.
    pub(crate) is_on: bool,
    pub(crate) how: Zoned,
    /// `zone_reset_threshold`, in thousandths.
    pub(crate) threshold_milli: u16,
    /// `zone_reset_frequency`, in thousandths; 0 if it was not set.
    pub(crate) frequency_milli: u16,
    /// The options that have an effect only with `zonemode=zbd`.
    pub(crate) given: Vec<&'static str>,
}

impl ZoneOptions {
    /// Returns when zones are reset before they are full.
    pub(crate) fn early_resets(&self) -> Option<EarlyResets> {
        let (threshold_milli, per_thousand_writes) = (self.threshold_milli, self.frequency_milli);
        (per_thousand_writes > 0).then_some(EarlyResets { threshold_milli, per_thousand_writes })
    }

    /// Notes that an option was set that has an effect only with `zonemode=zbd`.
    pub(crate) fn note(&mut self, name: &'static str) {
        if !self.given.contains(&name) {
            self.given.push(name);
        }
    }
}
