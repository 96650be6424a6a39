//! How I/Os are submitted to the kernel: from the command line to `run.json`, and from there to the drive.

use engine::{Engine, Polling};
use record::Driving;

use crate::{cli, fio};

/// Returns the requested options for `run.json`; none if the engine is chosen automatically.
pub fn asked(words: &cli::Driving) -> Option<Driving> {
    let cli::Driving { ioengine, hipri, sqthread_poll } = words;
    let driving = Driving { ioengine: ioengine.clone(), hipri: *hipri, sqthread_poll: *sqthread_poll };
    (driving != Driving::default()).then_some(driving)
}

/// Returns the same options for the drive.
///
/// # Errors
/// Lists the supported engines.
pub fn way(driving: Option<&Driving>) -> Result<(Engine, Polling), String> {
    let Some(driving) = driving else { return Ok((Engine::Auto, Polling::No)) };
    let engine = match &driving.ioengine {
        None => Engine::Auto,
        Some(name) => fio::engine(name).map_err(|problem| format!("--ioengine {name}: {problem}"))?,
    };
    Ok((engine, polling(driving.hipri, driving.sqthread_poll)))
}

/// The command line accepts at most one of the two.
pub fn polling(hipri: bool, sqthread_poll: bool) -> Polling {
    match (hipri, sqthread_poll) {
        (true, _) => Polling::Completions,
        (_, true) => Polling::Submissions,
        _ => Polling::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_kept_and_done() {
        assert_eq!(asked(&cli::Driving::default()), None);
        let words = cli::Driving { ioengine: Some("io_uring_cmd".into()), hipri: true, ..Default::default() };
        let kept = asked(&words);
        assert_eq!(way(kept.as_ref()), Ok((Engine::IoUringCmd, Polling::Completions)));
        assert_eq!(way(None), Ok((Engine::Auto, Polling::No)));
        let unknown = Driving { ioengine: Some("mmap".into()), ..Driving::default() };
        assert!(way(Some(&unknown)).is_err_and(|problem| problem.contains("io_uring_cmd")));
    }
}
