//! Decides when a thread pauses, as fio does for `thinktime`.

use record::ThinkTime;

/// One thread's pauses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pauses {
    thinktime: ThinkTime,
    /// Number of I/Os counted at the last pause.
    counted: u64,
    last_end_ns: u64,
}

impl Pauses {
    pub(crate) fn of(thinktime: ThinkTime, start_ns: u64) -> Self {
        Self { thinktime, counted: 0, last_end_ns: start_ns }
    }

    /// Starts a pause if one is due, given the numbers of I/Os issued and completed. Returns its length and the part
    /// of it that keeps the CPU busy, in ns.
    pub(crate) fn begin(
        &mut self,
        issued: u64,
        completed: u64,
        now_ns: impl Fn() -> u64,
    ) -> Option<(u64, u64)> {
        let ThinkTime { length_ns, spin_ns, ios, count_issued, io_time_ns } = self.thinktime;
        let counted = if count_issued { issued } else { completed };
        let by_count = ios > 0 && counted >= self.counted + u64::from(ios);
        let by_time = || io_time_ns.is_some_and(|ns| now_ns().saturating_sub(self.last_end_ns) >= ns);
        if !by_count && !by_time() {
            return None;
        }
        self.counted = counted;
        Some((length_ns, spin_ns))
    }

    /// Ends a pause.
    pub(crate) fn end(&mut self, now_ns: u64) {
        self.last_end_ns = now_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THINKTIME: ThinkTime =
        ThinkTime { length_ns: 5, spin_ns: 2, ios: 3, count_issued: false, io_time_ns: None };

    /// Returns the numbers of completed I/Os at which a thread pauses, if an I/O is issued and completed every
    /// ns.
    fn pauses(thinktime: ThinkTime, until: u64) -> Vec<u64> {
        let mut pauses = Pauses::of(thinktime, 0);
        let mut at = |ios: u64| {
            let begun = pauses.begin(ios, ios.saturating_sub(1), || ios);
            if begun.is_some() {
                pauses.end(ios);
            }
            begun.is_some()
        };
        (1..=until).filter(|ios| at(*ios)).collect()
    }

    #[test]
    fn a_thread_pauses_after_every_so_many_ios_or_after_a_time() {
        assert_eq!(pauses(THINKTIME, 11), [4, 7, 10]);
        assert_eq!(pauses(ThinkTime { count_issued: true, ..THINKTIME }, 11), [3, 6, 9]);
        assert_eq!(pauses(ThinkTime { ios: 0, io_time_ns: Some(5), ..THINKTIME }, 11), [5, 10]);
        assert_eq!(pauses(ThinkTime { io_time_ns: Some(2), ..THINKTIME }, 7), [2, 4, 6]);
    }
}
