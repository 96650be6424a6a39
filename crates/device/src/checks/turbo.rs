//! Turbo, which makes the clock rate depend on the CPU's temperature and on the load on other cores.

use super::check::{Check, Finding, Scene};

pub(super) const CHECK: Check = Check { name: "turbo", look };

fn look(scene: &Scene<'_>) -> Finding {
    let intel = scene.sys("devices/system/cpu/intel_pstate/no_turbo");
    judge(intel.as_deref(), scene.sys("devices/system/cpu/cpufreq/boost").as_deref())
}

/// Returns the finding for `no_turbo` from Intel's driver, or `boost` from other drivers.
fn judge(no_turbo: Option<&str>, boost: Option<&str>) -> Finding {
    let (on, switch) = match (no_turbo, boost) {
        (Some(off), _) => (off == "0", "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"),
        (None, Some(boost)) => (boost == "1", "echo 0 > /sys/devices/system/cpu/cpufreq/boost"),
        (None, None) => return Finding::not_here("the kernel does not report turbo"),
    };
    if on {
        Finding::warn("on; the CPUs' speed depends on their temperature and on other load", switch)
    } else {
        Finding::ok("off")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict::{NotHere, Ok, Warn};

    #[test]
    fn both_switches_are_understood() {
        let cases = [
            (Some("0"), None, Warn),
            (Some("1"), Some("1"), Ok),
            (None, Some("1"), Warn),
            (None, Some("0"), Ok),
            (None, None, NotHere),
        ];
        for (no_turbo, boost, verdict) in cases {
            assert_eq!(judge(no_turbo, boost).verdict, verdict, "{no_turbo:?} {boost:?}");
        }
    }
}
