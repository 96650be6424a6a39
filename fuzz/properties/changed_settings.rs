//! Restore records of settings: for any bytes, only settings that Plateau changes are restored, only in sysfs, and
//! only to valid values.

use device::KnownSettings;

const ATTRIBUTES: [&str; 5] = ["scheduler", "wbt_lat_usec", "iostats", "nomerges", "scaling_governor"];

pub fn check(bytes: &[u8]) {
    let noted = plateau::untrusted::note(bytes, &KnownSettings::of_this_host());
    for tuning in noted.tunings {
        let path = &tuning.path;
        assert!(
            path.starts_with("/sys/devices") && path.canonicalize().is_ok_and(|real| real == *path),
            "{path:?}"
        );
        let name = path.file_name().and_then(|name| name.to_str());
        assert!(name.is_some_and(|name| ATTRIBUTES.contains(&name)), "{path:?}");
        let is_plain = |value: &str| {
            value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
                && value.len() <= 32
        };
        assert!(is_plain(&tuning.was) && is_plain(&tuning.to), "{tuning:?}");
    }
}
