//! Frequency governor: a CPU that lowers its clock rate between I/Os adds to response times.

use std::path::PathBuf;

use super::check::{Check, Finding, Scene, read};
use super::tuning::Tuning;

pub(super) const CHECK: Check = Check { name: "governor", look };

const RECOMMENDED: &str = "performance";

/// CPUs that share a clock.
struct Policy {
    name: String,
    path: PathBuf,
    governor: String,
    is_offered: bool,
}

fn look(scene: &Scene<'_>) -> Finding {
    let policies = scene.entries("devices/system/cpu/cpufreq", "policy").into_iter().filter_map(|dir| {
        let offered = read(dir.join("scaling_available_governors")).unwrap_or_default();
        Some(Policy {
            name: dir.file_name()?.to_string_lossy().into_owned(),
            governor: read(dir.join("scaling_governor"))?,
            is_offered: offered.split_whitespace().any(|word| word == RECOMMENDED),
            path: dir.join("scaling_governor"),
        })
    });
    judge(&policies.collect::<Vec<_>>())
}

fn judge(policies: &[Policy]) -> Finding {
    if policies.is_empty() {
        return Finding::not_here("the kernel does not control the CPU frequency");
    }
    let others: Vec<&Policy> = policies.iter().filter(|policy| policy.governor != RECOMMENDED).collect();
    let Some(first) = others.first() else {
        return Finding::ok(format!("{RECOMMENDED} in all {} groups of CPUs", policies.len()));
    };
    let found = format!("{} in {} of {} groups of CPUs", first.governor, others.len(), policies.len());
    let tunable = others.iter().filter(|policy| policy.is_offered).map(|policy| Tuning {
        setting: format!("governor of {}", policy.name),
        path: policy.path.clone(),
        was: policy.governor.clone(),
        to: RECOMMENDED.into(),
        of_host: true,
    });
    Finding {
        tunings: tunable.collect(),
        ..Finding::warn(found, format!("cpupower frequency-set -g {RECOMMENDED}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HostVerdict;

    fn policy(governor: &str, is_offered: bool) -> Policy {
        Policy { name: "policy0".into(), path: "/sys/p".into(), governor: governor.into(), is_offered }
    }

    #[test]
    fn only_groups_that_offer_it_are_tuned() {
        assert_eq!(judge(&[]).verdict, HostVerdict::NotHere);
        assert_eq!(judge(&[policy("performance", true)]).verdict, HostVerdict::Ok);
        let finding =
            judge(&[policy("performance", true), policy("powersave", true), policy("userspace", false)]);
        assert_eq!((finding.verdict, finding.tunings.len()), (HostVerdict::Warn, 1));
        assert_eq!(finding.found, "powersave in 2 of 3 groups of CPUs");
        assert!(finding.tunings[0].of_host);
    }
}
