//! Device numbers.

/// Device number of a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceNumber {
    /// The driver.
    pub major: u32,
    /// The device or partition.
    pub minor: u32,
}

impl DeviceNumber {
    /// Converts a number as stored in `st_dev` or `st_rdev`.
    #[must_use]
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Parses `8:16`.
#[must_use]
pub fn parse_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_as_they_are_printed() {
        let number = DeviceNumber { major: 259, minor: 3 };
        assert_eq!(parse_number(&number.to_string()), Some(number));
        assert_eq!(parse_number("259"), None);
        assert_eq!(parse_number("a:b"), None);
    }
}
