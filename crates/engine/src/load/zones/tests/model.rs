//! A model of a zoned device.

use std::io;
use std::sync::{Arc, Mutex};

use stdx::access::Access;
use zones::Zone;

use super::ZONE_BYTES;
use crate::load::zones::kernel::ZoneCommands;

/// A zone of the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelZone {
    pub(super) zone: Zone,
    pub(super) writes: u32,
    pub(super) readers: u32,
}

/// The device.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) zones: Vec<ModelZone>,
    pub(super) most_open: usize,
    pub(super) reads_beyond: bool,
    pub(super) resets: u64,
    pub(super) early_resets: u64,
    pub(super) finishes: u64,
    pub(super) written_bytes: u64,
}

impl Model {
    fn at(&mut self, offset_bytes: u64) -> &mut ModelZone {
        &mut self.zones[(offset_bytes / ZONE_BYTES) as usize]
    }

    fn check_open(&self) {
        let is_open = |model: &&ModelZone| {
            let zone = &model.zone;
            let is_partly = zone.pointer_bytes > zone.start_bytes || model.writes > 0;
            zone.is_sequential && is_partly && zone.pointer_bytes < zone.start_bytes + zone.capacity_bytes
        };
        let open = self.zones.iter().filter(is_open).count();
        assert!(self.most_open == 0 || open <= self.most_open, "{open} zones are open");
    }

    pub(super) fn begin(&mut self, access: Access, trims: bool) {
        let reads_beyond = self.reads_beyond;
        let model = self.at(access.offset_bytes);
        let (zone, end) = (model.zone, access.offset_bytes + u64::from(access.block_bytes));
        assert!(access.block_bytes > 0 && end <= zone.end_bytes(), "within a zone: {access:?}");
        if access.read {
            assert!(
                !zone.is_sequential || reads_beyond || end <= zone.pointer_bytes,
                "unwritten: {access:?}"
            );
            model.readers += 1;
        } else if trims {
            assert_eq!((access.offset_bytes, model.writes, model.readers), (zone.start_bytes, 0, 0));
            model.writes = 1;
        } else if zone.is_sequential {
            assert_eq!(model.writes, 0, "one write at a time: {access:?}");
            assert_eq!(access.offset_bytes, zone.pointer_bytes, "at the write pointer");
            assert!(end <= zone.start_bytes + zone.capacity_bytes, "beyond the capacity: {access:?}");
            model.writes = 1;
            self.check_open();
        }
    }

    pub(super) fn end(&mut self, access: Access, trims: bool) {
        let model = self.at(access.offset_bytes);
        if access.read {
            model.readers -= 1;
            return;
        }
        model.writes = 0;
        if trims {
            model.zone.pointer_bytes = model.zone.start_bytes;
            self.resets += 1;
        } else {
            if model.zone.is_sequential {
                model.zone.pointer_bytes += u64::from(access.block_bytes);
            }
            self.written_bytes += u64::from(access.block_bytes);
        }
    }
}

/// The device's commands for zones.
pub(super) struct ModelCommands(pub(super) Arc<Mutex<Model>>);

impl ZoneCommands for ModelCommands {
    fn reset(&self, start_bytes: u64, length_bytes: u64) -> io::Result<()> {
        let mut device = self.0.lock().unwrap();
        let model = device.at(start_bytes);
        assert_eq!((start_bytes, length_bytes), (model.zone.start_bytes, model.zone.length_bytes));
        assert_eq!((model.writes, model.readers), (0, 0), "a reset of a zone in use");
        let is_early = model.zone.pointer_bytes < start_bytes + model.zone.capacity_bytes - 4096;
        model.zone.pointer_bytes = start_bytes;
        device.resets += 1;
        device.early_resets += u64::from(is_early);
        Ok(())
    }

    fn finish(&self, start_bytes: u64, _: u64) -> io::Result<()> {
        let mut device = self.0.lock().unwrap();
        let model = device.at(start_bytes);
        assert_eq!(model.writes, 0, "a finish of a zone in use");
        model.zone.pointer_bytes = start_bytes + model.zone.capacity_bytes;
        device.finishes += 1;
        Ok(())
    }
}
