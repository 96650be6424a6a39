//! Tests every check on mock `/sys` and `/proc` trees of a well-configured host and a misconfigured host.

use std::fs;
use std::os::unix::fs::symlink;

use record::HostVerdict::{self, NotHere, Ok, Warn, WouldInvalidate};

use super::*;
use sysfs::DeviceNumber;

const DISK: DeviceNumber = DeviceNumber { major: 259, minor: 0 };
const FUNCTION: &str = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";

/// A host with an NVMe drive, on which every check passes.
struct Host {
    dir: tempfile::TempDir,
    roots: Roots,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let roots = Roots { sys: dir.path().join("sys"), proc: dir.path().join("proc") };
        let host = Self { dir, roots };
        for (path, text) in FIT {
            host.write(path, text);
        }
        for (name, text) in FIT_FUNCTION {
            host.write(&format!("{FUNCTION}/{name}"), text);
        }
        let link = host.roots.sys.join("dev/block/259:0");
        fs::create_dir_all(link.parent().expect("a parent")).expect("a folder");
        symlink(host.dir.path().join(format!("{FUNCTION}/nvme/nvme0/nvme0n1")), link).expect("a link");
        symlink("..", host.dir.path().join(format!("{FUNCTION}/nvme/nvme0/nvme0n1/device"))).expect("a link");
        host
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn look(&self) -> HostLook {
        let device = SysDevice::find(&self.roots, DISK).ok();
        look_around(&Scene { roots: &self.roots, device, watched: Duration::ZERO })
    }

    #[track_caller]
    fn assert_verdict(&self, name: &str, verdict: HostVerdict) {
        let looked = self.look();
        let check = looked.checks.iter().find(|check| check.name == name).expect("a check of that name");
        assert_eq!(check.verdict, verdict, "{check:?}");
        assert_eq!(check.fix.is_some(), verdict > Ok, "what is wrong has a fix: {check:?}");
    }
}

const FIT: &[(&str, &str)] = &[
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
    ("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Not affected\n"),
    ("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "0\n"),
    ("sys/devices/system/node/node0/cpulist", "0-3\n"),
    ("sys/module/nvme_core/parameters/default_ps_max_latency_us", "0\n"),
    ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
    ("sys/class/thermal/thermal_zone0/temp", "45000\n"),
    ("sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n"),
    ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "95000\n"),
    ("sys/fs/cgroup/test.slice/cpu.max", "max 100000\n"),
    ("proc/self/cgroup", "0::/test.slice\n"),
    ("proc/swaps", "Filename Type Size Used Priority\n"),
    ("proc/stat", "cpu  10 0 20 60 10 0 0 0 0 0\n"),
    ("proc/irq/40/effective_affinity_list", "0\n"),
    ("proc/irq/41/effective_affinity_list", "1\n"),
    ("proc/irq/42/effective_affinity_list", "2-3\n"),
];

const FIT_FUNCTION: &[(&str, &str)] = &[
    ("current_link_speed", "16.0 GT/s PCIe\n"),
    ("current_link_width", "4\n"),
    ("max_link_speed", "16.0 GT/s PCIe\n"),
    ("max_link_width", "4\n"),
    ("numa_node", "0\n"),
    ("iommu_group/type", "identity\n"),
    ("link/l1_aspm", "0\n"),
    ("msi_irqs/40", "msix\n"),
    ("msi_irqs/41", "msix\n"),
    ("msi_irqs/42", "msix\n"),
    ("nvme/nvme0/hwmon1/temp1_input", "38850\n"),
    ("nvme/nvme0/hwmon1/temp1_max", "81850\n"),
    ("nvme/nvme0/nvme0n1/stat", "10 0 80 5 20 0 160 9 0 14 14 0 0 0 0\n"),
    ("nvme/nvme0/nvme0n1/queue/scheduler", "[none] mq-deadline\n"),
    ("nvme/nvme0/nvme0n1/queue/wbt_lat_usec", "0\n"),
    ("nvme/nvme0/nvme0n1/queue/iostats", "0\n"),
    ("nvme/nvme0/nvme0n1/queue/nomerges", "2\n"),
];

#[test]
fn a_suitable_host_passes_every_check() {
    for check in Host::new().look().checks {
        assert_eq!(check.verdict, Ok, "{check:?}");
    }
    assert_eq!(Host::new().look().tunings, []);
}

#[test]
fn every_check_detects_its_problem() {
    let cases: &[(&str, HostVerdict, String, &str)] = &[
        ("governor", Warn, "sys/devices/system/cpu/cpufreq/policy0/scaling_governor".into(), "powersave\n"),
        ("turbo", Warn, "sys/devices/system/cpu/cpufreq/boost".into(), "1\n"),
        ("scheduler", Warn, format!("{FUNCTION}/nvme/nvme0/nvme0n1/queue/scheduler"), "none [mq-deadline]\n"),
        (
            "write-back throttling",
            Warn,
            format!("{FUNCTION}/nvme/nvme0/nvme0n1/queue/wbt_lat_usec"),
            "2000\n",
        ),
        ("iostats", Warn, format!("{FUNCTION}/nvme/nvme0/nvme0n1/queue/iostats"), "1\n"),
        ("nomerges", Warn, format!("{FUNCTION}/nvme/nvme0/nvme0n1/queue/nomerges"), "0\n"),
        ("PCIe link", WouldInvalidate, format!("{FUNCTION}/current_link_width"), "2\n"),
        ("PCIe link", WouldInvalidate, format!("{FUNCTION}/current_link_speed"), "2.5 GT/s PCIe\n"),
        (
            "other load",
            WouldInvalidate,
            format!("{FUNCTION}/nvme/nvme0/nvme0n1/stat"),
            "1 0 8 5 2 0 1 9 3 1 1\n",
        ),
        ("IOMMU", Warn, format!("{FUNCTION}/iommu_group/type"), "DMA\n"),
        ("cgroup limits", Warn, "sys/fs/cgroup/test.slice/cpu.max".into(), "50000 100000\n"),
        ("cgroup limits", WouldInvalidate, "sys/fs/cgroup/io.max".into(), "259:0 riops=500 wiops=max\n"),
        ("swap", Warn, "proc/swaps".into(), "Filename\n/swap file 1024 512 -2\n"),
        (
            "power saving",
            Warn,
            "sys/module/nvme_core/parameters/default_ps_max_latency_us".into(),
            "100000\n",
        ),
        ("power saving", Warn, format!("{FUNCTION}/link/l1_aspm"), "1\n"),
        (
            "kernel mitigations",
            Warn,
            "sys/devices/system/cpu/vulnerabilities/spectre_v2".into(),
            "Mitigation: Retpolines\n",
        ),
        ("thermal state", WouldInvalidate, format!("{FUNCTION}/nvme/nvme0/hwmon1/temp1_input"), "90000\n"),
        ("thermal state", WouldInvalidate, "sys/class/thermal/thermal_zone0/temp".into(), "99000\n"),
    ];
    for (name, verdict, path, text) in cases {
        let host = Host::new();
        host.write(path, text);
        host.assert_verdict(name, *verdict);
    }
    let host = Host::new();
    for number in [40, 41, 42] {
        host.write(&format!("proc/irq/{number}/effective_affinity_list"), "3\n");
    }
    host.assert_verdict("interrupts and NUMA", Warn);
}

#[test]
fn unreported_host_facts_are_absent_without_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let roots = Roots { sys: dir.path().join("sys"), proc: dir.path().join("proc") };
    let looked = look_around(&Scene { roots: &roots, device: None, watched: Duration::ZERO });
    assert_eq!(looked.checks.len(), CHECKS.len());
    for check in looked.checks {
        let expected = if check.name == "swap" { Ok } else { NotHere };
        assert_eq!(check.verdict, expected, "{check:?}");
    }
}

#[test]
fn safe_settings_are_tuned_and_restored() {
    let host = Host::new();
    let queue = format!("{FUNCTION}/nvme/nvme0/nvme0n1/queue");
    let governor = "sys/devices/system/cpu/cpufreq/policy0";
    host.write(&format!("{queue}/scheduler"), "none [mq-deadline]\n");
    host.write(&format!("{queue}/nomerges"), "0\n");
    host.write(&format!("{governor}/scaling_governor"), "schedutil\n");
    host.write(&format!("{governor}/scaling_available_governors"), "schedutil performance\n");
    let tunings = host.look().tunings;
    let settings: Vec<(&str, bool)> = tunings.iter().map(|t| (t.setting.as_str(), t.of_host)).collect();
    let expected =
        [("governor of policy0", true), ("scheduler of nvme0n1", false), ("nomerges of nvme0n1", false)];
    assert_eq!(settings, expected);
    let before: Vec<_> = tunings.iter().map(|t| fs::read_to_string(&t.path).expect("a setting")).collect();
    tunings.iter().for_each(|tuning| tuning.set(&tuning.to).expect("a file takes everything"));
    assert_eq!(host.look().tunings, []);
    tunings.iter().for_each(|tuning| tuning.set(&tuning.was).expect("a file takes everything"));
    let after: Vec<_> = tunings.iter().map(|t| fs::read_to_string(&t.path).expect("a setting")).collect();
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(tuning::active(before.trim()), tuning::active(after.trim()));
    }
    assert!(host.look().checks.iter().any(|check| check.tunable));
}

/// Returns the drive of [`Host`] with two paths: its namespace under a subsystem, and a hidden disk under each
/// controller.
fn with_two_paths() -> Host {
    let host = Host::new();
    let subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
    let head = host.dir.path().join(subsystem).join("nvme0n1");
    for (attribute, text) in [("scheduler", "none\n"), ("iostats", "0\n"), ("nomerges", "2\n")] {
        host.write(&format!("{subsystem}/nvme0n1/queue/{attribute}"), text);
    }
    let functions = [FUNCTION.to_owned(), FUNCTION.replace("01.0", "02.0").replace("0000:01", "0000:02")];
    for (number, function) in functions.iter().enumerate() {
        let controller = format!("{function}/nvme/nvme{number}");
        for name in ["nvme0c0n1", "nvme0c1n1"].iter().skip(number).take(1) {
            for (attribute, text) in [
                ("scheduler", "[none] mq-deadline\n"),
                ("wbt_lat_usec", "0\n"),
                ("iostats", "0\n"),
                ("nomerges", "2\n"),
            ] {
                host.write(&format!("{controller}/{name}/queue/{attribute}"), text);
            }
        }
        // Another namespace of the same controllers, which must be ignored.
        host.write(&format!("{controller}/nvme0c{number}n2/queue/scheduler"), "none [mq-deadline]\n");
        let link = host.dir.path().join(subsystem).join(format!("nvme{number}"));
        symlink(host.dir.path().join(controller), link).expect("a link");
    }
    let link = host.roots.sys.join("dev/block/259:0");
    fs::remove_file(&link).expect("the old link");
    symlink(head, link).expect("a link");
    host
}

#[test]
fn the_queue_of_each_path_is_judged() {
    let queue_checks = ["scheduler", "write-back throttling", "iostats", "nomerges"];
    let host = with_two_paths();
    queue_checks.iter().for_each(|name| host.assert_verdict(name, Ok));
    let second = "sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0/nvme/nvme1/nvme0c1n1/queue";
    let head = "sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/queue";
    for (name, path, text) in [
        ("scheduler", format!("{second}/scheduler"), "none [mq-deadline]\n"),
        ("write-back throttling", format!("{second}/wbt_lat_usec"), "2000\n"),
        ("iostats", format!("{second}/iostats"), "1\n"),
        ("nomerges", format!("{second}/nomerges"), "0\n"),
        ("nomerges", format!("{head}/nomerges"), "0\n"),
    ] {
        let host = with_two_paths();
        host.write(&path, text);
        host.assert_verdict(name, Warn);
        let looked = host.look();
        let kname = if path.starts_with(head) { "nvme0n1" } else { "nvme0c1n1" };
        let check = looked.checks.iter().find(|check| check.name == name).expect("a check");
        assert!(check.found.starts_with(&format!("{kname}: ")), "{check:?}");
        let settings: Vec<&str> = looked.tunings.iter().map(|tuning| tuning.setting.as_str()).collect();
        assert_eq!(settings.len(), 1, "only what is wrong is tuned: {settings:?}");
        assert!(settings[0].ends_with(&format!(" of {kname}")), "{settings:?}");
        looked.tunings[0].set(&looked.tunings[0].to).expect("a file takes everything");
        host.assert_verdict(name, Ok);
    }
}

#[test]
fn two_paths_that_are_wrong_are_both_tuned() {
    let host = with_two_paths();
    for (function, kname) in [("01.0/0000:01", "nvme0/nvme0c0n1"), ("02.0/0000:02", "nvme1/nvme0c1n1")] {
        let path = format!("sys/devices/pci0000:00/0000:00:{function}:00.0/nvme/{kname}/queue/scheduler");
        host.write(&path, "none [mq-deadline]\n");
    }
    let settings: Vec<String> = host.look().tunings.into_iter().map(|tuning| tuning.setting).collect();
    assert_eq!(settings, ["scheduler of nvme0c0n1", "scheduler of nvme0c1n1"]);
}

#[test]
fn a_drive_with_several_paths_is_looked_at_by_its_controller() {
    let host = Host::new();
    let subsystem = host.roots.sys.join("devices/virtual/nvme-subsystem/nvme-subsys0");
    fs::create_dir_all(subsystem.join("nvme0n1/queue")).expect("a folder");
    symlink(host.dir.path().join(format!("{FUNCTION}/nvme/nvme0")), subsystem.join("nvme0")).expect("a link");
    let link = host.roots.sys.join("dev/block/259:0");
    fs::remove_file(&link).expect("the old link");
    symlink(subsystem.join("nvme0n1"), link).expect("a link");
    host.assert_verdict("PCIe link", Ok);
    host.write(&format!("{FUNCTION}/current_link_width"), "1\n");
    host.assert_verdict("PCIe link", WouldInvalidate);
}
