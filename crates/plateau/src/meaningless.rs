//! Options without meaning for a simulated drive. They are refused rather than ignored, because a user who typed one
//! expects an effect. Settings of a plan may be intended for other targets and are not refused.

use crate::cli::{Asked, Handling};
use crate::failure::{Done, Exit, Failure};
use crate::wanted::Wanted;

const WHY_PATH: &str = "its I/Os do not pass through the kernel";
const WHY_HOST: &str = "it runs in this program and depends on no host setting";

/// Returns the first target if all of them are simulated drives.
pub fn all_simulated(wanted: &[Wanted]) -> Option<&str> {
    let is_simulated = |each: &Wanted| each.target.starts_with("sim:");
    wanted.first().filter(|_| wanted.iter().all(is_simulated)).map(|first| &*first.target)
}

/// Refuses the first option without meaning for `target`.
pub fn check(target: &str, asked: &Asked, handling: &Handling, erase: &[String]) -> Done {
    if !target.starts_with("sim:") {
        return Ok(());
    }
    match first(asked, handling, erase) {
        None => Ok(()),
        Some((option, why)) => {
            let text = format!("{option} does not apply to {target}, a simulated drive: {why}; omit it");
            Err(Failure::text(Exit::Usage, text))
        }
    }
}

fn first(asked: &Asked, handling: &Handling, erase: &[String]) -> Option<(&'static str, &'static str)> {
    let all = [
        ("--size", asked.size.is_some(), "its model has a capacity, which --scale divides"),
        ("--ioengine", asked.driving.ioengine.is_some(), WHY_PATH),
        ("--hipri", asked.driving.hipri, WHY_PATH),
        ("--sqthread_poll", asked.driving.sqthread_poll, WHY_PATH),
        ("--cpus_allowed", asked.cpus_allowed.is_some(), WHY_PATH),
        ("--numa_cpu_nodes", asked.numa_cpu_nodes.is_some(), WHY_PATH),
        ("--tune", handling.tune, WHY_HOST),
        ("--lba-format", handling.lba_format.is_some(), "only NVMe namespaces have a choice of LBA formats"),
        ("--erase", !erase.is_empty(), "it is new for each run, so it contains no data"),
    ];
    all.into_iter().find(|(_, is_given, _)| *is_given).map(|(option, _, why)| (option, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_simulated_drives_refuse_them() {
        let handling = Handling { tune: true, ..Handling::default() };
        assert!(check("/dev/nvme0n1", &Asked::default(), &handling, &["S1".into()]).is_ok());
        let refused = check("sim:sas-slc-2011", &Asked::default(), &handling, &[]);
        let failure = refused.expect_err("it means nothing");
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message().starts_with("--tune does not apply to sim:sas-slc-2011"));
        assert!(check("sim:sas-slc-2011", &Asked::default(), &Handling::default(), &[]).is_ok());
    }
}
