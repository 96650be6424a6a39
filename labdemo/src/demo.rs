//! Shows the lab, and removes it without a trace.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::bail;

use crate::cluster::{Cluster, Node, exists};
use crate::folder::DemoFolder;
use crate::lab::Lab;
use crate::leftovers;

/// The programs, with the Debian packages that contain them.
const PROGRAMS: [(&str, &str); 9] = [
    ("runuser", "util-linux"),
    ("munged", "munge"),
    ("slurmctld", "slurm-wlm"),
    ("slurmd", "slurm-wlm"),
    ("sbatch", "slurm-wlm"),
    ("squeue", "slurm-wlm"),
    ("scancel", "slurm-wlm"),
    ("curl", "curl"),
    ("prometheus", "prometheus"),
];
/// Shows the lab with `show`, then removes it, whatever happened, and checks that nothing is left.
///
/// # Errors
/// Returns an error if the lab does not start, `show` fails, or something is left.
pub fn demonstrate(
    root: &Path,
    binary: &Path,
    listen: &str,
    prometheus: &str,
    show: impl FnOnce(&mut Lab) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let folder = DemoFolder::new()?;
    let node = |name: &str, drives: [&str; 2]| Node {
        name: name.into(),
        drives: drives.map(str::to_owned).into(),
        processors: 8,
    };
    let nodes = [node("n1", ["D1", "D2"]), node("n2", ["D3", "D4"])];
    let shown = Cluster::start(&folder, binary, &nodes).and_then(|cluster| {
        let mut lab = Lab::start(root, &folder, binary, cluster, listen, prometheus)?;
        show(&mut lab)
        // The daemons end here.
    });
    let shown = shown.map_err(|error| error.context(folder.logs()));
    let left = leftovers::end_all(folder.path());
    let place = folder.path().to_owned();
    let removed = folder.remove();
    shown?;
    removed?;
    if !left.is_empty() {
        bail!("these processes had to be killed: {}", left.join("; "));
    }
    println!("The demo has ended; no process and no file of it is left ({}).", place.display());
    Ok(())
}

/// Returns why the demo cannot run on this machine, and what to type.
#[must_use]
pub fn why_not() -> Option<String> {
    let missing: Vec<&(&str, &str)> = PROGRAMS.iter().filter(|(name, _)| !exists(name)).collect();
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    requirements(is_root, &missing)
}

fn requirements(is_root: bool, missing: &[&(&str, &str)]) -> Option<String> {
    if !is_root {
        return Some("root is needed, because slurmd needs it: `sudo -E cargo xtask lab-demo`".into());
    }
    if missing.is_empty() {
        return None;
    }
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    packages.dedup();
    Some(format!(
        "missing: {}; install them with `apt-get install --no-install-recommends {}`",
        names.join(", "),
        packages.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_requirements_name_the_command_that_installs_them() {
        let missing: Vec<&(&str, &str)> = PROGRAMS[1..4].iter().collect();
        let text = requirements(true, &missing).expect("something is missing");
        assert!(text.contains("missing: munged, slurmctld, slurmd;"), "{text}");
        assert!(text.contains("apt-get install --no-install-recommends munge slurm-wlm`"), "{text}");
        assert_eq!(requirements(true, &[]), None);
        assert!(requirements(false, &[]).is_some_and(|text| text.contains("sudo")));
    }
}
