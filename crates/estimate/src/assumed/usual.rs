//! Default speeds, for drives about which little or nothing is known.

use stdx::units::KIB;

use super::speeds::{Alone, Assumed, Rates, SMALL, Saturation};

/// Fixed overhead of a random I/O, expressed as bytes of sequential I/O.
const OVERHEAD_BYTES: f64 = 6.0 * KIB as f64;
/// Random write throughput of a full drive as a fraction of random read throughput; garbage collection uses the
/// rest.
const COLLECTING: f64 = 0.5;
/// Random write throughput of a fresh drive as a fraction of sequential write throughput. The fraction is 0.84
/// to 1.1 for four drives in published reports.
const FRESH: f64 = 0.9;
const RESPONSE_SECONDS: f64 = 100e-6;
const SIZES: [u64; 8] = [4, 8, 16, 32, 64, 128, 256, 1024];

/// Interface name, and sequential write and read speeds in MB/s. The first matching entry applies.
const INTERFACES: [(&str, f64, f64); 5] = [
    ("NVMe", 2000.0, 3000.0),
    ("3 Gb/s SATA", 250.0, 280.0),
    ("SATA", 500.0, 540.0),
    ("SAS", 900.0, 1000.0),
    ("USB", 400.0, 450.0),
];
/// Fallback for unknown interfaces.
const ANY: (&str, f64, f64) = ("any drive", 500.0, 500.0);

impl Assumed {
    /// Derives all speeds from those of sequential writes and reads, in bytes per second. In published reports,
    /// random writes ran at 0.1 to 2 times the derived rate.
    #[must_use]
    pub fn usual(write: f64, read: f64) -> Self {
        let random = |block: f64| Rates {
            write: COLLECTING * write * block / (block + OVERHEAD_BYTES),
            read: read * block / (block + OVERHEAD_BYTES),
            coupling: 0.0,
        };
        let alone = Alone { write_seconds: RESPONSE_SECONDS, read_seconds: RESPONSE_SECONDS };
        let small = f64::from(SMALL);
        Self {
            sequential: Rates { write, read, coupling: 0.0 },
            random: SIZES.map(|kib| ((kib * KIB) as u32, random((kib * KIB) as f64))).into(),
            // The composite's mean I/O size is 8 KiB.
            composite: random(2.0 * small),
            alone,
            composite_alone: alone,
            saturation: Saturation {
                fresh: FRESH * write,
                fills: 1.0,
                steady: random(small).write,
                idle_gain_bytes_per_second: 0.0,
            },
        }
    }

    /// Returns the default speeds for an interface, given the kernel's name for it, and the name of the
    /// matching entry.
    #[must_use]
    pub fn usual_for(interface: Option<&str>) -> (Self, &'static str) {
        let known = interface.and_then(|text| INTERFACES.iter().find(|known| text.contains(known.0)));
        let (name, write, read) = known.unwrap_or(&ANY);
        (Self::usual(write * 1e6, read * 1e6), name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_has_usual_speeds() {
        let of = |interface| {
            let (drive, name) = Assumed::usual_for(interface);
            ((drive.sequential.write / 1e6) as u32, name)
        };
        assert_eq!(of(Some("NVMe, PCIe 4.0 x4")), (2000, "NVMe"));
        assert_eq!(of(Some("6 Gb/s SATA")), (500, "SATA"));
        assert_eq!(of(Some("3 Gb/s SATA")), (250, "3 Gb/s SATA"));
        assert_eq!(of(Some("virtio")), (500, "any drive"));
        assert_eq!(of(None), (500, "any drive"));
    }
}
