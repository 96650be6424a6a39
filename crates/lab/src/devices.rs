//! The block devices of the host.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A block device of the host.
#[derive(Debug, Clone)]
pub struct Device {
    /// Path, such as `/dev/nvme0n1`.
    pub path: String,
    /// Type, such as `NVMe`.
    pub kind: String,
    /// Identity that the user must type to confirm erasing the device; None if unknown.
    pub identity: Option<String>,
    /// Model; None if unknown.
    pub model: Option<String>,
    /// Capacity; None if unknown.
    pub capacity_bytes: Option<u64>,
    /// Why the device cannot be tested; empty if it can.
    pub refusals: Vec<String>,
}

/// The block devices, or the reason why they cannot be listed.
type Listed = Result<Vec<Device>, String>;

/// Lists the host's block devices, or returns the reason why it cannot.
pub type ListDevices = Box<dyn Fn() -> Result<Vec<Device>, String> + Send + Sync>;

/// Time for which visitors get the same list. It takes tens of milliseconds to find out which processes use the devices.
/// A run examines its drive again, so an old list cannot harm anything.
const LASTS: Duration = Duration::from_secs(2);

/// The devices, examined for one visitor at a time.
pub struct Devices {
    list: ListDevices,
    latest: Mutex<Option<(Instant, Listed)>>,
}

impl Devices {
    pub fn of(list: ListDevices) -> Self {
        Self { list, latest: Mutex::new(None) }
    }

    /// Returns the devices as they were at most two seconds ago, or the reason why they cannot be listed.
    pub fn all(&self) -> Listed {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, listed)) = &*latest
            && at.elapsed() < LASTS
        {
            return listed.clone();
        }
        let listed = (self.list)();
        *latest = Some((Instant::now(), listed.clone()));
        listed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn visitors_share_a_list_for_a_while() {
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let devices = Devices::of(Box::new(move || Err(counted.fetch_add(1, Ordering::Relaxed).to_string())));
        let begun = Instant::now();
        assert!(devices.all().is_err_and(|why| why == "0"));
        while calls.load(Ordering::Relaxed) == 1 {
            let again = devices.all();
            assert!(again.is_err_and(|why| why == "0" || why == "1"));
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(begun.elapsed() >= LASTS, "{:?}", begun.elapsed());
    }
}
