//! The kinds of targets. Each is created from files of the workshop and from memory only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use super::made::{BYTES, Thing, Workshop, output, run};

/// A kind of target.
pub struct Kind {
    pub name: &'static str,
    /// Creates a target and returns its path, or why this host cannot have it.
    pub make: fn(&mut Workshop) -> anyhow::Result<String>,
}

/// Every kind.
pub const KINDS: [Kind; 15] = [
    Kind { name: "zram", make: zram },
    Kind { name: "loop", make: |workshop| looped(workshop, &["--direct-io=on"]) },
    Kind { name: "loop-buffered", make: |workshop| looped(workshop, &["--direct-io=off"]) },
    Kind { name: "ext4", make: |workshop| file_system(workshop, "ext4") },
    Kind { name: "xfs", make: |workshop| file_system(workshop, "xfs") },
    Kind { name: "tmpfs", make: tmpfs },
    Kind { name: "fuse", make: fuse },
    Kind { name: "dm-linear", make: dm_linear },
    Kind { name: "dm-crypt", make: dm_crypt },
    Kind { name: "null_blk", make: |_| absent("/sys/module/null_blk") },
    Kind { name: "brd", make: |_| absent("/sys/module/brd") },
    Kind { name: "md-raid0", make: |_| absent("/proc/mdstat") },
    Kind { name: "nbd", make: |_| absent("/sys/module/nbd") },
    Kind { name: "nvme-tcp", make: |_| absent("/sys/module/nvme_tcp") },
    Kind { name: "nvme", make: |_| absent("/sys/module/nvme") },
];

/// Size of a file system: the smallest that XFS accepts.
const FILE_SYSTEM_BYTES: u64 = 320 << 20;

/// A kind that this benchmark does not create.
fn absent(sign: &str) -> anyhow::Result<String> {
    match Path::new(sign).exists() {
        false => bail!("this kernel does not have it loaded ({sign} does not exist)"),
        true => bail!("this kernel has it, but the benchmark cannot create such a target yet"),
    }
}

fn zram(workshop: &mut Workshop) -> anyhow::Result<String> {
    let added = fs::read_to_string("/sys/class/zram-control/hot_add").context("no zram")?;
    let number = added.trim().parse()?;
    workshop.add(Thing::Zram { number })?;
    fs::write(format!("/sys/block/zram{number}/disksize"), BYTES.to_string())?;
    Ok(format!("/dev/zram{number}"))
}

fn looped(workshop: &mut Workshop, options: &[&str]) -> anyhow::Result<String> {
    let image = workshop.image("image")?;
    workshop.attach(&image, options)
}

/// A file on a file system on a loop device.
fn file_system(workshop: &mut Workshop, kind: &str) -> anyhow::Result<String> {
    let image = workshop.sized("image", FILE_SYSTEM_BYTES)?;
    let device = workshop.attach(&image, &["--direct-io=on"])?;
    run(Command::new(format!("mkfs.{kind}")).arg("-q").arg(&device))?;
    mounted(workshop, kind, &device)
}

fn tmpfs(workshop: &mut Workshop) -> anyhow::Result<String> {
    mounted(workshop, "tmpfs", "tmpfs")
}

fn mounted(workshop: &mut Workshop, kind: &str, device: &str) -> anyhow::Result<String> {
    let folder = workshop.subfolder("mounted")?.canonicalize()?;
    run(Command::new("mount").args(["-t", kind, device]).arg(&folder))?;
    workshop.add(Thing::Mount { folder: folder.clone() })?;
    // A file that does not exist has no identity; the first load writes all of it.
    let file = folder.join("data");
    fs::File::create(&file)?.set_len(BYTES)?;
    text(&file)
}

/// A file that QEMU's storage daemon serves from an image.
fn fuse(workshop: &mut Workshop) -> anyhow::Result<String> {
    let (image, file) = (workshop.image("image")?, workshop.image("served")?.canonicalize()?);
    let device = format!("driver=file,node-name=image,filename={},cache.direct=on", text(&image)?);
    workshop.serve(&file, &["--blockdev", &device], "image")?;
    text(&file)
}

fn dm_linear(workshop: &mut Workshop) -> anyhow::Result<String> {
    let below = looped(workshop, &["--direct-io=on"])?;
    mapped(workshop, &format!("0 {} linear {below} 0", BYTES / 512))
}

/// The key protects nothing: the data is random anyway.
fn dm_crypt(workshop: &mut Workshop) -> anyhow::Result<String> {
    let below = looped(workshop, &["--direct-io=on"])?;
    mapped(workshop, &format!("0 {} crypt aes-xts-plain64 {} 0 {below} 0", BYTES / 512, "5a".repeat(64)))
}

fn mapped(workshop: &mut Workshop, table: &str) -> anyhow::Result<String> {
    ensure!(Path::new("/dev/mapper/control").exists(), "this kernel has no device mapper");
    let name = format!("plateau-bench-{}", std::process::id());
    workshop.add(Thing::Mapper { name: name.clone() })?;
    output(Command::new("dmsetup").args(["create", &name, "--table", table]))?;
    Ok(format!("/dev/mapper/{name}"))
}

fn text(path: &Path) -> anyhow::Result<String> {
    let path = PathBuf::from(path);
    path.into_os_string().into_string().ok().context("the path is not UTF-8")
}
