//! Values in fio's syntax: sizes, times, percentages, switches.

use engine::{Engine, FileOperation, SpaceCall};
use stdx::units::SECOND_NS;

/// An amount: bytes, or a percentage of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Bytes(u64),
    Percent(u8),
    /// A number of zones. The job converts it to bytes.
    Zones(u64),
}

impl Size {
    /// Returns the size in bytes of a number of zones, or the size itself.
    pub fn of_zones(self, zone_bytes: u64) -> Self {
        match self {
            Self::Zones(zones) => Self::Bytes(zones.saturating_mul(zone_bytes)),
            other => other,
        }
    }

    /// Returns the size in bytes on a target of the given capacity. A number of zones has no size of its own.
    pub fn of(self, whole_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Zones(_) => 0,
            Self::Percent(percent) => (u128::from(whole_bytes) * u128::from(percent) / 100) as u64,
        }
    }
}

const SIZE_UNITS: &[(&str, u64)] =
    &[("", 1), ("b", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30), ("t", 1 << 40), ("p", 1 << 50)];

const TIME_UNITS: &[(&str, u64)] = &[
    ("s", SECOND_NS),
    ("m", 60 * SECOND_NS),
    ("h", 3600 * SECOND_NS),
    ("d", 86_400 * SECOND_NS),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("us", 1_000),
    ("usec", 1_000),
];

/// Parses bytes such as `4096`, `4k`, `1m`, `0x1000`; units are powers of 1024, as in fio with
/// `kb_base=1024`.
pub fn bytes(text: &str) -> Result<u64, String> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).map_err(|_| "not a number".to_owned());
    }
    let (number, unit) = split(text)?;
    let unit = unit.to_ascii_lowercase();
    if unit.len() > 1 && unit.contains('i') {
        return Err(format!(
            "depending on version and option, fio reads {text} as powers of 1000 or of 1024; write k, m, g \
             or t"
        ));
    }
    let unit = if unit.len() == 2 { unit.strip_suffix('b').unwrap_or(&unit) } else { &unit };
    scaled(number, unit, SIZE_UNITS, "a size ends in k, m, g, t or p, or has no unit")
}

/// Parses a byte such as `0x01` or `255`.
pub fn byte(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.len() <= 2 && !digits.starts_with('+') => u8::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None => text.parse().ok().filter(|_| !text.starts_with('+')),
    };
    number.ok_or_else(|| "only a single byte is supported, such as 0x01".to_owned())
}

/// Parses a time such as `60`, `60s`, `5m`, `250ms` into nanoseconds; a number without a unit is in seconds.
pub fn time_ns(text: &str) -> Result<u64, String> {
    timed(text, "s")
}

/// Same as [`time_ns`], but a number without a unit is in microseconds.
pub fn time_of_us_ns(text: &str) -> Result<u64, String> {
    timed(text, "us")
}

fn timed(text: &str, default_unit: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let unit = if unit.is_empty() { default_unit } else { unit };
    scaled(
        number,
        &unit.to_ascii_lowercase(),
        TIME_UNITS,
        &format!("a time ends in us, ms, s, m, h or d; without a unit, it is in {default_unit}"),
    )
}

/// Parses a size, a percentage of the target, or a number of zones such as `8z`.
pub fn size(text: &str) -> Result<Size, String> {
    match text.strip_suffix('%') {
        Some(percent) => percent_of(percent).map(Size::Percent),
        None => bytes_or_zones(text),
    }
}

/// Parses a size or a number of zones such as `8z`.
pub fn bytes_or_zones(text: &str) -> Result<Size, String> {
    match text.strip_suffix(['z', 'Z']) {
        Some(zones) => number(zones, 0, u32::MAX.into()).map(Size::Zones),
        None => bytes(text).map(Size::Bytes),
    }
}

/// Parses a decimal number from 0 to 1 with up to three decimal places into thousandths.
pub fn part_of_one(text: &str) -> Result<u16, String> {
    let milli = match text {
        "0" | "0.0" => Ok(0),
        _ => thousandths(text),
    };
    let problem = || "it must be from 0 to 1, with up to three decimal places".to_owned();
    milli.ok().filter(|milli| *milli <= 1000).map(|milli| milli as u16).ok_or_else(problem)
}

/// Parses an integer percentage from 0 to 100.
pub fn percent_of(text: &str) -> Result<u8, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<u8>().ok();
    percent.filter(|percent| *percent <= 100).ok_or_else(|| "it must be from 0 to 100".to_owned())
}

/// Parses an integer from `least` to `most`.
pub fn number<T: TryFrom<u64>>(text: &str, least: u64, most: u64) -> Result<T, String> {
    let known = text.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    known
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| format!("it must be from {least} to {most}"))
}

/// Parses a positive decimal number with up to three decimal places into thousandths.
pub fn thousandths(text: &str) -> Result<u32, String> {
    let problem = || "it must be a positive number with up to three decimal places".to_owned();
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    if places.len() > 3 || !places.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(problem());
    }
    let whole: u32 = whole.parse().map_err(|_| problem())?;
    let places: u32 = format!("{places:0<3}").parse().map_err(|_| problem())?;
    let value = whole.checked_mul(1000).and_then(|whole| whole.checked_add(places));
    value.filter(|value| *value > 0).ok_or_else(problem)
}

/// Parses a switch, which is on if it has no value.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "true" | "yes" => Ok(true),
        "0" | "false" | "no" => Ok(false),
        _ => Err("it must be 0 or 1".into()),
    }
}

/// Parses an I/O engine.
pub fn engine(text: &str) -> Result<Engine, String> {
    Ok(match text {
        "io_uring" | "libblkio" => Engine::IoUring,
        "io_uring_cmd" => Engine::IoUringCmd,
        "libaio" => Engine::Libaio,
        "psync" | "sync" | "pvsync" | "pvsync2" | "posixaio" => Engine::Threads,
        "sg" => Engine::Scsi,
        "null" => Engine::Null,
        "falloc" => Engine::Space(SpaceCall::Allocate),
        "ftruncate" => Engine::Space(SpaceCall::Truncate),
        "filecreate" => Engine::Files(FileOperation::Create),
        "filestat" => Engine::Files(FileOperation::Stat),
        "filedelete" => Engine::Files(FileOperation::Delete),
        "dircreate" => Engine::Files(FileOperation::CreateFolder),
        "dirstat" => Engine::Files(FileOperation::StatFolder),
        "dirdelete" => Engine::Files(FileOperation::DeleteFolder),
        "libpmem" | "dev-dax" => {
            return Err("stores to persistent memory fail with signals instead of I/O errors; use its block device, such as \
                        /dev/pmem0"
                .into());
        }
        _ => {
            let supported = "io_uring, io_uring_cmd, libaio, psync, sync, pvsync, pvsync2, posixaio, sg, null, falloc, ftruncate, filecreate, filestat, \
                             filedelete, dircreate, dirstat and dirdelete";
            return Err(format!("supported: {supported}"));
        }
    })
}

/// Returns whether an I/O engine of fio performs one I/O at a time.
pub fn is_synchronous(engine: &str) -> bool {
    matches!(engine, "psync" | "sync" | "pvsync" | "pvsync2" | "sg")
}

/// Completes shares to 100 by dividing the rest evenly among the missing shares, as in fio; entries are
/// `WHAT/SHARE`, `WHAT/` or `WHAT`.
pub fn shares(given: &[Option<u8>]) -> Result<Vec<u8>, String> {
    let sum: u32 = given.iter().flatten().map(|share| u32::from(*share)).sum();
    let blanks = given.iter().filter(|share| share.is_none()).count() as u32;
    if sum > 100 || (blanks == 0 && sum != 100) {
        return Err(format!("the shares add up to {sum} % instead of 100"));
    }
    let rest = 100 - sum;
    if blanks > 0 && (!rest.is_multiple_of(blanks) || rest == 0) {
        return Err(format!(
            "the remaining {rest} % cannot be divided evenly among {blanks} shares; specify integer percentages"
        ));
    }
    Ok(given.iter().map(|share| share.unwrap_or((rest / blanks.max(1)) as u8)).collect())
}

fn split(text: &str) -> Result<(u64, &str), String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..digits].parse::<u64>().map_err(|_| "not an integer".to_owned())?;
    if text[digits..].starts_with('.') {
        return Err("fio ignores decimal places here; specify an integer".into());
    }
    Ok((number, &text[digits..]))
}

fn scaled(number: u64, unit: &str, units: &[(&str, u64)], possible: &str) -> Result<u64, String> {
    let known = units.iter().find(|(name, _)| *name == unit).ok_or_else(|| possible.to_owned())?;
    number.checked_mul(known.1).ok_or_else(|| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Verified against the output of fio 3.33.
    #[test]
    fn sizes_and_times_are_parsed_as_in_fio() {
        for (text, expected) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("0x1000", 4096),
            ("1m", 1 << 20),
            ("512b", 512),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for (text, expected) in
            [("60", 60 * SECOND_NS), ("60s", 60 * SECOND_NS), ("5m", 300 * SECOND_NS), ("250ms", 250_000_000)]
        {
            assert_eq!(time_ns(text), Ok(expected), "{text}");
        }
        assert_eq!(
            [time_of_us_ns("250"), time_of_us_ns("2ms"), time_of_us_ns("1s")],
            [250_000, 2_000_000, SECOND_NS].map(Ok)
        );
        for wrong in ["", "k", "4KiB", "4ki", "4.5k", "-1", "4x", "99999999999t", "0x", " 4k"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "1.5", "1w", "-1"] {
            assert!(time_ns(wrong).is_err(), "{wrong}");
        }
        assert_eq!(size("25%").map(|size| size.of(1000)), Ok(250));
        assert!(size("101%").is_err());
        assert_eq!(size("8z"), Ok(Size::Zones(8)));
        assert_eq!(size("8Z").map(|size| size.of_zones(1 << 20)), Ok(Size::Bytes(8 << 20)));
        assert!(size("z").is_err() && size("-1z").is_err() && bytes("8z").is_err());
    }

    #[test]
    fn bytes_are_decimal_or_hexadecimal() {
        assert_eq!(["0x01", "0xff", "255", "0"].map(byte), [Ok(1), Ok(255), Ok(255), Ok(0)]);
        for wrong in ["", "0x", "0xdead", "256", "-1", "+1", "0x+1", "\"ab\""] {
            assert!(byte(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn decimals_become_thousandths() {
        for (text, expected) in [("1.2", 1200), ("0.5", 500), ("2", 2000), ("1.", 1000), ("0.001", 1)] {
            assert_eq!(thousandths(text), Ok(expected), "{text}");
        }
        for wrong in ["", ".", "0", "-1", "1.2345", "1.2.3", "1:2", "x", "99999999999", "1.+5"] {
            assert!(thousandths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_are_from_zero_to_one() {
        for (text, expected) in
            [("0", 0), ("0.0", 0), ("0.125", 125), ("0.7", 700), ("1", 1000), ("1.0", 1000)]
        {
            assert_eq!(part_of_one(text), Ok(expected), "{text}");
        }
        for wrong in ["", "1.001", "2", "-0.5", "0.1234", "x"] {
            assert!(part_of_one(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn blank_shares_get_the_rest() {
        assert_eq!(shares(&[Some(50), None, Some(20)]), Ok(vec![50, 30, 20]));
        assert_eq!(shares(&[None, None]), Ok(vec![50, 50]));
        assert!(shares(&[Some(50), Some(40)]).is_err());
        assert!(shares(&[None, None, None]).is_err());
        assert!(shares(&[Some(100), None]).is_err());
    }
}
