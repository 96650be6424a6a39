//! What a thread costs the host: processor time and context switches, as the kernel counts them.

/// What the workers of a workload cost the host, from the common start to their ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Processor time outside of the kernel.
    pub user_ns: u64,
    /// Processor time inside of it.
    pub system_ns: u64,
    /// Times that a worker had to wait for something.
    pub voluntary_switches: u64,
    /// Times that a worker was taken off its processor.
    pub involuntary_switches: u64,
}

impl Effort {
    /// Of the calling thread since it began.
    pub(crate) fn of_this_thread() -> Self {
        // SAFETY: all zeros are a valid `rusage`, which is integers only.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is valid for one `rusage` during the call.
        let answer = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        debug_assert_eq!(answer, 0, "getrusage with a valid pointer and a known constant");
        let ns = |time: libc::timeval| {
            time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1_000
        };
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
            involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
        }
    }

    /// What came on top of `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches - earlier.voluntary_switches,
            involuntary_switches: self.involuntary_switches - earlier.involuntary_switches,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
    }

    /// Processor time in total.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}
