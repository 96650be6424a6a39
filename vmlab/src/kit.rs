//! The parts of the machine: QEMU, a kernel with its modules, and busybox, all from Debian packages.
//!
//! The installed QEMU is used; if it is missing, it is installed if possible. Kernel and busybox are only
//! downloaded and unpacked under `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, anyhow, bail};

use crate::accelerator::Accelerator;
use crate::missing::Missing;
use crate::program::finished;
use crate::vmlinux;

/// Everything that a machine needs in addition to our program.
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
/// The kernel to use; the cloud kernel is smaller, but has no SATA.
const KERNEL_PACKAGE: &str = "linux-image-amd64";
const BUSYBOX_PACKAGE: &str = "busybox-static";
const MDADM_PACKAGE: &str = "mdadm";

/// First QEMU version that has every disk of the machine, and that does not occasionally ignore an NVMe command.
const FIRST_QEMU: u32 = 10;
/// Timeout for one call of apt-get, in seconds.
const APT_SECONDS: &str = "240";

impl Kit {
    /// Obtains all parts; `kernel` is an already unpacked kernel, if any.
    pub fn obtain(folder: &Path, kernel: Option<PathBuf>) -> Result<Self, Missing> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return Err(Missing("the guest runs our own program, which requires Linux on x86-64".into()));
        }
        let missing = |package: &'static str| {
            move |error: anyhow::Error| {
                Missing(format!("the Debian package {package} is needed but not available: {error:#}"))
            }
        };
        let (qemu, qemu_version) = qemu().map_err(missing(QEMU_PACKAGE))?;
        if !is_recent(&qemu_version) {
            return Err(Missing(format!(
                "{qemu_version} has no drive with data placement, and occasionally loses an NVMe command; \
                 {FIRST_QEMU} or newer is needed (set PLATEAU_QEMU to use a different QEMU)"
            )));
        }
        if finished(Command::new("mkfs.ext4").arg("-V")).is_err() {
            return Err(Missing(
                "mkfs.ext4 is needed for the disk that stores the runs; install e2fsprogs".into(),
            ));
        }
        let packages = folder.join("packages");
        let kernel_root = kernel.map_or_else(|| unpacked(&packages, KERNEL_PACKAGE), Ok);
        let kernel_root = kernel_root.map_err(missing(KERNEL_PACKAGE))?;
        let busybox_root = unpacked(&packages, BUSYBOX_PACKAGE).map_err(missing(BUSYBOX_PACKAGE))?;
        let mdadm_root = unpacked(&packages, MDADM_PACKAGE).map_err(missing(MDADM_PACKAGE))?;
        let Kernel { packed, release, modules } = kernel_in(&kernel_root).map_err(missing(KERNEL_PACKAGE))?;
        let kernel = vmlinux::unpacked(&packed, &kernel_root);
        let file = |root: &Path, places: [&str; 2]| {
            places.map(|place| root.join(place)).into_iter().find(|place| place.is_file())
        };
        let busybox = file(&busybox_root, ["bin/busybox", "usr/bin/busybox"]);
        let mdadm = file(&mdadm_root, ["sbin/mdadm", "usr/sbin/mdadm"]);
        let broken =
            |what: &str| Missing(format!("the package does not contain {what} at the expected path"));
        Ok(Self {
            accelerator: Accelerator::best(&qemu, &kernel, folder),
            qemu,
            qemu_version,
            kernel,
            modules,
            kernel_release: release,
            busybox: busybox.ok_or_else(|| broken("busybox"))?,
            mdadm: mdadm.ok_or_else(|| broken("mdadm"))?,
        })
    }

    /// Returns the version of the guest's kernel.
    pub fn linux(&self) -> anyhow::Result<(u32, u32)> {
        let release = &self.kernel_release;
        version_of(release).with_context(|| format!("cannot parse the version of Linux {release}"))
    }
}

/// Parses a version: `(6, 1)` for `6.1.0-56-amd64`.
fn version_of(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Returns QEMU from `PLATEAU_QEMU`, the installed QEMU, or a newly installed QEMU.
fn qemu() -> anyhow::Result<(PathBuf, String)> {
    if let Some(chosen) = std::env::var_os("PLATEAU_QEMU") {
        let version = qemu_version(Path::new(&chosen)).context("PLATEAU_QEMU")?;
        return Ok((chosen.into(), version));
    }
    let installed = qemu_version(Path::new(QEMU));
    if installed.as_ref().is_ok_and(|version| is_recent(version)) {
        return Ok((QEMU.into(), installed?));
    }
    if !is_root() {
        let version =
            installed.with_context(|| format!("{QEMU} is not installed, and only root can install it"));
        return Ok((QEMU.into(), version?));
    }
    // Try the newer version in backports first, even if an old version is installed.
    let newer = backports().is_some_and(|release| install(&["-t", &release]).is_ok());
    if !newer && installed.is_err() {
        install(&[])?;
    }
    Ok((QEMU.into(), qemu_version(Path::new(QEMU))?))
}

/// Accepts `QEMU 10.0.2` and later major versions.
fn is_recent(version: &str) -> bool {
    let number = version.trim_start_matches("QEMU ").split('.').next();
    number.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= FIRST_QEMU)
}

fn install(options: &[&str]) -> anyhow::Result<()> {
    let words = ["install", "-qq", "-y", "--no-install-recommends"];
    let once = || finished(apt_get().args(words).args(options).arg(QEMU_PACKAGE));
    once().or_else(|error| refreshed(error).and_then(|()| once())).map(drop)
}

/// Returns apt-get with a timeout, in case the network does not respond.
fn apt_get() -> Command {
    let mut command = Command::new("timeout");
    command.args([APT_SECONDS, "apt-get"]).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Updates the package lists once, because a fresh container has none; if this is impossible, returns the original
/// error.
fn refreshed(error: anyhow::Error) -> anyhow::Result<()> {
    static DONE: std::sync::Once = std::sync::Once::new();
    let mut did = false;
    DONE.call_once(|| did = is_root() && finished(apt_get().args(["update", "-qq"])).is_ok());
    if did { Ok(()) } else { Err(error) }
}

/// Returns the name of this distribution's backports, whether configured or not.
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

/// Returns the directory with a package's files; downloads it once.
fn unpacked(packages: &Path, package: &str) -> anyhow::Result<PathBuf> {
    let root = packages.join(package);
    if root.is_dir() {
        return Ok(root);
    }
    let unfinished = packages.join(format!("{package}.unfinished"));
    drop(fs::remove_dir_all(&unfinished));
    fs::create_dir_all(&unfinished)?;
    let download =
        || finished(apt_get().args(["download", "-qq"]).args(real_names(package)?).current_dir(&unfinished));
    download().or_else(|error| refreshed(error).and_then(|()| download()))?;
    let entries = fs::read_dir(&unfinished)?.collect::<Result<Vec<_>, _>>()?;
    for file in entries.iter().map(fs::DirEntry::path) {
        extract(&file, &unfinished)?;
        fs::remove_file(&file)?;
    }
    fs::rename(&unfinished, &root)?;
    Ok(root)
}

fn extract(package: &Path, to: &Path) -> anyhow::Result<()> {
    finished(Command::new("dpkg-deb").arg("--extract").arg(package).arg(to)).map(drop)
}

/// Returns the directory with the files of the given kernel packages, which are unpacked once for each version.
pub fn given_kernel(folder: &Path, files: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let names = files.iter().map(|file| named(file)).collect::<anyhow::Result<Vec<_>>>()?.join(",");
    let packages = folder.join("packages");
    let root = packages.join(&names);
    if !root.is_dir() {
        let unfinished = packages.join(format!("{names}.unfinished"));
        drop(fs::remove_dir_all(&unfinished));
        fs::create_dir_all(&unfinished)?;
        for file in files {
            extract(file, &unfinished)?;
        }
        kernel_in(&unfinished).with_context(|| {
            format!(
                "{names} cannot be booted; specify the .deb file of the Debian package linux-image-VERSION-amd64, \
                 as downloaded by apt-get download (linux-image-amd64 is an empty metapackage that depends on it). If that \
                 one is also empty, specify linux-binary-VERSION-amd64 and linux-modules-VERSION-amd64, each \
                 with --kernel"
            )
        })?;
        fs::rename(&unfinished, &root)?;
    }
    Ok(root)
}

/// Returns the name and version from a package file's metadata.
fn named(file: &Path) -> anyhow::Result<String> {
    let wrong = || format!("{} is not a Debian package for amd64", file.display());
    let show = ["--show", "--showformat", "${Package}_${Version}_${Architecture}"];
    let shown = finished(Command::new("dpkg-deb").args(show).arg(file)).with_context(wrong)?;
    let name = String::from_utf8_lossy(&shown.stdout).replace('/', "_");
    if name.ends_with("_amd64") { Ok(name) } else { Err(anyhow!("it is {name}").context(wrong())) }
}

/// Returns the packages that contain the files. The kernel metapackage is empty and depends on the newest kernel
/// package; since Linux 7, that package is also empty and depends on two others.
fn real_names(package: &str) -> anyhow::Result<Vec<String>> {
    if package != KERNEL_PACKAGE {
        return Ok(vec![package.into()]);
    }
    let depends = |package: &str| {
        finished(Command::new("apt-cache").args(["depends", package]))
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let image = needed(&depends(package)?, &["linux-image-"]);
    let image =
        image.first().with_context(|| format!("apt does not find {package}; apt-get update may help"))?;
    let parts = needed(&depends(image)?, &["linux-binary-", "linux-modules-"]);
    Ok(if parts.is_empty() { vec![image.clone()] } else { parts })
}

/// Returns the packages with these prefixes in the output of `apt-cache depends`.
fn needed(depends: &str, beginnings: &[&str]) -> Vec<String> {
    let names = depends.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    names.filter(|name| beginnings.iter().any(|begin| name.starts_with(begin))).map(str::to_owned).collect()
}

/// Contents of a kernel package.
struct Kernel {
    packed: PathBuf,
    release: String,
    modules: PathBuf,
}

fn kernel_in(root: &Path) -> anyhow::Result<Kernel> {
    let places = ["lib/modules", "usr/lib/modules"].map(|place| root.join(place));
    let all = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    let modules = all.map(|entry| entry.path()).next().context("no lib/modules in it")?;
    let release = modules.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let packed = [root.join("boot").join(format!("vmlinuz-{release}")), modules.join("vmlinuz")];
    let packed = packed.into_iter().find(|file| file.is_file());
    let packed = packed.with_context(|| format!("no vmlinuz of Linux {release} in it"))?;
    if modules.join("kernel").is_dir() {
        Ok(Kernel { packed, release, modules })
    } else {
        bail!("no modules of Linux {release} in it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_in_what_empty_packages_depend_on() {
        let text = "linux-image-amd64\n  Depends: linux-image-6.1.0-56-amd64\n  Suggests: linux-doc\n";
        assert_eq!(needed(text, &["linux-image-"]), ["linux-image-6.1.0-56-amd64"]);
        assert!(needed("N: Unable to locate package", &["linux-image-"]).is_empty());
        let text = "linux-image-7-amd64\n |Depends: dracut\n  Depends: linux-base-7-amd64\n  \
                    Depends: linux-binary-7-amd64\n  Depends: linux-modules-7-amd64\n";
        let parts = ["linux-binary-", "linux-modules-"];
        assert_eq!(needed(text, &parts), ["linux-binary-7-amd64", "linux-modules-7-amd64"]);
    }

    #[test]
    fn the_version_of_a_kernel_is_in_its_name() {
        assert_eq!(version_of("5.10.0-46-amd64"), Some((5, 10)));
        assert!(version_of("6.12.95+deb12-amd64") > version_of("6.1.0-56-amd64"));
        assert_eq!(version_of("7.0-amd64"), Some((7, 0)));
        assert_eq!(version_of("amd64"), None);
    }

    #[test]
    fn old_emulators_are_known() {
        assert!(is_recent("QEMU 10.0.2") && is_recent("QEMU 11.1"));
        assert!(!is_recent("QEMU 7.2.22") && !is_recent("QEMU 9.2.0") && !is_recent("QEMU of somebody"));
    }

    /// Builds a package with one file; returns the path of the package.
    fn package(folder: &Path, name: &str, architecture: &str, file: &str) -> PathBuf {
        let stage = folder.join(name);
        let path = stage.join(file);
        fs::create_dir_all(stage.join("DEBIAN")).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
        let control = format!(
            "Package: {name}\nVersion: 5.10-1\nArchitecture: {architecture}\nMaintainer: n <n@example.org>\n\
             Description: n\n"
        );
        fs::write(stage.join("DEBIAN/control"), control).unwrap();
        let package = folder.join(format!("{name}.deb"));
        finished(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&stage).arg(&package))
            .unwrap();
        package
    }

    #[test]
    fn a_kernel_is_taken_from_packages_that_have_one() {
        if finished(Command::new("dpkg-deb").arg("--version")).is_err() {
            return println!("no dpkg-deb on this host");
        }
        let folder = std::env::temp_dir().join(format!("plateau-kit-{}", std::process::id()));
        let vmlinuz = "usr/lib/modules/7.3/vmlinuz";
        let binary = package(&folder, "linux-binary", "amd64", vmlinuz);
        let modules = package(&folder, "linux-modules", "amd64", "usr/lib/modules/7.3/kernel/nvme.ko");
        let root = given_kernel(&folder, &[binary.clone(), modules.clone()]).unwrap();
        let kernel = kernel_in(&root).unwrap();
        assert_eq!((kernel.release.as_str(), kernel.packed), ("7.3", root.join(vmlinuz)));
        // A second call does not unpack the package again.
        fs::remove_file(root.join(vmlinuz)).unwrap();
        assert_eq!(given_kernel(&folder, &[binary.clone(), modules.clone()]).unwrap(), root);

        let boot = package(&folder, "linux-boot", "amd64", "boot/vmlinuz-7.3");
        let root = given_kernel(&folder, &[boot.clone(), modules.clone()]).unwrap();
        assert_eq!(kernel_in(&root).unwrap().packed, root.join("boot/vmlinuz-7.3"));

        let foreign = package(&folder, "linux-image-arm64", "arm64", "boot/vmlinuz-7.3");
        let text = folder.join("text.deb");
        fs::write(&text, "7.3").unwrap();
        let absent = folder.join("absent.deb");
        let cases = [
            (modules, "no vmlinuz of Linux 7.3"),
            (binary, "no modules of Linux 7.3"),
            (boot, "no lib/modules"),
            (foreign, "arm64"),
            (text, "not a Debian package"),
            (absent, "No such file"),
        ];
        for (file, why) in cases {
            let error = format!("{:#}", given_kernel(&folder, &[file]).err().unwrap());
            assert!(error.contains(why), "{error}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_failed_program_is_quoted() {
        let error = finished(Command::new("sh").args(["-c", "echo wrong >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("wrong"), "{error}");
    }
}
