//! Facts that a simulated drive reports about itself.

use admin::{About, Facts};
use nandsim::Class;
use stdx::units::block_size;

use super::Simulated;

impl Simulated {
    /// Returns the facts of the scaled drive, its current health, and its purge methods.
    pub(crate) fn about(&self) -> About {
        let mut facts = Facts::default();
        self.identify(&mut facts);
        self.flash(&mut facts);
        self.caches(&mut facts);
        let faults: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        facts.add("injected_faults", faults);
        About { facts: facts.0, health: self.health(), purge: self.purge_methods() }
    }

    fn identify(&self, facts: &mut Facts) {
        facts.add("description", self.model.description.as_str());
        facts.add("class", if self.model.class == Class::Client { "client" } else { "enterprise" });
        facts.number("model_version", f64::from(self.model.version));
        facts.add("scale", if self.divisor == 1 { "1".into() } else { format!("1/{}", self.divisor) });
        facts.number("seed", self.seed as f64);
        facts.add("calibrated", !self.model.calibration.source.is_empty());
    }

    fn flash(&self, facts: &mut Facts) {
        let geometry = &self.model.geometry;
        facts.add("nand", self.model.nand.as_str());
        facts.number("dies", f64::from(geometry.channels) * f64::from(geometry.dies_per_channel));
        facts.number("channels", f64::from(geometry.channels));
        let mapping = self.model.hybrid.as_ref().map_or("pages".to_owned(), |hybrid| {
            format!("granules of {} with a log of map units", block_size(hybrid.granule_bytes.into()))
        });
        facts.add("mapping", mapping);
        facts.add("map_unit", block_size(geometry.map_unit_bytes.into()));
        facts.number("spare_flash_percent", (self.ssd.effective_op() * 1000.0).round() / 10.0);
        facts.number("rated_erases", f64::from(geometry.rated_erases));
    }

    fn caches(&self, facts: &mut Facts) {
        facts.number("write_buffer_bytes", self.ssd.buffer_bytes() as f64);
        facts.add("write_buffer_outlives_power", !self.model.firmware.volatile_buffer);
        facts.reported("write_cache_on", self.write_cache());
        let cache = self.model.cache.as_ref().map(|_| self.ssd.cache_bytes() as f64);
        cache.into_iter().for_each(|bytes| facts.number("single_bit_cache_bytes", bytes));
        let thermal = &self.model.thermal;
        if thermal.throttle_c > 0.0 {
            facts.number("throttle_celsius", thermal.throttle_c);
        }
    }
}
