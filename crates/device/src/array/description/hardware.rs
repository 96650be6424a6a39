//! The description of an array on a RAID controller.

use serde::Deserialize;

use crate::array::hardware::{DriveCache, Hardware, Program, Purge, Write};
use crate::array::spec::Spec;
use crate::error::description::DescriptionError;

const LEVELS: &[(u8, usize)] = &[(0, 1), (1, 2), (5, 3), (6, 4), (10, 4)];
const STRIPS_KIB: &[u32] = &[8, 16, 32, 64, 128, 256, 512, 1024];
const DEFAULT_STRIP_KIB: u32 = 256;

/// The file format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    controller: Program,
    #[serde(default)]
    adapter: u32,
    level: u8,
    strip_kib: Option<u32>,
    #[serde(default)]
    write: Write,
    #[serde(default)]
    read_ahead: bool,
    #[serde(default)]
    cached: bool,
    #[serde(default)]
    drive_cache: DriveCache,
    #[serde(default)]
    purge: Purge,
    members: Vec<Member>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    /// Enclosure and slot, such as `252:0`; the slot alone if there is no enclosure.
    slot: String,
    serial: String,
}

/// Returns whether a description names a RAID controller.
pub(super) fn is_meant(table: &toml::Table) -> bool {
    table.get("controller").is_some_and(|name| name.as_str() != Some("mdadm"))
}

/// Reads a description that names a RAID controller.
pub(super) fn read(text: &str) -> Result<Spec, DescriptionError> {
    let malformed = |error: toml::de::Error| DescriptionError::Toml(error.to_string().trim_end().to_owned());
    toml::from_str::<Text>(text).map_err(malformed)?.judged()
}

impl Text {
    fn judged(self) -> Result<Spec, DescriptionError> {
        let (level, count) = (self.level, self.members.len());
        let Some((_, least)) = LEVELS.iter().find(|(known, _)| *known == level) else {
            return Err(DescriptionError::Level(level));
        };
        if count < *least {
            return Err(DescriptionError::TooFew { level, on_controller: true, least: *least, count });
        }
        if [1, 10].contains(&level) && count % 2 != 0 {
            return Err(DescriptionError::Odd { level, count });
        }
        let strip = self.strip_kib.unwrap_or(DEFAULT_STRIP_KIB);
        if !STRIPS_KIB.contains(&strip) {
            let (least, most) = (STRIPS_KIB[0], STRIPS_KIB[STRIPS_KIB.len() - 1]);
            return Err(DescriptionError::Chunk { key: "strip_kib", kib: strip, least, most });
        }
        let mut members: Vec<String> = Vec::new();
        let mut serials: Vec<String> = Vec::new();
        for Member { slot, serial } in self.members {
            let address = address(self.adapter, &slot).ok_or_else(|| DescriptionError::Slot(slot.clone()))?;
            let serial = serial.trim().to_owned();
            if serial.is_empty() {
                return Err(DescriptionError::NoSerial(slot));
            }
            if members.contains(&address) || serials.contains(&serial) {
                return Err(DescriptionError::DriveTwice { serial, slot });
            }
            members.push(address);
            serials.push(serial);
        }
        let hardware = Hardware {
            program: self.controller,
            adapter: self.adapter,
            serials,
            write: self.write,
            read_ahead: self.read_ahead,
            cached: self.cached,
            drive_cache: self.drive_cache,
            purge: self.purge,
        };
        Ok(Spec { level, chunk_kib: Some(strip), bitmap: false, members, hardware: Some(hardware) })
    }
}

/// Converts `252:0` to the controller program's notation: `/c0/e252/s0`.
fn address(adapter: u32, slot: &str) -> Option<String> {
    let number = |text: &str| text.parse::<u16>().ok().filter(|number| number.to_string() == text);
    match slot.split_once(':') {
        Some((enclosure, slot)) => Some(format!("/c{adapter}/e{}/s{}", number(enclosure)?, number(slot)?)),
        None => Some(format!("/c{adapter}/s{}", number(slot)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::hardware::slot_of;

    fn parse(text: &str) -> Result<Spec, String> {
        super::super::parse("array:a.toml", text).map_err(|error| error.to_string())
    }

    const MEMBERS: &str =
        "members = [{ slot = \"252:0\", serial = \"S1\" }, { slot = \"252:1\", serial = \" S2 \" }]";

    #[test]
    fn a_description_is_read() {
        let spec = parse(&format!(
            "controller = \"perccli\"\nadapter = 1\nlevel = 1\nstrip_kib = 64\nwrite = \"always-back\"\n\
             read_ahead = true\ndrive_cache = \"off\"\npurge = \"simple\"\n{MEMBERS}"
        ))
        .unwrap();
        assert_eq!((spec.level, spec.chunk_kib), (1, Some(64)));
        assert_eq!(spec.members, ["/c1/e252/s0", "/c1/e252/s1"]);
        let hardware = spec.hardware.unwrap();
        assert_eq!(
            (hardware.program, hardware.adapter, hardware.purge),
            (Program::PercCli, 1, Purge::Simple)
        );
        assert_eq!(hardware.serials, ["S1", "S2"]);
        assert_eq!(hardware.words(), "always write back, read ahead, direct I/O, drive caches off");
    }

    #[test]
    fn omitted_fields_are_those_in_the_document() {
        let spec = parse(&format!("controller = \"storcli\"\nlevel = 0\n{MEMBERS}")).unwrap();
        assert_eq!(spec.chunk_kib, Some(256));
        let hardware = spec.hardware.unwrap();
        assert_eq!((hardware.adapter, hardware.purge), (0, Purge::None));
        assert_eq!(
            hardware.words(),
            "write through, no read ahead, direct I/O, drive caches as set by the controller"
        );
    }

    #[test]
    fn impossible_values_are_refused_with_the_valid_ones() {
        let one = "members = [{ slot = \"252:0\", serial = \"S1\" }]";
        for (text, part) in [
            (format!("controller = \"megacli\"\nlevel = 0\n{MEMBERS}"), "storcli"),
            (format!("controller = \"storcli\"\nlevel = 4\n{MEMBERS}"), "use 0, 1, 5, 6 or 10"),
            (format!("controller = \"storcli\"\nlevel = 5\n{MEMBERS}"), "at least 3"),
            (format!("controller = \"storcli\"\nlevel = 1\n{one}"), "at least 2"),
            (format!("controller = \"storcli\"\nlevel = 0\nstrip_kib = 4\n{MEMBERS}"), "from 8 to 1024"),
            (format!("controller = \"storcli\"\nlevel = 0\nbitmap = \"none\"\n{MEMBERS}"), "bitmap"),
            (format!("controller = \"storcli\"\nlevel = 0\npurge = \"format\"\n{MEMBERS}"), "simple"),
            ("controller = \"storcli\"\nlevel = 0\nmembers = [\"/dev/sda\"]".into(), "members"),
            (
                one.replace("252:0", "252:x")
                    .replace("members", "controller = \"storcli\"\nlevel = 0\nmembers"),
                "'252:x'",
            ),
            (
                one.replace("252:0", "252:01")
                    .replace("members", "controller = \"storcli\"\nlevel = 0\nmembers"),
                "252:01",
            ),
            (
                one.replace("S1", " ").replace("members", "controller = \"storcli\"\nlevel = 0\nmembers"),
                "serial number of its drive is missing",
            ),
            (
                format!("controller = \"storcli\"\nlevel = 0\n{}", MEMBERS.replace("252:1", "252:0")),
                "S2 in slot 252:0 is listed twice",
            ),
            (
                format!("controller = \"storcli\"\nlevel = 0\n{}", MEMBERS.replace(" S2 ", "S1")),
                "is listed twice",
            ),
        ] {
            let problem = parse(&text).expect_err(&text);
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn a_slot_has_an_address_and_back() {
        assert_eq!(address(0, "252:10").as_deref(), Some("/c0/e252/s10"));
        assert_eq!(address(2, "4").as_deref(), Some("/c2/s4"));
        assert_eq!(slot_of("/c0/e252/s10"), "252:10");
        assert_eq!(slot_of("/c2/s4"), "4");
        for wrong in ["", ":", "252:", ":0", "252:0:1", "a", "-1", "252/0"] {
            assert_eq!(address(0, wrong), None, "{wrong}");
        }
    }
}
