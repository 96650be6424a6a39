//! zram devices, each created for its test. `zramctl --find` may return the same free device to two concurrent
//! tests, whereas the kernel's `hot_add` returns a new device to each.

use std::fs;
use std::io::ErrorKind;
use std::process::Command;
use std::time::{Duration, Instant};

const CONTROL: &str = "/sys/class/zram-control";
/// Time for which a device may remain in use. Anything longer indicates a bug.
const LONGEST_USE: Duration = Duration::from_secs(60);

/// A compressed RAM disk with 4096 B sectors; removed on drop.
pub struct Zram {
    pub path: String,
    number: u32,
}

impl Zram {
    /// Creates a device with a capacity of `bytes`. If this is impossible, prints the reason for skipping the
    /// test and returns `None`.
    pub fn new(bytes: u64) -> Option<Self> {
        made(bytes).inspect_err(|reason| skips::skip!("{reason}")).ok()
    }
}

fn made(bytes: u64) -> Result<Zram, String> {
    if !fs::exists(CONTROL).unwrap_or(false) {
        // The following lines check whether this worked.
        drop(Command::new("modprobe").arg("zram").output());
    }
    let add = format!("{CONTROL}/hot_add");
    let number = fs::read_to_string(&add).map_err(|e| format!("{add}: {e}"))?;
    let number: u32 = number.trim().parse().map_err(|e| format!("{add} gave {number:?}: {e}"))?;
    let size = format!("/sys/block/zram{number}/disksize");
    let sized = fs::write(&size, bytes.to_string());
    if sized.as_ref().is_err_and(|e| e.kind() == ErrorKind::ResourceBusy) {
        // Another process that looked for a free device has already set the size of this device. The device
        // now belongs to that process, so do not remove it.
        return Err(format!("zram{number} was taken by another process"));
    }
    // From here on, the device is always removed.
    let device = Zram { path: format!("/dev/zram{number}"), number };
    sized.map_err(|e| format!("{size}: {e}"))?;
    if !fs::exists(&device.path).unwrap_or(false) {
        return Err(format!("{} has not appeared", device.path));
    }
    Ok(device)
}

impl Drop for Zram {
    fn drop(&mut self) {
        let remove = || fs::write(format!("{CONTROL}/hot_remove"), self.number.to_string());
        let begun = Instant::now();
        let mut removed = remove();
        // The ring of a killed process, or a process that probes new devices, may briefly have the device open.
        while removed.as_ref().is_err_and(|e| e.kind() == ErrorKind::ResourceBusy)
            && begun.elapsed() < LONGEST_USE
        {
            std::thread::sleep(Duration::from_millis(5));
            removed = remove();
        }
        if let Err(problem) = removed {
            eprintln!("{} cannot be removed: {problem}", self.path);
        }
    }
}
