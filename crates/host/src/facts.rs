//! Facts about the host that the kernel reports. They are stored with every run, because results mean little
//! without them.

use std::path::{Path, PathBuf};

use record::{HostFacts, TargetFacts, TargetKind};

/// Collects the facts that can be read; all others are absent.
pub fn facts(target: &TargetFacts) -> HostFacts {
    let disk = (target.kind == TargetKind::Block).then(|| queue_owner(&target.path)).flatten();
    HostFacts {
        cpu: field("/proc/cpuinfo", "model name"),
        microcode: field("/proc/cpuinfo", "microcode"),
        cpus: std::thread::available_parallelism().ok().and_then(|n| u32::try_from(n.get()).ok()),
        board: board(),
        bios_version: read("/sys/class/dmi/id/bios_version"),
        memory_bytes: field("/proc/meminfo", "MemTotal")
            .and_then(|text| text.strip_suffix(" kB")?.trim().parse::<u64>().ok())
            .map(|kib| kib * 1024),
        os: read("/etc/os-release").and_then(|text| {
            let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
            Some(name.trim_matches('"').to_owned())
        }),
        kernel: read("/proc/sys/kernel/osrelease"),
        kernel_command_line: read("/proc/cmdline"),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        scheduler: disk.as_ref().and_then(|dir| active_choice(&read(dir.join("queue/scheduler"))?)),
        pcie_link: disk.as_ref().and_then(|dir| pcie_link(dir)),
    }
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = read(path)?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn board() -> Option<String> {
    let dmi = Path::new("/sys/class/dmi/id");
    let parts: Vec<String> =
        ["board_vendor", "board_name"].iter().filter_map(|name| read(dmi.join(name))).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn queue_owner(device: &str) -> Option<PathBuf> {
    let path = std::fs::canonicalize(device).ok()?;
    Some(Path::new("/sys/class/block").join(path.file_name()?))
}

/// Returns the choice in brackets: `none` for `mq-deadline [none]`.
fn active_choice(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn pcie_link(disk: &Path) -> Option<String> {
    let up = std::fs::canonicalize(disk.join("device")).ok()?;
    let port = up.ancestors().find(|dir| dir.join("current_link_speed").exists())?;
    let (speed, width) = (read(port.join("current_link_speed"))?, read(port.join("current_link_width"))?);
    Some(format!("{speed} x{width}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_active_scheduler_is_in_brackets() {
        assert_eq!(active_choice("mq-deadline [none] bfq").as_deref(), Some("none"));
        assert_eq!(active_choice("none"), None);
    }
}
