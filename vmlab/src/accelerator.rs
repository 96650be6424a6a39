//! How QEMU executes the guest, and the firmware that starts the guest.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::program::stop;

/// Timeout for the first output of a kernel on KVM.
const KVM_WITHIN: Duration = Duration::from_secs(6);

/// How the guest's instructions are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    Kvm,
    Tcg,
}

impl Accelerator {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kvm => "KVM",
            Self::Tcg => "TCG (no KVM)",
        }
    }

    pub const fn argument(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg,thread=multi",
        }
    }

    /// Returns KVM if it can boot the kernel. Being able to open the KVM device proves nothing, so a guest
    /// without disks must print its first line within a few seconds.
    pub fn best(qemu: &Path, kernel: &Path, folder: &Path) -> Self {
        let may = fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
        if may && boots_with_kvm(qemu, kernel, folder) { Self::Kvm } else { Self::Tcg }
    }
}

/// Returns the arguments to use qboot if it is installed, because it starts faster.
pub fn firmware() -> Vec<&'static str> {
    const SMALL: &str = "/usr/share/qemu/qboot.rom";
    if Path::new(SMALL).exists() { vec!["-bios", SMALL] } else { Vec::new() }
}

/// Returns whether a kernel prints anything on KVM.
fn boots_with_kvm(qemu: &Path, kernel: &Path, folder: &Path) -> bool {
    let log = "kvm.log";
    drop(fs::remove_file(folder.join(log)));
    let mut command = Command::new(qemu);
    command
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-M", "q35"])
        .args(["-accel", Accelerator::Kvm.argument(), "-cpu", "max", "-m", "512"])
        .arg("-kernel")
        .arg(kernel)
        .args(["-append", "console=ttyS0 panic=-1", "-serial", &format!("file:{log}")])
        .args(firmware())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let deadline = Instant::now() + KVM_WITHIN;
    let mut booted = false;
    while !booted && Instant::now() < deadline {
        booted = fs::read(folder.join(log)).is_ok_and(|text| contains(&text, b"Linux version"));
        if child.try_wait().is_ok_and(|ended| ended.is_some()) {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    stop(&mut child);
    booted
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
