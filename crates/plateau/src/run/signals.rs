//! Signals that stop a run cleanly, and the message shown if stopping takes a long time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::failure::{Done, Exit};
use crate::output::printer;

/// A load checks the flag once a second, so if an interruption takes longer, the load is waiting for the
/// device.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes a write beyond the `ulimit -f` limit fail; otherwise, SIGXFSZ would kill the process before it
/// restored the settings.
pub fn prepare() -> Done {
    // Any handler suffices: without one, the signal ends the process; with one, the write fails with EFBIG.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Returns a flag that is set on Ctrl-C, SIGTERM or SIGHUP (closed terminal). A second Ctrl-C or SIGTERM ends the
/// process at once. A second SIGHUP does not: the kernel and the shell both send one when a terminal is closed.
pub fn watch() -> Done<Arc<AtomicBool>> {
    let (interrupted, requested) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM] {
        let code = i32::from(Exit::Interrupted.code());
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&requested))?;
        signal_hook::flag::register(signal, Arc::clone(&requested))?;
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    if !is_ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), SIGHUP) {
        signal_hook::flag::register(SIGHUP, Arc::clone(&interrupted))?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if signals.forever().next().is_some() {
            // Clear the task bar now, because a second signal may end the process at any time.
            printer::close_taskbar();
            std::thread::sleep(PATIENCE);
            printer::print_line("waiting for outstanding I/O; press again to exit now");
        }
    })?;
    Ok(interrupted)
}

/// Ends the process when its terminal is closed, even if it was started with SIGHUP ignored. A program that reads keys
/// needs this: crossterm never returns from a terminal that no longer exists, and keeps a core busy.
pub fn end_with_terminal() -> Done {
    signal_hook::flag::register_conditional_default(SIGHUP, Arc::new(AtomicBool::new(true)))?;
    Ok(())
}

/// Returns whether the process was started with this signal ignored, for example by `nohup`; the signal then
/// stays ignored.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_signal_is_read_from_the_mask_of_the_kernel() {
        let status = "Name:\tplateau\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        assert!(is_ignored(status, SIGHUP));
        assert!(!is_ignored(status, SIGINT));
        assert!(!is_ignored("", SIGHUP));
    }
}
