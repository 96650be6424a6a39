//! The interface between the drive and the host.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An interface, in the notation used in reports: `6 Gb/s SATA`, `12 Gb/s SAS`, `PCIe 4.0 x4 NVMe`, or `NVMe`
/// without a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Interface {
    /// Serial ATA; line rate in Gb/s.
    Sata(f64),
    /// Serial-attached SCSI; line rate in Gb/s.
    Sas(f64),
    /// NVM Express over PCI Express; `None` if the link is not known.
    Nvme(Option<Pcie>),
}

/// A PCI Express link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pcie {
    /// Index into [`LANE_MB_PER_S`], plus 1.
    generation: u8,
    lanes: u8,
}

/// Throughput of one lane in one direction after line coding, for PCIe 1.0 to 6.0.
const LANE_MB_PER_S: [f64; 6] = [250.0, 500.0, 984.6, 1969.2, 3938.5, 7563.0];
/// Throughput assumed for an interface whose rate is not known: faster than any drive.
const UNLIMITED_MB_PER_S: f64 = 1e6;

impl Interface {
    /// Returns the maximum throughput in one direction, in MB/s. SATA and SAS use 8b/10b coding: ten bits on
    /// the wire per byte. The result is 6 percent too low for 22.5 Gb/s SAS, which uses a denser coding.
    #[must_use]
    pub fn max_mb_per_s(&self) -> f64 {
        match *self {
            Self::Sata(gigabits) | Self::Sas(gigabits) => gigabits * 100.0,
            Self::Nvme(None) => UNLIMITED_MB_PER_S,
            Self::Nvme(Some(Pcie { generation, lanes })) => {
                LANE_MB_PER_S[usize::from(generation) - 1] * f64::from(lanes)
            }
        }
    }
}

impl TryFrom<String> for Interface {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let rate = |word: &str| word.parse().ok().filter(|rate| (1.0..=100.0).contains(rate));
        let words: Vec<&str> = text.split_whitespace().collect();
        let found = match words.as_slice() {
            [word, "Gb/s", "SATA"] => rate(word).map(Self::Sata),
            [word, "Gb/s", "SAS"] => rate(word).map(Self::Sas),
            ["NVMe"] => Some(Self::Nvme(None)),
            ["PCIe", generation, lanes, "NVMe"] => {
                let number = |word: Option<&str>| word.and_then(|word| word.parse::<u8>().ok());
                let generation = number(generation.strip_suffix(".0"))
                    .filter(|&number| (1..=LANE_MB_PER_S.len()).contains(&usize::from(number)));
                let lanes = number(lanes.strip_prefix('x')).filter(|number| (1..=32).contains(number));
                generation.zip(lanes).map(|(generation, lanes)| Self::Nvme(Some(Pcie { generation, lanes })))
            }
            _ => None,
        };
        found.ok_or_else(|| {
            format!("interface '{text}' is not known; write '6 Gb/s SATA', '12 Gb/s SAS', 'PCIe 4.0 x4 NVMe' or 'NVMe'")
        })
    }
}

impl From<Interface> for String {
    fn from(interface: Interface) -> Self {
        interface.to_string()
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sata(gigabits) => write!(f, "{gigabits} Gb/s SATA"),
            Self::Sas(gigabits) => write!(f, "{gigabits} Gb/s SAS"),
            Self::Nvme(None) => f.write_str("NVMe"),
            Self::Nvme(Some(Pcie { generation, lanes })) => write!(f, "PCIe {generation}.0 x{lanes} NVMe"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_read_as_they_are_printed() {
        for (text, max_mb_per_s) in [
            ("6 Gb/s SATA", 600.0),
            ("1.5 Gb/s SATA", 150.0),
            ("22.5 Gb/s SAS", 2250.0),
            ("PCIe 3.0 x4 NVMe", 3938.4),
            ("PCIe 6.0 x2 NVMe", 15126.0),
            ("NVMe", 1e6),
        ] {
            let interface = Interface::try_from(text.to_owned()).unwrap();
            assert_eq!(interface.to_string(), text);
            assert!((interface.max_mb_per_s() - max_mb_per_s).abs() < 0.1, "{text}");
        }
    }

    #[test]
    fn other_names_are_rejected() {
        let wrong =
            ["", "SATA", "6 SATA", "0 Gb/s SAS", "NaN Gb/s SAS", "PCIe 7.0 x4 NVMe", "PCIe 0.0 x4 NVMe"];
        for text in wrong.into_iter().chain(["PCIe 3.0 x0 NVMe", "PCIe 3.1 x4 NVMe", "PCIe 3.0 x4", "USB"]) {
            let error = Interface::try_from(text.to_owned()).unwrap_err();
            assert!(error.contains("PCIe 4.0 x4 NVMe"), "{error}");
        }
    }
}
