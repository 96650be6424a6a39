//! Power saving: the drive or its link enters low-power states between I/Os, and takes time to leave them.

use super::check::{Check, Finding, Scene, read};

pub(super) const CHECK: Check = Check { name: "power saving", look };

/// Power-saving settings; `None` if not applicable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Features {
    /// APST: maximum exit latency of the states that an NVMe drive may enter, in us.
    apst_latency_us: Option<u64>,
    /// ALPM: power management policy of the SATA link.
    alpm: Option<String>,
    /// ASPM: whether the PCIe link enters L1.
    aspm_l1: Option<bool>,
    /// Whether runtime power management may suspend the drive.
    runtime: Option<bool>,
}

fn look(scene: &Scene<'_>) -> Finding {
    let Some(device) = &scene.device else { return Finding::not_here("the target is a file") };
    let nearest = |name: &str| scene.nearest_with(name).and_then(|dir| read(dir.join(name)));
    let apst_latency_us = device.kname.starts_with("nvme").then(|| {
        let default = scene.sys("module/nvme_core/parameters/default_ps_max_latency_us");
        let own = nearest("power/pm_qos_latency_tolerance_us");
        let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
        number(own).or_else(|| number(default))
    });
    let alpm = scene.above().iter().find_map(|dir| {
        let name = dir.file_name()?.to_str()?;
        read(dir.join("scsi_host").join(name).join("link_power_management_policy"))
    });
    judge(&Features {
        apst_latency_us: apst_latency_us.flatten(),
        alpm,
        aspm_l1: nearest("link/l1_aspm").map(|text| text == "1"),
        runtime: device.attribute("device/power/control").map(|text| text == "auto"),
    })
}

fn judge(features: &Features) -> Finding {
    let apst = features.apst_latency_us.map(|us| match us {
        0 => Finding::ok("APST off"),
        us => Finding::warn(
            format!("APST on: the drive may sleep between I/Os and take up to {us} us to wake"),
            "boot with nvme_core.default_ps_max_latency_us=0",
        ),
    });
    let alpm = features.alpm.as_deref().map(|policy| match policy {
        "max_performance" => Finding::ok("ALPM off"),
        policy => Finding::warn(
            format!("ALPM on ({policy}): the SATA link sleeps between I/Os"),
            "echo max_performance > /sys/class/scsi_host/HOST/link_power_management_policy",
        ),
    });
    let aspm = features.aspm_l1.map(|on| match on {
        false => Finding::ok("ASPM off"),
        true => Finding::warn(
            "ASPM on: the PCIe link sleeps between I/Os (L1)",
            "boot with pcie_aspm.policy=performance",
        ),
    });
    let runtime = features.runtime.filter(|may| *may).map(|_| {
        Finding::warn(
            "the kernel may suspend the drive while it is idle",
            "echo on > /sys/block/DEVICE/device/power/control",
        )
    });
    Finding::worst_of([apst, alpm, aspm, runtime].into_iter().flatten().collect())
        .unwrap_or_else(|| Finding::not_here("the kernel reports none for this drive"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn};

    #[test]
    fn every_kind_of_sleep_is_reported() {
        assert_eq!(judge(&Features::default()).verdict, NotHere);
        let awake = Features {
            apst_latency_us: Some(0),
            alpm: Some("max_performance".into()),
            aspm_l1: Some(false),
            runtime: Some(false),
        };
        assert_eq!(
            (judge(&awake).verdict, judge(&awake).found.as_str()),
            (Ok, "APST off; ALPM off; ASPM off")
        );
        let asleep = [
            Features { apst_latency_us: Some(100_000), ..awake.clone() },
            Features { alpm: Some("med_power_with_dipm".into()), ..awake.clone() },
            Features { aspm_l1: Some(true), ..awake.clone() },
            Features { runtime: Some(true), ..awake },
        ];
        for features in asleep {
            let finding = judge(&features);
            assert_eq!(finding.verdict, Warn, "{features:?}");
            assert!(finding.fix.is_some(), "{features:?}");
        }
    }
}
