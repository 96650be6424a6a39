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

/// Checks a target's host.
pub(crate) fn look(real: &Real) -> HostLook {
    match real {
        Real::Block(block) => {
            let device = SysDevice::find(block.roots(), block.number()).ok();
            look_around(&Scene { roots: block.roots(), device, watched: WATCHED })
        }
        Real::File(_) => look_around(&Scene { roots: &Roots::default(), device: None, watched: WATCHED }),
    }
}

fn look_around(scene: &Scene<'_>) -> HostLook {
    let mut looked = HostLook::default();
    for check in CHECKS {
        let Finding { verdict, found, fix, tunings } = (check.look)(scene);
        let tunable = fix.is_some() && !tunings.is_empty();
        looked.checks.push(HostCheck { name: check.name.into(), verdict, found, fix, tunable });
        looked.tunings.extend(tunings);
    }
    looked
}

#[cfg(test)]
mod tests;
