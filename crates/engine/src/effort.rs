//! CPU cost of a thread or the process as accounted by the kernel.

use record::Effort;
use rustix::time::{ClockId, clock_gettime};

/// Returns the cost of the calling thread since it started.
pub(crate) fn of_this_thread() -> Effort {
    // The kernel updates these sums at scheduler ticks; reading this clock brings them up to date.
    let _ = clock_gettime(ClockId::ThreadCPUTime);
    // SAFETY: all zeros are a valid `rusage`, which consists of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one `rusage` during the call.
    let answer = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    debug_assert_eq!(answer, 0, "getrusage with a valid pointer and a known constant");
    let ns = |time: libc::timeval| {
        time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1_000
    };
    Effort {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
        involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
        major_faults: usage.ru_majflt.unsigned_abs(),
        minor_faults: usage.ru_minflt.unsigned_abs(),
    }
}

/// Returns the CPU time of all threads of this process, including the kernel's helper threads (io-wq).
pub(crate) fn of_this_process_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
