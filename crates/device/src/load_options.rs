//! Determines which engine, placement and polling mode suit a real target.

use engine::{Choices, Engine, EngineError, LoadOptions, Places, Polling};

use crate::error::DriveError;
use crate::error::target::TargetError;
use crate::open_options::{Manner, OpenOptions};
use crate::target::Real;

/// Resolves the requested options for a target, or returns why they are impossible.
pub(crate) fn load_options(
    target: &str,
    real: &Real,
    options: &OpenOptions,
    roots: &sysfs::Roots,
) -> Result<LoadOptions, DriveError> {
    let of_manner = |manner: Manner| -> Result<LoadOptions, DriveError> {
        let Manner { engine, placement, polling } = manner;
        let places = Places::of(&roots.sys, real.numa_node(), placement);
        let places = places.map_err(EngineError::from)?;
        if polling != Polling::No && is_unpollable(engine) {
            return Err(DriveError::target(target, TargetError::CannotPoll));
        }
        if matches!(engine, Engine::Null | Engine::Files(_)) {
            return Err(DriveError::target(target, TargetError::EngineWithoutTarget));
        }
        if matches!(engine, Engine::Space(_)) && !matches!(real, Real::File(_)) {
            return Err(DriveError::target(target, TargetError::NotAFile));
        }
        if engine == Engine::Scsi && !real.is_scsi_disk() {
            return Err(DriveError::target(target, TargetError::NotScsi));
        }
        if engine == Engine::IoUringCmd && !real.is_nvme() {
            return Err(DriveError::target(target, TargetError::NotNvme));
        }
        let unpolled = (polling == Polling::Completions).then(|| real.unpollable()).flatten();
        let polling = if unpolled.is_some() { Polling::No } else { polling };
        let (choices, others) = (Choices::default(), Vec::new());
        Ok(LoadOptions {
            engine,
            places,
            polling,
            unpolled,
            choices,
            others,
            expected_run: options.expected_run,
        })
    };
    let mut manners = options.manners().map(of_manner).collect::<Result<Vec<_>, _>>()?;
    let first = manners.remove(0);
    Ok(LoadOptions { others: manners, ..first })
}

const fn is_unpollable(engine: Engine) -> bool {
    matches!(engine, Engine::Libaio | Engine::Threads | Engine::Scsi | Engine::Space(_))
}
