//! Validates a model's values.

use crate::Faults;

use super::{Cache, Calibration, Geometry, Hybrid, Model, ModelError, Thermal, Timing};

impl Model {
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        self.calibration.check()?;
        self.geometry.check()?;
        let faults = Faults::from_texts(&self.faults, self.geometry.capacity_bytes);
        faults.map_err(|e| wrong("faults", format!("'{}'", e.fault), e.problem))?;
        self.timing.check(self.interface.max_mb_per_s())?;
        let firmware = &self.firmware;
        whole("firmware.collect_burst_map_units", firmware.collect_burst_map_units.into(), 1, 1 << 20)?;
        whole("firmware.write_buffer_bytes", firmware.write_buffer_bytes, 0, 1 << 40)?;
        number("firmware.map_bytes_per_write", firmware.map_bytes_per_write, 0.0, 1_048_576.0)?;
        number("firmware.idle_delay_ms", firmware.idle_delay_ms, 0.0, 1e9)?;
        whole("firmware.victim_window", firmware.victim_window.into(), 1, 1 << 20)?;
        number("firmware.ring_skips_percent", firmware.ring_skips_percent, 0.0, 100.0)?;
        number("firmware.idle_free_percent", firmware.idle_free_percent, 0.0, 100.0)?;
        self.cache.as_ref().map_or(Ok(()), |cache| cache.check(self.geometry.capacity_bytes))?;
        self.hybrid.as_ref().map_or(Ok(()), |hybrid| hybrid.check(&self.geometry))?;
        if self.hybrid.is_some() && self.cache.is_some() {
            return Err(wrong("hybrid", "a table", "a model has either [cache] or [hybrid]".to_owned()));
        }
        self.thermal.check()
    }
}

impl Calibration {
    fn check(&self) -> Result<(), ModelError> {
        number("calibration.aim_percent", self.aim_percent, 0.0, 1000.0)
    }
}

impl Geometry {
    fn check(&self) -> Result<(), ModelError> {
        whole("geometry.capacity_bytes", self.capacity_bytes, 64 << 20, 1 << 47)?;
        if ![512, 4096].contains(&self.logical_block_bytes) {
            return Err(wrong(
                "geometry.logical_block_bytes",
                self.logical_block_bytes,
                "512 or 4096".to_owned(),
            ));
        }
        power("geometry.map_unit_bytes", self.map_unit_bytes, self.logical_block_bytes, 1 << 16)?;
        whole("geometry.channels", self.channels.into(), 1, 256)?;
        whole("geometry.dies_per_channel", self.dies_per_channel.into(), 1, 256)?;
        whole("geometry.superblocks", self.superblocks.into(), 16, 1 << 20)?;
        number("geometry.effective_op_percent", self.effective_op_percent, 0.5, 1000.0)?;
        whole("geometry.program_units_per_erase", self.program_units_per_erase.into(), 1, 1 << 20)?;
        whole("geometry.rated_erases", self.rated_erases.into(), 1, 1 << 24)?;
        let dies = u64::from(self.channels) * u64::from(self.dies_per_channel);
        let most = (self.capacity_bytes / (1 << 10) / dies).min(1 << 20);
        power("geometry.program_unit_bytes", self.program_unit_bytes, self.map_unit_bytes, most as u32)?;
        let slots = self.capacity_bytes as f64 * (1.0 + self.effective_op_percent / 100.0)
            / f64::from(self.map_unit_bytes);
        if slots > 4.0e9 {
            return Err(wrong(
                "geometry.map_unit_bytes",
                self.map_unit_bytes,
                "at most 4e9 map units in the flash".to_owned(),
            ));
        }
        Ok(())
    }
}

impl Timing {
    /// Checks the timing; `carried_mb_per_s` is the maximum throughput of the interface.
    fn check(&self, carried_mb_per_s: f64) -> Result<(), ModelError> {
        number("timing.read_us", self.read_us, 0.1, 1e6)?;
        number("timing.program_us", self.program_us, 0.1, 1e6)?;
        number("timing.program_spread_percent", self.program_spread_percent, 0.0, 90.0)?;
        number("timing.erase_us", self.erase_us, 0.0, 1e6)?;
        number("timing.channel_mb_per_s", self.channel_mb_per_s, 1.0, 1e5)?;
        number("timing.link_mb_per_s", self.link_mb_per_s, 1.0, carried_mb_per_s)?;
        for (key, value) in [
            ("timing.read_command_us", self.read_command_us),
            ("timing.write_command_us", self.write_command_us),
            ("timing.map_unit_us", self.map_unit_us),
            ("timing.read_latency_us", self.read_latency_us),
            ("timing.write_latency_us", self.write_latency_us),
            ("timing.modify_us", self.modify_us),
            ("timing.program_suspend_us", self.program_suspend_us),
        ] {
            number(key, value, 0.0, 1e6)?;
        }
        number("timing.purge_ms", self.purge_ms, 0.0, 1e8)
    }
}

impl Cache {
    fn check(&self, capacity_bytes: u64) -> Result<(), ModelError> {
        whole("cache.bytes", self.bytes, 1, capacity_bytes)?;
        number("cache.program_us", self.program_us, 0.1, 1e6)?;
        number("cache.read_us", self.read_us, 0.1, 1e6)?;
        number("cache.fold_from_percent", self.fold_from_percent, 0.0, 100.0)?;
        whole("cache.fold_below_programs", self.fold_below_programs.into(), 0, 1 << 20)
    }
}

impl Hybrid {
    fn check(&self, geometry: &Geometry) -> Result<(), ModelError> {
        power("hybrid.granule_bytes", self.granule_bytes, 2 * geometry.map_unit_bytes, 1 << 22)?;
        whole("hybrid.log_bytes", self.log_bytes, 0, geometry.capacity_bytes)?;
        number("hybrid.modify_us", self.modify_us, 0.0, 1e6)?;
        number("hybrid.merge_us", self.merge_us, 0.0, 1e6)
    }
}

impl Thermal {
    fn check(&self) -> Result<(), ModelError> {
        number("thermal.rest_c", self.rest_c, -40.0, 100.0)?;
        number("thermal.rise_c_per_gb_per_s", self.rise_c_per_gb_per_s, 0.0, 1e3)?;
        number("thermal.time_constant_s", self.time_constant_s, 1.0, 1e5)?;
        number("thermal.throttle_c", self.throttle_c, 0.0, 200.0)?;
        number("thermal.throttle_mb_per_s", self.throttle_mb_per_s, 0.1, 1e6)
    }
}

fn wrong(key: &'static str, value: impl ToString, allowed: String) -> ModelError {
    ModelError::Value { key, value: value.to_string(), allowed }
}

fn whole(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), ModelError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(key, value, format!("{least} to {most}")))
}

fn power(key: &'static str, value: u32, least: u32, most: u32) -> Result<(), ModelError> {
    if value.is_power_of_two() && (least..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(key, value, format!("a power of two from {least} to {most}")))
}

fn number(key: &'static str, value: f64, least: f64, most: f64) -> Result<(), ModelError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(wrong(key, value, format!("{least} to {most}")))
}
