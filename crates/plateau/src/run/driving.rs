//! Passes the requested way of submitting I/Os from `run.json` to the drive.

use engine::{Engine, Polling};
use record::Driving;

/// Returns the requested I/O options for the drive.
///
/// # Errors
/// Returns an error that lists the supported engines.
pub fn way(driving: Option<&Driving>) -> Result<(Engine, Polling), String> {
    let Some(driving) = driving else { return Ok((Engine::Auto, Polling::No)) };
    let engine = match &driving.ioengine {
        None => Engine::Auto,
        Some(name) => fio::engine(name).map_err(|problem| format!("--ioengine {name}: {problem}"))?,
    };
    if let (false, Some(name)) = (engine.transfers_data(), &driving.ioengine) {
        return Err(format!("--ioengine {name}: it transfers no data, so it is only for plateau load"));
    }
    Ok((engine, polling(driving.hipri, driving.sqthread_poll)))
}

/// Returns the polling mode; the command line accepts only one of these options.
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
    fn requested_engines_are_those_of_fio() {
        let requested = Driving { ioengine: Some("io_uring_cmd".into()), hipri: true, ..Driving::default() };
        assert_eq!(way(Some(&requested)), Ok((Engine::IoUringCmd, Polling::Completions)));
        assert_eq!(way(None), Ok((Engine::Auto, Polling::No)));
        let unknown = Driving { ioengine: Some("mmap".into()), ..Driving::default() };
        assert!(way(Some(&unknown)).is_err_and(|problem| problem.contains("io_uring_cmd")));
        for name in ["null", "falloc", "ftruncate", "filecreate"] {
            let without_data = Driving { ioengine: Some(name.into()), ..Driving::default() };
            assert!(way(Some(&without_data)).is_err_and(|problem| problem.contains("no data")), "{name}");
        }
    }
}
