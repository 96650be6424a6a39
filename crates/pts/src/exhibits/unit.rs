//! Units of figures: what is measured, how it is printed, and which values are better.

/// Unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// I/Os per second.
    Iops,
    /// Throughput, in powers of 1000.
    MegabytesPerSecond,
    /// Response times.
    Milliseconds,
    /// Times to recover.
    Minutes,
    /// Amounts of data, in powers of 1000.
    Gigabytes,
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
        }
    }

    /// Whether a smaller value is better.
    #[must_use]
    pub const fn is_time(self) -> bool {
        match self {
            Self::Iops | Self::MegabytesPerSecond | Self::Gigabytes => false,
            Self::Milliseconds | Self::Minutes => true,
        }
    }

    /// Decimal places of a tracking variable.
    pub(crate) const fn decimals(self) -> usize {
        match self {
            Self::Iops | Self::MegabytesPerSecond | Self::Minutes | Self::Gigabytes => 1,
            Self::Milliseconds => 3,
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.symbol())
    }
}
