//! The text form of faults: `media:at=25%,length=1MiB`, `power:after=2min`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;

use stdx::units::{SECOND_NS, parse_size};

use super::{DataDefect, DataFault, Faults, LostCommands, MediaFault, Throttling};

/// The fault syntax, for help texts.
pub const FAULT_GRAMMAR: &str = "\
media:at=PLACE[,length=SIZE][,on=reads|writes|both][,retry=TIME]  a region that cannot be read or written
flip:at=PLACE[,length=SIZE][,after=TIME]                          a region whose data is read with flipped bits
lost-writes:at=PLACE[,length=SIZE][,after=TIME]                   a region whose writes succeed but are not stored
timeout:after=TIME[,commands=N][,wait=TIME]                       commands that never complete
throttle:after=TIME,for=TIME,rate=SIZE                            a period limited to that many bytes per second
removal:after=TIME                                                the drive disappears
power:after=TIME                                                  the drive loses power, and then regains it
PLACE and SIZE have a unit or are a percentage of the capacity (10GB, 25%), TIME is 500ms, 30s, 2min or 1h.";

/// A fault that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fault '{fault}': {problem}")]
pub struct FaultError {
    /// The fault as the user specified it.
    pub fault: String,
    /// The key with the error, and the allowed values.
    pub problem: String,
}

/// A fault's keys; each is removed when it is used.
struct Keys<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Keys<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        let mut keys = BTreeMap::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| format!("'{part}' is not KEY=VALUE"))?;
            if keys.insert(key.trim(), value.trim()).is_some() {
                return Err(format!("duplicate {key}"));
            }
        }
        Ok(Self(keys))
    }

    fn take<T, E: Display>(
        &mut self,
        key: &str,
        default: Option<T>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, String> {
        match (self.0.remove(key), default) {
            (Some(value), _) => parse(value).map_err(|e| format!("{key} = {value}: {e}")),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(format!("{key} is missing")),
        }
    }

    fn end(self) -> Result<(), String> {
        self.0.keys().next().map_or(Ok(()), |key| Err(format!("unknown key {key}")))
    }
}

/// Parses `500ms`, `30s`, `2min` or `1h` into nanoseconds.
fn time_ns(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_ns = match unit.trim() {
        "ms" => SECOND_NS / 1000,
        "s" => SECOND_NS,
        "min" => 60 * SECOND_NS,
        "h" => 3600 * SECOND_NS,
        _ => return Err("write an integer with ms, s, min or h".into()),
    };
    let number: u64 = number.parse().map_err(|_| "write an integer with ms, s, min or h".to_owned())?;
    number.checked_mul(unit_ns).ok_or_else(|| "too long".into())
}

/// Parses a size with a unit. A number without a unit may have been meant as a percentage or in megabytes.
fn size_bytes(text: &str) -> Result<u64, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("it has no unit; write {text}%, {text}MB or {text}GB"));
    }
    parse_size(text)
}

/// Parses a size or a percentage of the capacity into bytes.
fn place_bytes(text: &str, capacity_bytes: u64) -> Result<u64, String> {
    let bytes = match text.strip_suffix('%') {
        Some(percent) => match percent.trim().parse::<u64>() {
            Ok(percent) if percent <= 100 => (u128::from(capacity_bytes) * u128::from(percent) / 100) as u64,
            _ => return Err("write 0% to 100%".into()),
        },
        None if text == "0" => 0,
        None => size_bytes(text)?,
    };
    if bytes <= capacity_bytes {
        Ok(bytes)
    } else {
        Err(format!("the drive has only {capacity_bytes} bytes"))
    }
}

impl Faults {
    /// Parses `texts` for a drive with `capacity_bytes`. Times refer to the full-size drive; see
    /// [`Faults::scaled`].
    ///
    /// # Errors
    /// Returns an error that names the fault, the key and the allowed values.
    pub fn from_texts<T: AsRef<str>>(texts: &[T], capacity_bytes: u64) -> Result<Self, FaultError> {
        let mut faults = Self::default();
        for text in texts.iter().map(AsRef::as_ref) {
            let wrong = |problem| FaultError { fault: text.to_owned(), problem };
            faults.add(text, capacity_bytes).map_err(wrong)?;
        }
        Ok(faults)
    }

    fn add(&mut self, text: &str, capacity_bytes: u64) -> Result<(), String> {
        let (kind, keys) = text.split_once(':').unwrap_or((text, ""));
        let mut keys = Keys::of(keys)?;
        let after = |keys: &mut Keys<'_>| keys.take("after", None, time_ns);
        match kind.trim() {
            "media" => self.media.push(media(&mut keys, capacity_bytes)?),
            "flip" => self.data.push(data(&mut keys, capacity_bytes, DataDefect::Flipped)?),
            "lost-writes" => self.data.push(data(&mut keys, capacity_bytes, DataDefect::Lost)?),
            "timeout" => self.lost.push(LostCommands {
                from_ns: after(&mut keys)?,
                commands: keys.take("commands", Some(1), str::parse)?,
                timeout_ns: keys.take("wait", Some(30 * SECOND_NS), time_ns)?,
            }),
            "throttle" => {
                let from_ns = after(&mut keys)?;
                let long_ns = keys.take("for", None, time_ns)?;
                let bytes_per_second = keys.take("rate", None, rate_bytes)?;
                self.slow.push(Throttling {
                    times_ns: from_ns..from_ns.saturating_add(long_ns),
                    bytes_per_second,
                });
            }
            "power" => self.power_lost_at_ns.push(after(&mut keys)?),
            "removal" => self.removed_at_ns = Some(after(&mut keys)?),
            _ => return Err(format!("unknown kind; available:\n{FAULT_GRAMMAR}")),
        }
        keys.end()
    }
}

/// Parses a rate, which is written as a size per second.
fn rate_bytes(text: &str) -> Result<u64, String> {
    let size = text.trim_end_matches("/s");
    match size.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Err(format!("it has no unit; write {size}MB/s or {size}kB/s")),
        false => parse_size(size),
    }
}

fn region(keys: &mut Keys<'_>, capacity_bytes: u64) -> Result<Range<u64>, String> {
    let place = |text: &str| place_bytes(text, capacity_bytes);
    let start = keys.take("at", None, place)?;
    let length = keys.take("length", Some(1 << 20), place)?;
    let bytes: Range<u64> = start..start.saturating_add(length).min(capacity_bytes);
    if bytes.is_empty() { Err("`at` and `length` select no bytes".into()) } else { Ok(bytes) }
}

fn data(keys: &mut Keys<'_>, capacity_bytes: u64, defect: DataDefect) -> Result<DataFault, String> {
    let bytes = region(keys, capacity_bytes)?;
    let from_ns = keys.take("after", Some(0), time_ns)?;
    Ok(DataFault { bytes, defect, from_ns })
}

fn media(keys: &mut Keys<'_>, capacity_bytes: u64) -> Result<MediaFault, String> {
    let bytes = region(keys, capacity_bytes)?;
    let (reads, writes) = keys.take("on", Some((true, true)), |on| match on {
        "reads" => Ok((true, false)),
        "writes" => Ok((false, true)),
        "both" => Ok((true, true)),
        _ => Err("use reads, writes or both"),
    })?;
    Ok(MediaFault { bytes, reads, writes, retry_ns: keys.take("retry", Some(SECOND_NS), time_ns)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    const GB: u64 = 1_000_000_000;

    fn faults(texts: &[&str]) -> Result<Faults, String> {
        let faults = Faults::from_texts(texts, 100 * GB).map_err(|e| e.to_string());
        faults.map(|faults| faults.scaled(Scale::one_over(4).unwrap()))
    }

    #[test]
    fn every_kind_of_fault_is_parsed() {
        let all = [
            "media:at=25%,length=1MiB,on=reads,retry=2s",
            "media:at=10GB",
            "timeout:after=2min,commands=3,wait=500ms",
            "throttle:after=1h,for=40s,rate=50MB/s",
            "removal:after=8s",
            "power:after=4s",
            "power:after=12s",
        ];
        let laid = faults(&all).unwrap();
        assert_eq!(
            laid.media[0],
            MediaFault { bytes: 25 * GB..25 * GB + (1 << 20), reads: true, writes: false, retry_ns: 2 * GB }
        );
        assert_eq!(
            (laid.media[1].bytes.start, laid.media[1].reads, laid.media[1].writes),
            (10 * GB, true, true)
        );
        assert_eq!(laid.lost, [LostCommands { from_ns: 30 * GB, commands: 3, timeout_ns: GB / 2 }]);
        assert_eq!(laid.slow, [Throttling { times_ns: 900 * GB..910 * GB, bytes_per_second: 50_000_000 }]);
        assert_eq!(laid.removed_at_ns, Some(2 * GB));
        assert_eq!(laid.power_lost_at_ns, [GB, 3 * GB]);
        let lasting = laid.clone().lasting();
        assert!(lasting.lost.is_empty() && lasting.removed_at_ns.is_none());
        assert_eq!((lasting.media, lasting.slow), (laid.media, laid.slow));
        assert_eq!(lasting.power_lost_at_ns, laid.power_lost_at_ns);
    }

    #[test]
    fn errors_name_the_fault_and_the_key() {
        for (text, part) in [
            ("fire:after=1s", "unknown kind"),
            ("removal", "after is missing"),
            ("removal:after=1", "after = 1: write an integer with ms, s, min or h"),
            ("removal:after=1s,after=2s", "duplicate after"),
            ("removal:at=1s", "after is missing"),
            ("timeout:after=1s,commands=x", "commands = x"),
            ("media:at=25", "at = 25: it has no unit; write 25%, 25MB or 25GB"),
            ("media:at=1%,length=4096", "it has no unit"),
            ("throttle:after=1s,for=1s,rate=50", "write 50MB/s or 50kB/s"),
            ("media:at=101%", "at = 101%: write 0% to 100%"),
            ("media:at=1TB", "at = 1TB: the drive has only 100000000000 bytes"),
            ("media:at=100%", "select no bytes"),
            ("media:at=1%,on=all", "on = all: use reads, writes or both"),
            ("media:at=1%,size=2", "unknown key size"),
            ("media:1%", "'1%' is not KEY=VALUE"),
        ] {
            let error = faults(&[text]).unwrap_err();
            assert!(error.contains(part) && error.contains(text), "{text}: {error}");
        }
    }
}
