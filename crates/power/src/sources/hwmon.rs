//! A power sensor in the kernel's hardware monitoring, selected by the name of its chip or folder.
//!
//! Only a sensor of the drive's own device measures the drive. All other sensors, such as those in power
//! supplies, measure part of the host.

use record::{PowerFacts, PowerSubject};

use crate::error::PowerError;
use crate::source::{Kind, Opened, Sample, Source, Surroundings};
use crate::sysfs::{Sensor, sensors};

pub(super) const KIND: Kind = Kind {
    name: "hwmon",
    argument: Some("NAME"),
    about: "a power sensor in /sys/class/hwmon: the drive's own, or a sensor of the host",
    is_per_drive: true,
    needs_trust: false,
    open,
};

struct Hwmon {
    sensor: Sensor,
}

impl Source for Hwmon {
    fn read(&mut self) -> Result<Vec<Sample>, PowerError> {
        let gone =
            || PowerError::absent(&format!("hwmon:{}", self.sensor.folder), "the sensor cannot be read");
        let microwatts = self.sensor.microwatts().ok_or_else(gone)?;
        Ok(vec![Sample::now(microwatts as f64 / 1e6)])
    }
}

fn open(name: &str, around: Surroundings) -> Result<Opened, PowerError> {
    let all = sensors(&around.sys);
    let is_of_drive = |sensor: &Sensor| {
        sensor
            .device
            .as_ref()
            .zip(around.drive.as_ref())
            .is_some_and(|(device, drive)| drive.starts_with(device))
    };
    let named: Vec<&Sensor> =
        all.iter().filter(|sensor| sensor.name == name || sensor.folder == name).collect();
    let own = named.iter().find(|sensor| is_of_drive(sensor));
    let what = format!("hwmon:{name}");
    let sensor = match (own, &named[..]) {
        (Some(own), _) => *own,
        (None, [only]) => only,
        (None, []) => {
            let known: Vec<String> =
                all.iter().map(|sensor| format!("{} ({})", sensor.name, sensor.folder)).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(PowerError::absent(
                &what,
                format!("no such sensor reports power; those that do: {known}"),
            ));
        }
        (None, several) => {
            let folders: Vec<&str> = several.iter().map(|sensor| sensor.folder.as_str()).collect();
            let why = format!(
                "several sensors have this name, none of them the drive's; specify one of {}",
                folders.join(", ")
            );
            return Err(PowerError::absent(&what, why));
        }
    };
    let (subject, whose) = match own {
        Some(_) => (PowerSubject::Drive, "the drive's own"),
        None => (PowerSubject::Host, "not the drive's own"),
    };
    let kind = if sensor.is_mean { "means" } else { "instantaneous values" };
    let facts = PowerFacts {
        source: String::new(),
        meter: format!("sensor {} ({}), {whose}, {kind}", sensor.name, sensor.folder),
        subject,
        // sysfs reports microwatts, but has no attribute for the resolution of a sensor.
        resolution_microwatts: None,
        tolerance_ppm: sensor.accuracy_percent.map(|percent| (percent * 10_000.0) as u32),
    };
    Ok(Opened { facts, source: Box::new(Hwmon { sensor: sensor.clone() }) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn chip(sys: &Path, folder: &str, name: &str, device: &str, attributes: &[(&str, &str)]) {
        let dir = sys.join("class/hwmon").join(folder);
        fs::create_dir_all(&dir).expect("a folder");
        let device = sys.join("devices").join(device);
        fs::create_dir_all(&device).expect("a device");
        std::os::unix::fs::symlink(&device, dir.join("device")).expect("a link");
        for (attribute, value) in [("name", name)].iter().chain(attributes) {
            fs::write(dir.join(attribute), format!("{value}\n")).expect("an attribute");
        }
    }

    fn around(sys: &Path, drive: Option<&str>) -> Surroundings {
        let drive = drive.map(|drive| {
            let dir = sys.join("devices").join(drive);
            fs::create_dir_all(&dir).expect("a drive");
            fs::canonicalize(dir).expect("there")
        });
        Surroundings { sys: sys.into(), drive, bound: None }
    }

    #[test]
    fn the_drives_own_sensor_is_preferred_among_namesakes() {
        let dir = tempfile::tempdir().expect("a folder");
        let sys = dir.path();
        chip(sys, "hwmon1", "nvme", "pci/nvme0", &[("power1_input", "4000000")]);
        chip(sys, "hwmon2", "nvme", "pci/nvme1", &[("power1_input", "5500000"), ("power1_accuracy", "2.5%")]);
        chip(sys, "hwmon3", "coretemp", "cpu", &[("temp1_input", "40000")]);
        let mut opened = open("nvme", around(sys, Some("pci/nvme1/nvme1n1"))).expect("the drive's");
        assert_eq!(opened.facts.subject, PowerSubject::Drive);
        assert_eq!(opened.facts.tolerance_ppm, Some(25_000));
        assert_eq!(opened.source.read().expect("a value"), [Sample::now(5.5)]);
        fs::remove_file(sys.join("class/hwmon/hwmon2/power1_input")).expect("ours");
        assert!(opened.source.read().is_err(), "a sensor that disappears is an error, not zero");
        chip(sys, "hwmon4", "nvme", "pci/nvme2", &[("power1_input", "1")]);
        let ambiguous = open("nvme", around(sys, Some("pci/nvme9/nvme9n1"))).map(|_| ()).expect_err("two");
        assert!(ambiguous.to_string().contains("hwmon1, hwmon4"), "{ambiguous}");
    }

    #[test]
    fn a_sensor_elsewhere_measures_the_host() {
        let dir = tempfile::tempdir().expect("a folder");
        let sys = dir.path();
        chip(sys, "hwmon0", "power_meter", "acpi", &[("power1_average", "153000000")]);
        for name in ["power_meter", "hwmon0"] {
            let mut opened = open(name, around(sys, Some("pci/nvme1/nvme1n1"))).expect("one");
            assert_eq!((opened.facts.subject, opened.facts.tolerance_ppm), (PowerSubject::Host, None));
            assert_eq!(opened.source.read().expect("a value"), [Sample::now(153.0)]);
        }
        let missing = open("nvme", around(sys, None)).map(|_| ()).expect_err("none").to_string();
        assert!(missing.contains("power_meter (hwmon0)"), "{missing}");
    }
}
