//! How evenly I/Os arrive: the number of I/Os in windows of fixed length.

const WINDOWS_NS: [u64; 3] = [10_000_000, 100_000_000, 1_000_000_000];

/// The arrivals in windows of one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Length of a window.
    pub window_ns: u64,
    /// Mean number of I/Os in a window.
    pub mean: f64,
    /// The largest number of I/Os in a window.
    pub peak: u64,
    /// Variance of the number of I/Os, divided by its mean: 0 for a constant rate, 1 for independent
    /// arrivals, more for bursts.
    pub dispersion: f64,
}

#[derive(Default)]
struct Counted {
    window: u64,
    ios: u64,
    peak: u64,
    squares: f64,
    sum: u64,
}

impl Counted {
    fn close(&mut self) {
        self.peak = self.peak.max(self.ios);
        self.squares += (self.ios as f64).powi(2);
        self.sum += self.ios;
        self.ios = 0;
    }
}

#[derive(Default)]
pub struct Bursts([Counted; WINDOWS_NS.len()]);

impl Bursts {
    pub fn add(&mut self, at_ns: u64) {
        for (counted, window_ns) in self.0.iter_mut().zip(WINDOWS_NS) {
            let window = at_ns / window_ns;
            if window != counted.window {
                counted.close();
                counted.window = window;
            }
            counted.ios += 1;
        }
    }

    /// Returns the window lengths that fit into the trace at least twice. The last window is incomplete and is not
    /// counted.
    pub fn finish(self, last_ns: u64) -> Vec<Burst> {
        let of = |(counted, window_ns): (Counted, u64)| {
            let windows = (last_ns / window_ns) as f64;
            let mean = counted.sum as f64 / windows;
            let variance = (counted.squares / windows - mean * mean).max(0.0);
            let dispersion = if mean > 0.0 { variance / mean } else { 0.0 };
            (windows >= 2.0).then_some(Burst { window_ns, mean, peak: counted.peak, dispersion })
        };
        self.0.into_iter().zip(WINDOWS_NS).filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_does_not_disperse_and_bursts_do() {
        let dispersion = |times: Vec<u64>| {
            let mut bursts = Bursts::default();
            times.iter().for_each(|at| bursts.add(*at));
            bursts.finish(*times.last().expect("times"))[0]
        };
        let constant = dispersion((0..1000).map(|n| n * 1_000_000).collect());
        assert_eq!((constant.mean, constant.peak, constant.dispersion), (10.0, 10, 0.0));
        let bursts = dispersion((0..1000).map(|n| n / 100 * 100_000_000).collect());
        assert_eq!(bursts.peak, 100);
        assert!(bursts.dispersion > 80.0, "{}", bursts.dispersion);
    }
}
