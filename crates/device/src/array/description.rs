//! The description of an array: a TOML file, parsed and validated without accessing any drive.

mod hardware;

use serde::Deserialize;

use super::spec::Spec;
use crate::error::DriveError;
use crate::error::description::DescriptionError;

const LEVELS: &[(u8, usize)] = &[(0, 2), (1, 2), (5, 3), (6, 4), (10, 2)];
const DEFAULT_CHUNK_KIB: u32 = 512;
const CHUNKS_KIB: std::ops::RangeInclusive<u32> = 4..=16_384;

/// The file format for software RAID.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    /// Value `mdadm`; all other values are parsed by [`hardware::read`].
    #[expect(
        dead_code,
        reason = "present only so that the key is accepted; it has already selected this \
                                  format"
    )]
    controller: Option<String>,
    level: u8,
    chunk_kib: Option<u32>,
    bitmap: Option<Bitmap>,
    members: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Bitmap {
    None,
    Internal,
}

/// Parses and validates the text of a description; error messages name `target`.
pub(crate) fn parse(target: &str, text: &str) -> Result<Spec, DriveError> {
    described(text).map_err(|problem| DriveError::target(target, problem))
}

fn described(text: &str) -> Result<Spec, DescriptionError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| malformed(&error))?;
    if hardware::is_meant(&table) {
        return hardware::read(text);
    }
    let read: Text = toml::from_str(text).map_err(|error| malformed(&error))?;
    read.judged()
}

fn malformed(error: &toml::de::Error) -> DescriptionError {
    DescriptionError::Toml(error.to_string().trim_end().to_owned())
}

impl Text {
    fn judged(self) -> Result<Spec, DescriptionError> {
        let Some((_, least)) = LEVELS.iter().find(|(level, _)| *level == self.level) else {
            return Err(DescriptionError::Level(self.level));
        };
        if self.members.len() < *least {
            let (level, count) = (self.level, self.members.len());
            return Err(DescriptionError::TooFew { level, on_controller: false, least: *least, count });
        }
        let chunk_kib = match (self.level, self.chunk_kib) {
            (1, None) => None,
            (1, Some(_)) => return Err(DescriptionError::NoChunks),
            (_, chunk) => Some(chunk.unwrap_or(DEFAULT_CHUNK_KIB)),
        };
        if let Some(kib) = chunk_kib.filter(|kib| !CHUNKS_KIB.contains(kib) || !kib.is_power_of_two()) {
            let (least, most) = (*CHUNKS_KIB.start(), *CHUNKS_KIB.end());
            return Err(DescriptionError::Chunk { key: "chunk_kib", kib, least, most });
        }
        let bitmap = self.bitmap == Some(Bitmap::Internal);
        if bitmap && self.level == 0 {
            return Err(DescriptionError::NoBitmap);
        }
        for (i, member) in self.members.iter().enumerate() {
            if self.members[..i].contains(member) {
                return Err(DescriptionError::Twice(member.clone()));
            }
        }
        Ok(Spec { level: self.level, chunk_kib, bitmap, members: self.members, hardware: None })
    }
}

#[cfg(test)]
mod tests {
    use stdx::units::MIB;

    use super::*;

    fn parse(text: &str) -> Result<Spec, String> {
        super::parse("array:a.toml", text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_description_is_read() {
        let spec =
            parse("level = 5\nchunk_kib = 64\nbitmap = \"internal\"\nmembers = [\"/a\", \"/b\", \"/c\"]");
        let members = ["/a", "/b", "/c"].map(str::to_owned).to_vec();
        assert_eq!(spec, Ok(Spec { level: 5, chunk_kib: Some(64), bitmap: true, members, hardware: None }));
        let named = parse("controller = \"mdadm\"\nlevel = 1\nmembers = [\"/a\", \"/b\"]").unwrap();
        assert_eq!((named.level, named.hardware), (1, None));
        let mirror = parse("level = 1\nmembers = [\"/a\", \"/b\"]").unwrap();
        assert_eq!((mirror.chunk_kib, mirror.bitmap), (None, false));
        assert_eq!(parse("level = 0\nmembers = [\"/a\", \"/b\"]").unwrap().chunk_kib, Some(512));
    }

    #[test]
    fn impossible_values_are_refused_with_the_valid_ones() {
        for (text, part) in [
            ("level = 4\nmembers = [\"/a\", \"/b\"]", "use 0, 1, 5, 6 or 10"),
            ("level = 5\nmembers = [\"/a\", \"/b\"]", "at least 3 members, but the description lists 2"),
            ("level = 6\nmembers = [\"/a\", \"/b\", \"/c\"]", "at least 4"),
            ("level = 0\nmembers = [\"/a\"]", "at least 2"),
            ("level = 1\nchunk_kib = 64\nmembers = [\"/a\", \"/b\"]", "no chunks"),
            ("level = 0\nchunk_kib = 48\nmembers = [\"/a\", \"/b\"]", "a power of two"),
            ("level = 0\nchunk_kib = 2\nmembers = [\"/a\", \"/b\"]", "from 4 to"),
            ("level = 0\nbitmap = \"internal\"\nmembers = [\"/a\", \"/b\"]", "no bitmap"),
            ("level = 0\nmembers = [\"/a\", \"/a\"]", "/a is listed twice"),
            ("level = 0\nmembers = [\"/a\", \"/b\"]\nspares = 1", "spares"),
            ("level = 0", "members"),
            ("[[", "array:a.toml: "),
        ] {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn an_array_has_what_its_level_leaves() {
        let of = |level: u8, count: usize| {
            let names: Vec<String> = (0..count).map(|i| format!("\"/{i}\"")).collect();
            let spec = parse(&format!("level = {level}\nmembers = [{}]", names.join(", "))).unwrap();
            spec.capacity_bytes(&vec![36 * MIB; count]) / MIB
        };
        assert_eq!([of(0, 3), of(1, 2), of(5, 3), of(6, 5), of(10, 4)], [96, 32, 64, 96, 64]);
        let unequal = parse("level = 0\nchunk_kib = 64\nmembers = [\"/a\", \"/b\"]").unwrap();
        assert_eq!(unequal.capacity_bytes(&[20 * MIB, 36 * MIB]), 48 * MIB);
    }
}
