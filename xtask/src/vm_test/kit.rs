//! What the machine is made of: QEMU, a kernel with its modules, busybox; all from Debian packages.
//!
//! QEMU is used as it is installed, or installed where that is possible. Kernel and busybox are only
//! downloaded and unpacked below `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, bail};

use super::vmlinux;

/// What cannot be had, and what to do about it.
pub struct Missing(pub String);

/// What runs the guest's instructions.
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
}

/// Everything that a machine needs besides our program.
pub struct Kit {
    pub qemu: PathBuf,
    pub qemu_version: String,
    pub kernel: PathBuf,
    pub kernel_release: String,
    /// `lib/modules/RELEASE` of the unpacked package.
    pub modules: PathBuf,
    pub busybox: PathBuf,
    pub mdadm: PathBuf,
    pub accelerator: Accelerator,
}

const QEMU: &str = "qemu-system-x86_64";
const QEMU_PACKAGE: &str = "qemu-system-x86";
/// The kernel for clouds is smaller and has no SATA.
const KERNEL_PACKAGE: &str = "linux-image-amd64";
const BUSYBOX_PACKAGE: &str = "busybox-static";
const MDADM_PACKAGE: &str = "mdadm";

/// QEMU before this version does not take up an NVMe command now and then.
const STEADY_QEMU: u32 = 10;
/// Seconds that one call of apt-get may take.
const APT_SECONDS: &str = "240";

impl Kit {
    /// Gets all of it; `steady` is for whom a stalled command would be a failure.
    pub fn obtain(folder: &Path, steady: bool) -> Result<Self, Missing> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(Missing("the guest runs our own program, so it needs Linux on x86-64".into()));
        }
        let missing = |package: &'static str| {
            move |error: anyhow::Error| {
                Missing(format!("Debian's package {package} is needed and cannot be had: {error:#}"))
            }
        };
        let (qemu, qemu_version) = qemu().map_err(missing(QEMU_PACKAGE))?;
        if steady && !is_steady(&qemu_version) {
            return Err(Missing(format!(
                "{qemu_version} now and then does not take up an NVMe command; {STEADY_QEMU} or newer is needed here \
                 (PLATEAU_QEMU names another one)"
            )));
        }
        if finished(Command::new("mkfs.ext4").arg("-V")).is_err() {
            return Err(Missing(
                "mkfs.ext4 is needed for the disk that runs are kept on; install e2fsprogs".into(),
            ));
        }
        let packages = folder.join("packages");
        let kernel_root = unpacked(&packages, KERNEL_PACKAGE).map_err(missing(KERNEL_PACKAGE))?;
        let busybox_root = unpacked(&packages, BUSYBOX_PACKAGE).map_err(missing(BUSYBOX_PACKAGE))?;
        let mdadm_root = unpacked(&packages, MDADM_PACKAGE).map_err(missing(MDADM_PACKAGE))?;
        let (packed, kernel_release) = kernel_in(&kernel_root).map_err(missing(KERNEL_PACKAGE))?;
        let kernel = vmlinux::unpacked(&packed, folder);
        let modules = ["lib/modules", "usr/lib/modules"].map(|place| kernel_root.join(place));
        let modules = modules.into_iter().find(|place| place.is_dir());
        let file = |root: &Path, places: [&str; 2]| {
            places.map(|place| root.join(place)).into_iter().find(|place| place.is_file())
        };
        let busybox = file(&busybox_root, ["bin/busybox", "usr/bin/busybox"]);
        let mdadm = file(&mdadm_root, ["sbin/mdadm", "usr/sbin/mdadm"]);
        let broken = |what: &str| Missing(format!("{what} is not where it should be in its package"));
        Ok(Self {
            accelerator: accelerator(&qemu, &kernel, folder),
            qemu,
            qemu_version,
            kernel,
            modules: modules.ok_or_else(|| broken("lib/modules"))?.join(&kernel_release),
            kernel_release,
            busybox: busybox.ok_or_else(|| broken("busybox"))?,
            mdadm: mdadm.ok_or_else(|| broken("mdadm"))?,
        })
    }
}

/// `PLATEAU_QEMU`, or what is installed, or what can be installed.
fn qemu() -> anyhow::Result<(PathBuf, String)> {
    if let Some(chosen) = std::env::var_os("PLATEAU_QEMU") {
        let version = qemu_version(Path::new(&chosen)).context("PLATEAU_QEMU")?;
        return Ok((chosen.into(), version));
    }
    let installed = qemu_version(Path::new(QEMU));
    if installed.as_ref().is_ok_and(|version| is_steady(version)) {
        return Ok((QEMU.into(), installed?));
    }
    if !is_root() {
        let version =
            installed.with_context(|| format!("{QEMU} is not installed, and only root can install it"));
        return Ok((QEMU.into(), version?));
    }
    // The newer one of backports is tried first, also over an old one.
    let newer = backports().is_some_and(|release| install(&["-t", &release]).is_ok());
    if !newer && installed.is_err() {
        install(&[])?;
    }
    Ok((QEMU.into(), qemu_version(Path::new(QEMU))?))
}

/// `QEMU 10.0.2` and later.
fn is_steady(version: &str) -> bool {
    let number = version.trim_start_matches("QEMU ").split('.').next();
    number.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= STEADY_QEMU)
}

fn install(options: &[&str]) -> anyhow::Result<()> {
    let words = ["install", "-qq", "-y", "--no-install-recommends"];
    let once = || finished(apt_get().args(words).args(options).arg(QEMU_PACKAGE));
    once().or_else(|error| refreshed(error).and_then(|()| once())).map(drop)
}

/// It ends, also where the network does not answer.
fn apt_get() -> Command {
    let mut command = Command::new("timeout");
    command.args([APT_SECONDS, "apt-get"]).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Reads the lists of packages anew, once, where we may: a fresh container has none. Without that the error stays.
fn refreshed(error: anyhow::Error) -> anyhow::Result<()> {
    static DONE: std::sync::Once = std::sync::Once::new();
    let mut did = false;
    DONE.call_once(|| did = is_root() && finished(apt_get().args(["update", "-qq"])).is_ok());
    if did { Ok(()) } else { Err(error) }
}

/// The release of this distribution that has newer packages, whether it is set up or not.
fn backports() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(format!("{}-backports", name.trim_matches('"')))
}

fn qemu_version(program: &Path) -> anyhow::Result<String> {
    let output = finished(Command::new(program).arg("--version"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().unwrap_or_default();
    // "QEMU emulator version 7.2.22 (Debian ...)"
    Ok(format!("QEMU {}", first.split_whitespace().nth(3).unwrap_or(first)))
}

fn is_root() -> bool {
    finished(Command::new("id").arg("-u")).is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// The folder with a package's files; downloaded once.
fn unpacked(packages: &Path, package: &str) -> anyhow::Result<PathBuf> {
    let root = packages.join(package);
    if root.is_dir() {
        return Ok(root);
    }
    let unfinished = packages.join(format!("{package}.unfinished"));
    drop(fs::remove_dir_all(&unfinished));
    fs::create_dir_all(&unfinished)?;
    let download =
        || finished(apt_get().args(["download", "-qq", &real_name(package)?]).current_dir(&unfinished));
    download().or_else(|error| refreshed(error).and_then(|()| download()))?;
    let entries = fs::read_dir(&unfinished)?.collect::<Result<Vec<_>, _>>()?;
    let file =
        entries.iter().map(fs::DirEntry::path).find(|path| path.extension().is_some_and(|e| e == "deb"));
    let file = file.context("apt-get brought no file")?;
    finished(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(&unfinished))?;
    fs::remove_file(&file)?;
    fs::rename(&unfinished, &root)?;
    Ok(root)
}

/// Kernels have a package without files that depends on the newest one.
fn real_name(package: &str) -> anyhow::Result<String> {
    if package != KERNEL_PACKAGE {
        return Ok(package.into());
    }
    let output = finished(Command::new("apt-cache").args(["depends", package]))?;
    newest_kernel(&String::from_utf8_lossy(&output.stdout))
        .with_context(|| format!("apt knows no {package}; apt-get update may help"))
}

fn newest_kernel(depends: &str) -> Option<String> {
    let named = depends.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    named.into_iter().find(|name| name.starts_with("linux-image-")).map(str::to_owned)
}

fn kernel_in(root: &Path) -> anyhow::Result<(PathBuf, String)> {
    for entry in fs::read_dir(root.join("boot"))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(release) = name.strip_prefix("vmlinuz-") {
            let release = release.to_owned();
            return Ok((path, release));
        }
    }
    bail!("no vmlinuz in it")
}

/// KVM where it runs the kernel: a device that can be opened is no proof, so a guest without disks has to
/// print its first line within some seconds.
fn accelerator(qemu: &Path, kernel: &Path, folder: &Path) -> Accelerator {
    let may = fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
    if may && super::machine::boots_with_kvm(qemu, kernel, folder) {
        Accelerator::Kvm
    } else {
        Accelerator::Tcg
    }
}

/// Runs a program to its end; what it said is the error.
pub fn finished(command: &mut Command) -> anyhow::Result<Output> {
    let name = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot start {name}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("{name}: {}: {}", output.status, said.trim().lines().last().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_is_what_the_empty_package_depends_on() {
        let text = "linux-image-amd64\n  Depends: linux-image-6.1.0-56-amd64\n  Suggests: linux-doc\n";
        assert_eq!(newest_kernel(text).as_deref(), Some("linux-image-6.1.0-56-amd64"));
        assert_eq!(newest_kernel("N: Unable to locate package"), None);
    }

    #[test]
    fn old_emulators_are_known() {
        assert!(is_steady("QEMU 10.0.2") && is_steady("QEMU 11.1"));
        assert!(!is_steady("QEMU 7.2.22") && !is_steady("QEMU 9.2.0") && !is_steady("QEMU of somebody"));
    }

    #[test]
    fn a_failed_program_is_quoted() {
        let error = finished(Command::new("sh").args(["-c", "echo wrong >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("wrong"), "{error}");
    }
}
