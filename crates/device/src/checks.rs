//! Host checks: conditions around a drive that could skew a result, with one file per check.
//!
//! Each check reads `/sys` and `/proc` under the given roots, and passes the values to a pure function that
//! evaluates them. Settings that are safe to change for a run are returned as [`Tuning`].

mod cgroup;
mod check;
mod governor;
mod interrupts;
mod iommu;
mod iostats;
mod mitigations;
mod nomerges;
mod other_load;
mod pcie_link;
mod power_saving;
mod scheduler;
mod swap;
mod thermal;
mod tuning;
mod turbo;
mod write_back_throttling;

use std::time::Duration;

use record::HostCheck;

use crate::target::Real;
use check::{Check, Finding, Scene};
use sysfs::{Roots, SysDevice};
pub use tuning::{KnownSettings, Tuning};

/// Interval between the two readings of the counters.
const WATCHED: Duration = Duration::from_millis(300);

/// All checks, in the order in which they are reported.
const CHECKS: &[Check] = &[
    governor::CHECK,
    turbo::CHECK,
    scheduler::CHECK,
    write_back_throttling::CHECK,
    iostats::CHECK,
    nomerges::CHECK,
    interrupts::CHECK,
    pcie_link::CHECK,
    other_load::CHECK,
    iommu::CHECK,
    cgroup::CHECK,
    swap::CHECK,
    power_saving::CHECK,
    mitigations::CHECK,
    thermal::CHECK,
];

/// The findings of all checks and the settings that could be changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostLook {
    /// The result of every check.
    pub checks: Vec<HostCheck>,
    /// Settings that are safe to change for a run and to restore afterwards.
    pub tunings: Vec<Tuning>,
}

/// Conditions that no setting of a run changes. They do not include the load of other jobs on the same host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    /// The PCIe link of the drive.
    pub link: HostCheck,
    /// Limits on the I/O and CPU time of this process.
    pub limits: HostCheck,
    /// Temperatures of the drive and the host.
    pub thermal: HostCheck,
}

/// Checks a target's host.
pub(crate) fn look(real: &Real) -> HostLook {
    on_scene(Some(real), look_around)
}

pub(crate) fn conditions(real: Option<&Real>) -> Conditions {
    on_scene(real, |scene| {
        let [link, limits, thermal] = [pcie_link::CHECK, cgroup::CHECK, thermal::CHECK]
            .map(|check| of_finding(&check, &(check.look)(scene)));
        Conditions { link, limits, thermal }
    })
}

/// Checks the conditions of this host, without a drive.
#[must_use]
pub fn host_conditions() -> Conditions {
    conditions(None)
}

fn on_scene<T>(real: Option<&Real>, look: impl Fn(&Scene<'_>) -> T) -> T {
    let Some(Real::Block(block)) = real else {
        return look(&Scene { roots: &Roots::default(), device: None, watched: WATCHED });
    };
    let device = SysDevice::find(block.roots(), block.number()).ok();
    look(&Scene { roots: block.roots(), device, watched: WATCHED })
}

fn of_finding(check: &Check, finding: &Finding) -> HostCheck {
    let Finding { verdict, found, fix, tunings } = finding.clone();
    let tunable = fix.is_some() && !tunings.is_empty();
    HostCheck { name: check.name.into(), verdict, found, fix, tunable }
}

fn look_around(scene: &Scene<'_>) -> HostLook {
    let mut looked = HostLook::default();
    for check in CHECKS {
        let finding = (check.look)(scene);
        looked.checks.push(of_finding(check, &finding));
        looked.tunings.extend(finding.tunings);
    }
    looked
}

#[cfg(test)]
mod tests;
