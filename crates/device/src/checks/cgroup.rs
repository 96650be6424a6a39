//! Control groups: limits that a service manager or a container imposes on this process.

use std::path::{Path, PathBuf};

use super::check::{Check, Finding, Scene, read};
use sysfs::DeviceNumber;

pub(super) const CHECK: Check = Check { name: "cgroup limits", look };

/// Files of cgroup v1 that limit a device's I/O.
const BLKIO: [&str; 4] = ["read_iops", "write_iops", "read_bps", "write_bps"];

fn look(scene: &Scene<'_>) -> Finding {
    let Some(groups) = scene.proc("self/cgroup") else {
        return Finding::not_here("the kernel has no control groups");
    };
    let mut io = Vec::new();
    let mut processor = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        for dir in folders(&scene.roots.sys.join("fs/cgroup"), controllers, path) {
            processor.extend(read(dir.join("cpu.max")).and_then(|text| quota(&text)));
            processor.extend(quota_of_version_1(&dir));
            if let Some(device) = &scene.device {
                io.extend(io_limits(&dir, device.number));
            }
        }
    }
    judge(&io, &processor, scene.online().len())
}

/// Returns the folders of the group and all its ancestors; all of their limits apply.
fn folders(base: &Path, controllers: &str, path: &str) -> Vec<PathBuf> {
    let hierarchies = if controllers.is_empty() {
        vec![base.to_path_buf(), base.join("unified")]
    } else {
        vec![base.join(controllers)]
    };
    let below = Path::new(path.trim_start_matches('/'));
    let all = |top: &PathBuf| -> Vec<PathBuf> { below.ancestors().map(|part| top.join(part)).collect() };
    hierarchies.iter().flat_map(all).collect()
}

/// Returns the number of CPUs that a group may use: `50000 100000` is half a CPU.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

fn quota_of_version_1(dir: &Path) -> Option<f64> {
    let number = |name: &str| read(dir.join(name))?.parse::<f64>().ok();
    Some(number("cpu.cfs_quota_us").filter(|quota| *quota > 0.0)? / number("cpu.cfs_period_us")?)
}

fn io_limits(dir: &Path, number: DeviceNumber) -> Vec<String> {
    let of_device = |text: String| {
        let lines =
            text.lines().filter_map(|line| line.strip_prefix(&format!("{number} ")).map(str::to_owned));
        lines.collect::<Vec<_>>()
    };
    let second = read(dir.join("io.max"))
        .into_iter()
        .flat_map(of_device)
        .filter(|limits| limits.split_whitespace().any(|limit| !limit.ends_with("=max")));
    let first = BLKIO.iter().flat_map(|name| {
        let text = read(dir.join(format!("blkio.throttle.{name}_device")));
        text.into_iter().flat_map(of_device).map(move |limit| format!("{name}={limit}"))
    });
    second.chain(first).collect()
}

fn judge(io: &[String], processor: &[f64], online: usize) -> Finding {
    let least = processor.iter().copied().reduce(f64::min).filter(|least| *least < online as f64);
    let mut findings = Vec::new();
    if !io.is_empty() {
        findings.push(Finding::invalid(
            format!("I/O to the drive is limited: {}", io.join("; ")),
            "start Plateau outside this control group, or remove the limit (io.max, blkio.throttle)",
        ));
    }
    if let Some(least) = least {
        findings.push(Finding::warn(
            format!("CPU time is limited to {least:.2} of {online} CPUs"),
            "start Plateau outside this control group, or remove the limit (cpu.max)",
        ));
    }
    Finding::worst_of(findings).unwrap_or_else(|| Finding::ok("none on I/O or CPU time"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{Ok, Warn, WouldInvalidate};

    #[test]
    fn limits_of_both_versions_are_read() {
        assert_eq!((quota("max 100000"), quota("50000 100000")), (None, Some(0.5)));
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("io.max"), "8:0 rbps=max riops=1\n8:16 rbps=max wiops=9\n")
            .expect("a file");
        std::fs::write(dir.path().join("blkio.throttle.read_iops_device"), "8:16 500\n").expect("a file");
        std::fs::write(dir.path().join("cpu.cfs_quota_us"), "-1\n").expect("a file");
        let limits = io_limits(dir.path(), DeviceNumber { major: 8, minor: 16 });
        assert_eq!(limits, ["rbps=max wiops=9", "read_iops=500"]);
        assert_eq!(io_limits(dir.path(), DeviceNumber { major: 8, minor: 1 }), [""; 0]);
        assert_eq!(quota_of_version_1(dir.path()), None);
    }

    #[test]
    fn every_group_above_limits_too() {
        let found = folders(Path::new("/c"), "", "/a/b");
        assert!(
            found.contains(&"/c/a/b".into())
                && found.contains(&"/c/a".into())
                && found.contains(&"/c/".into())
        );
        assert_eq!(folders(Path::new("/c"), "blkio", "/"), [PathBuf::from("/c/blkio/")]);
    }

    #[test]
    fn io_limits_are_more_severe_than_cpu_limits() {
        assert_eq!(judge(&[], &[], 4).verdict, Ok);
        assert_eq!(judge(&[], &[8.0], 4).verdict, Ok);
        assert_eq!(judge(&[], &[8.0, 0.5], 4).verdict, Warn);
        assert_eq!(judge(&["riops=1".into()], &[0.5], 4).verdict, WouldInvalidate);
    }
}
