//! The guest's file system: busybox, our programs with their libraries, kernel modules, and two scripts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::hardware::{LATER, MODULES};
use crate::kit::Kit;
use crate::program::finished;

/// Builds the file system from scratch, with these programs and their libraries in addition to the usual
/// programs. Returns the path of the archive.
pub fn build(kit: &Kit, folder: &Path, programs: &[(&Path, &str)]) -> anyhow::Result<PathBuf> {
    let stage = folder.join("stage");
    drop(fs::remove_dir_all(&stage));
    fs::create_dir_all(stage.join("modules"))?;
    script(&stage.join("init"), include_str!("init.sh"))?;
    put(&kit.busybox, &stage, "bin/busybox")?;
    script(&stage.join("bin/find-disk"), include_str!("find-disk.sh"))?;
    // Avoid the path of this executable, which may have been replaced by a rebuild during `cargo xtask ci`.
    let ourselves = PathBuf::from("/proc/self/exe");
    let usual = [(&*ourselves, "bin/xtask"), (&*kit.mdadm, "bin/mdadm")];
    for (program, name) in programs.iter().chain(&usual) {
        put(program, &stage, name)?;
        shrink(&stage.join(name));
        for library in libraries(&stage.join(name))? {
            let inside = library.strip_prefix("/").unwrap_or(&library);
            put(&library, &stage, &inside.to_string_lossy())?;
        }
    }
    modules(&kit.modules, &stage.join("modules"))?;
    let archive = folder.join("initramfs.cpio");
    pack(&kit.busybox, &stage, &archive)?;
    Ok(archive)
}

fn script(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

fn put(file: &Path, stage: &Path, inside: &str) -> anyhow::Result<()> {
    let to = stage.join(inside);
    fs::create_dir_all(to.parent().unwrap_or(stage))?;
    fs::copy(file, &to).with_context(|| format!("copying {}", file.display()))?;
    Ok(())
}

/// Strips debug information, because the guest keeps its files in memory. Errors, such as a missing `strip`,
/// are ignored.
fn shrink(program: &Path) {
    drop(finished(Command::new("strip").arg(program)));
}

/// Returns the libraries that the program is linked with, including the loader; empty for a static program.
fn libraries(program: &Path) -> anyhow::Result<Vec<PathBuf>> {
    match finished(Command::new("ldd").arg(program)) {
        Ok(output) => Ok(library_paths(&String::from_utf8_lossy(&output.stdout))),
        Err(error) if error.to_string().contains("not a dynamic executable") => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn library_paths(ldd: &str) -> Vec<PathBuf> {
    let absolute = |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
    ldd.lines().filter_map(absolute).collect()
}

/// Copies the modules with their dependencies, and writes the load order.
fn modules(from: &Path, to: &Path) -> anyhow::Result<()> {
    let mut files = BTreeMap::new();
    find_modules(from, &mut files)?;
    let mut order: Vec<String> = Vec::new();
    for name in MODULES {
        add(name, &files, to, &mut order)?;
    }
    for name in LATER {
        add(name, &files, to, &mut order)?;
        order.retain(|module| module != name);
    }
    Ok(fs::write(to.join("order"), order.join("\n") + "\n")?)
}

/// Finds all modules under a directory, by name with underscores.
fn find_modules(folder: &Path, files: &mut BTreeMap<String, PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            find_modules(&path, files)?;
        } else if let Some((stem, _)) = file_name(&path).split_once(".ko") {
            files.insert(stem.replace('-', "_"), path);
        }
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Adds a module after its dependencies. A module without a file is built into the kernel.
fn add(
    name: &str,
    files: &BTreeMap<String, PathBuf>,
    to: &Path,
    order: &mut Vec<String>,
) -> anyhow::Result<()> {
    let Some(file) = files.get(name).filter(|_| !order.iter().any(|known| known == name)) else {
        return Ok(());
    };
    let content = uncompressed(file)?;
    for needed in needed_by(&content) {
        add(&needed, files, to, order)?;
    }
    fs::write(to.join(format!("{name}.ko")), &content)?;
    order.push(name.to_owned());
    Ok(())
}

fn uncompressed(file: &Path) -> anyhow::Result<Vec<u8>> {
    let with = match file.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        _ => return Ok(fs::read(file)?),
    };
    Ok(finished(Command::new(with).arg("-dc").arg(file))?.stdout)
}

/// Returns the modules in the `depends=` line of a module's `.modinfo`.
fn needed_by(module: &[u8]) -> Vec<String> {
    const MARK: &[u8] = b"\0depends=";
    let Some(at) = module.windows(MARK.len()).position(|window| window == MARK) else { return Vec::new() };
    let rest = &module[at + MARK.len()..];
    let end = rest.iter().position(|&byte| byte == 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&rest[..end]).replace('-', "_");
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Packs the directory without compression, because decompression is slow on an emulated CPU.
fn pack(busybox: &Path, stage: &Path, archive: &Path) -> anyhow::Result<()> {
    let mut names = Vec::new();
    list(stage, stage, &mut names)?;
    let mut child = Command::new(busybox)
        .args(["cpio", "-o", "-H", "newc", "-R", "0:0"])
        .current_dir(stage)
        .stdin(Stdio::piped())
        .stdout(File::create(archive)?)
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start busybox")?;
    child.stdin.take().context("no pipe")?.write_all((names.join("\n") + "\n").as_bytes())?;
    let status = child.wait()?;
    if status.success() { Ok(()) } else { bail!("busybox cpio: {status}") }
}

/// Lists names in the order of creation: a directory before its contents.
fn list(folder: &Path, stage: &Path, names: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        names.push(path.strip_prefix(stage)?.to_string_lossy().into_owned());
        if path.is_dir() {
            list(&path, stage, names)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_what_ldd_prints() {
        let text = "\tlinux-vdso.so.1 (0x7ff)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x7f)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
        let paths = library_paths(text);
        assert_eq!(
            paths,
            ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from)
        );
    }

    #[test]
    fn a_module_says_what_it_needs() {
        assert_eq!(needed_by(b"x\0depends=nvme-core,t10\0y"), ["nvme_core", "t10"]);
        assert_eq!(needed_by(b"x\0depends=\0y"), [""; 0]);
        assert_eq!(needed_by(b"x"), [""; 0]);
    }
}
