//! What the benchmark creates on the host, and its removal.
//!
//! Each thing is noted in a file before or right after it is created, together with what identifies it. It is removed
//! when the workshop is dropped; if the benchmark was killed, the next one removes it, unless something else has taken
//! its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};

/// Size of each target.
pub const BYTES: u64 = 64 << 20;
const NOTES: &str = "made.jsonl";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
/// Time for which the kernel may still use a thing after the process that used it has ended.
const LONGEST_USE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);
/// Time in which a server must be ready.
const LONGEST_START: Duration = Duration::from_secs(10);

/// A thing that was created, and how to recognise it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Thing {
    /// A loop device over an image.
    Loop { device: String, image: PathBuf },
    /// A zram device that was added with this number.
    Zram { number: u32 },
    /// A file system mounted on a folder of the workshop.
    Mount { folder: PathBuf },
    /// A FUSE file and the process that serves it, which unmounts it when it is terminated.
    Fuse { file: PathBuf, server: u32 },
    /// A device mapper device whose name contains the number of the process.
    Mapper { name: String },
}

/// A line of the notes.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    boot: String,
    thing: Thing,
}

/// A folder for one target and everything below it.
pub struct Workshop {
    folder: PathBuf,
    things: Vec<Thing>,
}

impl Workshop {
    /// Creates the folder, after the removal of what an earlier benchmark left there.
    pub fn new(folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join("targets");
        let left = left_over(&folder)?;
        let mut workshop = Self { folder, things: left };
        workshop.clear()?;
        fs::create_dir_all(&workshop.folder)?;
        workshop.note()?;
        Ok(workshop)
    }

    /// Creates a file of the size of a target.
    pub fn image(&self, name: &str) -> anyhow::Result<PathBuf> {
        self.sized(name, BYTES)
    }

    /// Creates a file.
    pub fn sized(&self, name: &str, bytes: u64) -> anyhow::Result<PathBuf> {
        let path = self.folder.join(name);
        fs::File::create_new(&path)?.set_len(bytes)?;
        Ok(path)
    }

    /// Creates a folder.
    pub fn subfolder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.folder.join(name);
        fs::create_dir(&path)?;
        Ok(path)
    }

    /// Attaches a loop device to an image.
    pub fn attach(&mut self, image: &Path, options: &[&str]) -> anyhow::Result<String> {
        let image = image.canonicalize()?;
        let mut arguments = vec!["--find", "--show"];
        arguments.extend(options);
        let device = output(Command::new("losetup").args(arguments).arg(&image))?;
        self.add(Thing::Loop { device: device.clone(), image })?;
        Ok(device)
    }

    /// Lets QEMU's storage daemon serve a block device in place of a file. The options define the device, whose name is
    /// `node`.
    pub fn serve(&mut self, file: &Path, options: &[&str], node: &str) -> anyhow::Result<()> {
        let place = file.to_str().context("the path is not UTF-8")?;
        let mut server = Command::new("qemu-storage-daemon")
            .args(options)
            .arg("--export")
            .arg(format!("type=fuse,id=served,node-name={node},writable=on,mountpoint={place}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("qemu-storage-daemon cannot be run")?;
        self.add(Thing::Fuse { file: file.to_owned(), server: server.id() })?;
        let begun = Instant::now();
        while !is_mounted(file)? {
            if server.try_wait()?.is_some() {
                let output = server.wait_with_output()?;
                bail!("qemu-storage-daemon: {}", String::from_utf8_lossy(&output.stderr).trim());
            }
            ensure!(begun.elapsed() < LONGEST_START, "qemu-storage-daemon is not ready");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Notes a thing, to be removed later.
    pub fn add(&mut self, thing: Thing) -> anyhow::Result<()> {
        self.things.push(thing);
        self.note()
    }

    fn note(&self) -> anyhow::Result<()> {
        let boot = fs::read_to_string(BOOT)?.trim().to_owned();
        let mut text = String::new();
        for thing in &self.things {
            text += &serde_json::to_string(&Note { boot: boot.clone(), thing: thing.clone() })?;
            text.push('\n');
        }
        fs::write(self.folder.join(NOTES), text).context("the notes cannot be written")
    }

    /// Removes everything, the newest first.
    fn clear(&mut self) -> anyhow::Result<()> {
        while let Some(thing) = self.things.last() {
            if thing.is_ours()? {
                removed(thing)?;
            }
            self.things.pop();
        }
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        Ok(())
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if let Err(problem) = self.clear() {
            eprintln!("{problem:#}; the next benchmark tries again to remove it");
        }
    }
}

impl Thing {
    /// Returns whether the thing still exists and is the one that was created.
    fn is_ours(&self) -> anyhow::Result<bool> {
        match self {
            Self::Loop { device, image } => {
                let name = device.trim_start_matches("/dev/");
                let backing = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
                Ok(backing.is_ok_and(|text| text.trim() == image.to_string_lossy()))
            }
            Self::Zram { number } => {
                let size = fs::read_to_string(format!("/sys/block/zram{number}/disksize"));
                Ok(size.is_ok_and(|text| [BYTES.to_string(), "0".into()].contains(&text.trim().to_owned())))
            }
            Self::Mount { folder } => is_mounted(folder),
            Self::Fuse { file, server } => Ok(is_mounted(file)? || serves(*server, file)),
            Self::Mapper { name } => Ok(Path::new("/dev/mapper").join(name).exists()),
        }
    }

    fn remove(&self) -> anyhow::Result<()> {
        match self {
            Self::Loop { device, .. } => run(Command::new("losetup").args(["--detach", device])),
            Self::Zram { number } => Ok(fs::write("/sys/class/zram-control/hot_remove", number.to_string())?),
            Self::Fuse { file, server } if serves(*server, file) => {
                run(Command::new("kill").arg(server.to_string()))
            }
            Self::Mount { folder: place } | Self::Fuse { file: place, .. } => {
                run(Command::new("umount").arg(place))
            }
            Self::Mapper { name } => run(Command::new("dmsetup").args(["remove", name])),
        }
    }
}

/// Removes a thing, with retries: in the kernel, the ring of a process that has just ended may still use it.
fn removed(thing: &Thing) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        let answer = thing.remove();
        if !thing.is_ours()? {
            return Ok(());
        }
        if begun.elapsed() > LONGEST_USE {
            return answer.and_then(|()| bail!("it stays in use")).with_context(|| format!("{thing:?}"));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns the things that were noted since the host was started.
fn left_over(folder: &Path) -> anyhow::Result<Vec<Thing>> {
    let notes = folder.join(NOTES);
    ensure!(!folder.exists() || notes.exists() || fs::read_dir(folder)?.next().is_none(), {
        format!("{} is not a folder of this benchmark; remove it", folder.display())
    });
    let Ok(text) = fs::read_to_string(&notes) else { return Ok(Vec::new()) };
    let boot = fs::read_to_string(BOOT)?;
    let notes = text.lines().map(serde_json::from_str).collect::<Result<Vec<Note>, _>>()?;
    Ok(notes.into_iter().filter(|note| note.boot == boot.trim()).map(|note| note.thing).collect())
}

/// Returns whether the process exists and was started for this file.
fn serves(server: u32, file: &Path) -> bool {
    let words = fs::read(format!("/proc/{server}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).contains(file.to_string_lossy().as_ref())
}

/// Returns whether something is mounted on a file or folder.
pub fn is_mounted(place: &Path) -> anyhow::Result<bool> {
    let text = fs::read_to_string("/proc/self/mounts")?;
    let place = place.to_string_lossy();
    Ok(text.lines().any(|line| line.split(' ').nth(1) == Some(&place)))
}

/// Runs a command.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    output(command).map(drop)
}

/// Runs a command and returns its output.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} cannot be run"))?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_run_left_is_noted_and_what_is_not_ours_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let foreign = folder.path().join("targets");
        fs::create_dir(&foreign).expect("a folder");
        fs::write(foreign.join("precious"), "x").expect("a file");
        assert!(Workshop::new(folder.path()).is_err(), "a folder without notes belongs to somebody else");
        assert!(foreign.join("precious").exists());
        fs::remove_file(foreign.join("precious")).expect("removed");
        let mut workshop = Workshop::new(folder.path()).expect("a workshop");
        let image = workshop.sized("image", 4096).expect("a file");
        // No loop device has this image, so there is nothing to detach.
        workshop.add(Thing::Loop { device: "/dev/loop0".into(), image: image.clone() }).expect("notes");
        // As if the process had been killed.
        std::mem::forget(workshop);
        assert_eq!(left_over(&foreign).expect("notes").len(), 1);
        let again = Workshop::new(folder.path()).expect("a workshop");
        assert!(!image.exists() && again.things.is_empty());
        drop(again);
        assert!(!foreign.exists());
    }

    #[test]
    fn notes_of_an_earlier_boot_are_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let note = Note { boot: "other".into(), thing: Thing::Zram { number: 0 } };
        fs::write(folder.path().join(NOTES), serde_json::to_string(&note).expect("JSON")).expect("a file");
        assert!(left_over(folder.path()).expect("notes").is_empty());
    }
}
