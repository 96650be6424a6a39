//! Which parts of the volume I/Os access, as regions of equal size. If there are too many regions, pairs of
//! them are merged.

use crate::{Io, Op};

const FIRST_REGION_BYTES: u64 = 1 << 20;
const MOST_REGIONS: usize = 512;

/// Accesses to one region; an I/O is counted in the region where it begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Region {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
}

pub struct Locality {
    region_bytes: u64,
    regions: Vec<Region>,
}

impl Default for Locality {
    fn default() -> Self {
        Self { region_bytes: FIRST_REGION_BYTES, regions: Vec::new() }
    }
}

impl Locality {
    pub fn add(&mut self, io: &Io) {
        while io.offset_bytes / self.region_bytes >= MOST_REGIONS as u64 {
            self.region_bytes *= 2;
            let joined = self.regions.chunks(2).map(|pair| Region {
                reads: pair.iter().map(|region| region.reads).sum(),
                writes: pair.iter().map(|region| region.writes).sum(),
            });
            self.regions = joined.collect();
        }
        let place = (io.offset_bytes / self.region_bytes) as usize;
        if self.regions.len() <= place {
            self.regions.resize(place + 1, Region::default());
        }
        match io.op {
            Op::Read => self.regions[place].reads += 1,
            _ => self.regions[place].writes += 1,
        }
    }

    pub fn finish(self) -> (u64, Vec<Region>) {
        (self.region_bytes, self.regions)
    }
}
