//! Units of figures: how they are printed, and whether higher or lower values are better.

use serde::{Deserialize, Serialize};

/// Unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// I/Os per second.
    Iops,
    /// Throughput, with decimal prefixes (1 MB = 10^6 bytes).
    MegabytesPerSecond,
    /// Response times.
    Milliseconds,
    /// Times to recover.
    Minutes,
    /// Amounts of data, with decimal prefixes.
    Gigabytes,
    /// Power.
    Watts,
    /// I/Os per second per watt.
    IopsPerWatt,
    /// Throughput per watt, with decimal prefixes.
    MegabytesPerSecondPerWatt,
}

impl Unit {
    /// As printed: `MB/s`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::MegabytesPerSecond => "MB/s",
            Self::Milliseconds => "ms",
            Self::Minutes => "min",
            Self::Gigabytes => "GB",
            Self::Watts => "W",
            Self::IopsPerWatt => "IOPS/W",
            Self::MegabytesPerSecondPerWatt => "MB/s/W",
        }
    }

    /// All units.
    pub const ALL: [Self; 8] = [
        Self::Iops,
        Self::MegabytesPerSecond,
        Self::Milliseconds,
        Self::Minutes,
        Self::Gigabytes,
        Self::Watts,
        Self::IopsPerWatt,
        Self::MegabytesPerSecondPerWatt,
    ];

    /// Returns the unit that is printed as `symbol`.
    #[must_use]
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.symbol() == symbol)
    }

    /// Returns whether a smaller value is better.
    #[must_use]
    pub const fn is_cost(self) -> bool {
        match self {
            Self::Iops
            | Self::MegabytesPerSecond
            | Self::Gigabytes
            | Self::IopsPerWatt
            | Self::MegabytesPerSecondPerWatt => false,
            Self::Milliseconds | Self::Minutes | Self::Watts => true,
        }
    }

    /// Returns the number of decimal places of a tracking variable.
    #[must_use]
    pub const fn decimals(self) -> usize {
        match self {
            Self::Iops | Self::MegabytesPerSecond | Self::Minutes | Self::Gigabytes | Self::IopsPerWatt => 1,
            Self::Milliseconds | Self::Watts | Self::MegabytesPerSecondPerWatt => 3,
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.symbol())
    }
}
