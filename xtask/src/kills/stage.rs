//! Targets of trials: a simulated drive, or a loop device over a file created for it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// Kind of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Simulated,
    Loop,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Simulated, Self::Loop];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Loop => "loop",
        }
    }
}

const IMAGE_BYTES: u64 = 16 << 20;
/// Settings that `--tune` changes on a loop device, with their values before a run.
const SETTINGS: [(&str, &str); 2] = [("nomerges", "0"), ("iostats", "1")];

/// A loop device over its own image; detached when dropped if it still has that image.
pub struct Device {
    pub path: String,
    image: PathBuf,
}

impl Device {
    pub fn attach(folder: &Path) -> anyhow::Result<Self> {
        let image = std::fs::canonicalize(folder)?.join("image");
        std::fs::File::create(&image)?.set_len(IMAGE_BYTES)?;
        let output = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .arg(&image)
            .output()
            .context("cannot start losetup")?;
        if !output.status.success() {
            bail!("losetup: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let device = Self { path: String::from_utf8_lossy(&output.stdout).trim().to_owned(), image };
        for (name, value) in SETTINGS {
            std::fs::write(device.attribute(&format!("queue/{name}")), value)
                .with_context(|| format!("{name} of {} cannot be set", device.path))?;
        }
        Ok(device)
    }

    fn attribute(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(self.path.trim_start_matches("/dev/")).join(name)
    }

    /// Returns the settings whose values differ from those before the run.
    pub fn changed(&self) -> Vec<String> {
        let now = |name: &str| std::fs::read_to_string(self.attribute(&format!("queue/{name}")));
        let differs = |(name, was): &(&str, &str)| {
            let is = now(name).unwrap_or_else(|error| error.to_string());
            (is.trim() != *was).then(|| format!("{name} is {}, was {was}", is.trim()))
        };
        SETTINGS.iter().filter_map(differs).collect()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let file = std::fs::read_to_string(self.attribute("loop/backing_file")).unwrap_or_default();
        if Path::new(file.trim_end()) == self.image {
            // If the image was replaced, the device stays attached for inspection.
            drop(Command::new("losetup").args(["--detach", &self.path]).status());
        }
    }
}
