//! How accurate this host's wall clock is, according to the kernel.

use std::io;

/// State of the host's wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallClock {
    /// Whether a time service keeps the clock synchronized.
    pub is_synchronized: bool,
    /// Largest possible error in ns, as reported by the time service; the kernel increases it until the next
    /// correction.
    pub max_error_ns: u64,
    /// Error in ns as estimated by the time service.
    pub estimated_error_ns: u64,
}

/// Asks the kernel (`adjtimex`) for the state of the wall clock.
///
/// # Errors
/// Returns the error of the system call, which a sandbox may forbid.
pub fn wall_clock() -> io::Result<WallClock> {
    // SAFETY: all zeros are a valid `timex`, which consists of integers. No bit of `modes` is set, so nothing is changed.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one `timex` during the call.
    if unsafe { libc::adjtimex(&raw mut state) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(of(&state))
}

fn of(state: &libc::timex) -> WallClock {
    // The kernel reports both errors in us.
    let ns = |us: libc::c_long| us.unsigned_abs().saturating_mul(1_000);
    WallClock {
        is_synchronized: state.status & libc::STA_UNSYNC == 0,
        max_error_ns: ns(state.maxerror),
        estimated_error_ns: ns(state.esterror),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_microseconds_and_the_status_bit_means_unsynchronized() {
        // SAFETY: all zeros are a valid `timex`, which consists of integers.
        let mut state: libc::timex = unsafe { std::mem::zeroed() };
        (state.maxerror, state.esterror, state.status) = (2_500, 40, libc::STA_NANO);
        let expected =
            WallClock { is_synchronized: true, max_error_ns: 2_500_000, estimated_error_ns: 40_000 };
        assert_eq!(of(&state), expected);
        state.status |= libc::STA_UNSYNC;
        assert_eq!(of(&state), WallClock { is_synchronized: false, ..expected });
    }

    #[test]
    fn the_kernel_reports_the_state_of_the_clock() {
        match wall_clock() {
            // The kernel considers a clock whose error reaches 16 s unsynchronized.
            Ok(clock) => assert!(!clock.is_synchronized || clock.max_error_ns <= 16_000_000_000, "{clock:?}"),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}"),
        }
    }
}
