//! A setting in `/sys` that is changed for a run and restored afterwards.

use std::ffi::OsStr;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use crate::error::DriveError;
use crate::error::tuning::{NotRestored, TuningError};

/// A host setting, with its original value and the value during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// Display name: `scheduler of nvme0n1`.
    pub setting: String,
    /// Path of the attribute in `/sys`.
    pub path: PathBuf,
    /// Value before the run.
    pub was: String,
    /// Value during the run.
    pub to: String,
    /// Whether the setting belongs to the host. Otherwise, the setting belongs to the device and disappears
    /// with the device.
    pub of_host: bool,
}

impl Tuning {
    /// Returns whether the setting currently has this value.
    #[must_use]
    pub fn is(&self, value: &str) -> bool {
        std::fs::read_to_string(&self.path).is_ok_and(|now| active(now.trim()) == value)
    }

    /// Sets the value and verifies that the kernel reports the new value.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unusable`] if the kernel does not accept the value.
    pub fn set(&self, value: &str) -> Result<(), DriveError> {
        let (setting, path) = (&self.setting, &self.path);
        let failed = |source| self.not_written(value, source);
        std::fs::write(path, value).map_err(failed)?;
        log::info!("wrote {value} to {}", path.display());
        let now = std::fs::read_to_string(path).map_err(failed)?;
        if active(now.trim()) == value {
            return Ok(());
        }
        let (setting, path, value) = (setting.clone(), path.clone(), value.to_owned());
        Err(TuningError::Ignored { setting, path, value, shown: now.trim().to_owned() }.into())
    }

    /// Returns the error for a value that could not be written.
    #[must_use]
    pub fn not_written(&self, value: &str, source: std::io::Error) -> DriveError {
        let (setting, path) = (self.setting.clone(), self.path.clone());
        TuningError::Write { setting, path, value: value.to_owned(), source }.into()
    }
}

/// A setting that Plateau may change.
struct Known {
    attribute: &'static str,
    /// Returns whether a folder relative to `/sys/devices` is a valid location for the setting.
    is_place: fn(&Path) -> bool,
    is_value: fn(&str) -> bool,
}

/// All settings that a check may change. No other setting can be restored from a note.
const KNOWN: &[Known] = &[
    Known { attribute: "scheduler", is_place: is_queue, is_value: is_name },
    Known { attribute: "wbt_lat_usec", is_place: is_queue, is_value: is_number },
    Known { attribute: "iostats", is_place: is_queue, is_value: is_number },
    Known { attribute: "nomerges", is_place: is_queue, is_value: is_number },
    Known { attribute: "scaling_governor", is_place: is_policy, is_value: is_name },
];
const SYSFS_MAGIC: u64 = 0x6265_6572;

/// Returns whether the path is a block device's queue.
fn is_queue(folder: &Path) -> bool {
    folder.file_name() == Some(OsStr::new("queue"))
}

/// Returns whether the path is the policy of CPUs that share a clock.
fn is_policy(folder: &Path) -> bool {
    let number = folder.strip_prefix("system/cpu/cpufreq").ok().and_then(Path::to_str);
    let number = number.and_then(|name| name.strip_prefix("policy"));
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_name(value: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    (1..=32).contains(&value.len()) && value.bytes().all(plain)
}

fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    (1..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Settings that may be restored from a note: only those that Plateau changes, and only in the kernel's sysfs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSettings {
    sys: PathBuf,
    is_kernels: bool,
}

impl KnownSettings {
    /// Returns this host's settings.
    #[must_use]
    pub fn of_this_host() -> Self {
        Self { sys: "/sys".into(), is_kernels: true }
    }

    /// Returns the settings in a mock `/sys`.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self { sys: folder.into(), is_kernels: false }
    }

    /// Returns a setting from a note with its path resolved, if the setting may be restored.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unusable`] with the reason if the setting may not be restored or no longer exists.
    pub fn accept(&self, noted: Tuning) -> Result<Tuning, DriveError> {
        let refused = |why: NotRestored| {
            let (setting, path) = (noted.setting.clone(), noted.path.clone());
            Err(TuningError::NotRestored { setting, path, why }.into())
        };
        let path = match self.place_of(&noted.path) {
            Ok(path) => path,
            Err(why) => return refused(why),
        };
        let devices = path.strip_prefix(self.sys.join("devices")).ok();
        let known = devices.and_then(|below| {
            let (folder, name) = (below.parent()?, below.file_name()?);
            KNOWN.iter().find(|known| name == known.attribute && (known.is_place)(folder))
        });
        match known {
            None => refused(NotRestored::Unknown),
            Some(known) if !(known.is_value)(&noted.was) || !(known.is_value)(&noted.to) => {
                refused(NotRestored::Value)
            }
            Some(_) => Ok(Tuning { path, ..noted }),
        }
    }

    /// Resolves the path and verifies the resulting file instead of trusting its name.
    fn place_of(&self, path: &Path) -> Result<PathBuf, NotRestored> {
        let failed = |errno: rustix::io::Errno| NotRestored::System(errno.into());
        let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let mode = rustix::fs::fstat(&found).map_err(failed)?.st_mode;
        if FileType::from_raw_mode(mode) != FileType::RegularFile {
            return Err(NotRestored::NotAttribute);
        }
        if self.is_kernels && rustix::fs::fstatfs(&found).map_err(failed)?.f_type as u64 != SYSFS_MAGIC {
            return Err(NotRestored::NotKernel);
        }
        let link = format!("/proc/self/fd/{}", found.as_raw_fd());
        Ok(std::fs::read_link(link)?)
    }
}

/// Returns the choice in brackets, if any: `mq-deadline [none]` yields `none`.
pub(super) fn active(text: &str) -> &str {
    let choice = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    choice.map_or(text, |(choice, _)| choice)
}

/// Returns the path of the attribute in the form known to users.
pub(super) fn short(path: &Path, kname: &str, attribute: &str) -> String {
    if path.ends_with(format!("{kname}/queue/{attribute}")) {
        format!("/sys/block/{kname}/queue/{attribute}")
    } else {
        path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_set_verified_and_restored() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("scheduler");
        std::fs::write(&path, "none [bfq]\n").expect("an attribute");
        let tuning = Tuning {
            setting: "scheduler of sdb".into(),
            path: path.clone(),
            was: "bfq".into(),
            to: "none".into(),
            of_host: false,
        };
        tuning.set(&tuning.to).expect("a file takes everything");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "none");
        tuning.set(&tuning.was).expect("a file takes everything");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "bfq");
        let gone = Tuning { path: dir.path().join("no/such"), ..tuning };
        let error = gone.set(&gone.to).expect_err("no such setting");
        let DriveError::Tuning(TuningError::Write { setting, value, source, .. }) = error else {
            panic!("{error:?}")
        };
        assert_eq!((setting.as_str(), value.as_str()), ("scheduler of sdb", "none"));
        assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn only_known_settings_below_sys_are_accepted_from_a_note() {
        let dir = tempfile::tempdir().expect("a folder");
        let sys = dir.path().canonicalize().expect("a path");
        let put = |name: &str| {
            let path = sys.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            std::fs::write(&path, "x").expect("an attribute");
            path
        };
        let known = KnownSettings::below(&sys);
        let noted = |path: &Path, was: &str| Tuning {
            setting: "setting".into(),
            path: path.into(),
            was: was.into(),
            to: "none".into(),
            of_host: false,
        };
        let scheduler = put("devices/virtual/block/loop0/queue/scheduler");
        let governor = put("devices/system/cpu/cpufreq/policy0/scaling_governor");
        for path in [&scheduler, &governor] {
            assert_eq!(known.accept(noted(path, "mq-deadline")).expect("known").path, *path);
        }
        // A path through a link resolves to the same attribute.
        std::os::unix::fs::symlink("devices/virtual/block", sys.join("block")).expect("a link");
        let through = sys.join("block/loop0/queue/scheduler");
        assert_eq!(known.accept(noted(&through, "bfq")).expect("known").path, scheduler);
        let strange = [
            put("devices/virtual/block/loop0/queue/nr_requests"),
            put("devices/virtual/block/loop0/scheduler"),
            put("devices/system/cpu/cpufreq/policyx/scaling_governor"),
            put("kernel/uevent_helper"),
            put("block2/loop0/queue/scheduler"),
            sys.join("devices/virtual/block/loop0/queue"),
            sys.join("devices/gone/queue/scheduler"),
            "/etc/passwd".into(),
        ];
        for path in strange {
            assert!(known.accept(noted(&path, "bfq")).is_err(), "{}", path.display());
        }
        for value in ["", "a b", "none\n", "../x", "NONE", "a23456789012345678901234567890123"] {
            assert!(known.accept(noted(&scheduler, value)).is_err(), "{value:?}");
        }
        let merges = put("devices/virtual/block/loop0/queue/nomerges");
        assert!(known.accept(Tuning { to: "2".into(), ..noted(&merges, "0") }).is_ok());
        assert!(known.accept(noted(&merges, "0")).is_err(), "a name is not a number");
        // The same path outside the kernel's tree.
        assert!(KnownSettings::of_this_host().accept(noted(&scheduler, "bfq")).is_err());
    }

    #[test]
    fn every_setting_that_is_tuned_is_known() {
        for attribute in ["scheduler", "wbt_lat_usec", "iostats", "nomerges", "scaling_governor"] {
            assert!(KNOWN.iter().any(|known| known.attribute == attribute), "{attribute}");
        }
    }

    #[test]
    fn the_active_choice_is_in_brackets() {
        assert_eq!((active("mq-deadline [none] bfq"), active("2")), ("none", "2"));
    }
}
