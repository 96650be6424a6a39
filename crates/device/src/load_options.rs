//! Determines which engine, placement and polling mode suit a real target.

use engine::{Choices, Engine, EngineError, LoadOptions, Places, Polling};

use crate::error::DriveError;
use crate::error::target::TargetError;
use crate::open_options::OpenOptions;
use crate::target::Real;

/// Resolves the requested options for a target, or returns why they are impossible.
pub(crate) fn load_options(
    target: &str,
    real: &Real,
    options: &OpenOptions,
    roots: &sysfs::Roots,
) -> Result<LoadOptions, DriveError> {
    let places = Places::of(&roots.sys, real.numa_node(), options.placement.clone());
    let places = places.map_err(EngineError::from)?;
    if options.polling != Polling::No && matches!(options.engine, Engine::Libaio | Engine::Threads) {
        return Err(DriveError::target(target, TargetError::CannotPoll));
    }
    if options.engine == Engine::IoUringCmd && !real.is_nvme() {
        return Err(DriveError::target(target, TargetError::NotNvme));
    }
    let impossible = (options.polling == Polling::Completions).then(|| real.unpollable()).flatten();
    let polling = if impossible.is_some() { Polling::No } else { options.polling };
    Ok(LoadOptions {
        engine: options.engine,
        places,
        polling,
        unpolled: impossible,
        choices: Choices::default(),
        expected_run: options.expected_run,
    })
}
