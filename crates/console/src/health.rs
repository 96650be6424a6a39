//! A drive's health as text: its current state, and how a run changed it.

use std::collections::BTreeMap;

use record::{Entry, Event, Health};
use stdx::units::{CELSIUS, amount_base10};

/// Formats a drive's health on one line; `None` if the drive reports nothing.
#[must_use]
pub fn line(health: &Health) -> Option<String> {
    let mut parts = Vec::new();
    let mut add = |text: Option<String>| parts.extend(text);
    add(health.temperature_celsius.map(|celsius| format!("{celsius} {CELSIUS}")));
    add(health
        .critical_warning
        .filter(|&bits| bits != 0)
        .map(|bits| format!("CRITICAL WARNING {bits:02x}h")));
    add(health.percentage_used.map(|percent| format!("{percent} % used")));
    add(health.available_spare_percent.map(|percent| format!("{percent} % spare")));
    add(health.media_errors.map(|count| format!("{count} media errors")));
    add(health.host_written_bytes.map(|bytes| format!("{} written", amount_base10(bytes))));
    add(health.power_on_hours.map(|hours| format!("{hours} h powered on")));
    add(health.throttling.filter(|&slow| slow).map(|_| "THROTTLING".to_owned()));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Formats the change in the drive's health over a run on one line; `None` if the drive reported nothing.
#[must_use]
pub fn over(entries: &[Entry]) -> Option<String> {
    let readings: Vec<&Health> = entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::Health { health, .. } => Some(health),
            _ => None,
        })
        .collect();
    let (first, last) = (readings.first()?, readings.last()?);
    let mut parts = Vec::new();
    let degrees = || readings.iter().filter_map(|health| health.temperature_celsius);
    if let (Some(low), Some(high)) = (degrees().min(), degrees().max()) {
        parts.push(if low == high {
            format!("{low} {CELSIUS}")
        } else {
            format!("{low} to {high} {CELSIUS}")
        });
    }
    let grown = |of: fn(&Health) -> Option<u64>| of(last)?.checked_sub(of(first)?);
    parts.extend(grown(|h| h.host_written_bytes).map(|bytes| format!("{} written", amount_base10(bytes))));
    parts.extend(amplification(first, last).map(|waf| format!("write amplification {waf:.2}")));
    parts.extend(grown(|h| h.media_errors).map(|count| format!("{count} media errors")));
    let losses = grown(|h| h.unsafe_shutdowns).filter(|&count| count > 0);
    parts.extend(losses.map(|count| {
        if count == 1 { "1 unsafe shutdown".to_owned() } else { format!("{count} unsafe shutdowns") }
    }));
    parts.extend(grown(|h| h.throttle_seconds).map(|seconds| format!("throttled for {seconds} s")));
    parts.extend(readings.iter().any(|h| h.throttling == Some(true)).then(|| "THROTTLED".to_owned()));
    let warned = readings.iter().filter_map(|health| health.critical_warning).fold(0, |all, bits| all | bits);
    parts.extend((warned != 0).then(|| format!("CRITICAL WARNING {warned:02x}h")));
    parts.extend(watts(&readings));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Formats the minimum and maximum of each of the host's power meters.
fn watts(readings: &[&Health]) -> Vec<String> {
    let mut meters: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (name, &milliwatts) in readings.iter().flat_map(|health| &health.power_milliwatts) {
        let (least, most) = meters.entry(name).or_insert((milliwatts, milliwatts));
        (*least, *most) = ((*least).min(milliwatts), (*most).max(milliwatts));
    }
    let watts = |milliwatts: u64| milliwatts as f64 / 1000.0;
    let range = |(name, (least, most)): (&str, (u64, u64))| {
        if least == most {
            format!("{name} {:.1} W", watts(most))
        } else {
            format!("{name} {:.1} to {:.1} W", watts(least), watts(most))
        }
    };
    meters.into_iter().map(range).collect()
}

/// Returns the write amplification: bytes written to flash per byte written by the host.
fn amplification(first: &Health, last: &Health) -> Option<f64> {
    let host = last.host_written_bytes?.checked_sub(first.host_written_bytes?)?;
    let media = last.media_written_bytes?.checked_sub(first.media_written_bytes?)?;
    (host > 0).then(|| media as f64 / host as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(seq: u64, health: Health) -> Entry {
        Entry { seq, wall: jiff::Timestamp::UNIX_EPOCH, event: Event::Health { at_ns: seq, health } }
    }

    #[test]
    fn a_run_is_described_by_its_first_and_last_health() {
        let health = |celsius, host, media| Health {
            temperature_celsius: Some(celsius),
            host_written_bytes: Some(host),
            media_written_bytes: Some(media),
            media_errors: Some(3),
            unsafe_shutdowns: Some(media / 2_500_000),
            ..Health::default()
        };
        let entries = [
            reading(0, health(30, 1_000, 0)),
            reading(1, health(55, 500_000, 0)),
            reading(2, health(41, 2_001_000, 5_000_000)),
        ];
        let text = over(&entries).expect("a line");
        assert_eq!(
            text,
            "30 to 55 °C, 2 MB written, write amplification 2.50, 0 media errors, 2 unsafe shutdowns"
        );
        assert_eq!(over(&[]), None);
        assert_eq!(over(&[reading(0, Health::default())]), None);
    }

    #[test]
    fn power_is_reported_by_its_meter() {
        let health = |milliwatts| Health {
            power_milliwatts: BTreeMap::from([("package-0".to_owned(), milliwatts)]),
            ..Health::default()
        };
        let entries = [reading(0, Health::default()), reading(1, health(31_250)), reading(2, health(64_000))];
        assert_eq!(over(&entries).as_deref(), Some("package-0 31.2 to 64.0 W"));
        assert_eq!(over(&entries[..2]).as_deref(), Some("package-0 31.2 W"));
    }

    #[test]
    fn warnings_are_not_lost() {
        let warned = Health { critical_warning: Some(2), throttling: Some(true), ..Health::default() };
        let text = over(&[reading(0, warned.clone()), reading(1, Health::default())]).expect("a line");
        assert_eq!(text, "THROTTLED, CRITICAL WARNING 02h");
        assert!(line(&warned).expect("a line").contains("CRITICAL WARNING 02h"));
        assert_eq!(line(&Health::default()), None);
    }
}
