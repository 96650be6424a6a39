//! What was looked at on the host before a run, and what was found there.

use serde::{Deserialize, Serialize};

/// What a host check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCheck {
    /// Which, such as `scheduler`.
    pub name: String,
    /// What it means for results.
    pub verdict: HostVerdict,
    /// What was found, in words.
    pub found: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// What a finding means for results; worse is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostVerdict {
    /// This host or target has no such thing, or does not tell.
    NotHere,
    /// As it should be.
    Ok,
    /// May change results a little, or only those near the host's limit.
    Warn,
    /// Results say something of this rather than of the drive.
    WouldInvalidate,
}

impl HostVerdict {
    /// As it is printed.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotHere => "not here",
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::WouldInvalidate => "would invalidate",
        }
    }
}

/// How the drive itself is treated in a run, as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handling {
    /// Purge method by name; the best that certainly works when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge_method: Option<String>,
    /// Samples are written before each purge and looked for after.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify_purge: bool,
    /// What to do with the volatile write cache; as the profile wants it when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<CacheChoice>,
    /// Settings of the host are changed for the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tune: bool,
    /// LBA format that an NVMe namespace has during the run; the one that it has when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lba_format: Option<u8>,
}

/// What to do with a volatile write cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheChoice {
    /// As the profile wants it.
    Profile,
    /// Leave it as it is.
    Keep,
    /// On (WCE).
    On,
    /// Off (WCD).
    Off,
}

impl Handling {
    /// Nothing was asked for.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_is_not_written() {
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
