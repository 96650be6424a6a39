//! Host checks before a run, their findings, and how a run is to treat the drive.

use serde::{Deserialize, Serialize};

/// Finding of a host check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCheck {
    /// Name of the check, such as `scheduler`.
    pub name: String,
    /// Effect on results.
    pub verdict: HostVerdict,
    /// The finding, as text.
    pub found: String,
    /// How to fix the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Whether Plateau can fix the problem by changing a setting for a run and restoring it afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tunable: bool,
}

/// Effect of a finding on results, in ascending order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostVerdict {
    /// Not applicable to this host or target, or not reported by it.
    NotHere,
    /// No problem was found.
    Ok,
    /// May affect results slightly, or only results near the host's limit.
    Warn,
    /// Results reflect this condition rather than the drive.
    WouldInvalidate,
}

impl HostVerdict {
    /// Returns the verdict as text for the user.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotHere => "n/a",
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::WouldInvalidate => "would invalidate",
        }
    }
}

/// How a run is to treat the drive, as requested by the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handling {
    /// Name of the purge method; `None` for the best method that is known to work on the drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge_method: Option<String>,
    /// Write samples before each purge and check for them afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify_purge: bool,
    /// Setting of the volatile write cache; `None` to use the setting that the profile requires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<CacheChoice>,
    /// Change host settings for the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tune: bool,
    /// LBA format of the NVMe namespace during the run; `None` for the current format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lba_format: Option<u8>,
}

/// Setting of a volatile write cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheChoice {
    /// As required by the profile.
    Profile,
    /// Unchanged.
    Keep,
    /// On (WCE).
    On,
    /// Off (WCD).
    Off,
}

impl Handling {
    /// Returns whether all fields have their default values.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unrequested_fields_are_not_written() {
        assert_eq!(serde_json::to_string(&Handling::default()).unwrap(), "{}");
        let text = r#"{"purge_method":"discard","write_cache":"keep","lba_format":1}"#;
        let handling: Handling = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&handling).unwrap(), text);
        assert!(!handling.is_default());
    }

    #[test]
    fn worse_verdicts_are_larger() {
        let order = [HostVerdict::NotHere, HostVerdict::Ok, HostVerdict::Warn, HostVerdict::WouldInvalidate];
        assert!(order.is_sorted());
    }
}
