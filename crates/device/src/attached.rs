//! Topology of a target: its disk, its controller, and the links between the device and the CPU.

use std::path::Path;

use sysfs::{Attached, Roots, SysDevice};

use crate::usage::{self, Thing};

/// Looks up the topology of a target; empty for files and simulated drives.
#[must_use]
pub fn attached(path: &str) -> Attached {
    let Some(Thing::Device(number)) = usage::thing_at(Path::new(path)) else { return Attached::default() };
    let roots = Roots::default();
    SysDevice::find(&roots, number)
        .map_or_else(|_| Attached::default(), |device| Attached::of(&roots, &device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_simulated_drives_have_no_topology() {
        assert_eq!(attached("sim:sas-slc-2011"), Attached::default());
        assert_eq!(attached("/etc/hostname"), Attached::default());
    }
}
