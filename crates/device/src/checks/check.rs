//! The definition of a check: its input and its findings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::parse_cpu_list;
use record::HostVerdict;

use super::tuning::{self, Tuning};
use sysfs::{Roots, SysDevice};

pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) look: fn(&Scene<'_>) -> Finding,
}

/// Input to a check.
pub(super) struct Scene<'a> {
    pub(super) roots: &'a Roots,
    /// Block device of the target; `None` for a file.
    pub(super) device: Option<SysDevice>,
    /// Interval between the two readings of the counters.
    pub(super) watched: Duration,
}

/// Findings of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) verdict: HostVerdict,
    pub(super) found: String,
    pub(super) fix: Option<String>,
    pub(super) tunings: Vec<Tuning>,
}

impl Finding {
    pub(super) fn of(verdict: HostVerdict, found: impl Into<String>) -> Self {
        Self { verdict, found: found.into(), fix: None, tunings: Vec::new() }
    }

    pub(super) fn ok(found: impl Into<String>) -> Self {
        Self::of(HostVerdict::Ok, found)
    }

    pub(super) fn not_here(found: impl Into<String>) -> Self {
        Self::of(HostVerdict::NotHere, found)
    }

    pub(super) fn warn(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::of(HostVerdict::Warn, found) }
    }

    pub(super) fn invalid(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::of(HostVerdict::WouldInvalidate, found) }
    }

    /// Merges several findings of a check: keeps the worst verdict, and the texts of all findings with that verdict.
    pub(super) fn worst_of(findings: Vec<Self>) -> Option<Self> {
        let verdict = findings.iter().map(|finding| finding.verdict).max()?;
        let worst: Vec<Self> = findings.into_iter().filter(|finding| finding.verdict == verdict).collect();
        let join = |texts: Vec<String>| texts.join("; ");
        let fixes: Vec<String> = worst.iter().filter_map(|finding| finding.fix.clone()).collect();
        Some(Self {
            verdict,
            found: join(worst.iter().map(|finding| finding.found.clone()).collect()),
            fix: (!fixes.is_empty()).then(|| join(fixes)),
            tunings: worst.into_iter().flat_map(|finding| finding.tunings).collect(),
        })
    }
}

pub(super) fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

impl Scene<'_> {
    pub(super) fn sys(&self, path: &str) -> Option<String> {
        read(self.roots.sys.join(path))
    }

    pub(super) fn proc(&self, path: &str) -> Option<String> {
        read(self.roots.proc.join(path))
    }

    /// Returns the entries of a folder in `/sys` whose names begin with `prefix`, sorted.
    pub(super) fn entries(&self, folder: &str, prefix: &str) -> Vec<PathBuf> {
        entries(&self.roots.sys.join(folder), prefix)
    }

    /// Returns the online CPUs.
    pub(super) fn online(&self) -> Vec<u32> {
        self.sys("devices/system/cpu/online").and_then(|text| parse_cpu_list(&text).ok()).unwrap_or_default()
    }

    /// Returns the folders above the device, nearest first: the folders of its controller, bus and port.
    pub(super) fn above(&self) -> Vec<PathBuf> {
        let Some(device) = &self.device else { return Vec::new() };
        let below = device.position().parent().map(controller_of).unwrap_or_default();
        below.ancestors().take_while(|dir| dir.starts_with(&self.roots.sys)).map(Into::into).collect()
    }

    /// Returns the nearest folder above the device that contains this entry.
    pub(super) fn nearest_with(&self, name: &str) -> Option<PathBuf> {
        self.above().into_iter().find(|dir| dir.join(name).exists())
    }
}

/// Returns a namespace's controller. Namespaces of multipath NVMe drives are located below their subsystem,
/// which links to the controllers.
pub(super) fn controller_of(parent: &Path) -> PathBuf {
    let of_subsystem =
        parent.file_name().is_some_and(|name| name.to_string_lossy().starts_with("nvme-subsys"));
    let controllers = if of_subsystem { entries(parent, "nvme") } else { Vec::new() };
    let links = controllers.into_iter().filter(|path| path.is_symlink());
    links.filter_map(|path| path.canonicalize().ok()).next().unwrap_or_else(|| parent.into())
}

pub(super) fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

/// A queue setting of the device, with the recommended value for measurements.
pub(super) struct QueueSetting {
    pub(super) attribute: &'static str,
    pub(super) recommended: &'static str,
    /// Describes a value of the attribute.
    pub(super) meaning: fn(&str) -> String,
    /// Returns whether the kernel offers the recommended value.
    pub(super) offered: fn(&str) -> bool,
    /// How other values affect results.
    pub(super) harm: &'static str,
}

impl QueueSetting {
    /// Checks the queue of the device or of each path of a multipath device.
    pub(super) fn look(&self, scene: &Scene<'_>) -> Finding {
        let Some(device) = &scene.device else { return Finding::not_here("the target is a file") };
        let paths = device.nvme_paths();
        if paths.is_empty() {
            return self.look_at(&device.kname, device.position());
        }
        let name = |dir: &Path| dir.file_name().map(|name| name.to_string_lossy().into_owned());
        let all = std::iter::once(device.position()).chain(paths.iter().map(PathBuf::as_path));
        let of_each = |dir: &Path| {
            let name = name(dir)?;
            let finding = self.look_at(&name, dir);
            let found = match finding.verdict {
                HostVerdict::NotHere => finding.found,
                _ => format!("{name}: {}", finding.found),
            };
            Some(Finding { found, ..finding })
        };
        Finding::worst_of(all.filter_map(of_each).collect()).unwrap_or_else(|| Finding::not_here("no queue"))
    }

    pub(super) fn look_at(&self, kname: &str, dir: &Path) -> Finding {
        let path = dir.join("queue").join(self.attribute);
        match read(&path) {
            None => Finding::not_here(format!("{kname} has no such setting")),
            Some(text) => self.judge(kname, &text, path),
        }
    }

    pub(super) fn judge(&self, kname: &str, text: &str, path: PathBuf) -> Finding {
        let now = (self.meaning)(text);
        if now == self.recommended {
            return Finding::ok(now);
        }
        let harm = format!("{now}; {}", self.harm);
        if !(self.offered)(text) {
            return Finding::warn(harm, format!("the kernel offers no {} here", self.recommended));
        }
        let tuning = Tuning {
            setting: format!("{} of {kname}", self.attribute),
            path: path.clone(),
            was: now,
            to: self.recommended.into(),
            of_host: false,
        };
        let fix = format!("echo {} > {}", self.recommended, tuning::short(&path, kname, self.attribute));
        Finding { tunings: vec![tuning], ..Finding::warn(harm, fix) }
    }
}
